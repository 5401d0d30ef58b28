"""Share of texts that are right in every character: sequence accuracy, or the lines that need no correction."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursepkg.metrics.corpus import read_pairs


@dataclass(frozen=True)
class ExactMatch:
    """Texts equal to their reference over all texts, a fraction, 1 is best.

    Both sides are compared in Unicode form NFC and without spaces at their ends, as CER compares them.

    Example:
        >>> score(ExactMatch(), ["Cong hòa", "Xin chào"], ["Cộng hòa", "Xin chào"]).value
        0.5
    """

    @property
    def name(self) -> str:
        """Its usual name."""
        return "accuracy"

    def settings(self) -> dict[str, str]:
        """Fields of the signature."""
        return {"unit": "line", "unicode": "NFC"}

    def statistics(self, hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
        """Hypotheses and references -> (lines, 2): whether it is right, and 1."""
        pairs = read_pairs(hypotheses, references, unicode="NFC", several=False)
        return np.array([[_plain(ours) == _plain(text), 1] for ours, (text,) in pairs], dtype=np.int64)

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 2) -> share (n,)."""
        return np.asarray(totals[..., 0] / np.maximum(totals[..., 1], 1))

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """How many are right."""
        return {"right": int(totals[0])}


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()
