"""What the verbs of `coursepkg class` do with their options."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coursepkg.app.output import check_out_file, log_to_stderr, print_json
from coursepkg.files import check_new
from coursepkg.grading import options
from coursepkg.grading.collect import collect
from coursepkg.grading.course import Course, check_names
from coursepkg.grading.export import LatePolicy, marks, marks_csv, write_marks
from coursepkg.grading.feedback import write_feedback
from coursepkg.grading.grade import Grader, Record, Summary, read_record
from coursepkg.grading.gradebook import (
    manual_marks,
    open_gradebook,
    require_nbgrader,
    set_due,
)
from coursepkg.grading.gradescope import write_autograder
from coursepkg.grading.hand_marks import marking_sheet, read_sheet, store_hand_marks
from coursepkg.grading.leaderboard import pseudonyms, score_files, write_page
from coursepkg.grading.release import release
from coursepkg.grading.sandbox import Limits, clean_text, require_sandbox
from coursepkg.grading.similar import find_similar
from coursepkg.metrics.scoring import format_values, score_as_json
from coursepkg.validation import counted, one_line


def release_command(wanted: options.Release) -> int:
    """Release one source notebook after another; an unfit one changes nothing."""
    require_nbgrader()
    course = Course(wanted.course)
    done = []
    for source in _sources(wanted.inputs):
        row = release(course, source)
        with open_gradebook(course) as gradebook:
            set_due(gradebook, row["assignment"], options.parse_due(wanted.due))
        done.append(row)
        print(
            f"{row['assignment']}: {row['points']:g} points"
            f" ({row['manual_points']:g} by a person),"
            f" {counted(row['tests'], 'hidden test')}, {row['path']}"
        )
    if wanted.json:
        print_json({"released": done})
    return 0


def _sources(inputs: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for place in inputs:
        if place.suffix == ".ipynb" and place.is_file():
            found.append(place)
            continue
        inside = [
            path
            for path in sorted(place.glob("**/*.ipynb"))
            if path.stem == path.parent.name
        ]
        if not inside:
            raise ValueError(
                f"{place}: no source notebook; name a file NAME.ipynb or a folder with"
                " NAME/NAME.ipynb in it"
            )
        found += inside
    return found


def collect_command(wanted: options.Collect) -> int:
    """Collect submissions; 1 where a file was not taken."""
    result = collect(Course(wanted.course), wanted.assignment, wanted.inputs)
    for line in result.notes:
        log_to_stderr(f"note: {line}")
    for path, reason in result.problems:
        log_to_stderr(f"not taken: {clean_text(one_line(path))}: {reason}")
    print(
        f"{wanted.assignment}: {len(result.taken)} taken,"
        f" {len(result.unchanged)} unchanged, {len(result.problems)} not taken"
    )
    if wanted.json:
        print_json(asdict(result))
    return 1 if result.problems else 0


def grade_command(wanted: options.Grade) -> int:
    """Grade; 1 where a submission could not be run or a hidden test broke off."""
    course = Course(wanted.course)
    names = check_names(course, wanted.inputs)
    require_nbgrader()
    if wanted.unsafe_without_sandbox:
        log_to_stderr("warning: submissions run without a sandbox, with your rights")
    else:
        require_sandbox()
    limits = Limits(seconds=wanted.seconds, memory_mb=wanted.memory_mb)
    summaries = [_grade_one(course, name, limits, wanted) for name in names]
    if wanted.json:
        print_json({"assignments": [_as_json(one) for one in summaries]})
    failed = any(
        record.error or record.author_errors
        for summary in summaries
        for record in summary.graded
    )
    return 1 if failed else 0


def _grade_one(
    course: Course, name: str, limits: Limits, wanted: options.Grade
) -> Summary:
    from tqdm import tqdm

    grader = Grader(course, name, limits=limits, unsafe=wanted.unsafe_without_sandbox)
    students = course.students(name)
    for line in course.unfit_folders(name):
        log_to_stderr(f"{name}: {line}")
    with tqdm(
        total=len(students), desc=name, unit="submission", disable=None, file=sys.stderr
    ) as bar:
        summary = grader.grade(
            students,
            workers=wanted.workers,
            force=wanted.force,
            done=lambda _student: bar.update(),
        )
    for record in summary.graded:
        for line in _complaints(record):
            log_to_stderr(f"{name}, {record.student}: {line}")
    for change in summary.changed:
        print(
            f"{name}, {change.student}: {change.grade_id}: {change.before:g} ->"
            f" {change.after:g} points"
        )
    for student, task in summary.rewritten:
        log_to_stderr(
            f"{name}, {student}: {task} was marked by a person, and its answer is"
            " another now; look at it again"
        )
    print(
        f"{name}: {len(summary.graded)} graded, {summary.kept} as before,"
        f" {counted(len(summary.changed), 'mark')} changed"
    )
    if summary.failed:
        print(
            f"{name}: {counted(len(summary.failed), 'submission')} could not be run:"
            f" {', '.join(sorted(summary.failed))}"
        )
    return summary


def _complaints(record: Record) -> Iterator[str]:
    if record.error:
        yield record.error
    if record.ended:
        yield record.ended
    yield from record.notes
    for line in record.author_errors:
        yield f"look at the hidden test {line}"


def _as_json(summary: Summary) -> dict[str, Any]:
    return {
        "assignment": summary.assignment,
        "graded": [
            {
                "student": record.student,
                "points": record.points,
                "seconds": record.seconds,
                "peak_mb": record.peak_mb,
                "problems": list(_complaints(record)),
            }
            for record in summary.graded
        ],
        "kept": summary.kept,
        "changed": [asdict(change) for change in summary.changed],
    }


def feedback_command(wanted: options.Feedback) -> int:
    """Write the pages of all graded submissions."""
    course = Course(wanted.course)
    written = []
    with open_gradebook(course) as gradebook:
        for name in check_names(course, wanted.inputs):
            for student in course.students(name):
                record = read_record(course.record(student, name))
                if record is not None:
                    page = course.feedback(student, name)
                    given = manual_marks(gradebook, name, student)
                    write_feedback(record, page, given)
                    written.append(str(page))
    print(f"{counted(len(written), 'page')} written below {course.root / 'feedback'}")
    if wanted.json:
        print_json({"pages": written})
    return 0


def mark_command(wanted: options.Mark) -> int:
    """Store the marks of filled-in sheets, then write a sheet where one is wanted."""
    check_out_file(wanted.out, "sheet.csv")
    if wanted.out is not None:
        check_new(wanted.out, "read it back or remove it, or choose another --out")
    course = Course(wanted.course)
    names = check_names(course, ())
    found = [mark for path in wanted.inputs for mark in read_sheet(path)]
    with open_gradebook(course) as gradebook:
        changed = store_hand_marks(course, gradebook, found)
        waiting = sum(mark.is_waiting for mark in marks(gradebook, names))
        if wanted.out is not None:
            write_marks(wanted.out, marking_sheet(course, gradebook, names))
    for line in changed:
        print(line)
    if wanted.inputs:
        print(f"{counted(len(found), 'mark')} stored, {len(changed)} changed")
    if wanted.out is not None:
        print(f"sheet written to {wanted.out}")
    print(f"{counted(waiting, 'submission')} still waiting for a person")
    if wanted.json:
        out = None if wanted.out is None else str(wanted.out)
        document = {"stored": len(found), "changed": changed, "waiting": waiting}
        print_json({**document, "path": out})
    return 0


def export_command(wanted: options.Export) -> int:
    """Write the marks."""
    check_out_file(wanted.out, "marks.csv")
    course = Course(wanted.course)
    names = check_names(course, wanted.inputs)
    policy = LatePolicy(wanted.late_days, wanted.late_penalty)
    with open_gradebook(course) as gradebook:
        found = marks(gradebook, names, policy)
    write_marks(wanted.out, marks_csv(course, names, found, wanted.format))
    waiting = sum(mark.is_waiting for mark in found)
    if not course.roster():
        log_to_stderr(
            f"note: {course.root / 'roster.csv'} is missing: the marks have no names"
            " and e-mail addresses"
        )
    print(f"{counted(len(found), 'mark')} written to {wanted.out}")
    if waiting:
        log_to_stderr(f"note: {counted(waiting, 'mark')} still wait for a person")
    if wanted.json:
        print_json({"path": str(wanted.out), "marks": [asdict(mark) for mark in found]})
    return 0


def gradescope_command(wanted: options.Gradescope) -> int:
    """Write the zip file."""
    check_out_file(wanted.out, "autograder.zip")
    (name,) = wanted.inputs
    write_autograder(Course(wanted.course), name, wanted.out)
    megabytes = wanted.out.stat().st_size / 1e6
    print(f"{name}: autograder of {megabytes:.1f} MB written to {wanted.out}")
    if wanted.json:
        print_json({"assignment": name, "path": str(wanted.out)})
    return 0


def similar_command(wanted: options.Similar) -> int:
    """Print a table of the pairs that are nearly the same."""
    course = Course(wanted.course)
    rows, documents = [], []
    for name in check_names(course, wanted.inputs):
        found = find_similar(course, name, wanted.threshold)
        for student, reason in found.unreadable:
            log_to_stderr(f"{name}, {student}: not compared: {reason}")
        for one, students in found.shared_ids.items():
            who = ", ".join(students)
            print(f'{name}: {who} have the same numbers by hand, by STUDENT = "{one}"')
        rows += [
            (f"{one.similarity:.2f}", str(one.size), name, one.task, *one.students)
            for one in found.pairs
        ]
        documents.append({"assignment": name, **asdict(found)})
    if rows:
        head = ("alike", "size", "assignment", "task", "student", "student")
        print_table([head, *rows])
        print("A hint for a person, never a mark: read both before you ask anyone.")
    else:
        print(f"no two solutions of a task are alike by {wanted.threshold:g} or more")
    if wanted.json:
        print_json({"threshold": wanted.threshold, "assignments": documents})
    return 0


def leaderboard_command(wanted: options.Leaderboard) -> int:
    """Print ranks with names, write the page without; 1 where a file has no score."""
    check_out_file(wanted.out, "leaderboard.html")
    course = Course(wanted.course)
    assert wanted.references is not None  # its options were checked
    board = score_files(course, wanted.project, wanted.references, wanted.inputs)
    for path, reason in board.problems:
        log_to_stderr(f"not scored: {clean_text(one_line(path))}: {reason}")
    for line in board.notes:
        log_to_stderr(f"note: {clean_text(line)}")
    names = pseudonyms(course, [one.student for _, one in board.ranks])
    write_page(board, names, wanted.out)
    rows = [("rank", "score", "pseudonym", "student", "file")]
    for rank, one in board.ranks:
        value = format_values(one.score.value)[0]
        path = clean_text(one_line(one.path))
        rows.append((str(rank), value, names[one.student], one.student, path))
    print_table(rows)
    print(f"{counted(len(board.ranks), 'student')} written to {wanted.out}")
    if wanted.json:
        ranks = [
            {"rank": rank, "pseudonym": names[one.student], "student": one.student}
            | {"path": one.path, **score_as_json(one.score)}
            for rank, one in board.ranks
        ]
        document = {"project": wanted.project, "ranks": ranks, "notes": board.notes}
        print_json(document | {"problems": board.problems, "path": str(wanted.out)})
    return 1 if board.problems else 0


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows below one another, each column as wide as it must be."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (text.ljust(n) for text, n in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


def status_command(wanted: options.Status) -> int:
    """Print one line an assignment."""
    course = Course(wanted.course)
    rows = []
    with open_gradebook(course) as gradebook:
        for name in check_names(course, wanted.inputs):
            found = marks(gradebook, [name])
            students = course.students(name)
            records = [read_record(course.record(one, name)) for one in students]
            graded = [record for record in records if record is not None]
            points = [mark.points for mark in found]
            rows.append(
                {
                    "assignment": name,
                    "handed_in": len(students),
                    "graded": len(graded),
                    "unreadable": sum(bool(record.error) for record in graded),
                    "waiting": sum(mark.is_waiting for mark in found),
                    "mean_points": round(sum(points) / len(points), 2) if points else 0,
                }
            )
    for row in rows:
        print(
            f"{row['assignment']}: {row['handed_in']} handed in, {row['graded']}"
            f" graded, {row['unreadable']} unreadable, {row['waiting']} waiting for a"
            f" person, mean {row['mean_points']:g} points"
        )
    if wanted.json:
        print_json({"assignments": rows})
    return 0
