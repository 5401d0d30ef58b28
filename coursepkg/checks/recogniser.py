"""Checks of the exercises in the chapter on the recogniser of lines."""

import math
import random
from collections.abc import Callable, Sequence
from itertools import pairwise, product

import torch

from coursepkg.checks import expect

Layer = tuple[int, int, int]
"""Kernel, stride, padding."""


def collapse(student: Callable[[list[int]], Sequence[int]]) -> None:
    """Every path of up to five columns over the blank and two letters."""
    paths = [list(path) for n in range(6) for path in product(range(3), repeat=n)]
    for path in [*paths, [0, 7, 7, 0, 7, 5, 0, 0, 5, 5, 9]]:
        answer = student(list(path))
        expect.equal(
            [int(one) for one in answer],
            _collapsed(path),
            what=f"the text of the path {path}",
            hint=(
                "first merge equal neighbours, then drop the blanks; a blank between"
                " two equal symbols keeps both"
            ),
        )


def _collapsed(path: Sequence[int]) -> list[int]:
    return [
        now
        for before, now in zip([0, *path], path, strict=False)
        if now not in (before, 0)
    ]


def columns_needed(student: Callable[[str], int]) -> None:
    """Texts without repeats, with pairs, with runs."""
    for text in (
        "phở",
        "xoong",
        "00",
        "1.000.000",
        "aaaa",
        "abab",
        "Tổng cộng: 1.111.000đ",
        "o",
        "",
    ):
        repeats = sum(a == b for a, b in pairwise(text))
        expect.equal(
            student(text),
            len(text) + repeats,
            what=f"the columns that {text!r} needs",
            hint=(
                "one column a character, and one for the blank between two equal"
                " neighbours"
            ),
        )


def text_probability(student: Callable[[list[list[float]], list[int]], float]) -> None:
    """The chapter's table, and random ones, against the sum over every path."""
    dice = random.Random(0)
    table = [[0.2, 0.7, 0.1], [0.5, 0.2, 0.3], [0.3, 0.1, 0.6]]
    cases = [
        (table, text)
        for text in ([1, 2], [1], [2, 1], [1, 1], [], [1, 2, 1], [1, 1, 1])
    ]
    cases.append(([[0.6, 0.4], [0.6, 0.4]], [1]))
    for n_columns, n_symbols in ((1, 3), (4, 3), (5, 4), (6, 3)):
        rows = [
            [dice.random() + 0.05 for _ in range(n_symbols)] for _ in range(n_columns)
        ]
        probabilities = [[one / sum(row) for one in row] for row in rows]
        cases += [(probabilities, text) for text in ([1], [2, 2], [1, 2, 1])]
    for probabilities, text in cases:
        answer = student([list(row) for row in probabilities], list(text))
        expect.close(
            float(answer),
            _by_paths(probabilities, text),
            what=f"the probability of {text} in {len(probabilities)} columns",
            tolerance=1e-6,
            hint=(
                "a place may be reached from itself, from one place back, and from two"
                " places back only where that jumps a blank between different"
                " characters; the last two places end a text"
            ),
        )


def _by_paths(probabilities: Sequence[Sequence[float]], text: Sequence[int]) -> float:
    paths = product(range(len(probabilities[0])), repeat=len(probabilities))
    return math.fsum(
        math.prod(row[symbol] for row, symbol in zip(probabilities, path, strict=True))
        for path in paths
        if _collapsed(path) == list(text)
    )


def stack_shape(student: Callable[[list[Layer], int], tuple[int, int, int]]) -> None:
    """The chapter's CNN, ResNet's first layers, and layers at random."""
    dice = random.Random(0)
    cases: list[tuple[list[Layer], int]] = [
        ([(3, 2, 1), (3, 2, 1), (3, 1, 1), (3, 1, 1)], 100),
        ([(7, 2, 3), (3, 2, 1)], 240),
        ([(3, 1, 1)], 17),
        ([(2, 2, 0), (2, 2, 0), (3, 1, 0)], 31),
    ]
    for _ in range(6):
        layers = [
            (dice.choice((1, 2, 3, 5)), dice.choice((1, 2, 3)), dice.choice((0, 1)))
            for _ in range(4)
        ]
        cases.append((layers, dice.randint(90, 130)))
    for layers, width in cases:
        answer = student(list(layers), width)
        is_triple = isinstance(answer, tuple | list) and len(answer) == 3
        assert is_triple, (
            "the result is not three numbers; return (columns, step, receptive field)"
        )
        for value, right, what, hint in zip(
            answer,
            _stack(layers, width),
            (
                "the columns that are left",
                "the pixels from column to column",
                "the pixels that a column sees",
            ),
            (
                "floor((width + 2 padding - kernel) / stride) + 1, layer after layer",
                "strides multiply",
                (
                    "a kernel adds (kernel - 1) steps of the layers before it, not"
                    " behind it"
                ),
            ),
            strict=True,
        ):
            expect.equal(
                value,
                right,
                what=f"{what}, of {width} pixels through {layers},",
                hint=hint,
            )


def _stack(layers: Sequence[Layer], width: int) -> tuple[int, int, int]:
    """Columns by running the layers; from a column back to its pixels."""
    x = torch.ones(1, 1, width)
    first = last = 0
    for kernel, stride, padding in layers:
        x = torch.nn.functional.conv1d(
            x, torch.ones(1, 1, kernel), stride=stride, padding=padding
        )
    for kernel, stride, _ in reversed(layers):
        first, last = first * stride, last * stride + kernel - 1
    return x.shape[2], math.prod(stride for _, stride, _ in layers), last - first + 1


def paths_by_hand(student: Callable[[], str]) -> None:
    """The paths of a text with a repeat, by the formula."""
    expect.quantity(
        student(),
        66.0,
        "paths",
        what="the number of paths of 'xoong' in 8 columns",
        tolerance=0.001,
        mistakes={
            286.0: "the two o are equal neighbours, so r = 1 and not 0",
            792.0: "below stands 2n = 10, not n = 5",
            56.0: "a letter may fill several columns; choosing n of S forgets it",
        },
    )


def most_paths(student: Callable[[int], tuple[int, Sequence[int]]]) -> None:
    """The counts by enumeration, and a guess that is near to them."""
    for n_columns in (3, 5, 8):
        answer = student(n_columns)
        is_pair = isinstance(answer, tuple | list) and len(answer) == 2
        assert is_pair, "the result is not a pair; return (guess, counts)"
        guess, counts = answer
        expect.equal(
            [int(one) for one in expect.attempted(counts)],
            [math.comb(n_columns + n, 2 * n) for n in range(n_columns + 1)],
            what=f"the paths of '', 'a', 'ab', 'aba', ... in {n_columns} columns",
            hint="go through all 3 ** n_columns paths, collapse each, count the texts",
        )
    guess = expect.attempted(guess)
    assert expect.is_whole(guess), f"the guess is {guess!r}; a whole number is expected"
    assert abs(guess - 4) <= 1, (
        f"the guess is {guess} letters, the measured value is 4: a short text has few"
        " places for its blanks, a long one has no room to move; state why, then mend"
        " the guess"
    )
