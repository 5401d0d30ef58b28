"""Submissions from folders, zip files, Moodle and Canvas; what cannot be taken gets one line."""

import json
import os
import struct
import unicodedata
import zipfile
from datetime import datetime
from pathlib import Path, PurePosixPath

import pytest

from coursepkg.grading.collect import collect, owners
from coursepkg.grading.course import Course, Student
from coursepkg.grading.grade import handed_in
from tests.grading import sample
from tests.said import said

ROSTER = [
    Student("an", "Nguyễn Văn An", "an@example.org", "101", "7001"),
    Student("binh", "Trần Thị Bình", "binh@example.org", "102", "7002"),
]


@pytest.fixture
def rostered(course: Course) -> Course:
    rows = ["student,name,email,moodle_id,canvas_id"]
    rows += [f"{s.id},{s.name},{s.email},{s.moodle_id},{s.canvas_id}" for s in ROSTER]
    (course.root / "roster.csv").write_text("\n".join(rows), encoding="utf-8")
    return course


def notebook(course: Course) -> str:
    return json.dumps(sample.solved(course.release("sample"), sample.RIGHT))


@pytest.mark.parametrize(
    ("path", "student"),
    [
        ("an/sample.ipynb", "an"),
        ("an/sample/sample.ipynb", "an"),
        ("sample/binh/sample.ipynb", "binh"),
        ("binh.ipynb", "binh"),
        ("Nguyễn Văn An_999_assignsubmission_file_/sample.ipynb", "an"),
        ("Somebody_102_assignsubmission_file_/x.ipynb", "binh"),
        ("Trần Thị Bình_5_assignsubmission_file_sample.ipynb", "binh"),
        ("x_7001_88_sample.ipynb", "an"),
        ("x_LATE_7002_88_sample-1.ipynb", "binh"),
        ("annguyễnvăn_1_88_sample.ipynb", "an"),
        ("nobody/sample.ipynb", ""),
        ("sample.ipynb", ""),
    ],
)
def test_whose_a_file_is(path: str, student: str) -> None:
    wanted = [student] if student else []
    assert owners(PurePosixPath(path), "sample", ROSTER) == wanted
    decomposed = PurePosixPath(unicodedata.normalize("NFD", path))
    assert owners(decomposed, "sample", ROSTER) == wanted


def test_a_zip_of_moodle_is_taken_and_taken_again(rostered: Course, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "moodle.zip", "w") as archive:
        name = unicodedata.normalize("NFD", "Nguyễn Văn An_31_assignsubmission_file_/sample.ipynb")
        archive.writestr(name, notebook(rostered))
    for taken, unchanged in ((["an"], []), ([], ["an"])):
        done = said(
            *("class", "collect", tmp_path / "moodle.zip", "--assignment", "sample"),
            *("--course", rostered.root, "--json"),
        )
        assert done.code == 0, done.err
        assert [*done.document["taken"]] == taken
        assert done.document["unchanged"] == unchanged
    folder = rostered.submission("an", "sample")
    assert sorted(path.name for path in folder.iterdir()) == ["sample.ipynb", "timestamp.txt"]


def test_what_a_zip_hides_is_not_taken(rostered: Course, tmp_path: Path) -> None:
    book = notebook(rostered)
    link = zipfile.ZipInfo("binh/sample.ipynb")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "bad.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("an/sample.ipynb", book)
        archive.writestr("../../climbed/sample.ipynb", book)
        archive.writestr("/etc/sample.ipynb", book)
        archive.writestr(link, "/etc/passwd")
        archive.writestr("an/essay.pdf", "text")
        archive.writestr("huge/sample.ipynb", b"0" * (51 * 2**20))
        archive.writestr("__MACOSX/an/._sample.ipynb", "x")
    result = collect(rostered, "sample", [tmp_path / "bad.zip"])
    assert [*result.taken] == ["an"]
    assert dict(result.problems) == {
        "../../climbed/sample.ipynb": "its path climbs out of the zip file",
        "/etc/sample.ipynb": "its path climbs out of the zip file",
        "binh/sample.ipynb": "it is a link or no plain file",
        "an/essay.pdf": "it is no notebook (.ipynb)",
        "huge/sample.ipynb": "it has 51 MB, more than 50; clear its outputs and hand it in again",
    }
    assert not (rostered.root.parent / "climbed").exists()


def test_a_damaged_member_stops_no_other(rostered: Course, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "damaged.zip", "w") as archive:
        archive.writestr("an/sample.ipynb", "x" * 100)
        archive.writestr("binh/sample.ipynb", notebook(rostered))
    data = (tmp_path / "damaged.zip").read_bytes()
    (tmp_path / "damaged.zip").write_bytes(data.replace(b"x" * 100, b"y" * 100))
    result = collect(rostered, "sample", [tmp_path / "damaged.zip"])
    assert [*result.taken] == ["binh"]
    ((path, reason),) = result.problems
    assert path == "an/sample.ipynb"
    assert reason.startswith("it cannot be read: Bad CRC-32")


def test_other_ways_in_which_a_member_is_damaged_stop_no_other(rostered: Course, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.zip"
    with zipfile.ZipFile(damaged, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("an/sample.ipynb", "x" * 5_000)
        archive.writestr("binh/sample.ipynb", notebook(rostered), zipfile.ZIP_STORED)
    data = bytearray(damaged.read_bytes())
    data[50:70] = b"\xff" * 20
    # The table of contents promises more bytes of the second member than the file has.
    place = data.rfind(b"PK\x01\x02")
    data[place + 20 : place + 28] = struct.pack("<II", 10**6, 10**6)
    damaged.write_bytes(data)
    with zipfile.ZipFile(tmp_path / "whole.zip", "w") as archive:
        archive.writestr("binh/sample.ipynb", notebook(rostered))
    result = collect(rostered, "sample", [damaged])
    assert {path: reason.partition(":")[0] for path, reason in result.problems} == dict.fromkeys(
        ("an/sample.ipynb", "binh/sample.ipynb"), "it cannot be read"
    )
    assert [*collect(rostered, "sample", [tmp_path / "whole.zip"]).taken] == ["binh"]


def test_a_folder_with_links_twins_and_strangers(rostered: Course, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for name in ("an/first.ipynb", "an/second.ipynb", "binh/sample.ipynb", "stranger/sample.ipynb"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(notebook(rostered))
    os.symlink("/etc/passwd", folder / "link.ipynb")
    result = collect(rostered, "sample", [folder])
    assert result.taken == {"binh": "binh/sample.ipynb"}
    assert dict(result.problems) == {
        "an/first.ipynb": "several submissions of an; keep one of an/first.ipynb, an/second.ipynb",
        "link.ipynb": "it is a link or no plain file",
        "stranger/sample.ipynb": "no student of roster.csv belongs to it; add a row or rename it",
    }


def test_a_notebook_with_a_huge_output_is_named(rostered: Course, tmp_path: Path) -> None:
    path = tmp_path / "in" / "an.ipynb"
    path.parent.mkdir()
    with path.open("wb") as file:
        file.truncate(500 * 2**20)
    done = said(*("class", "collect", path.parent, "--assignment", "sample", "--course", rostered.root))
    assert done.code == 1
    assert done.err == (
        "not taken: an.ipynb: it has 500 MB, more than 50; clear its outputs and hand it in again\n"
    )


def test_without_a_roster_students_are_named_by_their_files(course: Course, tmp_path: Path) -> None:
    folder = tmp_path / "in" / unicodedata.normalize("NFD", "Lê Thị Hoa_31_assignsubmission_file_")
    folder.mkdir(parents=True)
    (folder / "sample.ipynb").write_text(notebook(course))
    result = collect(course, "sample", [tmp_path / "in"])
    assert [*result.taken] == ["Lê_Thị_Hoa"]
    assert "roster.csv is missing" in result.notes[0]


def test_empty_cells_behind_the_columns_are_left_alone(course: Course) -> None:
    (course.root / "roster.csv").write_text("student,name,,\nan,An,,\nbinh,Binh,,,, \n")
    assert [one.id for one in course.roster()] == ["an", "binh"]


def test_a_file_called_as_the_assignment_names_no_student(course: Course, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "sample.ipynb").write_text(notebook(course))
    result = collect(course, "sample", [tmp_path / "in"])
    assert not result.taken
    assert [path for path, _ in result.problems] == ["sample.ipynb"]


@pytest.mark.parametrize(
    ("stamp", "hour"),
    [
        ("2026-12-03 10:00:00.000000 UTC\n", 10),
        ("2026-12-03T10:00:00+07:00", 3),
        ("2026-12-03T10:00:00", 10),
    ],
)
def test_the_time_of_a_timestamp_file_counts(course: Course, tmp_path: Path, stamp: str, hour: int) -> None:
    folder = tmp_path / "in" / "an"
    folder.mkdir(parents=True)
    (folder / "sample.ipynb").write_text(notebook(course))
    (folder / "timestamp.txt").write_text(stamp)
    assert collect(course, "sample", [tmp_path / "in"]).taken
    taken = course.submission("an", "sample")
    assert handed_in(taken) == datetime(2026, 12, 3, hour)
    (taken / "timestamp.txt").write_text(stamp)
    assert handed_in(taken) == datetime(2026, 12, 3, hour)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("name\nAn\n", "line 1: no column student; a roster has student"),
        ("student\n../an\n", "line 2: the id '../an' is no folder name"),
        ("student\nan\nan\n", "line 3: the id 'an' is used twice"),
        ("student,name,email\nan,Nguyen, An,an@example.org\n", "line 2: more cells than columns"),
    ],
)
def test_an_unfit_roster_is_refused(course: Course, tmp_path: Path, text: str, reason: str) -> None:
    (course.root / "roster.csv").write_text(text)
    mistake = said(*("class", "collect", tmp_path, "--assignment", "sample", "--course", course.root)).mistake
    assert reason in mistake
    assert "roster.csv" in mistake


def test_an_assignment_that_was_not_released_is_refused(course: Course, tmp_path: Path) -> None:
    mistake = said("class", "collect", tmp_path, "--assignment", "other", "--course", course.root).mistake
    assert "assignment 'other' was not released (released: sample)" in mistake
