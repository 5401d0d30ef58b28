"""Checks of the exercises in the chapter on metrics."""

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
        expect.equal(
            student(hypothesis.split(), [text.split() for text in references], n),
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


def corpus_cer(student: Callable[[list[str], list[str]], float]) -> None:
    """Lines of unequal length, decomposed letters, and an empty reference."""
    for hypotheses, references, value in [
        (["abcd"], ["abed"], 1 / 4),
        (["xy", "a" * 98], ["ab", "a" * 98], 2 / 100),
        (["aaaaaa"], ["bb"], 3.0),
        ([unicodedata.normalize("NFD", "phở bò")], ["phở bò"], 0.0),
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
