"""chrF and chrF++: F-score of character n-grams (Popović, WMT 2015 and 2017).

    P, R = mean over n-gram orders of matches / n-grams of hypothesis, and of reference
    chrF = 100 (1 + beta^2) P R / (beta^2 P + R)

chrF++ counts word n-grams as well. Spaces are dropped first, so there is no tokenizer
and half a word is worth half a match. Orders that either side is too short for stay out
of the mean. Equal to SacreBLEU (Post, arXiv 1804.08771).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursepkg.metrics.ngrams import (
    Ngrams,
    References,
    check_unicode,
    count_rows,
    n_matches,
    ngrams,
)
from coursepkg.validation import check_count

_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@dataclass(frozen=True)
class CHRF:
    """chrF of a corpus, 0 to 100; `CHRF(word_order=2)` is chrF++.

    Example:
        >>> round(score(CHRF(), ["đi học"], ["đi học."]).value, 2)
        75.37

    Raises:
        ValueError: a setting is out of range.
    """

    char_order: int = 6
    """Longest character n-grams, at least 1."""
    word_order: int = 0
    """Longest word n-grams: 0 for chrF, 2 for chrF++."""
    beta: int = 2
    """Recall weighs beta times as much as precision, at least 1."""
    lowercase: bool = False
    """Whether capital letters are levelled first."""
    unicode: str = "raw"
    """`raw`, as SacreBLEU, or `NFC`."""

    def __post_init__(self) -> None:
        check_count("char_order", self.char_order, least=1)
        check_count("word_order", self.word_order, least=0)
        check_count("beta", self.beta, least=1)
        check_unicode(self.unicode)

    @property
    def name(self) -> str:
        """ChrF2, or chrF2++ with words."""
        return f"chrF{self.beta}" + "+" * self.word_order

    def settings(self) -> dict[str, str]:
        """Fields of the signature, SacreBLEU's first."""
        return {
            "case": "lc" if self.lowercase else "mixed",
            "eff": "yes",
            "nc": str(self.char_order),
            "nw": str(self.word_order),
            "space": "no",
            "unicode": self.unicode,
        }

    def statistics(
        self, hypotheses: Sequence[str], references: References
    ) -> np.ndarray:
        """(sentences, 3 orders): n-grams of either side and matches, by order.

        Of several references the one with the highest chrF counts.
        """
        return count_rows(self._count, hypotheses, references, self.unicode)

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 3 orders) -> chrF (n,)."""
        precision, recall = self._means(totals)
        weight = self.beta**2
        below = weight * precision + recall
        return 100 * (
            (1 + weight) * precision * recall / np.where(below > 0, below, 1.0)
        )

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Mean precision and mean recall, fractions."""
        precision, recall = self._means(totals[None])
        return {"precision": precision.item(), "recall": recall.item()}

    def _means(self, totals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        counts = totals.astype(np.float64)
        n_hypothesis, n_reference, matched = (counts[..., i::3] for i in range(3))
        possible = (n_hypothesis > 0) & (n_reference > 0)
        orders = np.maximum(possible.sum(axis=-1), 1)
        shares = (
            np.where(possible, matched / np.maximum(side, 1), 0.0)
            for side in (n_hypothesis, n_reference)
        )
        precision, recall = (share.sum(axis=-1) / orders for share in shares)
        return precision, recall

    def _count(self, hypothesis: str, references: Sequence[str]) -> np.ndarray:
        ours = self._ngrams(hypothesis)
        rows = np.array([self._row(ours, self._ngrams(text)) for text in references])
        return rows[0] if len(rows) == 1 else rows[self.values(rows).argmax()]

    def _row(self, ours: Sequence[Ngrams], theirs: Sequence[Ngrams]) -> list[int]:
        row = []
        for counts, others in zip(ours, theirs, strict=True):
            # An order that the reference lacks does not count against the precision, as
            # in SacreBLEU.
            row += [
                counts.total() if others else 0,
                others.total(),
                n_matches(counts, others),
            ]
        return row

    def _ngrams(self, text: str) -> list[Ngrams]:
        text = text.lower() if self.lowercase else text
        characters = "".join(text.split())
        words = split_words(text) if self.word_order else []
        return [
            *(ngrams(characters, n) for n in range(1, self.char_order + 1)),
            *(ngrams(words, n) for n in range(1, self.word_order + 1)),
        ]


def split_words(text: str) -> list[str]:
    """Words at whitespace, with one leading or trailing punctuation mark apart."""
    words = []
    for word in text.split():
        if len(word) > 1 and word[-1] in _PUNCTUATION:
            words += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in _PUNCTUATION:
            words += [word[0], word[1:]]
        else:
            words.append(word)
    return words
