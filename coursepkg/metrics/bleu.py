"""BLEU (Papineni et al., ACL 2002): n-grams of a translation that its references have.

    p_n  = matched n-grams / n-grams of the hypotheses    summed over the whole test set
    BP   = 1 if c >= r else exp(1 - r / c)     c, r: tokens of hypotheses and references
    BLEU = 100 BP exp(1/4 sum over n = 1..4 of ln p_n)

Equal to SacreBLEU (Post, arXiv 1804.08771) for the same settings.
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
    most,
    n_matches,
    ngrams,
    tokenize,
)
from coursepkg.validation import check_choice, check_count

SMOOTHING = {"none": None, "floor": 0.1, "add-k": 1.0, "exp": None}
"""Names of the smoothing methods, and the value that each takes unless told."""


@dataclass(frozen=True)
class BLEU:
    """BLEU of a corpus, 0 to 100.

    Example:
        >>> found = score(BLEU(), ["the guard is late"], ["the guard is late today"])
        >>> round(found.value, 2)
        77.88

    Raises:
        ValueError: a setting is out of range.
    """

    name = "BLEU"

    tokenize: str = "13a"
    """A name of `tokenizers.TOKENIZERS`. Chinese needs `zh` or `char`."""
    smooth: str = "exp"
    """What an n-gram order without a match counts: `none` 0; `floor` smooth_value
    matches; `add-k` smooth_value more matches and n-grams for every n > 1; `exp` 1/2,
    1/4, ... of a match, from one such order to the next. Methods 1 to 3 of Chen and
    Cherry (WMT 2014)."""
    smooth_value: float | None = None
    """For `floor` and `add-k`; None takes 0.1 and 1."""
    lowercase: bool = False
    """Whether capital letters are levelled first."""
    effective_order: bool = False
    """Whether orders for which the hypothesis is too short are left out of the mean.
    For single sentences."""
    max_order: int = 4
    """Longest n-grams, at least 1."""
    unicode: str = "raw"
    """`raw`, as SacreBLEU, or `NFC`."""

    def __post_init__(self) -> None:
        check_tokenizer(self.tokenize)
        check_choice("smooth", self.smooth, tuple(SMOOTHING))
        check_count("max_order", self.max_order, least=1)
        check_unicode(self.unicode)
        if self.smooth_value is not None and SMOOTHING[self.smooth] is None:
            raise ValueError(
                f"smooth_value must be None for smooth={self.smooth!r}, got"
                f" {self.smooth_value}"
            )
        if self.smooth_value is not None and not self.smooth_value > 0:
            raise ValueError(f"smooth_value must be above 0, got {self.smooth_value}")

    def settings(self) -> dict[str, str]:
        """Fields of the signature, SacreBLEU's first; `order` if it is not 4."""
        value = self._smooth_value()
        fields = {
            "case": "lc" if self.lowercase else "mixed",
            "eff": "yes" if self.effective_order else "no",
            "tok": self.tokenize,
            "smooth": self.smooth if value is None else f"{self.smooth}[{value:.2f}]",
            "unicode": self.unicode,
        }
        return (
            fields if self.max_order == 4 else fields | {"order": str(self.max_order)}
        )

    def statistics(
        self, hypotheses: Sequence[str], references: References
    ) -> np.ndarray:
        """(sentences, 2 + 2 max_order): lengths, matches and n-grams of each order.

        The reference length is that of the reference nearest in length, the shorter one
        of two equally near.
        """
        return count_rows(self._count, hypotheses, references, self.unicode)

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 2 + 2 max_order) -> BLEU (n,)."""
        precisions, possible = self._precisions(totals)
        # ln 0 is a huge negative number here, which exp turns into 0 without an
        # infinity on the way.
        logs = np.where(
            precisions > 0, np.log(np.where(precisions > 0, precisions, 1.0)), -1e10
        )
        if self.effective_order:
            mean = (logs * possible).sum(axis=-1) / np.maximum(possible.sum(axis=-1), 1)
        else:
            mean = logs.mean(axis=-1)
        bleu = 100 * brevity_penalty(totals[..., 0], totals[..., 1]) * np.exp(mean)
        return np.where(totals[..., 2 : 2 + self.max_order].any(axis=-1), bleu, 0.0)

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Smoothed precisions (fractions), brevity penalty, lengths and counts."""
        matches, counts = np.split(totals[2:], 2)
        precisions, _ = self._precisions(totals[None])
        return {
            "precisions": tuple((precisions[0] * matches.any()).tolist()),
            "brevity_penalty": brevity_penalty(totals[:1], totals[1:2]).item(),
            "hypothesis_length": int(totals[0]),
            "reference_length": int(totals[1]),
            "matches": tuple(matches.tolist()),
            "counts": tuple(counts.tolist()),
        }

    def _count(self, hypothesis: str, references: Sequence[str]) -> list[int]:
        tokens = self._cut(hypothesis)
        others = [self._cut(text) for text in references]
        nearest = min(
            (len(other) for other in others),
            key=lambda length: (abs(length - len(tokens)), length),
        )
        orders = range(1, self.max_order + 1)
        matches = [
            n_matches(ngrams(tokens, n), most([ngrams(other, n) for other in others]))
            for n in orders
        ]
        return [
            len(tokens),
            nearest,
            *matches,
            *(max(len(tokens) - n + 1, 0) for n in orders),
        ]

    def _cut(self, text: str) -> tuple[str, ...]:
        return tokenize(text.lower() if self.lowercase else text, self.tokenize)

    def _precisions(self, totals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Sums -> smoothed p_n (n, max_order), and for which n there are n-grams."""
        matches, counts = np.split(totals[..., 2:].astype(np.float64), 2, axis=-1)
        value = self._smooth_value() or 0.0
        if self.smooth == "add-k":
            matches[..., 1:] += value
            counts[..., 1:] += value
        possible = counts > 0
        missed = possible & (matches == 0)
        if self.smooth == "floor":
            matches = np.where(missed, value, matches)
        elif self.smooth == "exp":
            matches = np.where(missed, 0.5 ** np.cumsum(missed, axis=-1), matches)
        return (
            np.where(possible, matches / np.where(possible, counts, 1.0), 0.0),
            possible,
        )

    def _smooth_value(self) -> float | None:
        return (
            SMOOTHING[self.smooth] if self.smooth_value is None else self.smooth_value
        )


def brevity_penalty(n_hypothesis: np.ndarray, n_reference: np.ndarray) -> np.ndarray:
    """Lengths c and r (n,) -> min(1, exp(1 - r / c)); 0 for an empty hypothesis."""
    shorter = np.exp(np.minimum(1 - n_reference / np.maximum(n_hypothesis, 1), 0.0))
    return np.where(
        n_hypothesis >= n_reference, 1.0, np.where(n_hypothesis > 0, shorter, 0.0)
    )
