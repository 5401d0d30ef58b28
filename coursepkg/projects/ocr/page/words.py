"""Scores of the words of a page, in no order: a receipt is read by columns or by rows.

    P = matches / words read     R = matches / words printed     F1 = 2 P R / (P + R)

Words stand between white space, and a page is the multiset of its words: one that is
printed twice counts twice. Source: the count-based bag of words of Pletschacher,
Clausner and Antonacopoulos, "Europeana Newspapers OCR Workflow Evaluation" (HIP 2015),
section 3.2, PRImA's TextEval.

The CER of matched words pairs the words first: equal ones, then, again and again, the
two that are most alike. So no order is asked for, as in the flexible character accuracy
of Clausner, Pletschacher and Antonacopoulos (Pattern Recognition Letters 131, 2020),
which does so with lines.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursepkg.metrics.edit import edit_distance
from coursepkg.metrics.ngrams import check_unicode, count_rows, n_matches, ngrams
from coursepkg.metrics.scoring import Score


@dataclass(frozen=True)
class BagOfWords:
    """Bag-of-words F1 of pages, a fraction; counts of all pages are summed first.

    Example:
        >>> score(BagOfWords(), ["22.000 Tổng"], ["Tổng 22.000 đ"]).value
        0.8

    Raises:
        ValueError: unicode is unknown.
    """

    name = "bag-of-words F1"

    unicode: str = "NFC"
    """`NFC`, or `raw` to compare code points as they stand."""

    def __post_init__(self) -> None:
        check_unicode(self.unicode)

    def settings(self) -> dict[str, str]:
        """Fields of the signature."""
        return {"case": "mixed", "tok": "none", "unicode": self.unicode}

    def statistics(
        self, hypotheses: Sequence[str], references: Sequence[str]
    ) -> np.ndarray:
        """Pages and transcriptions -> (pages, 3): matches, words read and printed."""
        return count_rows(_count, hypotheses, references, self.unicode, several=False)

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 3) -> F1 (n,); 1 where nothing is printed or read."""
        matches, below = totals[..., 0], totals[..., 1] + totals[..., 2]
        return np.where(below > 0, 2 * matches / np.maximum(below, 1), 1.0)

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Precision, recall and the three counts."""
        matches, n_read, n_printed = totals.astype(int).tolist()
        return {
            "precision": matches / n_read if n_read else 0.0,
            "recall": matches / n_printed if n_printed else 0.0,
            "matches": matches,
            "read": n_read,
            "printed": n_printed,
        }


def _count(read: str, printed: Sequence[str]) -> list[int]:
    bags = [ngrams(text.split(), 1) for text in (read, *printed)]
    return [n_matches(*bags), *(bag.total() for bag in bags)]


@dataclass(frozen=True)
class MeanBagOfWords:
    """Mean over pages of their own bag-of-words F1: a short page weighs as a long one.

    Example:
        >>> score(MeanBagOfWords(), ["a b c d", "x"], ["a b c d", "y"]).value
        0.5
    """

    name = "mean bag-of-words F1"

    def settings(self) -> dict[str, str]:
        """Fields of the signature."""
        return BagOfWords().settings()

    def statistics(
        self, hypotheses: Sequence[str], references: Sequence[str]
    ) -> np.ndarray:
        """Pages and transcriptions -> (pages, 2): F1, and 1 for the page."""
        bags = BagOfWords()
        values = bags.values(bags.statistics(hypotheses, references))
        return np.column_stack([values, np.ones(len(values))])

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 2) -> means (n,)."""
        return np.asarray(totals[..., 0] / totals[..., 1])

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """The number of pages."""
        return {"pages": int(totals[1])}


@dataclass(frozen=True)
class MatchedWordCER:
    """CER of pages whose words are matched in no order; edits of all pages are summed.

    A word without a partner counts with all of its characters.

    Example:
        >>> score(MatchedWordCER(), ["2.000 Tong"], ["Tổng 2.000"]).value
        0.1111111111111111
    """

    name = "CER of matched words"

    def settings(self) -> dict[str, str]:
        """Fields of the signature."""
        return {"unit": "character", "tok": "none", "unicode": "NFC"}

    def statistics(
        self, hypotheses: Sequence[str], references: Sequence[str]
    ) -> np.ndarray:
        """Pages and transcriptions -> (pages, 2): edits and printed characters."""
        return count_rows(_edits, hypotheses, references, "NFC", several=False)

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 2) -> CER (n,); of a page without print its edits."""
        return np.asarray(totals[..., 0] / np.maximum(totals[..., 1], 1))

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """The two counts."""
        return {"edits": int(totals[0]), "characters": int(totals[1])}


def _edits(read: str, printed: Sequence[str]) -> list[int]:
    missed, wrong = missed_words(read, printed[0])
    edits = sum(map(len, missed)) + sum(map(len, wrong))
    for one, other in matched_words(missed, wrong):
        edits += edit_distance(other, one) - len(one) - len(other)
    return [edits, len("".join(printed[0].split()))]


def matched_words(printed: Sequence[str], read: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of a printed and a read word, each once, the most alike first.

    Words are as unlike as the edits between them over the longer one's length. They are
    paired until one side has none left.
    """
    distances = {
        (one, other): edit_distance(other, one) / max(len(one), len(other))
        for one in set(printed)
        for other in set(read)
    }
    pairs = sorted(
        (distances[one, other], i, j)
        for i, one in enumerate(printed)
        for j, other in enumerate(read)
    )
    taken: tuple[set[int], set[int]] = set(), set()
    found = []
    for _, i, j in pairs:
        if i not in taken[0] and j not in taken[1]:
            found.append((printed[i], read[j]))
            taken[0].add(i)
            taken[1].add(j)
    return found


def describe_score(score: Score) -> str:
    """A score of `BagOfWords` as two lines: signature, and precision and recall."""
    one = score.details
    return (
        f"{score}\n  precision {one['precision']:.4f}, recall {one['recall']:.4f}:"
        f" {one['matches']} words right of {one['read']} read and {one['printed']}"
        " printed"
    )


def missed_words(read: str, printed: str) -> tuple[list[str], list[str]]:
    """Printed words that were not read, and read words that are not printed."""
    words, wanted = read.split(), printed.split()
    return _beyond(wanted, words), _beyond(words, wanted)


def _beyond(words: Sequence[str], others: Sequence[str]) -> list[str]:
    """The words left when each of the others has taken away one like it."""
    left = Counter(others)
    found = []
    for word in words:
        if left[word]:
            left[word] -= 1
        else:
            found.append(word)
    return found
