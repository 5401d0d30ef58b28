"""Macro-F1 over a fixed label list or some words of it, made for a long tail that is resampled.

    F1 of a word = 2 TP / (clips of it + predictions of it)
    macro-F1     = mean F1 of the words, the rare ones with the same weight as the frequent ones

On the clips as they are, this is scikit-learn's `f1_score(labels=words, average="macro", zero_division=0)`: a word of
the list that the part lacks counts 0. A resample is another matter. One word in three with a single clip is missing in
it by the luck of the draw, and with a 0 for each of these even a perfect recogniser would get an interval far below its
score. A draw says nothing about a word that it lacks, so the mean of this draw leaves the word out.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursepkg.metrics.classification import MacroF1, check_labels
from coursepkg.metrics.corpus import check_lengths


@dataclass(frozen=True)
class WordF1:
    """Mean F1 of some words of a label list, a fraction; a metric for `metrics.scoring` and `metrics.bootstrap`.

    Example:
        >>> round(score(WordF1(("ăn", "uống", "ngủ"), absent=("ngủ",)), ["ăn", "ăn"], ["ăn", "uống"]).value, 4)
        0.2222

    Raises:
        ValueError: labels are empty or repeated, or a word is not one of them.
    """

    labels: tuple[str, ...]
    """All words that may be said, each once."""
    words: tuple[str, ...] = ()
    """Those that the mean is over; empty for all labels."""
    absent: tuple[str, ...] = ()
    """Those without a clip in the part: they count 0 in it and in each of its resamples."""
    about: str = ""
    """What the words have in common, for the name; as `head`."""

    def __post_init__(self) -> None:
        check_labels(self.labels)
        for name in ("words", "absent"):
            outside = sorted(set(getattr(self, name)) - set(self.scored if name == "absent" else self.labels))
            if outside:
                raise ValueError(
                    f"{name} must be some of the {len(self.labels)} labels, but {outside[0]!r} is not"
                )

    @property
    def scored(self) -> tuple[str, ...]:
        """The words that the mean is over."""
        return self.words or self.labels

    @property
    def name(self) -> str:
        """Macro-F1, and over what."""
        return f"macro-F1 {self.about}".rstrip()

    def settings(self) -> dict[str, str]:
        """Fields of the signature: those of `MacroF1`, the words where they are not all, and the rule for draws."""
        told = MacroF1(self.labels).settings()
        if self.words:
            digest = hashlib.sha256(json.dumps(sorted(self.words)).encode("ascii")).hexdigest()[:8]
            told["words"] = f"{len(self.words)}-{digest}"
        return told | {"lacking": "left-out"}

    def statistics(self, predictions: Sequence[str | None], truths: Sequence[str]) -> np.ndarray:
        """Predictions and truths -> (clips, 3 W): for each word is it hit, said, true? None is no answer.

        Raises:
            ValueError: the lengths differ, nothing is given, or a word is not in the label list.
        """
        check_lengths(predictions, truths, ("predictions", "truths"))
        said = self._one_hot("predictions", predictions)
        true = self._one_hot("truths", truths)
        return np.concatenate([said * true, said, true], axis=1)

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 3 W) -> macro-F1 (n,); NaN for a draw that has a clip of none of the words."""
        hits, said, true = np.split(totals, 3, axis=-1)
        has = true > 0
        f_scores = np.where(has, 2 * hits / np.maximum(said + true, 1), 0.0)
        n_counted = has.sum(axis=-1) + len(self.absent)
        return np.where(n_counted > 0, f_scores.sum(axis=-1) / np.maximum(n_counted, 1), np.nan)

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Precision, recall, F1 and number of clips of every word that the mean is over; 0 where it is 0 / 0."""
        hits, said, true = np.split(np.asarray(totals, dtype=np.float64), 3)
        columns = (
            (hits / np.maximum(said, 1)).tolist(),
            (hits / np.maximum(true, 1)).tolist(),
            (2 * hits / np.maximum(said + true, 1)).tolist(),
            true.astype(int).tolist(),
        )
        names = ("precision", "recall", "f1", "support")
        rows = zip(self.scored, *columns, strict=True)
        return {word: dict(zip(names, row, strict=True)) for word, *row in rows}

    def _one_hot(self, name: str, given: Sequence[str | None]) -> np.ndarray:
        """Words (N,) -> 0 or 1 (N, W); a label that the mean is not over, and no answer, give a row of zeros."""
        known, place = set(self.labels), {word: i for i, word in enumerate(self.scored)}
        marks = np.zeros((len(given), len(self.scored)), dtype=np.int64)
        for row, word in enumerate(given):
            if word not in known and not (word is None and name == "predictions"):
                raise ValueError(f"{name}[{row}] must be one of the {len(self.labels)} labels, got {word!r}")
            if word in place:
                marks[row, place[word]] = 1
        return marks
