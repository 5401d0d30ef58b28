"""A data set of signed words, ready for training: its words, its parts as cached clips, and what was left out of it.

Training clips are cleaned, clips that are scored never: scores of two models would not be of the same clips.
"""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from coursepkg.projects.sign_language.data.cache import CachedClips
from coursepkg.projects.sign_language.data.label_mapping import LabelMapping
from coursepkg.projects.sign_language.wording import known_signers, lacking, signer_notes
from coursepkg.wording import counted

PARTS = ("train", "dev", "test")


class Removed(NamedTuple):
    """A clip that is not trained on."""

    name: str
    """Of its file."""
    label: str
    reason: str
    """Of `quality.plan.REASONS`."""
    detail: str
    """What was found, in one line."""


@dataclass(frozen=True, eq=False)
class SignCorpus:
    """The clips of a data set in three parts, and the words that they show."""

    name: str
    """As `--data` takes it."""
    protocol: str
    """What was not cut apart, see `data.splits`."""
    labels: tuple[str, ...]
    """All words, in the order of their class numbers."""
    train: CachedClips | None
    """Cleaned; None where the part has no clip, here and below."""
    dev: CachedClips | None
    """What chooses the best weights."""
    test: CachedClips | None
    """What is scored at last."""
    removed: tuple[Removed, ...] = ()
    """What cleaning took from the training part, and why."""
    notes: tuple[str, ...] = ()
    """What a reader of scores must know, one line each."""
    is_generated: bool = False
    """Whether the clips were drawn by this package."""
    source: str = ""
    """What tells one state of the files from another."""

    def part(self, name: str) -> CachedClips:
        """A part that must be there.

        Raises:
            ValueError: it has no clip.
        """
        found: CachedClips | None = getattr(self, name)
        if found is None:
            raise ValueError(
                f"--data {self.name} has no clip in its {name} part (parted by {self.protocol}); "
                "choose another --split or other data"
            )
        return found

    @property
    def parts(self) -> dict[str, CachedClips]:
        """The parts that have clips, by name."""
        return {name: clips for name in PARTS if (clips := getattr(self, name)) is not None}

    @cached_property
    def mapping(self) -> LabelMapping:
        """The words and their class numbers."""
        return LabelMapping(self.labels)

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Training clips of each word (V,)."""
        found = Counter(() if self.train is None else self.train.labels)
        return tuple(found[word] for word in self.labels)

    def absent(self, part: str) -> tuple[str, ...]:
        """The words that a part has no clip of."""
        clips = self.parts.get(part)
        known = set() if clips is None else set(clips.labels)
        return tuple(word for word in self.labels if word not in known)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the words and of all clips with their parts."""
        told = [self.labels, {name: clips.fingerprint for name, clips in self.parts.items()}]
        return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()

    def described(self) -> dict[str, Any]:
        """What a model's card says of its data."""
        return {
            "name": self.name,
            "protocol": self.protocol,
            "fingerprint": self.fingerprint,
            "is_generated": self.is_generated,
            "clips": {name: len(clips) for name, clips in self.parts.items()},
            "signers": {name: len(_signers(clips)) for name, clips in self.parts.items()},
            "removed": dict(Counter(one.reason for one in self.removed)),
        }

    def report(self) -> list[str]:
        """Lines that say what there is, what was removed, and what is missing."""
        made = "generated clips" if self.is_generated else "clips"
        lines = [f"{self.name}: {made} of {counted(len(self.labels), 'word')}, parted by {self.protocol}"]
        for name in PARTS:
            clips, absent = self.parts.get(name), self.absent(name)
            if clips is None:
                lines.append(f"  {name}: no clip")
                continue
            told = f"{counted(len(clips), 'clip')}{known_signers(_signers(clips), ' of ')}"
            lines.append(f"  {name}: {told}{f'; {lacking(absent)}' if absent else ''}")
            lines += [f"    left out: {one.reason}" for one in clips.left_out]
        why = ", ".join(f"{n} for {reason}" for reason, n in self.described()["removed"].items())
        lines.append(f"  removed from the training part: {why or 'none'}")
        signers = [clip.signer for clips in self.parts.values() for clip in clips.clips]
        notes = (*self.notes, *signer_notes(signers, self.protocol))
        return lines + [f"note: {note}" for note in notes]


def _signers(clips: CachedClips) -> set[str]:
    return {clip.signer for clip in clips.clips} - {""}
