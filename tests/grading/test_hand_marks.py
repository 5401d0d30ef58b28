"""Answers in words: the sheet, the way back, the page, what waits; grading again keeps the marks."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from coursepkg.grading.course import Course
from coursepkg.grading.grade import handed_in
from coursepkg.grading.gradebook import open_gradebook, store_marks
from tests.grading import sample
from tests.grading.conftest import needs_sandbox
from tests.said import said

FORMULA = '=HYPERLINK(1)\nThe exponential, which "overflows", see above; so: shift.'


@pytest.fixture
def marked(course: Course, hand_in: Callable[..., Path]) -> Course:
    """A class with three submissions in the gradebook."""
    (course.root / "roster.csv").write_text("student;name\nan;Lê An\nbinh;\nchi;\n", "utf-8")
    hand_in("an", {**sample.RIGHT, "why": FORMULA})
    hand_in("binh", {**sample.RIGHT, "why": "It overflows."})
    (hand_in("chi", {})).write_text("no notebook")
    with open_gradebook(course) as gradebook:
        for student in course.roster():
            folder = course.submission(student.id, "sample")
            store_marks(
                gradebook, "sample", student, {"softmax-test": 3.0, "number-test": 0.0}, handed_in(folder)
            )
    return course


def sheet(course: Course, path: Path) -> list[dict[str, str]]:
    done = said("class", "mark", "--out", path, "--course", course.root)
    assert done.code == 0, done.err
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: list[dict[str, str]], delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_a_sheet_goes_out_and_comes_back(marked: Course, tmp_path: Path) -> None:
    rows = sheet(marked, tmp_path / "sheet.csv")
    assert [(one["student"], one["task"], one["max_points"], one["points"]) for one in rows] == [
        ("an", "why", "5", ""),
        ("binh", "why", "5", ""),
        ("chi", "why", "5", ""),
    ]
    assert [one["answer"] for one in rows] == ["'" + FORMULA, "It overflows.", ""]
    rows[0] |= {"points": "4,5", "comment": "-0.5: name the dtype"}
    rows[1] |= {"points": "", "comment": "Say more & mind <b>"}
    done = said("class", "mark", write(tmp_path / "back.csv", rows, ";"), "--course", marked.root, "--json")
    assert done.code == 0, done.err
    assert done.out.splitlines()[:2] == [
        "2 marks stored, 0 changed",
        "2 submissions still waiting for a person",
    ]
    assert done.document == {"stored": 2, "changed": [], "waiting": 2, "path": None}
    again = sheet(marked, tmp_path / "again.csv")
    assert [(one["points"], one["comment"]) for one in again] == [
        ("4.5", "'-0.5: name the dtype"),
        ("", "Say more & mind <b>"),
        ("", ""),
    ]
    again[0]["points"] = "5"
    back = said("class", "mark", write(tmp_path / "back.csv", again), "--course", marked.root)
    assert back.out.splitlines()[0] == "sample, an: why: 4.5 -> 5 points"
    assert sheet(marked, tmp_path / "third.csv")[0]["comment"] == "'-0.5: name the dtype"
    marks = said("class", "export", "--course", marked.root, "--out", tmp_path / "marks.csv", "--json")
    assert [(m["student"], m["points"], m["is_waiting"]) for m in marks.document["marks"]] == [
        ("an", 8.0, False),
        ("binh", 3.0, True),
        ("chi", 3.0, True),
    ]


ROW = {"assignment": "sample", "student": "an", "task": "why", "points": "2", "comment": ""}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"points": "six"}, "line 3: points must be a number, got 'six'"),
        ({"points": "nan"}, "line 3: points must be a number"),
        ({"points": "6"}, "line 3: points must lie in 0..5, got 6"),
        ({"points": "-1"}, "line 3: points must lie in 0..5, got -1"),
        ({"points": "3", "student": "an"}, "line 3: another mark for the same answer as"),
        ({"student": "nobody"}, "line 3: no submission of 'nobody' is in the gradebook"),
        (
            {"task": "softmax-test"},
            "line 3: 'softmax-test' of sample is no task that a person marks; those are why",
        ),
        ({"assignment": "other"}, "assignment 'other' was not released"),
        ({"assignment": "../x"}, "a name has letters"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_stored(
    marked: Course, tmp_path: Path, changed: dict[str, str], reason: str
) -> None:
    rows = [ROW, {**ROW, "student": "binh", **changed}]
    path = write(tmp_path / "bad.csv", rows)
    assert reason in said("class", "mark", path, "--course", marked.root).mistake
    assert [one["points"] for one in sheet(marked, tmp_path / "sheet.csv")] == ["", "", ""]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"student,task\nan,why\n", "no column assignment, points, comment; a sheet of marks has"),
        ("student,điểm\n".encode("utf-16"), "not UTF-8"),
        (b"", "no column"),
    ],
)
def test_what_is_no_sheet_is_one_line(marked: Course, tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "bad.csv").write_bytes(content)
    assert reason in said("class", "mark", tmp_path / "bad.csv", "--course", marked.root).mistake


def test_a_sheet_that_was_filled_in_is_not_overwritten(marked: Course, tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text("my work")
    mistake = said("class", "mark", "--out", tmp_path / "sheet.csv", "--course", marked.root).mistake
    assert "already exists; read it back" in mistake
    assert (tmp_path / "sheet.csv").read_text() == "my work"
    assert "name a filled-in sheet, or give --out" in said("class", "mark", "--course", marked.root).mistake


@needs_sandbox
def test_grading_again_keeps_the_marks_of_a_person(
    course: Course, hand_in: Callable[..., Path], tmp_path: Path
) -> None:
    """After a mended test, and for a new file whose answer is told to be another."""
    options = ("--course", course.root)
    hand_in("an", {"why": "It overflows."})
    said("class", "grade", *options)
    rows = sheet(course, tmp_path / "sheet.csv")
    rows[0] |= {"points": "4", "comment": "Good <script>"}
    assert said("class", "mark", write(tmp_path / "back.csv", rows), *options).code == 0
    assert said("class", "status", *options, "--json").document["assignments"][0]["waiting"] == 0

    source = json.loads(course.source("sample").read_text())
    source["cells"][4]["source"] = sample.NUMBER_TEST.replace("0.01", "0.02")
    (tmp_path / "sample.ipynb").write_text(json.dumps(source))
    assert said("class", "release", tmp_path / "sample.ipynb", *options).code == 0
    mended = said("class", "grade", *options)
    assert mended.out.splitlines()[-1] == "sample: 1 graded, 0 as before, 0 marks changed"
    assert "was marked by a person" not in mended.err

    hand_in("an", {"why": "It overflows, as float32 ends at 3.4e38."})
    rewritten = said("class", "grade", *options)
    assert "sample, an: why was marked by a person, and its answer is another now" in rewritten.err
    row = sheet(course, tmp_path / "again.csv")[0]
    assert (row["points"], row["comment"]) == ("4", "Good <script>")

    said("class", "feedback", *options)
    page = course.feedback("an", "sample").read_text("utf-8")
    assert "Good &lt;script&gt;" in page
    assert "4 of 5</td>" in page
    assert "4 of 10 points." in page
