"""CER and WER: edits that a transcription needs, by the length of what is right.

    CER = (S + D + I) / (H + S + D)      hits, substitutions, deletions, insertions of characters; WER: of words

Both sums run over the whole test set before they are divided: a mean of the lines' own rates would give a line
of two characters the weight of one of eighty. The rate can exceed 1, since insertions are not bounded by the
length of the reference. Equal to jiwer, operations included.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from coursepkg.metrics.alignment import Kind, align
from coursepkg.metrics.corpus import check_choice, check_unicode, read_pairs

UNITS = ("character", "word")
"""What is counted."""


def CER(unicode: str = "NFC") -> "ErrorRate":
    """Character error rate of a corpus, a fraction, 0 is best.

    Spaces count as characters, but not those at the ends of a line. A character is a code point: in NFC an accented
    Vietnamese letter is one, in NFD up to three.

    Example:
        >>> score(CER(), ["Cong hoà"], ["Cộng hòa"]).value
        0.375

    Args:
        unicode: `NFC`, or `raw` to compare code points as they stand.

    Raises:
        ValueError: unicode is unknown.
    """
    return ErrorRate("character", unicode)


def WER(unicode: str = "NFC") -> "ErrorRate":
    """Word error rate of a corpus, a fraction, 0 is best.

    Words are what stands between spaces: in Vietnamese a syllable, in Chinese a whole phrase.

    Example:
        >>> score(WER(), ["tôi đi hoc"], ["tôi đi học"]).value
        0.3333333333333333

    Args:
        unicode: `NFC`, or `raw` to compare code points as they stand.

    Raises:
        ValueError: unicode is unknown.
    """
    return ErrorRate("word", unicode)


@dataclass(frozen=True)
class ErrorRate:
    """What `CER` and `WER` make: edits over the length of the reference.

    Without any reference character or word the rate is the number of insertions, as in jiwer.

    Raises:
        ValueError: unit or unicode is unknown.
    """

    unit: str
    """One of `UNITS`."""
    unicode: str = "NFC"
    """`NFC`, or `raw` to compare code points as they stand."""

    def __post_init__(self) -> None:
        check_choice("unit", self.unit, UNITS)
        check_unicode(self.unicode)

    @property
    def name(self) -> str:
        """CER or WER."""
        return "CER" if self.unit == "character" else "WER"

    def settings(self) -> dict[str, str]:
        """Fields of the signature."""
        return {"unit": self.unit, "unicode": self.unicode}

    def statistics(self, hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
        """Hypotheses and references -> (lines, 4): hits, substitutions, deletions, insertions."""
        pairs = read_pairs(hypotheses, references, unicode=self.unicode, several=False)
        return np.array([self._count(hypothesis, text) for hypothesis, (text,) in pairs], dtype=np.int64)

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 4) -> rate (n,)."""
        n_edits = totals[..., 1:].sum(axis=-1)
        return n_edits / np.maximum(totals[..., :3].sum(axis=-1), 1)

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Hits, substitutions, deletions, insertions."""
        names = ("hits", "substitutions", "deletions", "insertions")
        return dict(zip(names, totals.astype(int).tolist(), strict=True))

    def _count(self, hypothesis: str, reference: str) -> list[int]:
        sides = (hypothesis, reference)
        ours, right = (text.strip() if self.unit == "character" else text.split() for text in sides)
        counts = Counter(edit.kind for edit in align(ours, right))
        return [counts[kind] for kind in get_args(Kind)]
