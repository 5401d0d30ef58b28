"""TER: edits that a translation still needs, by the length of the reference (Snover et al., AMTA 2006).

    TER = 100 (insertions + deletions + substitutions + shifts) / words of the reference

Lower is better, and more than 100 is possible: a hypothesis may need more edits than the reference has words.
Equal to SacreBLEU (Post, arXiv 1804.08771) for the same settings.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursepkg.metrics.corpus import check_unicode, read_pairs
from coursepkg.metrics.shifts import count_edits

_WESTERN = (
    (r"\n-", ""),
    (r"\n", " "),
    (r"&quot;", '"'),
    (r"&amp;", "&"),
    (r"&lt;", "<"),
    (r"&gt;", ">"),
    (r"^|$", " "),
    (r"([{-~\[-` -&(-+:-@/])", r" \1 "),
    (r"'s ", " 's "),
    (r"'s$", " 's"),
    (r"([^0-9])([.,])", r"\1 \2 "),
    (r"([.,])([^0-9])", r" \1 \2"),
    (r"([0-9])(-)", r"\1 \2 "),
)
_ASIAN_PUNCTUATION = (
    "([\u3001\u3002\u3008-\u3011\u3014-\u301f\uff61-\uff65\u30fb])",
    "([\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09])",
)
_ASIAN = (
    ("([\u4e00-\u9fff\u3400-\u4dbf])", r" \1 "),
    ("([\u31c0-\u31ef\u2e80-\u2eff])", r" \1 "),
    ("([\u3300-\u33ff\uf900-\ufaff\ufe30-\ufe4f])", r" \1 "),
    ("([\u3200-\u3f22])", r" \1 "),
    *((sign, r" \1 ") for sign in _ASIAN_PUNCTUATION),
)


@dataclass(frozen=True)
class TER:
    """TER of a corpus, in percent, 0 is best.

    Of several references the one that needs the fewest edits counts, and the length is their mean length.
    Without any reference word the score is 0 for an empty hypothesis, else 100.

    Example:
        >>> score(TER(), ["tôi nay đi học"], ["hôm nay tôi đi học"]).value
        40.0

    Raises:
        ValueError: unicode is unknown.
    """

    case_sensitive: bool = False
    """Whether capital letters count."""
    normalized: bool = False
    """Whether punctuation is set apart, as Tercom does with `-N`."""
    no_punct: bool = False
    """Whether punctuation is dropped."""
    asian: bool = False
    """Whether the two options above know Chinese and Japanese characters too. Chinese needs it, with `normalized`."""
    unicode: str = "raw"
    """`raw`, as SacreBLEU, or `NFC`."""

    def __post_init__(self) -> None:
        check_unicode(self.unicode)

    @property
    def name(self) -> str:
        """TER."""
        return "TER"

    def settings(self) -> dict[str, str]:
        """Fields of the signature, SacreBLEU's first."""
        return {
            "case": "mixed" if self.case_sensitive else "lc",
            "tok": "tercom",
            "norm": "yes" if self.normalized else "no",
            "punct": "no" if self.no_punct else "yes",
            "asian": "yes" if self.asian else "no",
            "unicode": self.unicode,
        }

    def statistics(
        self, hypotheses: Sequence[str], references: Sequence[str] | Sequence[Sequence[str]]
    ) -> np.ndarray:
        """Hypotheses and references -> (sentences, 2): edits, and the mean length of the references."""
        pairs = read_pairs(hypotheses, references, unicode=self.unicode)
        return np.array([self._count(hypothesis, texts) for hypothesis, texts in pairs], dtype=np.float64)

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 2) -> TER (n,)."""
        n_edits, length = totals[..., 0], totals[..., 1]
        return np.where(length > 0, 100 * n_edits / np.where(length > 0, length, 1.0), 100.0 * (n_edits > 0))

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Edits, and words of the references."""
        return {"edits": int(totals[0]), "reference_length": float(totals[1])}

    def _count(self, hypothesis: str, references: Sequence[str]) -> tuple[int, float]:
        words = self.cut(hypothesis)
        # SacreBLEU prepares references twice, and the rules are not idempotent: 's may part in the second pass only.
        others = [self.cut(" ".join(self.cut(text))) for text in references]
        n_edits = min(count_edits(words, other) for other in others)
        return n_edits, sum(len(other) for other in others) / len(others)

    def cut(self, text: str) -> list[str]:
        """The words that are compared."""
        text = text.rstrip()
        text = text if self.case_sensitive else text.lower()
        rules = [*_WESTERN, *(_ASIAN if self.asian else ())] if self.normalized else []
        if self.no_punct:
            dropped = [r"[.,?:;!\"()]", *(_ASIAN_PUNCTUATION if self.asian else ())]
            rules += [(signs, "") for signs in dropped]
        for pattern, replacement in rules if text else ():
            text = re.sub(pattern, replacement, text)
        return text.split()
