"""Files that a user names to be read, and folders of them: each once, in a fixed order."""

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from coursepkg.wording import counted


@dataclass(frozen=True)
class Wanted:
    """What is looked for, and what messages call it."""

    endings: Collection[str]
    """Of the files that a folder is searched for, in small letters."""
    inputs: str
    """What may be named, such as `videos or folders of them`."""
    missing: str
    """What is said of a folder without any, such as `no video in it`."""
    others: str
    """What one of the other files of a folder is called, such as `other file`."""
    hint: str = ""
    """What is said besides of a folder without any, where no folder in it was left unopened."""


class Named(NamedTuple):
    """A file to read."""

    path: Path
    """As it was given, or as it was found in the folder that was given."""
    inside: str
    """Its path in that folder, with forward slashes; empty for a file that was given by itself."""


def find_inputs(
    inputs: Sequence[str | Path], wanted: Wanted, *, recursive: bool = False, leave: Iterable[Path] = ()
) -> tuple[list[Named], list[str]]:
    """Files in the order in which they were given; those of a folder in natural order, page 2 before page 10.

    Args:
        inputs: files of any name, and folders, in which files are known by their ending.
        wanted: what is looked for.
        recursive: whether folders in folders are opened.
        leave: files and folders that are not read, such as what the run itself writes.

    Returns:
        the files, each once, and in one line each what was left alone.

    Raises:
        FileNotFoundError: an input does not exist.
        ValueError: there is no input, it is neither file nor folder, or a folder holds nothing to read.
    """
    if not inputs:
        raise ValueError(f"no input; name {wanted.inputs}")
    left = {path.resolve() for path in leave}
    files: dict[Path, Named] = {}
    notes: list[str] = []
    for given in map(Path, inputs):
        if not given.exists():
            raise FileNotFoundError(f"{given}: there is no such file or folder")
        if given.is_dir():
            found = _in_folder(given, wanted, recursive, left, notes)
        elif given.is_file():
            found = [Named(given, "")]
        else:
            raise ValueError(f"{given} is neither a file nor a folder")
        for one in found:
            if one.path.resolve() in files:
                notes.append(f"{one.path}: named twice, read once")
            else:
                files[one.path.resolve()] = one
    return list(files.values()), notes


def natural_key(path: str | Path) -> list[list[tuple[int, int | str]]]:
    """What paths are sorted by so that numbers in them count as numbers, folder by folder, whatever their case."""
    return [
        [
            (0, int(piece)) if piece.isdecimal() else (1, piece)
            for piece in re.split(r"(\d+)", part.casefold())
            if piece
        ]
        for part in Path(path).parts
    ]


def files_fingerprint(paths: Iterable[Path]) -> str:
    """SHA-256 of names, sizes and times of change: whether these are still the same files."""
    digest = hashlib.sha256()
    for path in paths:
        state = path.stat()
        told = f"{path}\0{state.st_size}\0{state.st_mtime_ns}\n"
        digest.update(told.encode(errors="surrogateescape"))
    return digest.hexdigest()


def _in_folder(
    folder: Path, wanted: Wanted, recursive: bool, left: set[Path], notes: list[str]
) -> list[Named]:
    """Files of a folder with their paths in it; hidden files are as if they were not there."""
    found: list[Named] = []
    others: list[str] = []
    closed = 0
    for place, inner, names in os.walk(folder):
        for path in (Path(place) / name for name in names if not name.startswith(".")):
            if not path.is_file() or path.resolve() in left:
                continue
            inside = path.relative_to(folder).as_posix()
            if path.suffix.lower() in wanted.endings:
                found.append(Named(path, inside))
            else:
                others.append(inside)
        inner[:] = [n for n in inner if not n.startswith(".") and (Path(place) / n).resolve() not in left]
        if not recursive:
            closed, inner[:] = len(inner), []
    were = "was" if closed == 1 else "were"
    unopened = f"{counted(closed, 'folder')} in it {were} not opened, add --recursive" if closed else ""
    if not found:
        told = unopened or wanted.hint
        raise ValueError(f"{folder}: {wanted.missing}{f'; {told}' if told else ''}")
    if others:
        first = min(others, key=natural_key)
        notes.append(f"{folder}: {counted(len(others), wanted.others)} left alone, such as {first}")
    if unopened:
        notes.append(f"{folder}: {unopened}")
    return sorted(found, key=lambda one: (natural_key(one.inside), one.inside))
