"""Confusion matrix, accuracy, and macro-F1 over a fixed list of labels.

    F1 of a class = 2 TP / (examples of the class + predictions of it)
    macro-F1      = mean F1 of the classes, rare and frequent ones with the same weight

The list of labels is part of the definition: a class that the test set happens to lack
counts with its F1 of 0, or the score would depend on the draw. Equal to scikit-learn
with `labels=` given.
"""

import hashlib
import json
import math
import unicodedata
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from coursepkg.metrics.ngrams import check_lengths, check_unicode
from coursepkg.validation import check_count, describe


def confusion_matrix(
    predictions: Sequence[Hashable],
    truths: Sequence[Hashable],
    *,
    labels: Sequence[Hashable],
) -> np.ndarray:
    """How often each class was taken for each other.

    Returns:
        (C, C) counts: row i, column j for truth `labels[i]` and prediction `labels[j]`.

    Raises:
        ValueError: the lengths differ, nothing is given, or a label is not in the list.
    """
    check_labels(labels)
    check_lengths(predictions, truths, ("predictions", "truths"))
    n = len(labels)
    columns = _numbers("predictions", predictions, labels)
    rows = _numbers("truths", truths, labels)
    return np.bincount(rows * n + columns, minlength=n * n).reshape(n, n)


@dataclass(frozen=True)
class MacroF1:
    """Macro-averaged F1 over a fixed list of labels, a fraction.

    Example:
        >>> metric = MacroF1(("a", "b", "c"))
        >>> round(score(metric, ["a", "b", "a"], ["a", "b", "b"]).value, 4)
        0.4444

    Raises:
        ValueError: labels are empty or repeated, or zero_division is not 0, 1 or NaN.
    """

    name = "macro-F1"

    labels: tuple[Hashable, ...]
    """All classes, each once."""
    zero_division: float = 0.0
    """F1 of a class without examples and predictions: 0, 1, or NaN to leave it out of
    the mean."""

    def __post_init__(self) -> None:
        check_labels(self.labels)
        if not (self.zero_division in (0.0, 1.0) or math.isnan(self.zero_division)):
            raise ValueError(
                f"zero_division must be 0, 1 or NaN, got {self.zero_division}"
            )

    def settings(self) -> dict[str, str]:
        """Fields of the signature; the labels by number and a hash, in any order."""
        text = json.dumps(sorted(map(str, self.labels)))
        digest = hashlib.sha256(text.encode("ascii")).hexdigest()[:8]
        return {
            "labels": f"{len(self.labels)}-{digest}",
            "zero": f"{self.zero_division:g}",
        }

    def statistics(
        self, predictions: Sequence[Hashable], truths: Sequence[Hashable]
    ) -> np.ndarray:
        """Predictions and truths -> (examples, 3 C): hit, predicted, true?"""
        check_lengths(predictions, truths, ("predictions", "truths"))
        classes = np.eye(len(self.labels), dtype=np.int64)
        predicted = classes[_numbers("predictions", predictions, self.labels)]
        true = classes[_numbers("truths", truths, self.labels)]
        return np.concatenate([predicted * true, predicted, true], axis=-1)

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 3 C) -> macro-F1 (n,); NaN where every class is left out."""
        hits, predicted, true = np.split(totals, 3, axis=-1)
        f_scores = self._ratio(2 * hits, predicted + true)
        counted = ~np.isnan(f_scores)
        n_counted = counted.sum(axis=-1)
        total = np.where(counted, f_scores, 0.0).sum(axis=-1)
        return np.where(n_counted > 0, total / np.maximum(n_counted, 1), np.nan)

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Precision, recall, F1 and number of examples of every class."""
        hits, predicted, true = np.split(totals, 3)
        columns = (
            self._ratio(hits, predicted).tolist(),
            self._ratio(hits, true).tolist(),
            self._ratio(2 * hits, predicted + true).tolist(),
            true.astype(int).tolist(),
        )
        names = ("precision", "recall", "f1", "support")
        rows = zip(self.labels, *columns, strict=True)
        return {str(label): dict(zip(names, row, strict=True)) for label, *row in rows}

    def _ratio(self, above: np.ndarray, below: np.ndarray) -> np.ndarray:
        return np.where(below > 0, above / np.maximum(below, 1), self.zero_division)


@dataclass(frozen=True)
class Accuracy:
    """Share of outputs that are wholly right: labels, or lines (sequence accuracy).

    Example:
        >>> score(Accuracy(), ["phở", "bún"], ["phở", "bùn"]).value
        0.5

    Raises:
        ValueError: unicode is unknown.
    """

    name = "accuracy"

    unicode: str = "NFC"
    """`NFC`, or `raw` to compare code points as they stand. For texts only."""

    def __post_init__(self) -> None:
        check_unicode(self.unicode)

    def settings(self) -> dict[str, str]:
        """Fields of the signature."""
        return {"unicode": self.unicode}

    def statistics(
        self, predictions: Sequence[Hashable], truths: Sequence[Hashable]
    ) -> np.ndarray:
        """Predictions and truths -> (examples, 2): right or not, and 1."""
        check_lengths(predictions, truths, ("predictions", "truths"))
        pairs = zip(predictions, truths, strict=True)
        return np.array(
            [(self._form(ours) == self._form(right), 1) for ours, right in pairs],
            dtype=np.int64,
        )

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 2) -> accuracy (n,)."""
        return totals[..., 0] / totals[..., 1]

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """The number of right outputs, and of all."""
        return {"right": int(totals[0]), "all": int(totals[1])}

    def _form(self, value: Hashable) -> Hashable:
        if isinstance(value, str) and self.unicode == "NFC":
            return unicodedata.normalize("NFC", value)
        return value


def check_labels(labels: Sequence[Hashable]) -> None:
    """Raise a ValueError unless there is a label, and none twice."""
    if isinstance(labels, str) or not len(labels):
        raise ValueError(
            f"labels must be a list of at least one label, got {describe(labels)}"
        )
    if len(set(labels)) < len(labels):
        repeated = next(label for i, label in enumerate(labels) if label in labels[:i])
        raise ValueError(
            f"labels must be distinct, but {repeated!r} occurs more than once"
        )


def _numbers(
    name: str, given: Sequence[Hashable], labels: Sequence[Hashable]
) -> np.ndarray:
    place = {label: i for i, label in enumerate(labels)}
    for i, label in enumerate(given):
        if label not in place:
            raise ValueError(
                f"{name}[{i}] must be one of the {len(labels)} labels, got {label!r}"
            )
    return np.array([place[label] for label in given])


def wilson_interval(
    n_right: int, n: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Confidence interval of a share, which lies in [0, 1] for few examples, too.

        (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)

    with p = n_right / n and z the normal quantile, 1.96 for 95%. Source: Wilson,
    "Probable inference, the law of succession, and statistical inference" (JASA 22,
    1927).

    Example:
        >>> [round(end, 3) for end in wilson_interval(8, 10)]
        [0.49, 0.943]

    Args:
        n_right: successes.
        n: examples, at least 1.
        confidence: in (0, 1).

    Raises:
        ValueError: there is no example, n_right is not in [0, n], or the confidence is
            not in (0, 1).
    """
    check_count("n", n)
    check_count("n_right", n_right, least=0)
    if n_right > n:
        raise ValueError(f"n_right must be at most n, {n}, got {n_right}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be in (0, 1), got {confidence}")
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    share = n_right / n
    middle, below = share + z2 / (2 * n), 1 + z2 / n
    half = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n)))
    # Rounding would leave an end of 0 or 1 a little off.
    low = (middle - half) / below if n_right else 0.0
    return low, (middle + half) / below if n_right < n else 1.0
