"""Marks with late days, and the CSV files that Moodle and Canvas import."""

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from coursepkg.files import whole_file
from coursepkg.grading.course import Course, Student
from coursepkg.grading.gradebook import require_entered

Format = Literal["moodle", "canvas", "plain"]
DAY = 86_400


@dataclass(frozen=True)
class LatePolicy:
    """Days that each student may be late in all, and what each further day costs."""

    free_days: int = 0
    penalty_percent: float = 0.0
    """Of the points of the assignment's mark, for each day that is not free."""


@dataclass(frozen=True)
class Mark:
    """The mark of one student in one assignment."""

    student: str
    assignment: str
    points: float
    """After the penalty."""
    max_points: float
    days_late: int = 0
    penalty: float = 0.0
    """Points taken off for lateness."""
    is_waiting: bool = False
    """Whether a person has still to mark a part."""


def marks(
    gradebook: Any, names: Sequence[str], policy: LatePolicy = LatePolicy()
) -> list[Mark]:
    """The marks of all who handed in, with late days used in the order of due dates.

    The late days of assignments that are not named count, too.

    Raises:
        ValueError: the gradebook lacks an assignment.
    """
    require_entered(gradebook, names)
    dated = sorted(
        gradebook.assignments,
        key=lambda one: (one.duedate is None, one.duedate, one.name),
    )
    used: dict[str, int] = {}
    result = []
    for assignment in dated:
        for submission in assignment.submissions:
            student = submission.student_id
            late = _days_late(submission.timestamp, assignment.duedate)
            free = min(late, policy.free_days - used.get(student, 0))
            used[student] = used.get(student, 0) + free
            if assignment.name not in names:
                continue
            share = min(1.0, (late - free) * policy.penalty_percent / 100)
            penalty = round(submission.score * share, 2)
            result.append(
                Mark(
                    student,
                    assignment.name,
                    round(submission.score - penalty, 2),
                    submission.max_score,
                    late,
                    penalty,
                    bool(submission.needs_manual_grade),
                )
            )
    return result


def _days_late(handed_in: Any, due: Any) -> int:
    """Begun days between the due date and the time of a submission."""
    if handed_in is None or due is None:
        return 0
    return max(0, math.ceil((handed_in - due).total_seconds() / DAY))


def write_marks(path: Path, text: str) -> None:
    """Write a CSV file that spreadsheets read as UTF-8; its folder is made."""
    with whole_file(path) as file:
        file.write(text.encode("utf-8-sig"))


def marks_csv(
    course: Course, names: Sequence[str], found: Sequence[Mark], form: Format
) -> str:
    """A table of marks, one row a student of the roster and of the gradebook.

    Args:
        names: assignments, a column each.
        found: the marks.
        form: columns as Moodle's or Canvas's import reads them, or one row a mark.
    """
    by_student: dict[str, dict[str, Mark]] = {}
    for mark in found:
        by_student.setdefault(mark.student, {})[mark.assignment] = mark
    roster = {student.id: student for student in course.roster()}
    known = [*roster.values()]
    known += [Student(name) for name in sorted(by_student) if name not in roster]
    rows = {"moodle": _moodle, "canvas": _canvas, "plain": _plain}[form](
        known, by_student, names
    )
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [safe_value(value) for value in row] for row in rows
    )
    return text.getvalue()


Rows = Iterator[list[str]]
ByStudent = Mapping[str, Mapping[str, Mark]]


def _moodle(known: Sequence[Student], found: ByStudent, names: Sequence[str]) -> Rows:
    yield ["Username", "First name", "Surname", "Email address", *names]
    for student in known:
        first, _, last = student.name.rpartition(" ")
        points = _points(found.get(student.id, {}), names)
        yield [student.id, first, last, student.email, *points]


def _canvas(known: Sequence[Student], found: ByStudent, names: Sequence[str]) -> Rows:
    yield ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *names]
    every = [mark for marks in found.values() for mark in marks.values()]
    most = {mark.assignment: f"{mark.max_points:g}" for mark in every}
    yield ["    Points Possible", "", "", "", "", *(most.get(n, "") for n in names)]
    for student in known:
        points = _points(found.get(student.id, {}), names)
        yield [student.name, student.canvas_id, "", student.id, "", *points]


def _plain(known: Sequence[Student], found: ByStudent, names: Sequence[str]) -> Rows:
    yield [
        *("student", "assignment", "points", "max_points"),
        *("days_late", "penalty", "waiting"),
    ]
    for student in known:
        for name in names:
            mark = found.get(student.id, {}).get(name)
            if mark is not None:
                yield [
                    *(student.id, name, f"{mark.points:g}", f"{mark.max_points:g}"),
                    *(str(mark.days_late), f"{mark.penalty:g}"),
                    "yes" if mark.is_waiting else "no",
                ]


def _points(found: Mapping[str, Mark], names: Sequence[str]) -> list[str]:
    """Points by assignment; empty where nothing was handed in."""
    return [f"{found[name].points:g}" if name in found else "" for name in names]


def safe_value(value: str) -> str:
    """A value that a spreadsheet does not take for a formula."""
    return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value
