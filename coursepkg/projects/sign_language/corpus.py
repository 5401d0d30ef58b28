"""A data set of signed words, ready for training: words, parts, what was left out.

Training clips are cleaned, clips that are scored never: scores of two models would not
be of the same clips. A corpus in a folder:

    FOLDER/corpus.json              words, protocol, what was removed and why
    FOLDER/train/  dev/  test/      the clips of each part that has any

The card is written last: where it is missing, the folder is not finished. Until then it
grows beside its place, in FOLDER.part.
"""

import hashlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from coursepkg.files import part_of, read_json, write_json
from coursepkg.projects.sign_language.data.cache import CachedClips, cache_clips
from coursepkg.projects.sign_language.data.clip import ClipFile
from coursepkg.projects.sign_language.data.label_mapping import LabelMapping
from coursepkg.projects.sign_language.data.splits import (
    known_signers,
    lacking,
    signer_notes,
)
from coursepkg.projects.sign_language.data.video import CacheConfig
from coursepkg.projects.sign_language.quality.plan import CleaningPlan
from coursepkg.validation import counted

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
                f"--data {self.name} has no clip in its {name} part (parted by"
                f" {self.protocol}); choose another --split or other data"
            )
        return found

    @property
    def parts(self) -> dict[str, CachedClips]:
        """The parts that have clips, by name."""
        return {
            name: clips for name in PARTS if (clips := getattr(self, name)) is not None
        }

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
        told = [
            self.labels,
            {name: clips.fingerprint for name, clips in self.parts.items()},
        ]
        return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()

    def described(self) -> dict[str, Any]:
        """What a model's card says of its data."""
        told = {
            "name": self.name,
            "protocol": self.protocol,
            "fingerprint": self.fingerprint,
            "is_generated": self.is_generated,
            "clips": {name: len(clips) for name, clips in self.parts.items()},
            "signers": {
                name: len(_signers(clips)) for name, clips in self.parts.items()
            },
            "removed": dict(Counter(one.reason for one in self.removed)),
        }
        if any(clips.n_features for clips in self.parts.values()):
            told["nobody_found"] = {
                name: len(clips.without_anybody) for name, clips in self.parts.items()
            }
        return told

    def report(self) -> list[str]:
        """Lines that say what there is, what was removed, and what is missing."""
        made = "generated clips" if self.is_generated else "clips"
        lines = [
            f"{self.name}: {made} of {counted(len(self.labels), 'word')}, parted by"
            f" {self.protocol}"
        ]
        for name in PARTS:
            clips, absent = self.parts.get(name), self.absent(name)
            if clips is None:
                lines.append(f"  {name}: no clip")
                continue
            told = (
                f"{counted(len(clips), 'clip')}{known_signers(_signers(clips), ' of ')}"
            )
            lines.append(f"  {name}: {told}{f'; {lacking(absent)}' if absent else ''}")
            lines += [f"    left out: {one.reason}" for one in clips.left_out]
            nobody = clips.without_anybody
            if nobody:
                named = f"{', '.join(nobody[:8])}{', ...' if len(nobody) > 8 else ''}"
                found = f"nobody is found in {counted(len(nobody), 'clip')}"
                lines.append(f"    {found}, whose landmarks are all 0: {named}")
        why = ", ".join(
            f"{n} for {reason}" for reason, n in self.described()["removed"].items()
        )
        lines.append(f"  removed from the training part: {why or 'none'}")
        signers = [clip.signer for clips in self.parts.values() for clip in clips.clips]
        notes = (*self.notes, *signer_notes(signers, self.protocol))
        return lines + [f"note: {note}" for note in notes]


def _signers(clips: CachedClips) -> set[str]:
    return {clip.signer for clip in clips.clips} - {""}


CARD = "corpus.json"
KIND = "signed words"
_NEEDS: dict[str, type] = {
    "kind": str,
    "name": str,
    "protocol": str,
    "labels": list,
    "parts": list,
    "removed": list,
    "notes": list,
    "is_generated": bool,
    "source": str,
}


@contextmanager
def growing_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder for a corpus and move it to its place when the block ends well.

    The folder is beside that place.

    A run that is stopped leaves FOLDER.part, and the next one goes on in it. What
    stands in the place is of an older state of the files; the new corpus is grown from
    it, so that clips which are still the same are not decoded again. Where the clips
    are at fault, by a ValueError, nothing stays.

    Raises:
        OSError: it cannot be moved.
    """
    part = part_of(folder)
    if folder.is_dir() and not part.exists():
        os.rename(folder, part)
    try:
        yield part
    except ValueError:
        shutil.rmtree(part, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(part, folder)


def store_corpus(
    folder: str | Path,
    files: Mapping[str, Sequence[ClipFile]],
    labels: Sequence[str],
    config: CacheConfig | None = None,
    *,
    name: str,
    protocol: str,
    plan: CleaningPlan | None = None,
    notes: Sequence[str] = (),
    is_generated: bool = False,
    source: str = "",
    log: Callable[[str], None] = lambda line: None,
) -> SignCorpus:
    """Decode the clips of each part into a folder, which `open_corpus` then reads.

    Stopped and called again in the same way it goes on; what was decoded before is not
    decoded again.

    Args:
        folder: made where it is not there.
        files: the clips of each part, by its name.
        labels: all words, in the order of their class numbers.
        config: how clips are kept.
        name: of the corpus.
        protocol: how it was parted.
        plan: what cleaning does to the training part; None uses all of it.
        notes: what a reader of scores must know.
        is_generated: whether the clips were drawn.
        source: what tells one state of the files from another.
        log: receives a line now and then.

    Raises:
        ValueError: a part has clips of which none can be decoded.
        OSError: the folder cannot be written.
        ImportError: av is not installed.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CARD).unlink(missing_ok=True)
    chosen = {part: list(files.get(part, ())) for part in PARTS}
    options: dict[str, Any] = {}
    if plan is not None:
        chosen["train"] = [kept.file for kept in plan.kept]
        options = {
            "usable": [kept.frames_of for kept in plan.kept],
            "strong": [kept.strong for kept in plan.kept],
            "plan": plan.fingerprint,
        }
    for part in PARTS:
        if not chosen[part]:
            shutil.rmtree(folder / part, ignore_errors=True)
            continue
        log(
            f"{part}: decoding {len(chosen[part]):,} clips (those of an earlier run are"
            " kept)"
        )
        cache_clips(
            chosen[part],
            folder / part,
            config,
            log=log,
            **(options if part == "train" else {}),
        )
    removed = [
        Removed(one.file.path.name, one.file.label, one.reason, one.detail)
        for one in (plan.removed if plan is not None else ())
    ]
    content = {
        "kind": KIND,
        "name": name,
        "protocol": protocol,
        "labels": list(labels),
        "parts": [part for part in PARTS if chosen[part]],
        "removed": removed,
        "notes": list(notes),
        "is_generated": is_generated,
        "source": source,
    }
    write_json(folder / CARD, content)
    return open_corpus(folder, verify=False)


def open_corpus(folder: str | Path, *, verify: bool = True) -> SignCorpus:
    """What `store_corpus` wrote.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is damaged.
    """
    folder = Path(folder)
    told = read_json(folder / CARD, needs=_NEEDS)
    if told["kind"] != KIND:
        raise ValueError(
            f"{folder / CARD} is {told['kind']!r}, not {KIND!r}; prepare the clips"
            " again"
        )
    parts = {
        part: CachedClips(folder / part, verify=verify)
        for part in PARTS
        if part in told["parts"]
    }
    return SignCorpus(
        name=told["name"],
        protocol=told["protocol"],
        labels=tuple(told["labels"]),
        train=parts.get("train"),
        dev=parts.get("dev"),
        test=parts.get("test"),
        removed=tuple(Removed(*row) for row in told["removed"]),
        notes=tuple(told["notes"]),
        is_generated=told["is_generated"],
        source=told["source"],
    )
