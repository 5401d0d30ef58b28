"""ROUGE: how much of a reference a text covers (Lin, ACL workshop 2004).

    ROUGE-N   P, R = matched n-grams / n-grams of the hypothesis, and of the reference
    ROUGE-L   P, R = LCS / tokens of the hypothesis, and of the reference,
              LCS = longest sequence of tokens that both have in order, gaps allowed
    F = 2 P R / (P + R); the score of a corpus is the mean F of its sentences

Made for summaries. Equal to the rouge-score package, without its stemmer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursepkg.metrics.ngrams import (
    References,
    check_tokenizer,
    check_unicode,
    count_rows,
    n_matches,
    ngrams,
    tokenize,
)

VARIANTS = ("L", *(str(n) for n in range(1, 10)))
"""ROUGE-L, and ROUGE-1 to ROUGE-9."""


@dataclass(frozen=True)
class ROUGE:
    """Mean F-score of ROUGE-N or ROUGE-L, a fraction.

    Of several references the one with the highest F counts. An empty side scores 0.

    Example:
        >>> score(ROUGE(), ["the cat sat"], ["the cat on the mat sat"]).value
        0.6666666666666666

    Raises:
        ValueError: a setting is out of range.
    """

    variant: str = "L"
    """`L`, or the length of the n-grams, `1` to `9`."""
    tokenize: str = "13a"
    """A name of `tokenizers.TOKENIZERS`. `rouge` is that of the rouge-score package: it
    drops whatever is not a-z or 0-9, so accented Vietnamese breaks into pieces and
    Chinese is lost."""
    lowercase: bool = True
    """Whether capital letters are levelled first."""
    unicode: str = "raw"
    """`raw` or `NFC`."""

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise ValueError(
                f"variant must be 'L' or a digit from '1' to '9', got {self.variant!r}"
            )
        check_tokenizer(self.tokenize)
        check_unicode(self.unicode)

    @property
    def name(self) -> str:
        """ROUGE-L, ROUGE-1, ..."""
        return f"ROUGE-{self.variant}"

    def settings(self) -> dict[str, str]:
        """Fields of the signature."""
        return {
            "case": "lc" if self.lowercase else "mixed",
            "tok": self.tokenize,
            "stem": "no",
            "unicode": self.unicode,
        }

    def statistics(
        self, hypotheses: Sequence[str], references: References
    ) -> np.ndarray:
        """Hypotheses and references -> (sentences, 4): precision, recall, F, and 1."""
        return count_rows(self._count, hypotheses, references, self.unicode)

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 4) -> mean F (n,)."""
        return totals[..., 2] / totals[..., 3]

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Mean precision and mean recall."""
        return {
            "precision": float(totals[0] / totals[3]),
            "recall": float(totals[1] / totals[3]),
        }

    def _count(self, hypothesis: str, references: Sequence[str]) -> tuple[float, ...]:
        tokens = self._cut(hypothesis)
        scores = (self._compare(tokens, self._cut(text)) for text in references)
        return *max(scores, key=lambda row: row[2]), 1.0

    def _cut(self, text: str) -> tuple[str, ...]:
        return tokenize(text.lower() if self.lowercase else text, self.tokenize)

    def _compare(
        self, tokens: Sequence[str], other: Sequence[str]
    ) -> tuple[float, float, float]:
        if self.variant == "L":
            common = lcs_length(tokens, other)
            n_tokens, n_other = len(tokens), len(other)
        else:
            n = int(self.variant)
            grams, others = ngrams(tokens, n), ngrams(other, n)
            common = n_matches(grams, others)
            n_tokens, n_other = grams.total(), others.total()
        precision, recall = common / max(n_tokens, 1), common / max(n_other, 1)
        f_score = 2 * precision * recall / (precision + recall) if common else 0.0
        return precision, recall, f_score


def lcs_length(tokens: Sequence[str], other: Sequence[str]) -> int:
    """Length of the longest common subsequence.

    One row of the usual table is the bits of one integer: a 0 at bit i says that the
    row grows by 1 between i and i + 1. Source: Hyyrö (2004), "Bit-parallel LCS-length
    computation revisited".

    Example:
        >>> lcs_length("a b c d".split(), "b x d".split())
        2
    """
    places: dict[str, int] = {}
    for i, token in enumerate(tokens):
        places[token] = places.get(token, 0) | 1 << i
    full = (1 << len(tokens)) - 1
    row = full
    for token in other:
        hits = row & places.get(token, 0)
        row = ((row + hits) | (row - hits)) & full
    return len(tokens) - row.bit_count()
