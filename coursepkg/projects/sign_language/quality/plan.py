"""What cleaning does to each clip: the rules, and the plan that they lead to.

The plan changes no file. It says of each clip which of its frames are used, and is applied where clips are read. Clean
the training part only: a clip that is scored stays, however broken it is, or scores of two models are no longer of
the same clips.

Source: the rules of source 002, section VIII.1.
"""

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from coursepkg.arguments import check_choices, check_count, check_field, check_finite
from coursepkg.projects.sign_language.clip import Clip, ClipFile
from coursepkg.projects.sign_language.quality.classes import ClassCounts, count_classes

_SAME_TIME = 5e-4
"""Seconds by which the times of one frame may differ; two frames are at least a millisecond apart."""


@dataclass(frozen=True)
class CleaningRules:
    """When a clip goes and what is done to those that stay.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    most_broken: float = 0.6
    """A clip with at least this share of broken frames goes, above 0 and up to 1."""
    least_frames: int = 8
    """A clip goes where fewer good frames are left, from 1."""
    most_seconds: float = 20.0
    """A longer clip is cut to its middle, above 0. Contest clips take 2 to 3 seconds, a few above 30."""
    middle_seconds: float = 3.0
    """How much of such a clip stays, above 0 and at most `most_seconds`."""
    drop_frames: bool = True
    """Whether the broken frames of clips that stay are left out before frames are sampled."""
    copies: Literal["keep-tail", "remove", "keep"] = "keep-tail"
    """What becomes of copies, of which one always stays: `keep-tail` removes them where their word has 20 different
    clips or more, and marks those of rarer words for stronger augmentation; `keep` marks all."""
    contradictions: Literal["remove", "keep"] = "remove"
    """What becomes of copies that stand under different words. Which word is right cannot be told from here."""

    def __post_init__(self) -> None:
        for name in ("most_broken", "most_seconds", "middle_seconds"):
            check_finite(f"--{name.replace('_', '-')}", getattr(self, name))
        check_field(self, "most_broken", 0 < self.most_broken <= 1, "above 0 and at most 1")
        check_field(self, "most_seconds", self.most_seconds > 0, "above 0")
        inside = 0 < self.middle_seconds <= self.most_seconds
        check_field(self, "middle_seconds", inside, f"above 0 and at most {self.most_seconds:g}")
        check_count("--least-frames", self.least_frames)
        check_choices(self)


@dataclass(frozen=True)
class KeptClip:
    """A clip that stays, and which of its frames are used."""

    file: ClipFile
    start: float = 0.0
    """First moment that is used, in seconds from the start of the file."""
    stop: float = float("inf")
    """Last moment that is used."""
    left_out: tuple[float, ...] = ()
    """When the frames are shown that are left out, in seconds from the start of the file."""
    strong: bool = False
    """Whether it repeats another clip and is to be augmented more strongly."""
    undecodable: int = 0
    """Frames of the whole file that the decoder could not read; they change nothing about what is used."""

    def frames_of(self, times: np.ndarray) -> np.ndarray:
        """The numbers of the frames that are used, ascending, at least one.

        Args:
            times: of all frames of the file, in seconds from its start (N,), as `data.video` gives them.
        """
        used = (times >= self.start) & (times <= self.stop)
        for moment in self.left_out:
            used &= np.abs(times - moment) > _SAME_TIME
        # A file that has changed since may have nothing left; all of it then says more than nothing.
        return np.flatnonzero(used) if used.any() else np.arange(len(times))

    def apply(self, clip: Clip) -> Clip:
        """The clip with the frames that are used; their times stay as they are."""
        used = self.frames_of(clip.times)
        return replace(clip, frames=clip.frames[used], times=clip.times[used])


@dataclass(frozen=True)
class RemovedClip:
    """A clip that goes."""

    file: ClipFile
    reason: str
    """Of `REASONS`."""
    detail: str
    """What was found, for one line of a report."""


REASONS = ("cannot be opened", "broken frames", "too few frames", "contradiction", "copy")


@dataclass(frozen=True)
class CleaningPlan:
    """What becomes of each clip of a data set; every one is in exactly one of the two."""

    rules: CleaningRules
    kept: tuple[KeptClip, ...]
    removed: tuple[RemovedClip, ...]

    @property
    def removed_by_reason(self) -> dict[str, int]:
        """How many clips go for which reason."""
        found = Counter(one.reason for one in self.removed)
        return {reason: found[reason] for reason in REASONS if found[reason]}

    @property
    def before(self) -> ClassCounts:
        """Clips of each word before cleaning."""
        files = [one.file for one in self.kept] + [one.file for one in self.removed]
        return count_classes(file.label for file in files)

    @property
    def after(self) -> ClassCounts:
        """Clips of each word that stay; a word that lost all of them counts 0."""
        return count_classes((one.file.label for one in self.kept), list(self.before.counts))

    @property
    def cut(self) -> tuple[KeptClip, ...]:
        """Clips of which only the middle is used."""
        return tuple(one for one in self.kept if one.stop < float("inf"))

    @property
    def shortened(self) -> tuple[KeptClip, ...]:
        """Clips of which broken frames are left out; those that could not be decoded are missing in any case."""
        return tuple(one for one in self.kept if one.left_out)

    @property
    def strong(self) -> tuple[KeptClip, ...]:
        """Copies that stay and are to be augmented more strongly."""
        return tuple(one for one in self.kept if one.strong)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of what is used of which file: a cache that was made with another plan does not fit."""
        lines = (
            f"{one.file.path.name} {one.file.label} {one.start} {one.stop} {one.left_out} {one.strong}"
            for one in self.kept
        )
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()
