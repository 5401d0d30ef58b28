"""The options of `coursepkg class`."""

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from coursepkg.app.options import Flag, Json
from coursepkg.validation import check_count, check_finite, check_positive, check_share

CourseFolder = Annotated[
    Path,
    tyro.conf.arg(metavar="FOLDER", help="The folder of the class."),
]
Names = tyro.conf.Positional[
    Annotated[
        tuple[str, ...],
        tyro.conf.arg(metavar="ASSIGNMENT...", help="Names; none takes all."),
    ]
]


@dataclass(frozen=True)
class Release:
    """Check assignments and make their student editions.

    The solution must pass every hidden test, the student edition none; the edition is
    searched for lines of solutions and hidden tests. Release an assignment again after
    you mended it.
    """

    inputs: tyro.conf.Positional[
        Annotated[tuple[Path, ...], tyro.conf.arg(metavar="NOTEBOOK|FOLDER...")]
    ] = ()
    """Source notebooks, or folders with NAME/NAME.ipynb in them."""
    course: CourseFolder = Path("class")
    due: str = ""
    """Until when it may be handed in: 2026-12-01T23:59+07:00; without an offset it is
    UTC."""
    json: Json = False

    def __post_init__(self) -> None:
        if not self.inputs:
            raise ValueError("name a source notebook or a folder of them")
        parse_due(self.due)


@dataclass(frozen=True)
class Collect:
    """Take submissions from folders and zip files, as Moodle and Canvas write them too.

    Each file that is not taken gets a line with the reason.
    """

    inputs: tyro.conf.Positional[
        Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FOLDER|ZIP...")]
    ] = ()
    """Folders and zip files with submissions."""
    assignment: str = ""
    """Name of the assignment."""
    course: CourseFolder = Path("class")
    json: Json = False

    def __post_init__(self) -> None:
        if not self.inputs:
            raise ValueError("name a folder or zip file with submissions")
        if not self.assignment:
            raise ValueError("--assignment: name the assignment that was handed in")


@dataclass(frozen=True)
class Grade:
    """Grade submissions, each in a sandbox of bubblewrap.

    Stop it at any time and run it again: what is graded stays. After an assignment was
    mended and released again, all its submissions are graded again, and what changed is
    printed.
    """

    inputs: Names = ()
    course: CourseFolder = Path("class")
    workers: int = 2
    """Sandboxes at the same time."""
    seconds: float = 60.0
    """Time of one submission."""
    memory_mb: int = 2_048
    """Memory of one submission in mebibytes, all its processes together."""
    force: Flag = False
    """Grade also what has not changed."""
    unsafe_without_sandbox: Flag = False
    """Run submissions as plain processes with all your rights: only where everything on
    the machine may be lost."""
    json: Json = False

    def __post_init__(self) -> None:
        check_count("--workers", self.workers, most=64)
        check_count("--memory-mb", self.memory_mb, least=256)
        check_finite("--seconds", self.seconds)
        if not 1 <= self.seconds <= 3_600:
            raise ValueError(f"--seconds must lie in 1..3600, got {self.seconds}")


@dataclass(frozen=True)
class Mark:
    """Mark answers in words: write a sheet, fill it in, read it back.

    The sheet is a CSV file with a row for each answer; fill in points and comment.
    Rows without points go on waiting. Grading again keeps these marks.
    """

    inputs: tyro.conf.Positional[
        Annotated[tuple[Path, ...], tyro.conf.arg(metavar="SHEET...")]
    ] = ()
    """Filled-in sheets to store."""
    course: CourseFolder = Path("class")
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Write a sheet of all assignments here, with the points so far."""
    json: Json = False

    def __post_init__(self) -> None:
        if not self.inputs and self.out is None:
            raise ValueError("name a filled-in sheet, or give --out FILE to write one")


@dataclass(frozen=True)
class Feedback:
    """Write a page for each graded submission: points, messages, no hidden test."""

    inputs: Names = ()
    course: CourseFolder = Path("class")
    json: Json = False


@dataclass(frozen=True)
class Export:
    """Write marks as a CSV file that Moodle or Canvas imports."""

    inputs: Names = ()
    course: CourseFolder = Path("class")
    out: Path = Path("marks.csv")
    """The file to write."""
    format: Literal["moodle", "canvas", "plain"] = "moodle"
    """Columns; plain is one row a mark, with days late."""
    late_days: int = 0
    """Days that each student may be late in all."""
    late_penalty: float = 0.0
    """Per cent of a mark that each further day costs."""
    json: Json = False

    def __post_init__(self) -> None:
        check_count("--late-days", self.late_days, least=0)
        if not 0 <= self.late_penalty <= 100:
            raise ValueError(
                f"--late-penalty must lie in 0..100, got {self.late_penalty}"
            )


@dataclass(frozen=True)
class Gradescope:
    """Write the autograder of an assignment for Gradescope, a zip file.

    It holds the hidden tests and this package: upload it, and give it to nobody.
    Answers in words are marked on Gradescope by hand.
    """

    inputs: tyro.conf.Positional[
        Annotated[
            tuple[str, ...],
            tyro.conf.arg(metavar="ASSIGNMENT", help="Name of the assignment."),
        ]
    ] = ()
    course: CourseFolder = Path("class")
    out: Path = Path("autograder.zip")
    """The file to write."""
    json: Json = False

    def __post_init__(self) -> None:
        if len(self.inputs) != 1:
            raise ValueError("name the one assignment that the autograder is for")


@dataclass(frozen=True)
class Similar:
    """List pairs of students whose solutions of a task are nearly the same.

    Names, comments, formatting, values of constants and the order of operands do not
    matter, and what was handed out does not count. It is a hint for a person, never a
    mark: look at both notebooks before you ask anyone.
    """

    inputs: Names = ()
    course: CourseFolder = Path("class")
    threshold: float = 0.8
    """Least similarity of a pair, above 0 and up to 1; independent solutions of this
    course's tasks stay below 0.7."""
    json: Json = False

    def __post_init__(self) -> None:
        check_share("--threshold", self.threshold)
        check_positive("--threshold", self.threshold)


@dataclass(frozen=True)
class Leaderboard:
    """Score predictions that students handed in as files, and write a page of ranks.

    The best file of each student counts. The page names pseudonyms alone; who is who is
    printed here. A file that cannot be scored gets a line with the reason.
    """

    inputs: tyro.conf.Positional[
        Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FOLDER|ZIP...")]
    ] = ()
    """Folders and zip files, as `collect` takes them: several files of a student are
    several tries."""
    project: Literal["translation", "ocr", "sign-language"] = "translation"
    """BLEU of translations, character error rate of lines, macro-F1 of signs."""
    references: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """The right answers in the form of a prediction file; for translation named by the
    language, such as test.vi."""
    course: CourseFolder = Path("class")
    out: Path = Path("leaderboard.html")
    """The page to write."""
    json: Json = False

    def __post_init__(self) -> None:
        if not self.inputs:
            raise ValueError("name a folder or zip file with predictions")
        if self.references is None:
            raise ValueError("--references: name the file with the right answers")


@dataclass(frozen=True)
class Status:
    """Say how far each assignment is: handed in, graded, waiting, unreadable."""

    inputs: Names = ()
    course: CourseFolder = Path("class")
    json: Json = False


def parse_due(text: str) -> datetime.datetime | None:
    """A due date in UTC without a zone, as nbgrader stores it; None for "".

    Raises:
        ValueError: it is no date.
    """
    if not text:
        return None
    try:
        when = datetime.datetime.fromisoformat(text)
    except ValueError as reason:
        raise ValueError(
            f"--due must be a date such as 2026-12-01T23:59+07:00, got {text!r}"
        ) from reason
    if when.tzinfo is None:
        return when
    return when.astimezone(datetime.UTC).replace(tzinfo=None)
