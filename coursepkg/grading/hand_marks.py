"""Marks that a person gives: a sheet to fill in, and the way back into the gradebook.

The sheet is a CSV file with one row for each answer in words. Points and comments are
filled in with a spreadsheet; rows without points go on waiting.
"""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursepkg.grading.course import Course, read_table
from coursepkg.grading.export import safe_value
from coursepkg.grading.grade import find_notebook
from coursepkg.grading.sandbox import clean_text
from coursepkg.grading.source import Assignment, read_cells

COLUMNS = ("assignment", "student", "task", "max_points", "points", "comment", "answer")
NEEDED = ("assignment", "student", "task", "points", "comment")
LONGEST_ANSWER = 30_000
"""Characters; a spreadsheet's cell holds 32,767."""


@dataclass(frozen=True)
class HandMark:
    """A filled-in row of a sheet."""

    assignment: str
    student: str
    task: str
    """Grade id of the cell."""
    points: float | None
    """None where a comment was written and no points yet."""
    comment: str
    place: str
    """File and line, for messages."""


def marking_sheet(course: Course, gradebook: Any, names: Sequence[str]) -> str:
    """A sheet of all answers that a person marks, with the points so far.

    Args:
        names: of the assignments.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name in names:
        graded = Assignment.read(course.source(name)).graded
        tasks = [cell for cell in graded if cell.is_manual]
        for submission in gradebook.find_assignment(name).submissions:
            student = submission.student_id
            answers = _answers(course, student, name)
            for task in tasks:
                grade, comment = _entries(gradebook, name, student, task.grade_id)
                points = grade.manual_score
                row = [name, student, task.grade_id, f"{task.points:g}"]
                row += ["" if points is None else f"{points:g}"]
                row += [comment.manual_comment or "", answers.get(task.grade_id, "")]
                writer.writerow([safe_value(value) for value in row])
    return text.getvalue()


def _answers(course: Course, student: str, name: str) -> dict[str, str]:
    """The texts of a submission by grade id; none where it cannot be read."""
    try:
        cells = read_cells(find_notebook(course.submission(student, name)))
    except (OSError, ValueError):
        return {}
    return {
        cell.grade_id: clean_text(cell.source, LONGEST_ANSWER)
        for cell in cells
        if cell.grade_id
    }


def read_sheet(path: Path) -> Iterator[HandMark]:
    """The rows of a sheet in which points or a comment were filled in.

    Raises:
        ValueError: a column is missing, or points are no number; says where.
    """
    for line, row in read_table(path, "a sheet of marks", NEEDED):
        place = f"{path}, line {line}"
        given, comment = row["points"].replace(",", "."), _plain(row["comment"])
        if not given and not comment:
            continue
        try:
            points = float(given) if given else None
        except ValueError:
            points = math.nan
        if points is not None and not math.isfinite(points):
            raise ValueError(
                f"{place}: points must be a number, got {row['points']!r:.40}"
            )
        student = _plain(row["student"])
        yield HandMark(row["assignment"], student, row["task"], points, comment, place)


def _plain(value: str) -> str:
    """A value without the sign that keeps a spreadsheet from computing it."""
    return value[1:] if value[:1] == "'" and safe_value(value[1:]) == value else value


def store_hand_marks(
    course: Course, gradebook: Any, found: Sequence[HandMark]
) -> list[str]:
    """Write marks and comments into the gradebook, all of them or none.

    Returns:
        a line for each mark that was another before.

    Raises:
        ValueError: a row names no answer that a person marks, has too many points, or
            another row says otherwise; says where.
    """
    tasks: dict[str, dict[str, float]] = {}
    seen: dict[tuple[str, str, str], HandMark] = {}
    entries = []
    for one in found:
        if one.assignment not in tasks:
            tasks[one.assignment] = _manual_tasks(course, one)
        most = tasks[one.assignment]
        if one.task not in most:
            raise ValueError(
                f"{one.place}: {one.task!r} of {one.assignment} is no task that a"
                f" person marks; those are {', '.join(most) or 'none'}"
            )
        if one.points is not None and not 0 <= one.points <= most[one.task]:
            raise ValueError(
                f"{one.place}: points must lie in 0..{most[one.task]:g}, got"
                f" {one.points:g}"
            )
        first = seen.setdefault((one.assignment, one.student, one.task), one)
        if (first.points, first.comment) != (one.points, one.comment):
            raise ValueError(
                f"{one.place}: another mark for the same answer as {first.place};"
                " remove one"
            )
        entries.append((one, *_found_entries(gradebook, one)))
    changed = []
    for one, grade, comment in entries:
        if one.points is not None:
            before = grade.manual_score
            if before is not None and before != one.points:
                changed.append(
                    f"{one.assignment}, {one.student}: {one.task}: {before:g} ->"
                    f" {one.points:g} points"
                )
            grade.manual_score = one.points
            grade.needs_manual_grade = False
        comment.manual_comment = one.comment or None
    gradebook.db.commit()
    return changed


def _manual_tasks(course: Course, mark: HandMark) -> dict[str, float]:
    try:
        course.require_released(mark.assignment)
    except ValueError as reason:
        raise ValueError(f"{mark.place}: {reason}") from reason
    cells = Assignment.read(course.source(mark.assignment)).graded
    return {cell.grade_id: cell.points for cell in cells if cell.is_manual}


def _found_entries(gradebook: Any, mark: HandMark) -> tuple[Any, Any]:
    from nbgrader.api import MissingEntry

    try:
        return _entries(gradebook, mark.assignment, mark.student, mark.task)
    except MissingEntry as reason:
        raise ValueError(
            f"{mark.place}: no submission of {mark.student!r:.60} is in the gradebook;"
            " run coursepkg class grade first"
        ) from reason


def _entries(gradebook: Any, name: str, student: str, task: str) -> tuple[Any, Any]:
    """The gradebook's entries of points and comment."""
    where = (task, name, name, student)
    return gradebook.find_grade(*where), gradebook.find_comment(*where)
