"""Score enrolled words on their own clips: each is asked about by the clips of others.

A clip whose word nobody else signs cannot be answered rightly; it is left out, counted
and named. All other words stay among the answers, those of one clip too.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from coursepkg.projects.sign_language.few_shot.features import wrist_heights
from coursepkg.projects.sign_language.few_shot.matching import Matcher, Method
from coursepkg.projects.sign_language.few_shot.recognizer import WordRecognizer
from coursepkg.projects.sign_language.few_shot.words import EnrolledClip, Words
from coursepkg.projects.sign_language.landmarks.extract import MOST_RATE, Landmarks
from coursepkg.projects.sign_language.scores import Answer, SignScores
from coursepkg.projects.sign_language.scoring import N_RESAMPLES, score_answers
from coursepkg.projects.sign_language.streams.raised_hands import (
    FrameLandmarks,
    WordStream,
)

Split = Literal["signer", "clip"]


@dataclass(frozen=True)
class WordScores:
    """What matching makes of clips that it has not enrolled."""

    scores: SignScores
    left_out: tuple[str, ...]
    """Clips whose word has no other signer, or no other clip, by their names."""
    n_predicted_none: int
    """Clips that were taken for none of the words although their word was there."""
    n_answered_rightly: int
    """Clips that were answered with a word, and with theirs."""
    n_unknown: int
    """Clips that were asked about with their word taken out."""
    n_unknown_rejected: int
    """Those among them that were taken for none of the words."""
    streams: "StreamScores | None" = None
    """The same clips in streams, where a signer is left out at a time."""

    @property
    def n_answered(self) -> int:
        """Clips that were answered with a word."""
        return len(self.scores.answers) - self.n_predicted_none

    def __str__(self) -> str:
        n = len(self.scores.answers)
        lines = [
            str(self.scores),
            f"answered with a word: {self.n_answered} of {n} clips,"
            f" {self.n_answered_rightly} of them rightly; taken for none of the words:"
            f" {self.n_predicted_none}, and with their word taken out"
            f" {self.n_unknown_rejected} of {self.n_unknown}",
        ]
        if self.streams is not None:
            lines.append(str(self.streams))
        if self.left_out:
            named = ", ".join(self.left_out[:5])
            more = ", ..." if len(self.left_out) > 5 else ""
            # Streams are made where a signer is left out at a time.
            why = "no other clip shows" if self.streams is None else "nobody else signs"
            lines.append(
                f"left out: {len(self.left_out)} clips whose word {why} ({named}{more})"
            )
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        return self.scores.as_json() | {
            "left_out": list(self.left_out),
            "n_predicted_none": self.n_predicted_none,
            "n_answered_rightly": self.n_answered_rightly,
            "n_unknown": self.n_unknown,
            "n_unknown_rejected": self.n_unknown_rejected,
            "streams": None if self.streams is None else self.streams.as_json(),
        }


def score_words(
    words: Words,
    *,
    split: Split = "signer",
    method: Method = "auto",
    n_resamples: int = N_RESAMPLES,
    log: Callable[[str], None] = lambda line: None,
) -> WordScores:
    """Ask about each clip with the clips of all other signers, or all other clips.

    Args:
        words: enrolled.
        split: `signer` leaves the clips of its signer out, `clip` the clip alone.
        method: see `Matcher`.
        n_resamples: bootstrap resamples behind the intervals, which draw signers.
        log: receives a line for each signer.

    Raises:
        ValueError: no clip can be asked about, or with `signer` a clip has none.
    """
    answers: list[Answer] = []
    left_out: list[str] = []
    n_none = n_right = n_unknown = n_rejected = 0
    for key, clips in _groups(words, split).items():
        rest = [one for one in words.clips if one not in clips]
        known = [one for one in clips if any(o.word == one.word for o in rest)]
        left_out += [one.name for one in clips if one not in known]
        if not known:
            continue
        matcher = Matcher([one.example for one in rest], method=method)
        found = [answer(matcher, one) for one in known]
        answers += [one for one, _ in found]
        n_none += sum(is_none for _, is_none in found)
        n_right += sum(one.is_right and not is_none for one, is_none in found)
        rejected = _rejected(known, rest, method)
        n_unknown, n_rejected = n_unknown + len(rejected), n_rejected + sum(rejected)
        right = sum(one.is_right for one, _ in found)
        if split == "signer":
            log(f"without {key}: {right} of {len(found)} clips right")
    if not answers:
        by = "signed by two signers" if split == "signer" else "of two clips"
        raise _nothing_to_score(by)
    labels = list(words.labels)
    counts = [len(words.clips_of(word)) for word in labels]
    told = f"enrolled words, one {split} left out at a time, {matcher.method}"
    scores = score_answers(
        answers, labels, counts, protocol=told, n_resamples=n_resamples
    )
    streams = score_streams(words, method=method) if split == "signer" else None
    counted = n_none, n_right, n_unknown, n_rejected
    return WordScores(scores, tuple(left_out), *counted, streams)


def _nothing_to_score(by: str) -> ValueError:
    return ValueError(
        f"no word is {by}, so none can be scored; enrol more clips of other people"
    )


def _groups(words: Words, split: Split) -> dict[str, list[EnrolledClip]]:
    """The clips that are left out together, by signer or each by itself."""
    if split == "clip":
        return {clip.sha256: [clip] for clip in words.clips}
    groups: dict[str, list[EnrolledClip]] = {}
    for clip in words.clips:
        if not clip.signer:
            raise ValueError(
                f"{clip.name} has no signer, so nobody can be left out; enrol from a"
                " manifest.csv with the column signer, or give --split clip"
            )
        groups.setdefault(clip.signer, []).append(clip)
    return groups


def _rejected(
    known: Sequence[EnrolledClip], rest: Sequence[EnrolledClip], method: Method
) -> list[bool]:
    """Whether each clip is taken for none of the words when its own is taken out."""
    found = []
    for clip in known:
        others = [one.example for one in rest if one.word != clip.word]
        if others:
            p = Matcher(others, method=method).probabilities(clip.landmarks)
            found.append(bool(p.argmax() == len(p) - 1))
    return found


def answer(matcher: Matcher, clip: EnrolledClip) -> tuple[Answer, bool]:
    """What a matcher says of a clip, and whether it takes it for none of the words."""
    p = matcher.probabilities(clip.landmarks)
    order = np.argsort(-p[:-1], kind="stable")
    right = matcher.words.index(clip.word)
    rank = 1 + int(np.flatnonzero(order == right)[0])
    said = matcher.words[int(order[0])]
    given = float(p[order[0]]), float(p[right])
    found = Answer(clip.name, clip.word, clip.signer, "", said, *given, rank)
    return found, bool(p[-1] > p[order[0]])


REST = 1.0
"""Seconds of rest between two clips of a made-up stream."""


@dataclass(frozen=True)
class StreamScores:
    """What is found in streams that are made of clips with rest between them."""

    n_clips: int
    """Clips that were asked about."""
    found: int
    """Those whose word was named in their time."""
    false_alarms: int
    """Events that are wrong, or of no clip, or of a clip whose word was named before.
    """
    seconds: float
    """Length of all streams together."""
    delays: tuple[float, ...]
    """From where the hands go down to where the event comes, in seconds of the stream;
    what naming takes is not in it."""

    @property
    def false_alarms_per_hour(self) -> float:
        """False alarms over the length of the streams."""
        return 3600 * self.false_alarms / self.seconds

    def __str__(self) -> str:
        low, high = (np.quantile(self.delays or (0.0,), q) for q in (0.5, 1.0))
        return (
            f"in streams of {self.seconds:.0f} s: {self.found} of {self.n_clips} words"
            f" found, {self.false_alarms} false alarms,"
            f" {self.false_alarms_per_hour:.0f} an hour; events come {low:.2f} s"
            f" (median) to {high:.2f} s (most) behind the sign"
        )

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        return {
            "n_clips": self.n_clips,
            "found": self.found,
            "false_alarms": self.false_alarms,
            "false_alarms_per_hour": round(self.false_alarms_per_hour, 1),
            "seconds": round(self.seconds, 2),
            "delays": [round(delay, 3) for delay in self.delays],
        }


def score_streams(words: Words, *, method: Method = "auto") -> StreamScores:
    """Join the clips of each signer with rest between them, and find their words.

    The words are those of all other signers. Rest is the frame of a clip in which the
    hands are lowest, held for `REST` seconds before it and behind it. Clips whose word
    nobody else signs are left out.

    Args:
        words: enrolled, each clip with its signer.
        method: see `Matcher`.

    Raises:
        ValueError: no word is signed by two signers.
    """
    n_clips = found = false_alarms = 0
    seconds, delays = 0.0, []
    for signer in dict.fromkeys(one.signer for one in words.clips):
        rest = tuple(one for one in words.clips if one.signer != signer)
        known = {one.word for one in rest}
        asked = [o for o in words.clips if o.signer == signer and o.word in known]
        if not asked or not signer:
            continue
        stream = WordStream(WordRecognizer(Words(rest), method=method))
        rows, spans = joined([one.landmarks for one in asked])
        clock = Clock(rows)
        open_spans = dict(zip(asked, spans, strict=True))
        for event in stream.events_of_landmarks(clock):
            delays.append(clock.now - event.end)
            here = [
                clip
                for clip, (begin, end) in open_spans.items()
                if event.label == clip.word and event.start < end and event.end > begin
            ]
            found += bool(here)
            false_alarms += not here
            for clip in here:
                del open_spans[clip]
        n_clips += len(asked)
        seconds += rows[-1].seconds
    if not n_clips:
        raise _nothing_to_score("signed by two signers")
    return StreamScores(n_clips, found, false_alarms, seconds, tuple(delays))


class Clock:
    """Hands frames on, and knows the time of the newest one."""

    def __init__(self, rows: Iterable[FrameLandmarks]) -> None:
        self._rows, self.now = rows, 0.0

    def __iter__(self) -> Iterator[FrameLandmarks]:
        for row in self._rows:
            self.now = row.seconds
            yield row


def joined(
    clips: Sequence[Landmarks],
) -> tuple[list[FrameLandmarks], list[tuple[float, float]]]:
    """One stream of several clips with rest around each; when each begins and ends."""
    rows: list[FrameLandmarks] = []
    spans: list[tuple[float, float]] = []
    at, step = 0.0, 1 / MOST_RATE
    n_held = round(REST / step)
    for clip in clips:
        heights, frames = wrist_heights(clip.body)
        lowest = int(frames[heights.max(axis=1).argmin()])
        numbers = [*[lowest] * n_held, *range(len(clip.times)), *[lowest] * n_held]
        gaps = np.diff(clip.times, prepend=clip.times[0] - step)
        waits = [*[step] * n_held, *gaps.tolist(), *[step] * n_held]
        moments = at + np.cumsum(waits)
        spans.append((float(moments[n_held]), float(moments[-n_held - 1])))
        for number, moment in zip(numbers, moments.tolist(), strict=True):
            arrays = clip.body, clip.visibility, clip.hands, clip.scores
            rows.append(FrameLandmarks(moment, *(one[number] for one in arrays)))
        at = float(moments[-1])
    return rows, spans
