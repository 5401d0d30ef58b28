"""Scores of extracted fields: the challenge's CER, and F1 of each field.

Both compare one text a receipt, the four fields in the order SELLER, ADDRESS,
TIMESTAMP, TOTAL_COST joined by `|||`; a field that is not there is empty, so three
joints always stand in it:

    CER of a receipt = edits(found, true) / characters(true)
    challenge CER    = mean of it over the receipts
    F1 of a field    = 2 hits / (receipts where it was found + receipts that have it)

A hit is a field that says the same but for case and spaces. Source: MC-OCR 2021, task 2
(https://rivf2021-mc-ocr.vietnlp.com/challenge), which scores photographs end to end;
teams report 0.22 to 0.30 there. On true lines the same formula measures the extraction
alone.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from coursepkg.metrics.edit import CER
from coursepkg.metrics.ngrams import check_lengths
from coursepkg.metrics.scoring import (
    Comparison,
    Metric,
    Score,
    compare,
    score,
    score_as_json,
    sentence_scores,
)
from coursepkg.projects.ocr.data.table_row import JOINT, LABELS

N_RESAMPLES = 1000


def join_fields(texts: Sequence[str]) -> str:
    """The four texts of a receipt as the challenge joins them.

    Example:
        >>> join_fields(("Shop", "", "Ngày 09/08/2020", "Tổng 5.000"))
        'Shop||||||Ngày 09/08/2020|||Tổng 5.000'

    Raises:
        ValueError: there are not four texts, or one holds the joint.
    """
    if len(texts) != len(LABELS):
        raise ValueError(f"texts must be {len(LABELS)}, got {len(texts)}")
    if any(JOINT in text for text in texts):
        raise ValueError(f"texts must not hold {JOINT!r}, got {texts!r}")
    return JOINT.join(texts)


@dataclass(frozen=True)
class ChallengeCER:
    """Mean over receipts of the CER of their joined fields, a fraction, 0 is best.

    Example:
        >>> from coursepkg.metrics import score
        >>> score(ChallengeCER(), ["AB|||||||||"], ["AC|||||||||"]).value
        0.09090909090909091
    """

    name = "challenge CER"

    def settings(self) -> dict[str, str]:
        """Fields of the signature."""
        return {"unit": "character", "unicode": "NFC", "mean": "receipts"}

    def statistics(
        self, hypotheses: Sequence[str], references: Sequence[str]
    ) -> np.ndarray:
        """Joined fields -> (receipts, 2): CER of the receipt, and 1."""
        rates = sentence_scores(CER(), hypotheses, references)
        return np.stack([rates, np.ones_like(rates)], axis=-1)

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 2) -> mean CER (n,)."""
        return totals[..., 0] / np.maximum(totals[..., 1], 1)

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """The number of receipts."""
        return {"receipts": int(totals[1])}


@dataclass(frozen=True)
class FieldF1:
    """F1 of one field, or the mean of all four, a fraction, 1 is best.

    Example:
        >>> from coursepkg.metrics import score
        >>> found, true = ["A|||b|||1|||"], ["a|||c|||1|||9"]
        >>> score(FieldF1(), found, true).value
        0.5
    """

    field: str = ""
    """One of `LABELS`, or empty for the mean."""

    @property
    def name(self) -> str:
        """`F1 SELLER`, or `macro-F1`."""
        return f"F1 {self.field}" if self.field else "macro-F1"

    def settings(self) -> dict[str, str]:
        """Fields of the signature."""
        return {"fields": self.field or "4", "case": "lc", "unicode": "NFC"}

    def statistics(
        self, hypotheses: Sequence[str], references: Sequence[str]
    ) -> np.ndarray:
        """Joined fields -> (receipts, 3 or 12): hit, found, true? of each field."""
        check_lengths(hypotheses, references, ("hypotheses", "references"))
        found, true = (
            np.array([_parts(text) for text in side], dtype=object).reshape(-1, 4)
            for side in (hypotheses, references)
        )
        if self.field:
            one = [LABELS.index(self.field)]
            found, true = found[:, one], true[:, one]
        has, should = found != "", true != ""
        hits = (found == true) & has
        return np.concatenate([hits, has, should], axis=-1).astype(np.int64)

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 3 or 12) -> F1 (n,)."""
        hits, found, true = np.split(totals, 3, axis=-1)
        return (2 * hits / np.maximum(found + true, 1)).mean(axis=-1)

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Hits, found and true fields: of the one, or in the order of `LABELS`."""
        names = ("hits", "found", "true")
        parts = (part.tolist() for part in np.split(totals, 3))
        return dict(zip(names, parts, strict=True))


def _parts(text: str) -> list[str]:
    """The four fields of a joined text, without case and spare spaces."""
    plain = unicodedata.normalize("NFC", text).casefold()
    return [" ".join(part.split()) for part in plain.split(JOINT)]


@dataclass(frozen=True)
class FieldScores:
    """What one way of finding fields scores."""

    cer: Score
    """The challenge's."""
    macro: Score
    """Macro-F1 of the fields' texts."""
    fields: tuple[Score, ...]
    """F1 of each field's text, in the order of `LABELS`."""
    values: tuple[Score, ...]
    """F1 of typed time and total: ISO 8601, and integer dong, parsed from the true text
    as from the found one."""

    def __str__(self) -> str:
        rows = [self.cer, self.macro, *self.fields]
        return "\n".join(
            [*map(str, rows), *(f"typed value: {one}" for one in self.values)]
        )

    def as_json(self) -> dict[str, Any]:
        """All scores, with signatures and intervals."""
        return {
            "challenge_cer": score_as_json(self.cer),
            "macro_f1": score_as_json(self.macro),
            "f1": {
                label: score_as_json(one)
                for label, one in zip(LABELS, self.fields, strict=True)
            },
            "value_f1": {
                label: score_as_json(one)
                for label, one in zip(LABELS[2:], self.values, strict=True)
            },
        }


class JoinedFields(NamedTuple):
    """The fields of receipts as the scores compare them, one text a receipt."""

    texts: Sequence[str]
    """See `join_fields`."""
    values: Sequence[str]
    """Typed values in the same form; seller and address are left empty."""


def evaluate_fields(
    found: JoinedFields,
    true: JoinedFields,
    *,
    protocol: str = "",
    n_resamples: int = N_RESAMPLES,
) -> FieldScores:
    """Score the fields of receipts.

    Args:
        found: what was extracted.
        true: what is right.
        protocol: data, split and part in a few words, for the signature.
        n_resamples: bootstrap resamples of receipts; 0 leaves the intervals out.

    Raises:
        ValueError: the numbers differ, or there is no receipt.
    """
    if not true.texts:
        raise ValueError("true must hold at least one receipt, got none")
    options: dict[str, Any] = {"protocol": protocol, "n_resamples": n_resamples}
    texts, values = (found.texts, true.texts), (found.values, true.values)
    return FieldScores(
        score(ChallengeCER(), *texts, **options),
        score(FieldF1(), *texts, **options),
        tuple(score(FieldF1(label), *texts, **options) for label in LABELS),
        tuple(score(FieldF1(label), *values, **options) for label in LABELS[2:]),
    )


def compare_fields(
    first: JoinedFields, second: JoinedFields, true: JoinedFields, *, protocol: str = ""
) -> list[Comparison]:
    """Two ways of extraction on the same receipts, by paired bootstrap.

    Returns:
        the difference in the challenge's CER, macro-F1, F1 of each field's text in the
        order of `LABELS`, and F1 of the typed time and total.
    """
    texts = (first.texts, second.texts, true.texts)
    values = (first.values, second.values, true.values)
    metrics: list[Metric] = [ChallengeCER(), FieldF1(), *map(FieldF1, LABELS)]
    typed = f"{protocol}, typed values"
    return [
        *(compare(metric, *texts, protocol=protocol) for metric in metrics),
        *(compare(FieldF1(label), *values, protocol=typed) for label in LABELS[2:]),
    ]
