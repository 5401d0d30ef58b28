"""A class with everything that goes wrong: a line for each such submission, marks for all others, a summary."""

import copy
import json
import os
import shutil
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coursepkg.grading.course import Course
from coursepkg.grading.grade import read_record
from tests.grading import sample
from tests.grading.conftest import needs_sandbox
from tests.said import said

HUONG = "hường"


def settings(book: dict[str, Any], grade_id: str) -> dict[str, Any]:
    """nbgrader's metadata of a cell."""
    found = [one["metadata"]["nbgrader"] for one in book["cells"]]
    return next(one for one in found if one["grade_id"] == grade_id)


def renamed(book: dict[str, Any]) -> None:
    settings(book, "number")["grade_id"] = "Number"


def lacks_a_cell(book: dict[str, Any]) -> None:
    book["cells"] = [
        one for one in book["cells"] if one["metadata"]["nbgrader"]["grade_id"] not in ("number", "why")
    ]


def all_renamed(book: dict[str, Any]) -> None:
    for one in book["cells"]:
        one["metadata"]["nbgrader"]["grade_id"] += "-copy"


def duplicated(book: dict[str, Any]) -> None:
    book["cells"].append(copy.deepcopy(book["cells"][1]))


def colab(book: dict[str, Any]) -> None:
    book["metadata"] = {
        "colab": {"provenance": [{"file_id": "1x", "timestamp": 1}], "toc_visible": True},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "accelerator": "GPU",
    }
    book["nbformat_minor"] = 0
    for number, one in enumerate(book["cells"]):
        one["metadata"] |= {"id": f"x{number}", "colab": {"base_uri": "https://localhost:8080/"}}
        one["source"] = "".join(one["source"]).splitlines(keepends=True)
        one.pop("id", None)
    book["cells"].insert(0, {"cell_type": "code", "metadata": {}, "source": ["!pip list\n"], "outputs": []})


def vs_code(book: dict[str, Any]) -> None:
    book["metadata"]["vscode"] = {"interpreter": {"hash": "0"}}
    for one in book["cells"]:
        one["metadata"]["vscode"] = {"languageId": "python"}


def half_a_character(book: dict[str, Any]) -> None:
    book["cells"][0]["source"] = "text = '\ud800'"


CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "all_renamed": all_renamed,
    "colab": colab,
    "duplicated": duplicated,
    "half_a_character": half_a_character,
    "lacks_a_cell": lacks_a_cell,
    "renamed": renamed,
    "vs_code": vs_code,
}
NO_NOTEBOOK = {
    "a_list": "[]",
    "a_picture": b"\x89PNG\r\n\x1a\n",
    "cut_off": '{"cells": [{"cell_type": "code", "sour',
    "deep": "[" * 100_000,
    "empty": "",
    "old_format": '{"nbformat": 3, "worksheets": []}',
    "python": "def softmax(x):\n    return x",
}
LOST = "none of the cells to fill in is there (their grade ids were lost or renamed)"
LACKS = "is not there: it was deleted or its grade id renamed"


@pytest.fixture
def download(course: Course, tmp_path: Path) -> Path:
    """A zip of all of them, with a right one at either end."""
    right = sample.solved(course.release("sample"), sample.RIGHT)
    with zipfile.ZipFile(tmp_path / "download.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("aa_right/sample.ipynb", json.dumps(right))
        for name, change in CHANGES.items():
            book = copy.deepcopy(right)
            change(book)
            archive.writestr(f"{name}/sample.ipynb", json.dumps(book))
        for name, content in NO_NOTEBOOK.items():
            archive.writestr(f"{name}/sample.ipynb", content)
        with archive.open("huge/sample.ipynb", "w", force_zip64=True) as member:
            for _ in range(500):
                member.write(b"0" * 2**20)
        archive.writestr("../climbs/sample.ipynb", json.dumps(right))
        archive.writestr("twice/first.ipynb", json.dumps(right))
        archive.writestr("twice/second.ipynb", json.dumps(right))
        archive.writestr(unicodedata.normalize("NFD", f"{HUONG}/sample.ipynb"), json.dumps(right))
        archive.writestr("zz_right/sample.ipynb", json.dumps(right))
    return tmp_path / "download.zip"


@needs_sandbox
def test_each_gets_its_line_and_all_others_their_marks(course: Course, download: Path) -> None:
    options = ("--course", course.root, "--json")
    collected = said("class", "collect", download, "--assignment", "sample", *options)
    assert collected.code == 1
    assert collected.err.splitlines() == [
        f"note: {course.root / 'roster.csv'} is missing: students are named by their files, and marks have no"
        " e-mail addresses",
        "not taken: huge/sample.ipynb: it has 500 MB, more than 50; clear its outputs and hand it in again",
        "not taken: ../climbs/sample.ipynb: its path climbs out of the zip file",
        "not taken: twice/first.ipynb: several submissions of twice; keep one of twice/first.ipynb,"
        " twice/second.ipynb, or write roster.csv where they are of two students",
    ]
    assert HUONG in collected.document["taken"]
    graded = said("class", "grade", *options)
    assert graded.code == 1
    assert sorted(graded.err.splitlines()) == sorted(
        [
            f"sample, all_renamed: {LOST}; start from the file that was handed out",
            "sample, duplicated: two cells have the grade id 'softmax'; keep one and hand it in again",
            f"sample, lacks_a_cell: the cell 'number' {LACKS}",
            f"sample, lacks_a_cell: the cell 'why' {LACKS}",
            f"sample, renamed: the cell 'number' {LACKS} (other grade ids: 'Number')",
            *(
                f"sample, {name}: sample.ipynb is no Jupyter notebook of format 4; save it as .ipynb and hand it"
                " in again"
                for name in NO_NOTEBOOK
            ),
        ]
    )
    (document,) = graded.document["assignments"]
    points = {one["student"]: one["points"] for one in document["graded"]}
    failed = {*NO_NOTEBOOK, "all_renamed", "duplicated"}
    full = {"aa_right", "colab", "half_a_character", HUONG, "renamed", "vs_code", "zz_right"}
    assert points == dict.fromkeys(failed, 0) | dict.fromkeys(full, 5) | {"lacks_a_cell": 3}
    summary = f"sample: 9 submissions could not be run: {', '.join(sorted(failed))}"
    assert graded.out.splitlines()[:2] == ["sample: 17 graded, 0 as before, 0 marks changed", summary]
    again = said("class", "grade", "--course", course.root)
    assert again.out.splitlines() == ["sample: 0 graded, 17 as before, 0 marks changed", summary]
    marks = said("class", "export", "--course", course.root, "--out", course.root / "marks.csv")
    assert "roster.csv is missing: the marks have no names and e-mail addresses" in marks.err
    assert "zz_right,,,,5" in (course.root / "marks.csv").read_text("utf-8-sig").splitlines()
    said("class", "feedback", "--course", course.root)
    assert f"the cell &#x27;why&#x27; {LACKS}" in course.feedback("lacks_a_cell", "sample").read_text("utf-8")


@needs_sandbox
def test_folders_that_were_copied_by_hand(course: Course, hand_in: Callable[..., Path]) -> None:
    """Names in NFD count as the same in NFC; what is no name is said."""
    hand_in("right", sample.RIGHT)
    given = course.root / "submitted" / "right"
    shutil.copytree(given, course.root / "submitted" / unicodedata.normalize("NFD", HUONG))
    shutil.copytree(given, course.root / "submitted" / "a b")
    shutil.copytree(given, course.root / "submitted" / os.fsdecode(b"\xff"))
    (course.root / "roster.csv").write_text(f"student,name\n{HUONG},Lê Thị Hường\nright,\n", "utf-8")
    done = said("class", "grade", "--course", course.root, "--json")
    assert done.code == 0
    assert sorted(done.err.splitlines()) == [
        r"sample: submitted/'\udcff' is no student's id; rename it",
        "sample: submitted/'a b' is no student's id; rename it",
    ]
    found = read_record(course.record(HUONG, "sample"))
    assert found is not None
    assert (found.error, found.notes) == ("", [])
    shutil.copytree(given, course.root / "submitted" / HUONG)
    twice = said("class", "grade", "--course", course.root)
    assert f"submitted/{HUONG} is there in two Unicode forms" in twice.err
    marks = said("class", "export", "--course", course.root, "--out", course.root / "marks.csv", "--json")
    assert [mark["student"] for mark in marks.document["marks"]] == [HUONG, "right"]
    assert marks.err.startswith("note: 2 marks")


def test_two_students_of_one_name_are_told_apart_by_their_numbers(course: Course, tmp_path: Path) -> None:
    roster = "student,name,moodle_id\nan1,Lê An,{}\nan2,Lê An,\n"
    folder = tmp_path / "in" / "Lê An_7_assignsubmission_file_"
    sample.hand_in(folder / "sample.ipynb", sample.solved(course.release("sample"), sample.RIGHT))
    command = (
        "class",
        "collect",
        tmp_path / "in",
        "--assignment",
        "sample",
        "--course",
        course.root,
        "--json",
    )
    (course.root / "roster.csv").write_text(roster.format(""), "utf-8")
    unclear = said(*command)
    assert "an1, an2 of roster.csv have this name; fill in their moodle_id or canvas_id" in unclear.err
    (course.root / "roster.csv").write_text(roster.format("7"), "utf-8")
    assert list(said(*command).document["taken"]) == ["an1"]


def test_a_damaged_zip_is_one_line(course: Course, download: Path) -> None:
    content = download.read_bytes()
    download.write_bytes(content[: len(content) // 2] + content[-100:])
    mistake = said("class", "collect", download, "--assignment", "sample", "--course", course.root).mistake
    assert "download.zip is damaged" in mistake
