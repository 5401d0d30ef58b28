"""Answers of a recogniser and their scores: macro-F1, bands, signers, words.

    F1 of a word = 2 TP / (clips of it + predictions of it)
    macro-F1     = mean F1 of the words, each with the same weight

On the clips as they are, this is scikit-learn's `f1_score(labels=words,
average="macro", zero_division=0)`: a word of the list that the part lacks counts 0. In
a resample, one word in three with a single clip is missing by the luck of the draw, and
with a 0 for each of these even a perfect recogniser would get an interval far below its
score. The mean of a draw therefore leaves out the words that it lacks.
"""

import hashlib
import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np

from coursepkg.metrics.classification import MacroF1, check_labels
from coursepkg.metrics.ngrams import check_lengths
from coursepkg.metrics.scoring import (
    Interval,
    Score,
    format_values,
    interval_as_json,
    score_as_json,
)
from coursepkg.projects.sign_language.data.cache import CachedClips
from coursepkg.projects.sign_language.data.label_mapping import Band
from coursepkg.validation import check_choice, counted

DrawBy = Literal["signer", "clip"]
"""What a resample draws whole: the clips of a signer, or single ones; a recording and
its copies stay together."""


@runtime_checkable
class KnownClip(Protocol):
    """`CachedClip` and `Clip` have these properties, which scoring reads.

    A clip may have a `group` too, which names its recording where that is known.
    """

    @property
    def name(self) -> str:
        """Which clip."""

    @property
    def label(self) -> str:
        """What is signed, in NFC."""

    @property
    def signer(self) -> str:
        """By whom; empty where it is not known."""


Clips = CachedClips | Sequence[KnownClip]


class Answer(NamedTuple):
    """What was said of one clip."""

    name: str
    """Of the clip."""
    label: str
    """The word that is signed."""
    signer: str
    """By whom; empty where it is not known."""
    group: str
    """Recording that the clip is from; empty where it is not known."""
    said: str | None
    """The word that was named; None for a clip that could not be read."""
    confidence: float
    """Its probability."""
    given: float
    """Probability that the right word got."""
    rank: int
    """Place of the right word among all words by their probabilities, from 1; 0 for a
    clip that could not be read."""

    @property
    def is_right(self) -> bool:
        """Whether the word that was named is the one that is signed."""
        return self.said == self.label


def answers_of(
    probabilities: np.ndarray, clips: Clips, labels: Sequence[str]
) -> tuple[Answer, ...]:
    """Return the answers to all clips of a part.

    Clips that the cache had to leave out come last and have no answer.

    Args:
        probabilities: (N, V), a row a clip.
        clips: the N clips in the same order.
        labels: the V words in the order of their class numbers.

    Raises:
        ValueError: shapes do not fit, a probability is no number, or a clip has a word
            that is not in the list.
    """
    known: list[KnownClip] = [
        *(clips.clips if isinstance(clips, CachedClips) else clips)
    ]
    number = {word: i for i, word in enumerate(labels)}
    _check(probabilities, known, number)
    found = []
    for clip, row in zip(known, probabilities, strict=True):
        first, right = int(row.argmax()), number[clip.label]
        # Of equal probabilities the smaller class number comes first, as argmax has it.
        before = (row > row[right]) | (
            (row == row[right]) & (np.arange(len(row)) < right)
        )
        rank = 1 + int(np.count_nonzero(before))
        group = str(getattr(clip, "group", ""))
        scores = float(row[first]), float(row[right])
        found.append(
            Answer(
                clip.name, clip.label, clip.signer, group, labels[first], *scores, rank
            )
        )
    lost = clips.left_out if isinstance(clips, CachedClips) else ()
    _check_labels(lost, number)
    found += [
        Answer(one.name, one.label, one.signer, one.group, None, 0.0, 0.0, 0)
        for one in lost
    ]
    return tuple(found)


def draw_groups(answers: Sequence[Answer], by: DrawBy) -> list[Hashable] | None:
    """Name the group of each answer, which a resample draws whole.

    The result is None where there are fewer than two groups.

    A signer who is not known counts as one for each recording, or each clip. Clips of a
    single signer tell nothing of how a score changes from one to the next, so there is
    no draw of signers then.

    Raises:
        ValueError: `by` is unknown.
    """
    check_choice("by", by, ("signer", "clip"))
    groups = [_group(answer, number, by) for number, answer in enumerate(answers)]
    return groups if len(set(groups)) > 1 else None


def as_rows(answers: Sequence[Answer]) -> list[list[Any]]:
    """The answers as JSON holds them."""
    return [
        [round(value, 6) if isinstance(value, float) else value for value in one]
        for one in answers
    ]


def from_rows(document: Mapping[str, Any], source: str) -> tuple[Answer, ...]:
    """The answers that a document of `evaluate --out` holds.

    Args:
        document: with the rows under `answers`.
        source: what to call it in errors.

    Raises:
        ValueError: it holds none, or a row is no answer.
    """
    rows = document.get("answers")
    kinds: tuple[Any, ...] = (
        str,
        str,
        str,
        str,
        str | None,
        int | float,
        int | float,
        int,
    )
    if not isinstance(rows, list) or not rows:
        raise ValueError(
            f"{source} holds no answers; take the evaluation.json that evaluate --out"
            " wrote"
        )
    for row in rows:
        fits = isinstance(row, list) and len(row) == len(kinds)
        if not fits or not all(
            isinstance(value, kind) for value, kind in zip(row, kinds, strict=True)
        ):
            raise ValueError(
                f"{source} is damaged: {str(row)[:80]} is no answer; evaluate again"
            )
    return tuple(Answer(*row) for row in rows)


def _group(answer: Answer, number: int, by: DrawBy) -> Hashable:
    if by == "signer" and answer.signer:
        return "signer", answer.signer
    return ("recording", answer.group) if answer.group else ("clip", number)


def _check(
    probabilities: np.ndarray, clips: Sequence[KnownClip], number: Mapping[str, int]
) -> None:
    wanted = (len(clips), len(number))
    if probabilities.shape != wanted:
        raise ValueError(
            f"probabilities must be {wanted}, a row a clip and a column a word, got"
            f" {probabilities.shape}"
        )
    _check_labels(clips, number)
    bad = np.flatnonzero(~np.isfinite(probabilities).all(axis=1))
    if len(bad):
        raise ValueError(
            f"{clips[int(bad[0])].name}: a probability is no finite number; train again"
        )


def _check_labels(clips: Sequence[Any], number: Mapping[str, int]) -> None:
    for clip in clips:
        if clip.label not in number:
            told = (
                f"the word {clip.label!r} is not among the {len(number)} words"
                if clip.label
                else "no word"
            )
            raise ValueError(
                f"{clip.name}: {told}, so it cannot be scored; leave it out or add the"
                " word"
            )


@dataclass(frozen=True)
class WordF1:
    """The metric averages the F1 of some words of a label list, as a fraction.

    `metrics.scoring` and `metrics.bootstrap` can use it.

    Example:
        >>> f1 = WordF1(("ăn", "uống", "ngủ"), absent=("ngủ",))
        >>> round(score(f1, ["ăn", "ăn"], ["ăn", "uống"]).value, 4)
        0.2222

    Raises:
        ValueError: labels are empty or repeated, or a word is not one of them.
    """

    labels: tuple[str, ...]
    """All words that may be said, each once."""
    words: tuple[str, ...] = ()
    """Those that the mean is over; empty for all labels."""
    absent: tuple[str, ...] = ()
    """Those without a clip in the part: they count 0 in it and in each of its
    resamples."""
    about: str = ""
    """What the words have in common, for the name; as `head`."""

    def __post_init__(self) -> None:
        check_labels(self.labels)
        for name in ("words", "absent"):
            outside = sorted(
                set(getattr(self, name))
                - set(self.scored if name == "absent" else self.labels)
            )
            if outside:
                raise ValueError(
                    f"{name} must be some of the {len(self.labels)} labels, but"
                    f" {outside[0]!r} is not"
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
        """Return the fields of the signature.

        These are the fields of `MacroF1`, the words where they are not all, and the
        rule for draws.
        """
        told = MacroF1(self.labels).settings()
        if self.words:
            digest = hashlib.sha256(
                json.dumps(sorted(self.words)).encode("ascii")
            ).hexdigest()[:8]
            told["words"] = f"{len(self.words)}-{digest}"
        return told | {"lacking": "left-out"}

    def statistics(
        self, predictions: Sequence[str | None], truths: Sequence[str]
    ) -> np.ndarray:
        """Mark for each word whether it is hit, said and true, as (clips, 3 W).

        A prediction of None is no answer.

        Raises:
            ValueError: the lengths differ, nothing is given, or a word is not in the
                label list.
        """
        check_lengths(predictions, truths, ("predictions", "truths"))
        said = self._one_hot("predictions", predictions)
        true = self._one_hot("truths", truths)
        return np.concatenate([said * true, said, true], axis=1)

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Turn sums of rows (n, 3 W) into macro-F1 (n,).

        The score is NaN for a draw that has no clip of any of the words, unless
        `absent` names words.
        """
        hits, said, true = np.split(totals, 3, axis=-1)
        has = true > 0
        f_scores = np.where(has, 2 * hits / np.maximum(said + true, 1), 0.0)
        n_counted = has.sum(axis=-1) + len(self.absent)
        return np.where(
            n_counted > 0, f_scores.sum(axis=-1) / np.maximum(n_counted, 1), np.nan
        )

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Return precision, recall, F1 and number of clips of each scored word.

        A value of 0 / 0 is given as 0.
        """
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
        """Turn words (N,) into 0 or 1 (N, W).

        A label that the mean is not over, and no answer, give a row of zeros.

        Raises:
            ValueError: a word is not in the label list.
        """
        known, place = set(self.labels), {word: i for i, word in enumerate(self.scored)}
        marks = np.zeros((len(given), len(self.scored)), dtype=np.int64)
        for row, word in enumerate(given):
            if word not in known and not (word is None and name == "predictions"):
                raise ValueError(
                    f"{name}[{row}] must be one of the {len(self.labels)} labels, got"
                    f" {word!r}"
                )
            if word in place:
                marks[row, place[word]] = 1
        return marks


SHOWN = 8
"""Signers, words and confusions that a printed line names at most."""


class Confusion(NamedTuple):
    """A word that was taken for another."""

    label: str
    """What is signed."""
    said: str
    """What was named."""
    n: int
    """How often."""
    share: float
    """Of all clips of the word."""


@dataclass(frozen=True)
class SignerScore:
    """How well one signer was understood."""

    n_clips: int
    n_words: int
    """Words that this signer signs in the part."""
    macro_f1: float
    """Mean F1 over these words, from the clips of this signer alone."""
    accuracy: float


@dataclass(frozen=True)
class WordScore:
    """How well one word was recognised."""

    band: Band
    n_counted: int
    """Clips that the band goes by."""
    n_clips: int
    """Clips in the part; without one, all that follows is 0."""
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class SignScores:
    """Scores of a recogniser on a part; `evaluate` makes them, `str` prints them."""

    macro_f1: Score
    """Over the whole label list, a word without a clip as 0; the interval draws
    signers."""
    by_clip: Interval | None
    """The same with draws of clips: what the luck of the clips is worth as long as the
    signers stay the same."""
    accuracy: Score
    """Share of clips whose word is right; the interval draws signers."""
    top5: float
    """Share of clips whose word is among the five most probable."""
    present: float
    """Macro-F1 over the words that the part has; more than `macro_f1` where it lacks
    some."""
    bands: dict[Band, Score]
    """Macro-F1 of head, body and tail; a band without words is missing."""
    signers: dict[str, SignerScore]
    """By name, the one understood worst first; without those who are not known."""
    words: dict[str, WordScore]
    """In the order of their class numbers."""
    confusions: tuple[Confusion, ...]
    """The most frequent first."""
    labels: tuple[str, ...]
    counts: tuple[int, ...]
    """What the bands go by, a number a word."""
    notes: tuple[str, ...]
    """What a reader of the scores must know."""
    answers: tuple[Answer, ...] = field(repr=False)

    @property
    def absent(self) -> tuple[str, ...]:
        """Words of the list that the part has no clip of."""
        return tuple(word for word, one in self.words.items() if not one.n_clips)

    @property
    def n_unreadable(self) -> int:
        """Clips that could not be read; they count as wrong."""
        return sum(one.said is None for one in self.answers)

    @property
    def said(self) -> list[str | None]:
        """The word that was named for each clip."""
        return [one.said for one in self.answers]

    @property
    def truths(self) -> list[str]:
        """The word that is signed in each clip."""
        return [one.label for one in self.answers]

    def __str__(self) -> str:
        rows = [str(self.macro_f1)]
        if self.by_clip is not None:
            rows.append(f"  with these signers, draws of clips: {self.by_clip}")
        if self.absent:
            n_here = len(self.labels) - len(self.absent)
            rows.append(
                f"  over the {counted(n_here, 'word')} that the part has:"
                f" {self.present:.4f}"
            )
        rows += [
            str(self.accuracy),
            f"right word among the first five: {self.top5:.4f}",
        ]
        for band, one in self.bands.items():
            n_words = sum(word.band == band for word in self.words.values())
            interval = "" if one.interval is None else f" {one.interval}"
            rows.append(
                f"{band}: macro-F1 {one.value:.4f}{interval} over"
                f" {counted(n_words, 'word')}"
            )
        if self.signers:
            rows.append(
                _listed(
                    "signers, worst first",
                    [_signer(*pair) for pair in self.signers.items()],
                )
            )
        if self.confusions:
            rows.append(
                _listed(
                    "taken for another", [_confusion(one) for one in self.confusions]
                )
            )
        return "\n".join([*rows, *(f"note: {note}" for note in self.notes)])

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it; the answers by rows, see `Answer`."""
        return self.numbers_as_json() | {"answers": as_rows(self.answers)}

    def numbers_as_json(self) -> dict[str, Any]:
        """Return all but the answers to single clips, as JSON can hold it.

        A ladder stores these numbers, and a model ships with them.
        """
        return {
            "n": len(self.answers),
            "n_unreadable": self.n_unreadable,
            "macro_f1": score_as_json(self.macro_f1),
            "macro_f1_by_clip": interval_as_json(self.by_clip),
            "macro_f1_present": self.present,
            "accuracy": score_as_json(self.accuracy),
            "top5": self.top5,
            "bands": {band: score_as_json(one) for band, one in self.bands.items()},
            "signers": {name: asdict(one) for name, one in self.signers.items()},
            "words": {word: asdict(one) for word, one in self.words.items()},
            "confusions": [one._asdict() for one in self.confusions],
            "absent": list(self.absent),
            "notes": list(self.notes),
            "labels": list(self.labels),
            "counts": list(self.counts),
        }


def _listed(title: str, parts: Sequence[str]) -> str:
    more = f"; {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    return f"{title}: {'; '.join(parts[:SHOWN])}{more}"


def _signer(name: str, one: SignerScore) -> str:
    value = format_values(one.macro_f1)[0]
    return (
        f"{name} {value} ({counted(one.n_clips, 'clip')} of"
        f" {counted(one.n_words, 'word')})"
    )


def _confusion(one: Confusion) -> str:
    times = "once" if one.n == 1 else f"{one.n} times"
    return f"{one.label} for {one.said} {times} ({one.share:.0%})"
