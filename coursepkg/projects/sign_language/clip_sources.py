"""What a user names to be recognised: videos and folders of them, in a fixed order."""

import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coursepkg.projects.sign_language.data.scan import SUFFIXES


@dataclass(frozen=True)
class ClipSource:
    """One video."""

    path: Path
    """As it was given, or as it was found in the folder that was given."""
    name: str
    """Its path in that folder, with forward slashes; of a file that was given by itself, all that was given."""


@dataclass(frozen=True)
class ClipSources:
    """The videos to read, in order, and what was seen beside them."""

    files: tuple[ClipSource, ...]
    notes: tuple[str, ...]
    """In one line each, what was left alone."""

    @property
    def paths(self) -> list[Path]:
        """Where the videos lie."""
        return [one.path for one in self.files]

    @property
    def fingerprint(self) -> str:
        """SHA-256 of names, sizes and times of change: whether these are still the same files."""
        digest = hashlib.sha256()
        for one in self.files:
            state = one.path.stat()
            told = f"{one.path}\0{state.st_size}\0{state.st_mtime_ns}\n"
            digest.update(told.encode(errors="surrogateescape"))
        return digest.hexdigest()


def find_clips(
    inputs: Sequence[str | Path], *, recursive: bool = False, leave: Iterable[Path] = ()
) -> ClipSources:
    """Videos in the order in which they were given; those of a folder in natural order, clip 2 before clip 10.

    Args:
        inputs: files of any name, and folders, in which videos are known by their ending.
        recursive: whether folders in folders are opened.
        leave: files that are not read, such as what the run itself writes.

    Raises:
        FileNotFoundError: an input does not exist.
        ValueError: there is no input, it is neither file nor folder, or a folder holds no video.
    """
    if not inputs:
        raise ValueError("no input; name videos or folders of them")
    left = {path.resolve() for path in leave}
    files: dict[Path, ClipSource] = {}
    notes: list[str] = []
    for given in map(Path, inputs):
        if not given.exists():
            raise FileNotFoundError(f"{given}: there is no such file or folder")
        if given.is_dir():
            found = _in_folder(given, recursive, left, notes)
        elif given.is_file():
            found = [ClipSource(given, given.as_posix())]
        else:
            raise ValueError(f"{given} is neither a file nor a folder")
        for one in found:
            if one.path.resolve() in files:
                notes.append(f"{one.path}: named twice, read once")
            else:
                files[one.path.resolve()] = one
    return ClipSources(tuple(files.values()), tuple(notes))


def natural_key(name: str) -> list[list[tuple[int, int | str]]]:
    """What names are sorted by so that numbers in them count as numbers, folder by folder, whatever their case."""
    return [
        [
            (0, int(piece)) if piece.isdecimal() else (1, piece)
            for piece in re.split(r"(\d+)", part.casefold())
            if piece
        ]
        for part in name.split("/")
    ]


def _in_folder(folder: Path, recursive: bool, left: set[Path], notes: list[str]) -> list[ClipSource]:
    """Videos of a folder; hidden files are as if they were not there."""
    found: list[ClipSource] = []
    others: list[str] = []
    closed = 0
    for place, inner, names in os.walk(folder):
        for name in names:
            path = Path(place) / name
            if name.startswith(".") or not path.is_file() or path.resolve() in left:
                continue
            inside = path.relative_to(folder).as_posix()
            if path.suffix.lower() in SUFFIXES:
                found.append(ClipSource(path, inside))
            else:
                others.append(inside)
        inner[:] = [name for name in inner if not name.startswith(".")]
        if not recursive:
            closed, inner[:] = len(inner), []
    hint = f"{closed} folders in it were not opened, add --recursive" if closed else ""
    if not found:
        told = f"; {hint}" if hint else f"; videos are known by their ending, such as {SUFFIXES[0]}"
        raise ValueError(f"{folder}: no video in it{told}")
    if others:
        first = min(others, key=natural_key)
        notes.append(f"{folder}: {len(others)} files that are no videos by name left alone, such as {first}")
    if hint:
        notes.append(f"{folder}: {hint}")
    return sorted(found, key=lambda one: (natural_key(one.name), one.name))
