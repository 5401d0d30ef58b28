"""The student edition: made by nbgrader, then searched for what must not be in it."""

import logging
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coursepkg.files import whole_file
from coursepkg.grading.course import Course, check_name
from coursepkg.grading.gradebook import open_gradebook
from coursepkg.grading.source import Assignment, read_cells
from coursepkg.validation import one_line

STUB = "raise NotImplementedError  # write your code here"
REGIONS = ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME")


def release(course: Course, source: Path) -> dict[str, Any]:
    """Check an assignment, make its student edition, and enter it in the gradebook.

    The solution must pass every hidden test, and the student edition as it is handed
    out none. Where anything fails, an older release stays as it was. Other files beside
    the notebooks are left alone.

    Args:
        course: where it goes.
        source: the author's notebook, NAME.ipynb.

    Returns:
        Name, points and number of tests.

    Raises:
        ValueError: the notebook is unfit; says which cell and why.
    """
    check_name(source.stem)
    assignment = Assignment.read(source)
    n_tests = _check_solution(assignment)
    name = assignment.name
    with tempfile.TemporaryDirectory() as scratch:
        trial = Course(Path(scratch))
        trial.source(name).parent.mkdir(parents=True)
        shutil.copyfile(source, trial.source(name))
        with open_gradebook(trial):
            _run_nbgrader(trial, name, trial.database)
        _check_edition(assignment, trial.release(name))
        with open_gradebook(course):
            _run_nbgrader(trial, name, course.database)
        for made, kept in (
            (trial.source(name), course.source(name)),
            (trial.release(name), course.release(name)),
        ):
            with whole_file(kept) as file:
                file.write(made.read_bytes())
    return {
        "assignment": name,
        "points": sum(cell.points for cell in assignment.graded),
        "manual_points": sum(c.points for c in assignment.graded if c.is_manual),
        "tests": n_tests,
        "path": str(course.release(name)),
    }


def _check_solution(assignment: Assignment) -> int:
    """Number of hidden tests; the solution must pass them all."""
    verdicts = assignment.judge()
    for grade_id, found in verdicts.items():
        if not found:
            raise ValueError(
                f"{assignment.name}: the graded cell {grade_id!r} runs no hidden test"
            )
        for verdict in found:
            if verdict.message:
                raise ValueError(
                    f"{assignment.name}: the solution fails {verdict.test} of"
                    f" {grade_id!r}: {verdict.message}"
                )
    return sum(map(len, verdicts.values()))


def _run_nbgrader(course: Course, name: str, database: Path) -> None:
    """Let nbgrader write the student edition, and its cells into a gradebook."""
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    complaints: list[str] = []
    logger = logging.getLogger(f"{__name__}.nbgrader")
    logger.propagate = False
    logger.handlers = [_Listing(complaints)]
    config = Config()
    config.CourseDirectory.root = str(course.root.resolve())
    config.CourseDirectory.assignment_id = name
    config.CourseDirectory.db_url = f"sqlite:///{database.resolve()}"
    config.GenerateAssignment.force = True
    config.ClearSolutions.code_stub = {"python": STUB}
    try:
        directory = CourseDirectory(config=config, log=logger)
        GenerateAssignment(coursedir=directory, config=config, log=logger).start()
    except (Exception, SystemExit) as reason:
        said = one_line(_cause(complaints) or reason)
        raise ValueError(f"{name}: nbgrader refuses the notebook: {said}") from reason


def _cause(complaints: Sequence[str]) -> str:
    """The first error of a traceback among the complaints, else the last of them.

    What nbgrader says behind a traceback leads back to it.
    """
    traces = (one.split("\n")[1:] for one in complaints if one.startswith("Traceback"))
    errors = (line for trace in traces for line in trace if line[:1].strip())
    return next(errors, "; ".join(complaints[-2:]))


class _Listing(logging.Handler):
    """Keeps the errors of a logger in a list."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.ERROR)
        self.lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def _check_edition(assignment: Assignment, edition: Path) -> None:
    """Raises a ValueError where the student edition holds or passes too much."""
    leaked = leaks(assignment, edition.read_text(encoding="utf-8"))
    if leaked:
        raise ValueError(
            f"{assignment.name}: the student edition holds a line of a solution or"
            f" hidden test: {leaked[0]!r}; close its region with ### END"
        )
    starter = {
        cell.grade_id: cell.source for cell in read_cells(edition) if cell.solution
    }
    for grade_id, verdicts in assignment.judge(starter).items():
        if not any(verdict.message for verdict in verdicts):
            raise ValueError(
                f"{assignment.name}: the notebook as it is handed out passes"
                f" {grade_id!r}; its hidden tests must need the solution"
            )


def leaks(assignment: Assignment, text: str) -> list[str]:
    """Lines that only solutions, hidden tests and mark schemes have, found in a text.

    Args:
        text: of the student edition, as the file has it.
    """
    parts = [_regions(cell.source) for cell in assignment.cells]
    visible = {line.strip() for shown, _ in parts for line in shown}
    secret = {line.strip() for _, hidden in parts for line in hidden} - visible
    escaped = text.replace('\\"', '"').replace("\\\\", "\\")
    marks = [f"{word} {region}" for word in ("BEGIN", "END") for region in REGIONS]
    found = [line for line in secret if len(line) > 7 and line in escaped]
    return sorted(found) + [mark for mark in marks if mark in text]


def _regions(source: str) -> tuple[list[str], list[str]]:
    """The lines outside and inside the regions that students do not get."""
    shown: list[str] = []
    hidden: list[str] = []
    inside = False
    for line in source.split("\n"):
        if re.search(rf"(BEGIN|END) ({'|'.join(REGIONS)})", line):
            inside = "BEGIN" in line
        else:
            (hidden if inside else shown).append(line)
    return shown, hidden
