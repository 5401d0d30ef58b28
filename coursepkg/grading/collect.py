"""Collect submissions from folders and zip files, as Moodle and Canvas write them too.

Every file is taken or gets a line that says why not; one bad file stops no other.
"""

import datetime
import lzma
import os
import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from coursepkg.files import whole_folder
from coursepkg.grading.course import Course, Student, read_timestamp, safe_id
from coursepkg.grading.source import LARGEST_NOTEBOOK
from coursepkg.validation import one_line

MOST_FILES = 20_000
IGNORED = {"__MACOSX", ".DS_Store", ".ipynb_checkpoints", "timestamp.txt", "Thumbs.db"}
UNREADABLE = (
    *(OSError, EOFError, RuntimeError, ValueError),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)
"""What reading a file or a member of a zip file may raise."""
MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_\w+?(_.*)?")
CANVAS = re.compile(r"(?P<login>[^_]+)(_LATE)?_(?P<user>\d+)_(?P<submission>\d+)_.+")


@dataclass(frozen=True)
class Found:
    """A file that may be a submission."""

    path: PurePosixPath
    """Below the folder or zip file; what messages show."""
    modified: datetime.datetime
    read: Callable[[], bytes]
    problem: str = ""
    """Why it cannot be taken; empty where it can."""


@dataclass
class Collected:
    """What a collection did."""

    taken: dict[str, str] = field(default_factory=dict)
    """File by student."""
    unchanged: list[str] = field(default_factory=list)
    """Students whose file was here already."""
    problems: list[tuple[str, str]] = field(default_factory=list)
    """File and why it was not taken."""
    notes: list[str] = field(default_factory=list)


def collect(course: Course, name: str, inputs: Sequence[Path]) -> Collected:
    """Take the submissions of an assignment into the course's folder.

    Args:
        inputs: folders and zip files.

    Raises:
        ValueError: the assignment was not released, an input is neither, or roster.csv
            is unfit.
    """
    course.require_released(name)
    roster = course.roster()
    result = Collected()
    if not roster:
        result.notes.append(
            f"{course.root / 'roster.csv'} is missing: students are named by their"
            " files, and marks have no e-mail addresses"
        )
    candidates: dict[str, list[Found]] = {}
    for place in inputs:
        for found in found_files(place):
            problem = found.problem
            if not problem and found.path.suffix.lower() != ".ipynb":
                problem = "it is no notebook (.ipynb)"
            students = [] if problem else owners(found.path, name, roster)
            if len(students) == 1:
                candidates.setdefault(students[0], []).append(found)
            else:
                problem = problem or _owner_problem(students)
                result.problems.append((str(found.path), problem))
    for student, files in sorted(candidates.items()):
        named = [one for one in files if one.path.stem == name] or files
        if len(named) > 1:
            both = ", ".join(str(one.path) for one in named)
            reason = f"several submissions of {student}; keep one of {both}"
            if not roster:
                reason += ", or write roster.csv where they are of two students"
            result.problems.append((str(named[0].path), reason))
            continue
        _take(course, name, student, named[0], result)
    return result


def _take(
    course: Course, name: str, student: str, found: Found, result: Collected
) -> None:
    target = course.submission(student, name)
    try:
        content = found.read()
    except UNREADABLE as reason:
        result.problems.append(
            (str(found.path), f"it cannot be read: {one_line(reason)}")
        )
        return
    here = target / f"{name}.ipynb"
    if here.is_file() and not here.is_symlink() and here.read_bytes() == content:
        result.unchanged.append(student)
        return
    with whole_folder(target) as folder:
        (folder / f"{name}.ipynb").write_bytes(content)
        (folder / "timestamp.txt").write_text(found.modified.isoformat() + "\n")
    result.taken[student] = str(found.path)


def _owner_problem(students: Sequence[str]) -> str:
    if not students:
        return "no student of roster.csv belongs to it; add a row or rename it"
    both = ", ".join(students)
    return (
        f"{both} of roster.csv have this name; fill in their moodle_id or canvas_id, or"
        " rename it to the id"
    )


def owners(path: PurePosixPath, name: str, roster: Sequence[Student]) -> list[str]:
    """The ids of the students whose file this may be; one where it is clear.

    Args:
        path: as Moodle writes it (`Full Name_123_assignsubmission_file_/x.ipynb`, also
            without the folder), as Canvas does (`login_LATE_12_345_x.ipynb`), or
            `STUDENT/x.ipynb`, `STUDENT/NAME/x.ipynb`, `STUDENT.ipynb`.
        name: of the assignment.
        roster: an empty one takes every student.
    """
    parts = [unicodedata.normalize("NFC", part) for part in path.parts]
    for part in parts:
        moodle = MOODLE.fullmatch(part)
        if moodle:
            return _known(roster, moodle["name"], moodle_id=moodle["number"])
    canvas = CANVAS.fullmatch(parts[-1])
    if canvas:
        return _known(roster, canvas["login"], canvas_id=canvas["user"])
    above = [part for part in parts[:-1] if part != name]
    who = above[-1] if above else PurePosixPath(parts[-1]).stem
    # A file that is called as the assignment and lies in no folder names nobody.
    return [] if who == name else _known(roster, who)


def _known(
    roster: Sequence[Student], name: str, *, moodle_id: str = "", canvas_id: str = ""
) -> list[str]:
    if not roster:
        return [safe_id(name)] if safe_id(name) else []
    for student in roster:
        if moodle_id and student.moodle_id == moodle_id:
            return [student.id]
        if canvas_id and student.canvas_id == canvas_id:
            return [student.id]
        if student.id == name:
            return [student.id]
    return [
        student.id
        for student in roster
        if student.name and _compact(name) in _orders(student.name)
    ]


def _orders(name: str) -> set[str]:
    """A full name without spaces, also with its first or last word moved (Canvas)."""
    words = name.split()
    turned = (words, words[1:] + words[:1], words[-1:] + words[:-1])
    return {_compact("".join(one)) for one in turned}


def _compact(name: str) -> str:
    return "".join(unicodedata.normalize("NFC", name).casefold().split())


def found_files(place: Path) -> Iterator[Found]:
    """The files of a folder or a zip file.

    Raises:
        ValueError: it is neither, or a damaged zip file.
    """
    if place.is_dir():
        yield from _folder_files(place)
    elif place.is_file() and zipfile.is_zipfile(place):
        yield from _zip_files(place)
    elif place.exists():
        raise ValueError(f"{place} is neither a folder nor a zip file")
    else:
        raise ValueError(f"{place} does not exist; name a folder or a zip file")


def _folder_files(place: Path) -> Iterator[Found]:
    for number, path in enumerate(sorted(place.rglob("*"))):
        _check_number(place, number)
        shown = PurePosixPath(_decoded(path.relative_to(place)))
        if IGNORED & set(shown.parts) or (path.is_dir() and not path.is_symlink()):
            continue
        state = path.lstat()
        problem = "" if stat.S_ISREG(state.st_mode) else "it is a link or no plain file"
        stamp = path.with_name("timestamp.txt")
        yield Found(
            shown,
            _stamped(stamp, state.st_mtime),
            path.read_bytes,
            problem or _size_problem(state.st_size),
        )


def _decoded(path: Path) -> str:
    """A path as text; bytes that are no UTF-8 become a sign that stands for them."""
    return os.fsencode(path).decode(errors="replace")


def _stamped(stamp: Path, modified: float) -> datetime.datetime:
    """The time that a timestamp file beside a submission says, else its own."""
    try:
        return read_timestamp(stamp)
    except (OSError, ValueError):
        return datetime.datetime.fromtimestamp(modified, datetime.UTC)


def _zip_files(place: Path) -> Iterator[Found]:
    try:
        archive = zipfile.ZipFile(place)
    except zipfile.BadZipFile as reason:
        raise ValueError(
            f"{place} is damaged ({one_line(reason)}); download it again"
        ) from reason
    for number, info in enumerate(archive.infolist()):
        _check_number(place, number)
        shown = PurePosixPath(_zip_name(info))
        if info.is_dir() or IGNORED & set(shown.parts):
            continue
        yield Found(
            shown,
            _zip_time(info),
            lambda info=info: _read_member(archive, info),  # type: ignore[misc]
            _zip_problem(info, shown) or _size_problem(info.file_size),
        )


def _zip_name(info: zipfile.ZipInfo) -> str:
    """The name of a member; older programs write UTF-8 without saying so."""
    if not info.flag_bits & 0x800:
        try:
            return info.filename.encode("cp437").decode()
        except (UnicodeEncodeError, UnicodeDecodeError):
            pass
    return info.filename


def _zip_time(info: zipfile.ZipInfo) -> datetime.datetime:
    try:
        return datetime.datetime(*info.date_time).astimezone()
    except ValueError:
        return datetime.datetime.now(datetime.UTC)


def _zip_problem(info: zipfile.ZipInfo, shown: PurePosixPath) -> str:
    if shown.is_absolute() or ".." in shown.parts or "\\" in str(shown):
        return "its path climbs out of the zip file"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "it is a link or no plain file"
    if info.flag_bits & 1:
        return "it is encrypted"
    return ""


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as member:
        content = member.read(LARGEST_NOTEBOOK + 1)
    if len(content) > LARGEST_NOTEBOOK:
        raise ValueError(_size_problem(len(content)))
    return content


def _size_problem(size: int) -> str:
    if size <= LARGEST_NOTEBOOK:
        return ""
    return (
        f"it has {size / 2**20:,.0f} MB, more than {LARGEST_NOTEBOOK // 2**20}; clear"
        " its outputs and hand it in again"
    )


def _check_number(place: Path, number: int) -> None:
    if number >= MOST_FILES:
        raise ValueError(f"{place} holds more than {MOST_FILES:,} files")
