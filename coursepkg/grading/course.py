"""The folder of a class: nbgrader's layout, a roster, and records of grading.

source/NAME/NAME.ipynb             the author's notebook
release/NAME/NAME.ipynb            what students get
submitted/STUDENT/NAME/NAME.ipynb  what they hand in, with timestamp.txt
graded/NAME/STUDENT.json           verdicts, from which marks and feedback come
feedback/STUDENT/NAME/NAME.html
gradebook.db, roster.csv, seed.key
"""

import datetime
import hmac
import os
import re
import secrets
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coursepkg.data.csv_rows import csv_rows
from coursepkg.files import check_regular, whole_file

ROSTER_COLUMNS = ("student", "name", "email", "moodle_id", "canvas_id")


@dataclass(frozen=True)
class Student:
    """A row of the roster."""

    id: str
    """Name of the student's folder: letters, digits, and . _ @ -"""
    name: str = ""
    email: str = ""
    moodle_id: str = ""
    """Number in the names of Moodle's download, where known."""
    canvas_id: str = ""
    """Canvas's user number."""


@dataclass(frozen=True)
class Course:
    """A class's folder."""

    root: Path

    def source(self, name: str) -> Path:
        """The author's notebook of an assignment."""
        return self.root / "source" / name / f"{name}.ipynb"

    def release(self, name: str) -> Path:
        """The notebook that students get."""
        return self.root / "release" / name / f"{name}.ipynb"

    def submission(self, student: str, name: str) -> Path:
        """The folder of one submission.

        A folder that was copied here from macOS may have its name in Unicode form NFD.
        """
        forms = [unicodedata.normalize(form, student) for form in ("NFC", "NFD")]
        found = [self.root / "submitted" / form / name for form in forms]
        return found[1] if found[1].exists() and not found[0].exists() else found[0]

    def record(self, student: str, name: str) -> Path:
        """The record of a graded submission."""
        return self.root / "graded" / name / f"{student}.json"

    def feedback(self, student: str, name: str) -> Path:
        """The page that a student gets back."""
        return self.root / "feedback" / student / name / f"{name}.html"

    @property
    def database(self) -> Path:
        """Nbgrader's gradebook."""
        return self.root / "gradebook.db"

    def assignments(self) -> list[str]:
        """Names of the released assignments."""
        names = {path.parent.name for path in self.root.glob("release/*/*.ipynb")}
        return sorted(name for name in names if self.release(name).is_file())

    def students(self, name: str) -> list[str]:
        """Who has handed in an assignment, each name in NFC."""
        return sorted({one for one in self._submitters(name) if safe_id(one) == one})

    def unfit_folders(self, name: str) -> list[str]:
        """Folders of submissions that are left out, and why."""
        found = self._submitters(name)
        unfit = [one for one in found if safe_id(one) != one]
        twice = sorted({one for one in found if found.count(one) > 1})
        return [
            *(f"submitted/{one!r} is no student's id; rename it" for one in unfit),
            *(
                f"submitted/{one} is there in two Unicode forms (NFC and NFD); the"
                " one in NFC counts, remove one"
                for one in twice
            ),
        ]

    def _submitters(self, name: str) -> list[str]:
        found = self.root.glob(f"submitted/*/{name}")
        names = [path.parent.name for path in found if path.is_dir()]
        return [unicodedata.normalize("NFC", one) for one in names]

    def require_released(self, name: str) -> None:
        """Raises a ValueError for an assignment that was not released here."""
        check_name(name)
        if not self.source(name).is_file() or not self.release(name).is_file():
            known = ", ".join(self.assignments()) or "none"
            raise ValueError(
                f"{self.root}: assignment {name!r} was not released (released:"
                f" {known}); run coursepkg class release first"
            )

    def seed(self, *about: str) -> int:
        """A number that nobody without the course's secret can tell.

        Args:
            about: what it is for: assignment, student, test.
        """
        return int.from_bytes(self.key(*about)[:4], "big")

    def key(self, *about: str) -> bytes:
        """32 bytes that nobody without the course's secret can tell."""
        return hmac.digest(self._secret(), "\0".join(about).encode(), "sha256")

    def _secret(self) -> bytes:
        path = self.root / "seed.key"
        if not self.root.is_dir():
            raise FileNotFoundError(
                f"{self.root}: there is no such folder; name that of a class"
            )
        if not path.exists():
            with whole_file(path) as file:
                os.fchmod(file.fileno(), 0o600)
                file.write(secrets.token_hex(32).encode())
        return path.read_bytes()

    def roster(self) -> list[Student]:
        """The students of roster.csv, an empty list where there is none.

        Raises:
            ValueError: a column is missing, or an id is bad or used twice; says where.
        """
        path = self.root / "roster.csv"
        return _roster_rows(path) if path.exists() else []


def _roster_rows(path: Path) -> list[Student]:
    found: dict[str, Student] = {}
    columns = ROSTER_COLUMNS[:1], ROSTER_COLUMNS[1:]
    for line, row in read_table(path, "a roster", *columns):
        fields = {name: row[name] for name in ROSTER_COLUMNS}
        student = fields.pop("student")
        if safe_id(student) != student or student in found:
            reason = "is used twice" if student in found else "is no folder name"
            raise ValueError(
                f"{path}, line {line}: the id {student!r} {reason}; use letters,"
                " digits, and . _ @ -"
            )
        found[student] = Student(student, **fields)
    return list(found.values())


def read_table(
    path: Path, kind: str, needed: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a CSV file as a spreadsheet writes it, in NFC, with their lines.

    Columns are separated by commas, semicolons or tabs.

    Args:
        path: of the file.
        kind: what the file is, for messages.
        needed: columns that it must have.
        optional: further columns; an empty text stands for what is not there.

    Raises:
        ValueError: it is no UTF-8, no CSV, lacks a column, or a row has text in more
            cells than there are columns; says which.
    """
    check_regular(path)
    for line, row in csv_rows(path, needed, kind, empty="", delimiters=",;\t"):
        if any(cell.strip() for cell in row.get(None, ())):
            raise ValueError(
                f"{path}, line {line}: more cells than columns; put quotes around a"
                " text that holds the separator"
            )
        cells = {name: row.get(name) or "" for name in (*needed, *optional)}
        yield (
            line,
            {
                name: unicodedata.normalize("NFC", text).strip()
                for name, text in cells.items()
            },
        )


def read_timestamp(path: Path) -> datetime.datetime:
    """When a submission was handed in, in UTC, as the file beside it says.

    nbgrader ends the line with the name of the zone, ` UTC`; no zone is UTC.

    Raises:
        OSError: the file cannot be read.
        ValueError: it holds no date.
    """
    text = path.read_text(encoding="utf-8").strip().removesuffix(" UTC")
    when = datetime.datetime.fromisoformat(text)
    if when.tzinfo is None:
        return when.replace(tzinfo=datetime.UTC)
    return when.astimezone(datetime.UTC)


def safe_id(name: str) -> str:
    """A student's name as a folder's name, of letters, digits and `._@-`."""
    plain = unicodedata.normalize("NFC", name).strip()
    return re.sub(r"[^\w.@-]+", "_", plain).lstrip(".")[:100]


def check_name(name: str) -> None:
    """Raises a ValueError for an assignment's name that is no plain file name."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
        raise ValueError(
            f"assignment {name!r}: a name has letters, digits, _ and -, as its folder"
        )


def check_names(course: Course, names: Sequence[str]) -> list[str]:
    """The named assignments, all released ones where none is named.

    Raises:
        ValueError: one was not released here, or there is none.
    """
    chosen = list(names) or course.assignments()
    if not chosen:
        raise ValueError(
            f"{course.root}: no assignment was released; run coursepkg class release"
        )
    for name in chosen:
        course.require_released(name)
    return chosen
