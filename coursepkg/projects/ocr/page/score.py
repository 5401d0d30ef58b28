"""Bag-of-words F1 of a page: which words were read, whatever their order.

    matches = sum over words w of min(count of w in the reading, count of w in the transcription)
    precision = matches / words read          recall = matches / words printed
    F1 = 2 matches / (words read + words printed)

A page has no one order of its lines, a table even less, so a character error rate of whole pages measures mostly how
lines were put in order. Counting words leaves that out. A word is what stands between white space, in Unicode form NFC;
case, marks and punctuation count: `Tổng:` is not `Tong:`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursepkg.metrics.corpus import check_unicode, read_pairs
from coursepkg.metrics.ngrams import n_matches, ngrams
from coursepkg.metrics.signature import Score


@dataclass(frozen=True)
class BagOfWords:
    """Bag-of-words F1 of pages, a fraction; counts of all pages are summed first.

    Example:
        >>> score(BagOfWords(), ["22.000 Tổng"], ["Tổng 22.000 đ"]).value
        0.8

    Raises:
        ValueError: unicode is unknown.
    """

    unicode: str = "NFC"
    """`NFC`, or `raw` to compare code points as they stand."""

    def __post_init__(self) -> None:
        check_unicode(self.unicode)

    @property
    def name(self) -> str:
        """What reports call it."""
        return "bag-of-words F1"

    def settings(self) -> dict[str, str]:
        """Fields of the signature."""
        return {"case": "mixed", "tok": "none", "unicode": self.unicode}

    def statistics(self, hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
        """Texts of pages and their transcriptions -> (pages, 3): matches, words read, words printed."""
        pairs = read_pairs(hypotheses, references, unicode=self.unicode, several=False)
        return np.array([_count(read, printed) for read, (printed,) in pairs], dtype=np.int64)

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 3) -> F1 (n,); 1 where nothing is printed and nothing was read."""
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


def _count(read: str, printed: str) -> list[int]:
    bags = [ngrams(text.split(), 1) for text in (read, printed)]
    return [n_matches(*bags), *(bag.total() for bag in bags)]


def describe_score(score: Score) -> str:
    """A score of `BagOfWords` as two lines: with its signature, and what it is made of."""
    one = score.details
    return (
        f"{score}\n  precision {one['precision']:.4f}, recall {one['recall']:.4f}: "
        f"{one['matches']} words right of {one['read']} read and {one['printed']} printed"
    )


def missed_words(read: str, printed: str) -> tuple[list[str], list[str]]:
    """Words that are printed and were not read, and words that were read and are not printed, each in its order."""
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
