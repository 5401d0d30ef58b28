"""Prediction jobs: what a user names to be read, where answers go, runs that resume.

Answers grow in `OUT.part`, whole lines at a time; `OUT.part.json` says what they are
answers to. The same command goes on behind the last whole line, and at the end the part
gets its name.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from coursepkg.files import check_new, part_of, whole_file
from coursepkg.training.run_card import read_card
from coursepkg.validation import counted

T = TypeVar("T")


@dataclass(frozen=True)
class InputKind:
    """What is looked for, and what messages call it."""

    endings: Collection[str]
    """Of the files that a folder is searched for, in small letters."""
    inputs: str
    """What may be named, such as `videos or folders of them`."""
    missing: str
    """What is said of a folder without any, such as `no video in it`."""
    others: str = "other file"
    """What one of the other files of a folder is called."""
    hint: str = ""
    """What is said besides of a folder without any, where no folder in it was left
    unopened."""


class InputFile(NamedTuple):
    """A file to read."""

    path: Path
    """As it was given, or as it was found in the folder that was given."""
    inside: str
    """Its path in the folder that was given, with forward slashes; empty for a file
    that was named itself."""

    @property
    def name(self) -> str:
        """Its path in the given folder, or the path that was given."""
        return self.inside or self.path.as_posix()


@dataclass(frozen=True)
class FoundInputs:
    """The files to read, in order, and what was seen beside them."""

    files: tuple[InputFile, ...]
    notes: tuple[str, ...]
    """In one line each, what was left alone."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of names, sizes and times: whether these are still the same files."""
        return files_fingerprint(one.path for one in self.files)


def find_inputs(
    inputs: Sequence[str | Path],
    kind: InputKind,
    *,
    recursive: bool = False,
    leave: Iterable[Path] = (),
) -> FoundInputs:
    """Find files in the order given, those of a folder in natural order (2 before 10).

    Args:
        inputs: files of any name; and folders, whose files are known by their ending.
        kind: what is looked for.
        recursive: whether folders in folders are opened.
        leave: files and folders that are not read, such as what the run itself writes.

    Raises:
        FileNotFoundError: an input does not exist.
        OSError: a folder cannot be read.
        ValueError: there is no input, it is neither file nor folder, or a folder holds
            nothing to read.
    """
    if not inputs:
        raise ValueError(f"no input; name {kind.inputs}")
    left = {path.resolve() for path in leave}
    files: dict[Path, InputFile] = {}
    notes: list[str] = []
    for given in map(Path, inputs):
        if not given.exists():
            raise FileNotFoundError(f"{given}: there is no such file or folder")
        if given.is_dir():
            found = _in_folder(given, kind, recursive, left, notes)
        elif given.is_file():
            found = [InputFile(given, "")]
        else:
            raise ValueError(f"{given} is neither a file nor a folder")
        for one in found:
            if one.path.resolve() in files:
                notes.append(f"{one.path}: named twice, read once")
            else:
                files[one.path.resolve()] = one
    return FoundInputs(tuple(files.values()), tuple(notes))


def natural_key(path: str | Path) -> list[list[tuple[int, int | str]]]:
    """What paths are sorted by: folders first, numbers as numbers, case ignored."""
    return [
        [
            (0, int(piece)) if piece.isdecimal() else (1, piece)
            for piece in re.split(r"(\d+)", part.casefold())
            if piece
        ]
        for part in Path(path).parts
    ]


def files_fingerprint(paths: Iterable[Path]) -> str:
    """SHA-256 of names, sizes and times of change of files."""
    digest = hashlib.sha256()
    for path in paths:
        state = path.stat()
        told = f"{path}\0{state.st_size}\0{state.st_mtime_ns}\n"
        digest.update(told.encode(errors="surrogateescape"))
    return digest.hexdigest()


def printable_name(name: str) -> str:
    """A name that can be written as UTF-8: other bytes become question marks."""
    return name.encode("utf-8", "replace").decode()


def chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items, so many at a time."""
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk


@dataclass(frozen=True)
class OutputPaths:
    """What a run writes; without any path its answers are printed."""

    named: Mapping[str, Path | None]
    """By flag, such as `--out`; None is not written."""

    @property
    def given(self) -> dict[str, Path]:
        """The paths that are written, by flag."""
        return {flag: path for flag, path in self.named.items() if path is not None}

    def check(self, *, may_exist: Collection[str] = ()) -> None:
        """Check that all of it can be written.

        Args:
            may_exist: flags whose files a run that goes on may find.

        Raises:
            ValueError: a folder is missing, two flags name one file, or it is there.
        """
        seen: dict[Path, str] = {}
        for flag, path in self.given.items():
            if not path.absolute().parent.is_dir():
                raise ValueError(
                    f"{flag} {path}: the folder does not exist; make it first"
                )
            other = seen.setdefault(path.absolute(), flag)
            if other != flag:
                raise ValueError(
                    f"{other} and {flag} are both {path}; give each a file of its own"
                )
        for flag, path in self.given.items():
            if path.exists() and flag not in may_exist:
                if path.is_dir():
                    raise ValueError(f"{flag} {path} is a folder; name a file")
                check_new(path, f"remove it or choose another {flag}")

    @property
    def journal(self) -> Path | None:
        """The file whose part holds what was done so far: the first that is given."""
        return next(iter(self.given.values()), None)

    @property
    def written(self) -> list[Path]:
        """Files of the run itself, which no run reads."""
        endings = ("", ".part", ".part.json", ".whole")
        return [
            path.with_name(path.name + ending)
            for path in self.given.values()
            for ending in endings
        ]


@dataclass
class RunStats:
    """What was done, in an earlier run of the same command or in this one."""

    what: str
    """One input, such as `video`."""
    done: int = 0
    """Inputs that were looked at, those that cannot be read included."""
    failed: int = 0
    """Inputs that cannot be read."""
    resumed: int = 0
    """Answers that an earlier run had written."""

    def count(self, *, failed: bool) -> None:
        """Count an input."""
        self.done += 1
        self.failed += failed

    @property
    def exit_code(self) -> int:
        """0 where all could be read, 1 where some, 2 where none could."""
        return 0 if not self.failed else 1 if self.failed < self.done else 2

    def __str__(self) -> str:
        told = f"{self.done - self.failed:,} of {self.done:,} {self.what}s read"
        if self.resumed:
            told += f"; {self.resumed:,} answers were there from an earlier run"
        return told


class ResumableJsonl:
    """The part of a file of lines that is there, and what is added to it.

    Args:
        out: the file to be.
        identity: all that decides its content, as JSON can hold it or as text.

    Raises:
        ValueError: there is a part of another identity.
    """

    def __init__(self, out: Path, identity: Mapping[str, Any]) -> None:
        self.out = out
        self.path, self.card = part_of(out), out.with_name(out.name + ".part.json")
        wanted = dict(json.loads(json.dumps(identity, default=str)))
        self.n_lines = 0
        """Whole lines that an earlier run wrote."""
        if self.path.exists():
            self._check(wanted)
            self.n_lines = self._cut_off()
        else:
            with whole_file(self.card) as file:
                file.write(json.dumps(wanted).encode())
            self.path.touch()
        self._there = self.lines() if self.n_lines else iter(())

    def lines(self) -> Iterator[str]:
        """The lines that are there, one at a time."""
        with self.path.open("rb") as file:
            for line in file:
                yield line.decode()

    def records(self) -> Iterator[Any]:
        """The JSON documents that are there, a line each."""
        return map(json.loads, self.lines())

    def write(self, text: str) -> None:
        """Add whole lines, and wait for the disk."""
        with self.path.open("ab") as file:
            # Bytes of file names that are no UTF-8 become question marks.
            file.write(text.encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())

    def add(self, records: Iterable[Any]) -> None:
        """Add JSON documents, a line each."""
        texts = (json.dumps(one, ensure_ascii=False) for one in records)
        self.write("".join(f"{text}\n" for text in texts))

    def next_result(self, make: Callable[[], list[str]]) -> list[str]:
        """The next result: the one that is there, or one that is made and added."""
        line = next(self._there, None)
        if line is not None:
            return list(json.loads(line))
        made = make()
        self.add([made])
        return made

    def finish(self) -> None:
        """Give the part its name: all is there."""
        os.replace(self.path, self.out)
        self.card.unlink()

    def discard(self) -> None:
        """Remove the part, which has served its turn."""
        self.path.unlink()
        self.card.unlink()

    def _check(self, wanted: dict[str, Any]) -> None:
        stored = read_card(self.card) if self.card.exists() else {}
        names = wanted.keys() | stored.keys()
        differ = sorted(n for n in names if wanted.get(n) != stored.get(n))
        if differ:
            raise ValueError(
                f"{self.path} belongs to another command (it differs in "
                f"{', '.join(differ)}); remove it or choose another --out"
            )

    def _cut_off(self) -> int:
        """Cut a half-written last line off, and count the whole ones."""
        whole = count = 0
        with self.path.open("rb+") as file:
            for line in file:
                if line.endswith(b"\n"):
                    whole, count = whole + len(line), count + 1
            file.truncate(whole)
        return count


def _refuse(problem: OSError) -> None:
    raise problem


def _in_folder(
    folder: Path, kind: InputKind, recursive: bool, left: set[Path], notes: list[str]
) -> list[InputFile]:
    """Files of a folder; hidden ones are as if they were not there.

    Raises:
        OSError: a folder cannot be read.
        ValueError: there is nothing to read.
    """
    found: list[InputFile] = []
    others: list[str] = []
    closed = 0
    opened = {folder.resolve()}
    for place, inner, names in os.walk(folder, onerror=_refuse, followlinks=True):
        for path in (Path(place) / n for n in names if not n.startswith(".")):
            if not path.is_file() or path.resolve() in left:
                continue
            inside = path.relative_to(folder).as_posix()
            if path.suffix.lower() in kind.endings:
                found.append(InputFile(path, inside))
            else:
                others.append(inside)
        visible = sorted(n for n in inner if not n.startswith("."))
        # A folder comes before a link to it, so that its files have its name.
        visible.sort(key=lambda n: os.path.islink(os.path.join(place, n)))
        inner[:] = []
        for name in visible:
            there = (Path(place) / name).resolve()
            if there not in left and there not in opened:
                opened.add(there)  # a link may lead back to a folder above
                inner.append(name)
        if not recursive:
            closed, inner[:] = len(inner), []
    were = "was" if closed == 1 else "were"
    unopened = ""
    if closed:
        unopened = (
            f"{counted(closed, 'folder')} in it {were} not opened, add --recursive"
        )
    if not found:
        told = unopened or kind.hint
        raise ValueError(f"{folder}: {kind.missing}{f'; {told}' if told else ''}")
    if others:
        first = min(others, key=natural_key)
        told = f"{counted(len(others), kind.others)} left alone, such as {first}"
        notes.append(f"{folder}: {told}")
    if unopened:
        notes.append(f"{folder}: {unopened}")
    return sorted(found, key=lambda one: (natural_key(one.inside), one.inside))
