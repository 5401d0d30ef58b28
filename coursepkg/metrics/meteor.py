"""METEOR by exact matches: F-score of words, lowered where their order differs.

    m = matched words, ch = runs of them that are adjacent on both sides
    P = m / words of the hypothesis,  R = m / words of the reference
    METEOR = P R / (alpha P + (1 - alpha) R) * (1 - gamma (ch / m)^beta)

The metric proper (Banerjee and Lavie, ACL workshop 2005; in this form Lavie and
Agarwal, WMT 2007) goes on to match stems, then synonyms of WordNet, which hardly exist
for Vietnamese or Chinese: this is its first stage alone. Equal to nltk's `meteor_score`
with a stemmer and a WordNet that find nothing. As there, each word takes the last equal
word that is free; the paper asks for the matching with the fewest crossings.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from coursepkg.metrics.ngrams import (
    References,
    check_tokenizer,
    check_unicode,
    count_rows,
    tokenize,
)


@dataclass(frozen=True)
class METEOR:
    """Mean METEOR of the sentences, a fraction.

    Of several references the best counts. No match scores 0. Equal sentences score 1 -
    gamma / m^beta, below 1.

    Example:
        >>> round(score(METEOR(), ["the cat sat down"], ["the cat sat down"]).value, 4)
        0.9922

    Raises:
        ValueError: a setting is out of range.
    """

    name = "METEOR"

    alpha: float = 0.9
    """Weight of recall against precision, 0 to 1."""
    beta: float = 3.0
    """How the penalty grows with the share of runs, at least 0."""
    gamma: float = 0.5
    """Largest penalty, 0 to 1."""
    tokenize: str = "13a"
    """A name of `tokenizers.TOKENIZERS`; nltk leaves it to the caller."""
    lowercase: bool = True
    """Whether capital letters are levelled first."""
    unicode: str = "raw"
    """`raw` or `NFC`."""

    def __post_init__(self) -> None:
        for name, value in (("alpha", self.alpha), ("gamma", self.gamma)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must lie between 0 and 1, got {value}")
        if not self.beta >= 0:
            raise ValueError(f"beta must be at least 0, got {self.beta}")
        check_tokenizer(self.tokenize)
        check_unicode(self.unicode)

    def settings(self) -> dict[str, str]:
        """Fields of the signature."""
        return {
            "case": "lc" if self.lowercase else "mixed",
            "tok": self.tokenize,
            "match": "exact",
            "alpha": f"{self.alpha:g}",
            "beta": f"{self.beta:g}",
            "gamma": f"{self.gamma:g}",
            "unicode": self.unicode,
        }

    def statistics(
        self, hypotheses: Sequence[str], references: References
    ) -> np.ndarray:
        """Hypotheses and references -> (sentences, 2): METEOR, and 1."""
        return count_rows(self._count, hypotheses, references, self.unicode)

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 2) -> mean METEOR (n,)."""
        return totals[..., 0] / totals[..., 1]

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """The number of sentences."""
        return {"sentences": int(totals[1])}

    def _count(self, hypothesis: str, references: Sequence[str]) -> tuple[float, float]:
        words = self._cut(hypothesis)
        return max(self._compare(words, self._cut(text)) for text in references), 1.0

    def _cut(self, text: str) -> tuple[str, ...]:
        return tokenize(text.lower() if self.lowercase else text, self.tokenize)

    def _compare(self, words: Sequence[str], other: Sequence[str]) -> float:
        matches = match_words(words, other)
        if not matches:
            return 0.0
        precision, recall = len(matches) / len(words), len(matches) / len(other)
        f_score = (
            precision * recall / (self.alpha * precision + (1 - self.alpha) * recall)
        )
        return (
            1 - self.gamma * (count_chunks(matches) / len(matches)) ** self.beta
        ) * f_score


def match_words(words: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of equal words by their places, each word in one pair at most.

    From the last word back, each takes the last equal word that is still free.
    """
    places = defaultdict(list)
    for j, word in enumerate(other):
        places[word].append(j)
    matches = [
        (i, places[word].pop())
        for i, word in reversed(list(enumerate(words)))
        if places[word]
    ]
    return matches[::-1]


def count_chunks(matches: Sequence[tuple[int, int]]) -> int:
    """Runs of pairs that are adjacent on both sides; 0 for no pairs."""
    breaks = sum((i + 1, j + 1) != following for (i, j), following in pairwise(matches))
    return breaks + bool(matches)
