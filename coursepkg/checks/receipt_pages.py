"""Checks of the exercises in the chapter on pages: from a photograph to text."""

import math
import random
import unicodedata
from collections.abc import Callable, Sequence

import numpy as np
import torch

from coursepkg.checks import expect

Number = int | float
Box = tuple[Number, Number, Number, Number]
"""Left, top, right, bottom."""
Word = tuple[Number, Number, Number]
"""Left, right and height of a word; or x, y of its middle and its height."""


def overlap(student: Callable[[Box, Box], float]) -> None:
    """Equal, shifted, nested, crossing, touching and distant boxes."""
    from coursepkg.projects.ocr.detector.lines import intersection_over_union

    cases: list[tuple[Box, Box]] = [
        ((0, 0, 10, 2), (0, 0, 10, 2)),
        ((0, 0, 10, 3), (0, 1, 10, 4)),
        ((0, 0, 10, 2), (5, 0, 15, 2)),
        ((0, 0, 10, 10), (4, 4, 6, 6)),
        ((0, 4, 10, 6), (4, 0, 6, 10)),
        ((0, 0, 4, 4), (4, 0, 8, 4)),
        ((0, 0, 2, 2), (5, 7, 9, 9)),
        ((0, 0, 2, 2), (5, 0, 9, 2)),
    ]
    for one, other in [*cases, *((b, a) for a, b in cases)]:
        expect.close(
            student(one, other),
            intersection_over_union(_corners(one), _corners(other)),
            what=f"the overlap of {one} and {other}",
            hint=(
                "the common box runs from the larger left to the smaller right; where"
                " that is negative there is none, and what is common counts once in the"
                " joint area"
            ),
        )


def _corners(box: Box) -> np.ndarray:
    left, top, right, bottom = box
    return np.array(
        [[left, top], [right, top], [right, bottom], [left, bottom]], dtype=np.float64
    )


def map_boxes(
    student: Callable[[np.ndarray, float, float, float], Sequence[Box]],
) -> None:
    """Two lines, a faint one, one that touches only by a corner, one of one pixel."""
    two = np.zeros((9, 16))
    two[1:3, 2:13], two[5:8, 1:6] = 0.9, 0.8
    faint = two.copy()
    faint[5:8, 1:6] = 0.4
    corner = np.zeros((6, 10))
    corner[1:3, 1:5], corner[3:5, 5:9] = 0.9, 0.7
    ragged = np.zeros((7, 12))
    ragged[2:5, 1:11] = 0.35
    ragged[3, 1:11] = 0.95
    ragged[4, 1:8] = 0.1
    lonely = np.zeros((3, 3))
    lonely[1, 1] = 1.0
    at_the_bound = np.full((2, 4), 0.5)
    for name, given, settings in [
        ("two lines", two, (0.3, 0.5, 1.5)),
        ("a faint second line", faint, (0.3, 0.5, 1.5)),
        ("two regions that touch by a corner", corner, (0.3, 0.5, 1.0)),
        ("a region that does not fill its box", ragged, (0.3, 0.45, 1.6)),
        ("the same, a stricter box threshold", ragged, (0.3, 0.55, 1.6)),
        ("one pixel", lonely, (0.3, 0.5, 2.0)),
        ("probabilities on the thresholds", at_the_bound, (0.5, 0.5, 0.0)),
        ("an empty map", np.zeros((4, 4)), (0.3, 0.5, 1.5)),
    ]:
        answer = student(given.copy(), *settings)
        found = sorted(tuple(float(value) for value in box) for box in answer)
        wanted = sorted(_boxes_of(given, *settings))
        expect.equal(
            len(found),
            len(wanted),
            what=f"the number of boxes of {name}",
            hint=(
                "neighbours share a side, not only a corner; a box stays where the mean"
                " over all of its pixels reaches the box threshold"
            ),
        )
        for i in range(len(wanted)):
            expect.close(
                torch.tensor(found[i], dtype=torch.float64),
                torch.tensor(wanted[i], dtype=torch.float64),
                what=f"box {i} (left, top, right, bottom) of {name}",
                hint=(
                    "a pixel in column c covers c to c + 1; every side moves outwards"
                    " by area times unclip over perimeter, both of the rectangle"
                ),
            )


def _boxes_of(
    given: np.ndarray, pixel_threshold: float, box_threshold: float, unclip: float
) -> list[tuple[float, ...]]:
    left_over = {(int(y), int(x)) for y, x in np.argwhere(given >= pixel_threshold)}
    found: list[tuple[float, ...]] = []
    while left_over:
        border, region = [left_over.pop()], []
        while border:
            y, x = border.pop()
            region.append((y, x))
            for near in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)):
                if near in left_over:
                    left_over.remove(near)
                    border.append(near)
        (top, left), (bottom, right) = (
            np.min(region, axis=0),
            np.max(region, axis=0) + 1,
        )
        if given[top:bottom, left:right].mean() >= box_threshold - 1e-12:
            wide, high = float(right - left), float(bottom - top)
            out = wide * high * unclip / (2 * (wide + high))
            found.append((left - out, top - out, right + out, bottom + out))
    return found


def merge_words(
    student: Callable[[list[Word], float], Sequence[tuple[float, float]]],
) -> None:
    """Rows of words in any order: narrow gaps, wide ones, words of two sizes."""
    dice = random.Random(0)
    rows: list[tuple[list[Word], float]] = [
        ([(0, 50, 20), (58, 90, 20), (300, 360, 20)], 0.6),
        ([(0, 50, 20), (62, 90, 20), (102, 130, 20)], 0.6),
        ([(0, 50, 20), (63, 90, 20), (98, 130, 20)], 0.6),
        ([(0, 80, 40), (98, 150, 20)], 0.6),
        ([(0, 80, 20), (98, 150, 40)], 0.6),
        ([(0, 50, 40), (58, 90, 20), (106, 130, 40)], 0.6),
        ([(0, 50, 20), (58, 90, 40), (108, 130, 40)], 0.6),
        ([(0, 10, 20), (14, 200, 20), (208, 230, 20), (238, 260, 20)], 0.4),
        ([(0, 50, 20), (49, 90, 20)], 0.0),
        ([(10, 40, 20)], 0.6),
        ([], 0.6),
    ]
    for row, gap in rows:
        given = [*row]
        dice.shuffle(given)
        answer = student(list(given), gap)
        expect.equal(
            [(float(left), float(right)) for left, right in answer],
            _merged(row, gap),
            what=f"the lines of {given} with gaps up to {gap}",
            hint=(
                "go from left to right; measure from the end of the last word, in"
                " heights of the lower of the two neighbours"
            ),
        )


def _merged(row: Sequence[Word], gap: float) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    before = 0.0
    for left, right, height in sorted(row):
        if found and left - found[-1][1] <= gap * min(before, height):
            found[-1] = (found[-1][0], float(right))
        else:
            found.append((float(left), float(right)))
        before = float(height)
    return found


def reading_order(student: Callable[[list[Word], float], Sequence[int]]) -> None:
    """Pages of three columns, turned by up to 20 degrees either way."""
    dice = random.Random(0)
    for degrees in (0, 3, -3, 8, -8, 20, -20):
        flat = [
            (
                x + dice.uniform(-20, 20),
                40.0 * row + dice.uniform(-3, 3),
                dice.choice((18.0, 20.0, 24.0)),
            )
            for row in range(6)
            for x in (0.0, 260.0, 520.0)[: dice.randint(1, 3)]
        ]
        order = list(range(len(flat)))
        dice.shuffle(order)
        angle = math.radians(degrees)
        cos, sin = math.cos(angle), math.sin(angle)
        given = [
            (400 + cos * x - sin * y, 300 + sin * x + cos * y, high)
            for x, y, high in (flat[i] for i in order)
        ]
        answer = [int(one) for one in student(list(given), float(degrees))]
        expect.equal(
            answer,
            [order.index(i) for i in range(len(flat))],
            what=(
                f"the order of {len(flat)} words on a page turned by {degrees} degrees"
            ),
            hint=(
                "turn the page back by minus that angle, y downwards; words whose"
                " middles differ by less than half the lower height stand in one row"
            ),
        )


def bag_of_words(student: Callable[[str, str], float]) -> None:
    """Repeated words, another order, other marks, another Unicode form."""
    apart = unicodedata.normalize("NFD", "Tổng cộng")
    for read, printed, wanted in [
        ("22.000 Tổng", "Tổng 22.000 đ", 0.8),
        ("phở bò", "bò phở", 1.0),
        ("1 1 1", "1 2 3", 1 / 3),
        ("trà đá trà đá", "trà đá", 2 / 3),
        ("Tong cong", "Tổng cộng", 0.0),
        ("tổng cộng", "Tổng cộng", 0.5),
        (apart, "Tổng cộng", 1.0),
        ("", "Tổng cộng", 0.0),
        ("Tổng\ncộng ", "Tổng   cộng", 1.0),
        ("", "", 1.0),
    ]:
        expect.close(
            student(read, printed),
            wanted,
            what=f"the F1 of {read!r} against {printed!r}",
            hint=(
                "2 x matches over the words of both; a word matches as often as it"
                " stands in both; compose first (NFC), and keep case and marks"
            ),
        )


def unclipped_height(student: Callable[[], str]) -> None:
    """A rectangle of 100 x 10 pixels, grown on all sides."""
    expect.quantity(
        student(),
        24.55,
        "pixels",
        what="the height of the unclipped box",
        mistakes={
            7.27: "that is the distance of one side; ask for the height of the box",
            17.27: "the side above and the side below both move",
            19.09: "the unclip ratio is left out",
            39.09: "the perimeter has all four sides: 220 pixels",
        },
    )
