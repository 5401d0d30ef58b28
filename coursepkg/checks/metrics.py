"""Checks of the exercises in the chapter on metrics."""

import math
import unicodedata
from collections.abc import Callable, Sequence

from coursepkg.checks import expect


def clipped_precision(
    student: Callable[[list[str], list[list[str]], int], tuple[int, int]],
) -> None:
    """Matches and n-grams, with one reference and with several."""
    for hypothesis, references, n, result in [
        (
            "the guard arrived late because of the rain",
            ["the guard arrived late because it was raining"],
            2,
            (4, 7),
        ),
        ("con con con thỏ", ["một con thỏ"], 1, (2, 4)),
        ("the the the", ["the cat", "the dog and the cat"], 1, (2, 3)),
        ("a b a b", ["a b", "b a"], 2, (2, 3)),
        ("a b", ["a b c"], 4, (0, 0)),
    ]:
        found = student(hypothesis.split(), [text.split() for text in references], n)
        expect.equal(
            tuple(found) if isinstance(found, list) else found,
            result,
            what=f"the pair for {hypothesis!r} against {references}, n = {n}",
            hint=(
                "an n-gram matches at most as often as the reference that has most"
                " of it"
            ),
        )


def macro_f1(student: Callable[[list[list[int]]], float]) -> None:
    """Balanced and unbalanced classes, a class never predicted."""
    for matrix, value in [
        ([[5, 0], [0, 5]], 1.0),
        ([[8, 2], [3, 7]], (2 * 8 / 21 + 2 * 7 / 19) / 2),
        ([[98, 0], [2, 0]], 2 * 98 / 198 / 2),
        ([[3, 1, 0], [0, 4, 0], [0, 0, 0]], (2 * 3 / 7 + 2 * 4 / 9 + 0) / 3),
    ]:
        expect.close(
            student([list(row) for row in matrix]),
            value,
            what=f"macro-F1 of {matrix}",
            hint=(
                "rows are true classes; every class has the same weight, one that is"
                " never hit has F1 0"
            ),
        )


def sentences_needed(student: str) -> None:
    """How many sentences halve the interval of 1,600, by the dashed line."""
    expect.quantity(
        student,
        6400.0,
        "sentences",
        what="the number",
        tolerance=0.15,
        mistakes={
            3200.0: "twice the sentences divide the width by the root of 2 only",
            800.0: "fewer sentences make the interval wider",
            400.0: "fewer sentences make the interval wider",
        },
    )


def corpus_cer(student: Callable[[list[str], list[str]], float]) -> None:
    """Lines of unequal length, decomposed letters, and an empty reference."""
    for hypotheses, references, value in [
        (["abcd"], ["abed"], 1 / 4),
        (["xy", "a" * 98], ["ab", "a" * 98], 2 / 100),
        (["aaaaaa"], ["bb"], 3.0),
        ([unicodedata.normalize("NFD", "phở bò")], ["phở bò"], 0.0),
        (["phở bò"], [unicodedata.normalize("NFD", "phở gà")], 2 / 6),
        (["abc", "ab"], ["", "ab"], 3 / 2),
    ]:
        expect.close(
            student(hypotheses, references),
            value,
            what=f"the CER of {hypotheses} against {references}",
            hint=(
                "sum the edits, sum the lengths, divide once; bring both sides to NFC"
                " first"
            ),
        )


Row = tuple[int, int, list[int], list[int]]
"""Lengths of hypothesis and reference, matches and n-grams for n = 1 to 4."""


def corpus_bleu(student: Callable[[list[Row]], float]) -> None:
    """Corpora in which the lengths even out, and one that is too short."""
    even: list[Row] = [(4, 10, [4, 3, 2, 1], [4, 3, 2, 1])]
    even += [(16, 10, [8, 5, 2, 1], [16, 15, 14, 13])]
    short: list[Row] = [(6, 9, [6, 4, 2, 1], [6, 5, 4, 3])]
    short += [(12, 11, [7, 4, 2, 1], [12, 11, 10, 9])]
    for rows in (even, short, short[:1]):
        found = expect.attempted(student(list(rows)))
        for mistakes, value in _wrong_bleus(rows).items():
            assert not math.isclose(found, value, rel_tol=1e-6), (
                f"BLEU of {rows} is not {found:.2f}: {mistakes}"
            )
        expect.close(
            found,
            100 * _brevity(rows) * math.prod(_precisions(rows)) ** 0.25,
            what=f"BLEU of {rows}",
            tolerance=1e-6,
            hint="100 * min(1, e^(1 - r / c)) * the geometric mean of the precisions",
        )


def _precisions(rows: list[Row]) -> list[float]:
    return [
        sum(row[2][n] for row in rows) / sum(row[3][n] for row in rows)
        for n in range(4)
    ]


def _brevity(rows: list[Row]) -> float:
    c, r = sum(row[0] for row in rows), sum(row[1] for row in rows)
    return min(1.0, math.exp(1 - r / c))


def _wrong_bleus(rows: list[Row]) -> dict[str, float]:
    """What a mistake makes of BLEU, where it makes a difference."""
    precisions = _precisions(rows)
    geometric, arithmetic = math.prod(precisions) ** 0.25, sum(precisions) / 4
    mean_penalty = sum(_brevity([row]) for row in rows) / len(rows)
    mean = "the mean of the precisions is geometric, not arithmetic"
    penalty = "the brevity penalty is one of the corpus, from sums of lengths"
    wrong = {mean: 100 * _brevity(rows) * arithmetic}
    if len(rows) > 1:
        wrong[penalty] = 100 * mean_penalty * geometric
        wrong[f"{penalty}; and {mean}"] = 100 * mean_penalty * arithmetic
        wrong["there is no brevity penalty"] = 100 * geometric
    return {
        name: value
        for name, value in wrong.items()
        if not math.isclose(value, 100 * _brevity(rows) * geometric, rel_tol=1e-6)
    }


def share_higher(
    student: Callable[
        [Sequence[tuple[int, int]], Sequence[tuple[int, int]], list[list[int]]], float
    ],
) -> None:
    """Draws that must be the same for both systems, scored as corpora."""
    first = [(1, 1), (1, 10), (5, 10)]
    second = [(0, 1), (4, 10), (5, 10)]
    for draws, value in [
        ([[0, 1, 2]], 1.0),
        ([[0, 0, 2], [1, 1, 2]], 0.5),
        ([[2, 2, 2], [0, 0, 0], [1, 2, 1], [1, 1, 0]], 0.5),
    ]:
        expect.close(
            student(first, second, draws),
            value,
            what=f"the share for {len(draws)} draws {draws}",
            hint=(
                "both systems are scored on the same sentences: sums of matches over"
                " sums of n-grams, then compare"
            ),
        )
