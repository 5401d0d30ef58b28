"""The scores of one recogniser on one part, and all that a single number hides: bands, signers, words, confusions."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from coursepkg.metrics.signature import Interval, Score, format_values, interval_as_json, score_as_json
from coursepkg.projects.sign_language.answers import Answer, as_rows
from coursepkg.projects.sign_language.quality.classes import Band
from coursepkg.wording import counted

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
    """Over the whole label list, a word without a clip as 0; the interval draws signers."""
    by_clip: Interval | None
    """The same with draws of clips: what the luck of the clips is worth as long as the signers stay the same."""
    accuracy: Score
    """Share of clips whose word is right; the interval draws signers."""
    top5: float
    """Share of clips whose word is among the five most probable."""
    present: float
    """Macro-F1 over the words that the part has; more than `macro_f1` where it lacks some."""
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
            rows.append(f"  over the {counted(n_here, 'word')} that the part has: {self.present:.4f}")
        rows += [str(self.accuracy), f"right word among the first five: {self.top5:.4f}"]
        for band, one in self.bands.items():
            n_words = sum(word.band == band for word in self.words.values())
            interval = "" if one.interval is None else f" {one.interval}"
            rows.append(f"{band}: macro-F1 {one.value:.4f}{interval} over {counted(n_words, 'word')}")
        if self.signers:
            rows.append(_listed("signers, worst first", [_signer(*pair) for pair in self.signers.items()]))
        if self.confusions:
            rows.append(_listed("taken for another", [_confusion(one) for one in self.confusions]))
        return "\n".join([*rows, *(f"note: {note}" for note in self.notes)])

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it; the answers by rows, see `answers.Answer`."""
        return self.numbers_as_json() | {"answers": as_rows(self.answers)}

    def numbers_as_json(self) -> dict[str, Any]:
        """The same without the answers to single clips: what is stored with a ladder or ships with a model."""
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
    return f"{name} {value} ({counted(one.n_clips, 'clip')} of {counted(one.n_words, 'word')})"


def _confusion(one: Confusion) -> str:
    times = "once" if one.n == 1 else f"{one.n} times"
    return f"{one.label} for {one.said} {times} ({one.share:.0%})"
