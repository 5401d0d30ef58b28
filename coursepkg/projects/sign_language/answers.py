"""What a recogniser said of the clips of a part, one answer a clip: all that its scores are made of."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np

from coursepkg.metrics.corpus import check_choice
from coursepkg.projects.sign_language.data.cache import CachedClips

DrawBy = Literal["signer", "clip"]
"""What a resample draws whole: the clips of a signer, or single ones; a recording and its copies stay together."""


@runtime_checkable
class KnownClip(Protocol):
    """What is asked of a clip; `CachedClip` and `Clip` have it. A `group` names its recording where that is known."""

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
    """Place of the right word among all words by their probabilities, from 1; 0 for a clip that could not be read."""

    @property
    def is_right(self) -> bool:
        """Whether the word that was named is the one that is signed."""
        return self.said == self.label


def answers_of(probabilities: np.ndarray, clips: Clips, labels: Sequence[str]) -> tuple[Answer, ...]:
    """The answers to all clips of a part; those that its cache had to leave out come last and have none.

    Args:
        probabilities: (N, V), a row a clip.
        clips: the N clips in the same order.
        labels: the V words in the order of their class numbers.

    Raises:
        ValueError: shapes do not fit, a probability is no number, or a clip has a word that is not in the list.
    """
    known: list[KnownClip] = [*(clips.clips if isinstance(clips, CachedClips) else clips)]
    number = {word: i for i, word in enumerate(labels)}
    _check(probabilities, known, number)
    found = []
    for clip, row in zip(known, probabilities, strict=True):
        first, right = int(row.argmax()), number[clip.label]
        # Of equal probabilities the smaller class number comes first, as argmax has it.
        before = (row > row[right]) | ((row == row[right]) & (np.arange(len(row)) < right))
        rank = 1 + int(np.count_nonzero(before))
        group = str(getattr(clip, "group", ""))
        scores = float(row[first]), float(row[right])
        found.append(Answer(clip.name, clip.label, clip.signer, group, labels[first], *scores, rank))
    lost = clips.left_out if isinstance(clips, CachedClips) else ()
    _check_labels(lost, number)
    found += [Answer(one.name, one.label, one.signer, one.group, None, 0.0, 0.0, 0) for one in lost]
    return tuple(found)


def draw_groups(answers: Sequence[Answer], by: DrawBy) -> list[Hashable] | None:
    """What a resample draws whole, a name an answer; None where there is nothing to be drawn.

    A signer who is not known counts as one for each recording, or each clip. Clips of a single signer tell nothing of
    how a score changes from one to the next, so there is no draw of signers then.

    Raises:
        ValueError: `by` is unknown.
    """
    check_choice("by", by, ("signer", "clip"))
    groups = [_group(answer, number, by) for number, answer in enumerate(answers)]
    return groups if len(set(groups)) > 1 else None


def as_rows(answers: Sequence[Answer]) -> list[list[Any]]:
    """The answers as JSON holds them."""
    return [[round(value, 6) if isinstance(value, float) else value for value in one] for one in answers]


def from_rows(document: Mapping[str, Any], source: str) -> tuple[Answer, ...]:
    """The answers that a document of `evaluate --out` holds.

    Args:
        document: with the rows under `answers`.
        source: what to call it in errors.

    Raises:
        ValueError: it holds none, or a row is no answer.
    """
    rows = document.get("answers")
    kinds: tuple[Any, ...] = (str, str, str, str, str | None, int | float, int | float, int)
    if not isinstance(rows, list) or not rows:
        raise ValueError(f"{source} holds no answers; take the evaluation.json that evaluate --out wrote")
    for row in rows:
        fits = isinstance(row, list) and len(row) == len(kinds)
        if not fits or not all(isinstance(value, kind) for value, kind in zip(row, kinds, strict=True)):
            raise ValueError(f"{source} is damaged: {str(row)[:80]} is no answer; evaluate again")
    return tuple(Answer(*row) for row in rows)


def _group(answer: Answer, number: int, by: DrawBy) -> Hashable:
    if by == "signer" and answer.signer:
        return "signer", answer.signer
    return ("recording", answer.group) if answer.group else ("clip", number)


def _check(probabilities: np.ndarray, clips: Sequence[KnownClip], number: Mapping[str, int]) -> None:
    wanted = (len(clips), len(number))
    if probabilities.shape != wanted:
        raise ValueError(
            f"probabilities must be {wanted}, a row a clip and a column a word, got {probabilities.shape}"
        )
    _check_labels(clips, number)
    bad = np.flatnonzero(~np.isfinite(probabilities).all(axis=1))
    if len(bad):
        raise ValueError(f"{clips[int(bad[0])].name}: a probability is no finite number; train again")


def _check_labels(clips: Sequence[Any], number: Mapping[str, int]) -> None:
    for clip in clips:
        if clip.label not in number:
            told = (
                f"the word {clip.label!r} is not among the {len(number)} words" if clip.label else "no word"
            )
            raise ValueError(f"{clip.name}: {told}, so it cannot be scored; leave it out or add the word")
