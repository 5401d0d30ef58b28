"""Checks of the exercises in the chapter on the data of receipts."""

import math
import random
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from coursepkg.checks import expect

Line = tuple[str, str]
"""Receipt and text."""


def order_corners(student: Callable[[list[tuple[float, float]]], Any]) -> None:
    """Lines turned by up to 40 degrees, long, square and tall, seen at an angle."""
    dice = random.Random(0)
    for degrees in (0, 8, -8, 25, -25, 40, -40):
        for wide, high in ((300, 20), (40, 40), (18, 30)):
            right = _turned_box(wide, high, degrees, dice)
            given = [(float(x), float(y)) for x, y in right]
            dice.shuffle(given)
            answer = student(list(given))
            expect.close(
                torch.as_tensor(np.asarray(answer, dtype=np.float64)),
                torch.as_tensor(right),
                what=f"the order of {[(round(x), round(y)) for x, y in given]}",
                hint=(
                    "top left, top right, bottom right, bottom left, y downwards: in a"
                    " long line that is turned, the two highest corners may be the two"
                    " on the left"
                ),
            )


def _turned_box(wide: int, high: int, degrees: int, dice: random.Random) -> np.ndarray:
    """Corners in reading order; the camera moves each by a little of the height."""
    angle = math.radians(degrees)
    box = np.array([[0, 0], [wide, 0], [wide, high], [0, high]], dtype=np.float64)
    turn = np.array(
        [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
    )
    shaken = np.array(
        [[dice.uniform(-0.04, 0.04) * high for _ in range(2)] for _ in range(4)]
    )
    return (box - [wide / 2, high / 2]) @ turn + shaken + [500, 400]


def perspective_map(student: Callable[[np.ndarray, np.ndarray], Any]) -> None:
    """The chapter's trapezium, a shift, and quadrilaterals at random."""
    from coursepkg.projects.ocr.data.geometry import homography, map_points

    dice = np.random.Generator(np.random.PCG64(0))
    box = np.array([[0, 0], [4, 0], [4, 2], [0, 2]], dtype=np.float64)
    cases = [
        (box, np.array([[0, 0], [4, 0], [3, 2], [1, 2]], dtype=np.float64)),
        (box, box + np.array([3, 7])),
    ]
    cases += [
        (box * 50, (box + dice.uniform(-0.3, 0.3, (4, 2))) * 40 + 100) for _ in range(5)
    ]
    for source, target in cases:
        answer = np.asarray(student(source.copy(), target.copy()), dtype=np.float64)
        assert answer.shape == (3, 3), (
            f"the map has shape {answer.shape}; (3, 3) is expected"
        )
        assert abs(answer[2, 2]) > 1e-9, (
            "the lower right entry of the map is 0; it is expected to be 1"
        )
        inside = source.min(axis=0) + dice.uniform(0, 1, (6, 2)) * np.ptp(
            source, axis=0
        )
        points = np.concatenate([source, inside])
        expect.close(
            torch.as_tensor(map_points(answer / answer[2, 2], points)),
            torch.as_tensor(map_points(homography(source, target), points)),
            what=(
                f"where corners and inner points go from {source.tolist()} to"
                f" {target.tolist()}"
            ),
            tolerance=1e-6,
            hint=(
                "each pair gives two equations, a x + b y + c - u (g x + h y) = u and"
                " the same for v; source first"
            ),
        )


def leaks(student: Callable[[list[Line], list[Line]], tuple[float, float]]) -> None:
    """Receipts on both sides, texts on both sides, repeated test lines."""
    apart = unicodedata.normalize("NFD", "TỔNG CỘNG")
    for train, test, receipts, texts in [
        (
            [("a", "TỔNG CỘNG"), ("b", "Phở Bắc")],
            [("a", "Cà phê"), ("c", "TỔNG CỘNG")],
            0.5,
            0.5,
        ),
        ([("a", "TỔNG CỘNG")], [("b", apart), ("b", "Tổng cộng")], 0.0, 0.5),
        ([("a", apart)], [("b", "TỔNG CỘNG"), ("b", "Tổng cộng")], 0.0, 0.5),
        (
            [("a", "Bún"), ("a", "Chả")],
            [("a", "Bún"), ("a", "Bún"), ("a", "Nem"), ("d", "Bún")],
            0.75,
            0.75,
        ),
        ([("a", "x")], [("b", "y")], 0.0, 0.0),
    ]:
        answer = student(list(train), list(test))
        is_pair = isinstance(answer, tuple | list) and len(answer) == 2
        assert is_pair, (
            "the result is not a pair; return (share by receipt, share by text)"
        )
        for value, share, what in zip(
            answer, (receipts, texts), ("receipt", "text"), strict=True
        ):
            expect.close(
                value,
                share,
                what=f"the share of {test} whose {what} stands in {train}",
                hint=(
                    "compare in NFC, keep the case, and count test lines, not different"
                    " ones"
                ),
            )


def best_widths(student: Callable[[list[int], int], Sequence[int]]) -> None:
    """Few widths by hand, more buckets than widths, and random widths."""
    dice = random.Random(0)
    cases = [
        ([10, 10, 100], 2),
        ([30, 64, 65, 200], 1),
        ([32, 64, 96], 3),
        ([40, 40, 70], 3),
        ([5, 6, 7, 100, 101, 400], 3),
    ]
    cases += [
        ([dice.randint(20, 120) for _ in range(9)], dice.randint(1, 4))
        for _ in range(6)
    ]
    for widths, count in cases:
        answer = sorted(int(one) for one in student(list(widths), count))
        assert 1 <= len(answer) <= count, (
            f"{len(answer)} buckets for {widths}; at most {count} are expected"
        )
        assert answer[-1] >= max(widths), (
            f"the widest bucket of {answer} is too narrow for the line of"
            f" {max(widths)}; the largest width is always one of the buckets"
        )
        expect.equal(
            _columns(widths, answer),
            _fewest(widths, count),
            what=f"the columns of {widths} in the buckets {answer}",
            hint=(
                "only widths that occur are worth trying; the best choice for the"
                " narrow lines is part of the best choice for all"
            ),
        )


def _columns(widths: Sequence[int], buckets: Sequence[int]) -> int:
    return sum(min(one for one in buckets if one >= width) for width in widths)


def _fewest(widths: Sequence[int], count: int) -> int:
    """By lines that go into the first buckets, one more bucket at a time."""
    ordered = sorted(widths)
    best = [0.0, *(math.inf for _ in ordered)]
    for _ in range(count):
        best = [
            min(
                [
                    best[end],
                    *(best[i] + ordered[end - 1] * (end - i) for i in range(end)),
                ]
            )
            for end in range(len(ordered) + 1)
        ]
    return int(best[-1])


HEIGHTS, STEPS = (24, 32, 40, 48), (2, 4, 8)
"""What the plan may choose from, in pixels."""


def packing_plan(student: Callable[[], tuple[int, int]]) -> None:
    """Within the budget, with columns enough, and the best of such plans."""
    answer = student()
    is_pair = isinstance(answer, tuple | list) and len(answer) == 2
    assert is_pair, "the result is not a pair; return (height, step)"
    height, step = answer
    is_offered = height in HEIGHTS and step in STEPS
    assert is_offered, (
        f"({height!r}, {step!r}) is not on offer; heights are {HEIGHTS}, steps {STEPS}"
    )
    # The mean width of 284.5 pixels was measured at height 40.
    megabytes = height * (284.5 * height / 40) * 6585 / 1e6
    assert megabytes <= 100, (
        f"at height {height} the packed lines take {megabytes:.0f} MB, more than 100:"
        " the width grows with the height, so the bytes grow with its square"
    )
    columns = 0.26 * height / step
    assert columns >= 2, (
        f"a narrow letter gets 0.26 * {height} / {step} = {columns:.1f} columns; 2 are"
        " needed"
    )
    assert height == 40, f"a height of {height} is allowed, but a larger one is, too"
    assert step == 4, (
        f"a step of {step} is allowed, but a larger one leaves fewer columns to attend"
        " to and is allowed, too"
    )
