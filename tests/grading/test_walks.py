"""The instructor's way from release to marks, and what interrupts it."""

import csv
import io
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from coursepkg.grading import sandbox
from coursepkg.grading.calls import Returned
from coursepkg.grading.course import Course
from coursepkg.grading.export import LatePolicy, marks
from coursepkg.grading.grade import Attempt, Grader, read_record
from coursepkg.grading.sandbox import Limits, Run
from tests.grading import sample
from tests.grading.conftest import needs_sandbox
from tests.said import said

ROOT = Path(__file__).resolve().parents[2]
ROSTER = """student,name,email,moodle_id,canvas_id
an,Nguyễn Văn An,an@example.org,101,7001
binh,=Trần Thị Bình,binh@example.org,102,7002
chi,Lê Chi,chi@example.org,103,7003
"""


@needs_sandbox
def test_from_moodle_to_marks_and_back(course: Course, tmp_path: Path) -> None:
    (course.root / "roster.csv").write_text(ROSTER, encoding="utf-8")
    edition = course.release("sample")
    archive = tmp_path / "download.zip"
    with zipfile.ZipFile(archive, "w") as target:
        for name, answers in (("Nguyễn Văn An_101", sample.RIGHT), ("Bình_102", sample.WRONG)):
            member = zipfile.ZipInfo(f"{name}_assignsubmission_file_/sample.ipynb", (2026, 12, 3, 10, 0, 0))
            target.writestr(member, json.dumps(sample.solved(edition, answers)))
        target.writestr("Lê Chi_103_assignsubmission_file_/sample.ipynb", "no notebook")
    options = ("--course", course.root, "--json")

    collected = said("class", "collect", archive, "--assignment", "sample", *options)
    assert sorted(collected.document["taken"]) == ["an", "binh", "chi"]

    graded = said("class", "grade", *options)
    assert graded.code == 1
    assert "sample, chi: sample.ipynb is no Jupyter notebook of format 4" in graded.err
    (document,) = graded.document["assignments"]
    assert {one["student"]: one["points"] for one in document["graded"]} == {"an": 5, "binh": 0, "chi": 0}

    again = said("class", "grade", *options)
    assert again.code == 0
    assert again.document["assignments"][0] == {
        "assignment": "sample",
        "graded": [],
        "kept": 3,
        "changed": [],
    }

    pages = said("class", "feedback", *options)
    assert len(pages.document["pages"]) == 3
    page = course.feedback("binh", "sample").read_text(encoding="utf-8")
    assert "softmax has NaN or infinite entries" in page
    assert "0 of 10 points (1 to be marked by a person)" in page
    no_notebook = course.feedback("chi", "sample").read_text(encoding="utf-8")
    assert (no_notebook.count("not run"), no_notebook.count("<td>marked by a person</td>")) == (2, 1)

    moodle, canvas = (rows_of(said, course, tmp_path / f"{form}.csv", form) for form in ("moodle", "canvas"))
    assert moodle == [
        ["Username", "First name", "Surname", "Email address", "sample"],
        ["an", "Nguyễn Văn", "An", "an@example.org", "5"],
        ["binh", "'=Trần Thị", "Bình", "binh@example.org", "0"],
        ["chi", "Lê", "Chi", "chi@example.org", "0"],
    ]
    assert canvas[:3] == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "sample"],
        ["    Points Possible", "", "", "", "", "10"],
        ["Nguyễn Văn An", "7001", "", "an", "", "5"],
    ]
    late = said(
        *("class", "export", "--out", tmp_path / "late.csv", "--format", "plain", *options),
        *("--late-days", 1, "--late-penalty", 20),
    )
    marks = {mark["student"]: mark for mark in late.document["marks"]}
    assert (marks["an"]["days_late"], marks["an"]["penalty"], marks["an"]["points"]) == (2, 1, 4)

    status = said("class", "status", *options)
    assert status.document["assignments"] == [
        {
            "assignment": "sample",
            "handed_in": 3,
            "graded": 3,
            "unreadable": 1,
            "waiting": 3,
            "mean_points": 1.67,
        }
    ]


def rows_of(run: Callable[..., object], course: Course, path: Path, form: str) -> list[list[str]]:
    run("class", "export", "--course", course.root, "--out", path, "--format", form)
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))))


@needs_sandbox
def test_a_mended_test_is_graded_again_and_what_changed_is_said(
    course: Course, hand_in: Callable[..., Path], tmp_path: Path
) -> None:
    hand_in("an", sample.RIGHT)
    hand_in("binh", {**sample.RIGHT, **{"number": "cache_mib = 5.0"}})
    options = ("--course", course.root)
    said("class", "grade", *options)
    source = json.loads(course.source("sample").read_text())
    source["cells"][3]["source"] = "### BEGIN SOLUTION\ncache_mib = 5.0\n### END SOLUTION"
    source["cells"][4]["source"] = sample.NUMBER_TEST.replace("4.0", "5.0")
    mended = tmp_path / "sample.ipynb"
    mended.write_text(json.dumps(source))
    assert said("class", "release", mended, *options).code == 0
    done = said("class", "grade", *options, "--json")
    assert done.code == 0, done.err
    assert done.out.splitlines()[:2] == [
        "sample, an: number-test: 2 -> 0 points",
        "sample, binh: number-test: 0 -> 2 points",
    ]


def marks_in(course: Course) -> list[tuple[str, str, float]]:
    with sqlite3.connect(course.database) as base:
        rows = base.execute(
            "SELECT submitted_assignment.student_id, base_cell.name, grade.auto_score FROM grade"
            " JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id"
            " JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id"
            " JOIN base_cell ON base_cell.id = grade.cell_id ORDER BY 1, 2"
        ).fetchall()
    base.close()
    return rows


KILLED = {
    "open:1": "",  # the secret of the class is being written
    "start:1": "",
    "running:1": "",
    "rename:1": "",  # a record is written, but has not got its name
    "insert:1": "a",  # a record is there, but not in the gradebook
    "insert:3": "a",
    "update:1": "a",
    "open:1 ": "a",
    "insert:4": "ab",
    "running:1 ": "ab",
}
"""Points at which grading is killed, one after another, and whose records are there then."""


@needs_sandbox
def test_grading_that_was_killed_ten_times_gives_the_same_marks(
    course: Course, hand_in: Callable[..., Path], tmp_path: Path
) -> None:
    for student, answers in (("a", sample.RIGHT), ("c", sample.WRONG), ("e", {"number": "cache_mib = 4.0"})):
        hand_in(student, answers)
    for student in "bd":
        hand_in(student, {}).write_text("no notebook")
    whole = Course(Path(shutil.copytree(course.root, tmp_path / "whole")))
    assert said("class", "grade", "--course", whole.root).code == 1

    command = [sys.executable, "-m", "tests.grading.killed", course.root, *map(str.strip, KILLED)]
    ran = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, timeout=500)
    killed = json.loads(ran.stdout)
    assert [one["ended_by"] for one in killed] == [signal.SIGKILL] * 10
    assert ["".join(one["records"]) for one in killed] == [*KILLED.values()]
    running = [one["left_ended_by"] for one in killed if one["point"] == "running:1"]
    assert [signal.SIGKILL in left for left in running] == [True, True]

    done = said("class", "grade", "--course", course.root, "--json")
    (document,) = done.document["assignments"]
    assert (document["kept"], len(document["graded"])) == (2, 3)
    points = {s: read_record(course.record(s, "sample")).points for s in "abcde"}
    assert points == {"a": 5, "b": 0, "c": 0, "d": 0, "e": 2}
    assert marks_in(course) == marks_in(whole)
    assert files_in(course) == files_in(whole)


def test_who_runs_out_of_time_beside_others_is_run_again_alone(
    course: Course, hand_in: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    number = Run(dict.fromkeys(range(3), Returned("cache_mib", 4.0)))
    late = {"a": Run(is_over_time=True), "b": Run({0: Returned("softmax", None, "TimeoutError")})}

    def run(attempt: Attempt) -> Run:
        ran.append(attempt.student)
        is_first = ran.count(attempt.student) == 1
        return late.get(attempt.student, number) if is_first else number

    monkeypatch.setattr(Attempt, "run", run)
    for student in "abc":
        hand_in(student, {})
    grader = Grader(course, "sample", limits=Limits())
    done: list[str] = []
    summary = grader.grade(["a", "b", "c"], workers=2, done=done.append)
    assert (sorted(ran), ran[-2:]) == (["a", "a", "b", "b", "c"], done[-2:])
    assert sorted(done[-2:]) == ["a", "b"]
    assert {record.student: record.points for record in summary.graded} == {"a": 2, "b": 2, "c": 2}
    ran.clear()
    assert {record.points for record in grader.grade(["a"], workers=1, force=True).graded} == {0}


def files_in(course: Course) -> set[Path]:
    return {path.relative_to(course.root) for path in course.root.rglob("*")}


def test_without_bubblewrap_nothing_is_graded(
    course: Course, hand_in: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = hand_in("an", {**sample.RIGHT, **{"number": f"open({str(tmp_path / 'ran')!r}, 'w')"}})
    monkeypatch.setenv("PATH", str(tmp_path))
    sandbox.sandbox_problem.cache_clear()
    try:
        mistake = said("class", "grade", "--course", course.root).mistake
    finally:
        sandbox.sandbox_problem.cache_clear()
    assert "bubblewrap (bwrap) is not installed" in mistake
    assert "--unsafe-without-sandbox" in mistake
    assert not (tmp_path / "ran").exists()
    assert path.exists()
    assert read_record(course.record("an", "sample")) is None


def test_free_days_are_used_once_whatever_is_exported() -> None:
    due = datetime(2026, 12, 1)
    assignments = [
        SimpleNamespace(
            name=name,
            duedate=due + timedelta(days=at),
            submissions=[
                SimpleNamespace(
                    student_id="an",
                    timestamp=due + timedelta(days=at + 2),
                    score=10.0,
                    max_score=10.0,
                    needs_manual_grade=False,
                )
            ],
        )
        for name, at in (("second", 7), ("first", 0))
    ]
    gradebook = SimpleNamespace(assignments=assignments)
    policy = LatePolicy(free_days=3, penalty_percent=20.0)
    both = marks(gradebook, ["first", "second"], policy)
    assert [(one.assignment, one.points) for one in both] == [("first", 10), ("second", 8)]
    assert marks(gradebook, ["second"], policy) == both[1:]


def test_a_folder_that_is_missing_is_made(course: Course, tmp_path: Path) -> None:
    for verb, *inputs, name in (("export", "marks.csv"), ("gradescope", "sample", "autograder.zip")):
        out = tmp_path / verb / "new" / name
        done = said("class", verb, *inputs, "--course", course.root, "--out", out)
        assert done.code == 0, done.err
        assert out.is_file()


def test_a_gradebook_that_was_moved_away_is_named(course: Course, hand_in: Callable[..., Path]) -> None:
    hand_in("an", sample.RIGHT)
    course.database.unlink()
    for verb in ("status", "export"):
        mistake = said("class", verb, "--course", course.root).mistake
        assert "gradebook.db has no assignment 'sample'" in mistake
    with pytest.raises(ValueError, match="no assignment 'sample'"):
        Grader(course, "sample", limits=Limits()).grade(["an"])


def test_a_gradebook_of_an_older_version_is_named(course: Course) -> None:
    with sqlite3.connect(course.database) as base:
        base.execute("UPDATE alembic_version SET version_num = '724cde206c17'")
    base.close()
    mistake = said("class", "status", "--course", course.root).mistake
    assert "gradebook of another version of nbgrader (724cde206c17)" in mistake
    assert "nbgrader db upgrade" in mistake
    course.database.write_text("no database at all" * 100)
    assert "is no gradebook" in said("class", "status", "--course", course.root).mistake


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("release",), "name a source notebook"),
        (("release", "nowhere"), "nowhere: no source notebook"),
        (("release", "x.ipynb", "--due", "soon"), "--due must be a date"),
        (("collect", "x"), "--assignment: name the assignment"),
        (("grade", "--workers", 0), "--workers must be an integer in 1..64"),
        (("grade", "--seconds", 0), "--seconds must lie in 1..3600"),
        (("grade", "other"), "assignment 'other' was not released"),
        (("grade", "../x"), "a name has letters, digits"),
        (("export", "--late-penalty", 101), "--late-penalty must lie in 0..100"),
    ],
)
def test_a_mistake_of_the_instructor_is_one_line(course: Course, arguments: tuple, reason: str) -> None:
    assert reason in said("class", *arguments, "--course", course.root).mistake


def test_a_class_that_is_not_there_is_named(tmp_path: Path) -> None:
    mistake = said("class", "grade", "--course", tmp_path / "none").mistake
    assert "no assignment was released" in mistake
    assert not (tmp_path / "none").exists()
