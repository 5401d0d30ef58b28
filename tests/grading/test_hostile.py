"""Strangers' code that attacks: it gets no mark, leaves no trace, and stops nobody else's grading."""

import hashlib
import shutil
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from coursepkg.grading.course import Course
from coursepkg.grading.feedback import feedback_page
from coursepkg.grading.grade import Record, read_record
from tests.grading import sample
from tests.grading.conftest import needs_sandbox
from tests.grading.hostile import CELLS
from tests.said import said

pytestmark = needs_sandbox
FORGED = "3 of 3 points: all hidden tests passed"
TRACE_IN_TMP = Path("/tmp") / "class-trace"


class Graded(NamedTuple):
    """A class after its grading."""

    course: Course
    traces: Path
    before: dict[str, str]
    after: dict[str, str]
    connections: int
    documents: Any


def digests(course: Course) -> dict[str, str]:
    """SHA-256 of every file that grading does not write."""
    return {
        str(path.relative_to(course.root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(course.root.rglob("*"))
        if path.is_file() and path.relative_to(course.root).parts[0] in ("source", "release", "submitted")
    }


def forge(book: dict[str, Any]) -> None:
    """Write full marks wherever a notebook can hold them, and take the tests out of its cells."""
    score = {
        "score": 3,
        "auto_score": 3,
        "max_score": 3,
        "verdicts": [{"test": "large_scores", "message": ""}],
    }
    book["metadata"] |= {"nbgrader": score, "otter": {"OK_FORMAT": True}, "hidden": FORGED}
    for one in book["cells"]:
        one["metadata"]["nbgrader"] |= score
        if one["metadata"]["nbgrader"]["grade_id"] == "softmax-test":
            one["metadata"]["nbgrader"] |= {"points": 1000, "grade": False}
            one["source"] = "pass"
        if one["cell_type"] == "code":
            one["outputs"] = [{"output_type": "stream", "name": "stdout", "text": FORGED}]


@pytest.fixture(scope="module")
def graded(released: Path, tmp_path_factory) -> Iterator[Graded]:
    folder = tmp_path_factory.mktemp("hostile")
    traces = folder / "traces"
    traces.mkdir()
    traces.chmod(0o777)
    course = Course(Path(shutil.copytree(released, folder / "class")))
    edition = course.release("sample")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        names = {"port": server.getsockname()[1], "course": course.root, "trace": traces, "tmp": "/tmp"}
        for name, code in CELLS.items():
            book = sample.solved(edition, {"softmax": code.format(**names)})
            if name == "rewrites_the_given_cell":
                book["cells"][0]["source"] = "import os\nos._exit(0)"
            if name == "forges_outputs_and_metadata":
                forge(book)
            sample.hand_in(course.submission(name, "sample") / "sample.ipynb", book)
        for name in ("an_honest_one", "honest", "zz_honest"):
            sample.hand_in(
                course.submission(name, "sample") / "sample.ipynb", sample.solved(edition, sample.RIGHT)
            )
        before = digests(course)
        done = said("class", "grade", "--course", course.root, "--seconds", 15, "--json")
        try:
            server.accept()
            connections = 1
        except BlockingIOError:
            connections = 0
    yield Graded(course, traces, before, digests(course), connections, done.document)
    TRACE_IN_TMP.unlink(missing_ok=True)


def record(graded: Graded, student: str) -> Record:
    found = read_record(graded.course.record(student, "sample"))
    assert found is not None
    return found


def test_there_are_enough_attacks() -> None:
    assert len(CELLS) >= 40


@pytest.mark.parametrize("name", CELLS)
def test_an_attack_gets_no_point(graded: Graded, name: str) -> None:
    found = record(graded, name)
    assert found.points == 0
    assert len(found.cells) == 3


def test_the_gradebook_holds_the_same_marks(graded: Graded) -> None:
    with sqlite3.connect(graded.course.database) as base:
        rows = base.execute(
            "SELECT submitted_assignment.student_id, SUM(grade.auto_score) FROM grade"
            " JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id"
            " JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id"
            " GROUP BY submitted_assignment.student_id"
        ).fetchall()
    base.close()
    assert {student for student, points in rows if points} == {"an_honest_one", "honest", "zz_honest"}
    assert len(rows) == len(CELLS) + 3


@pytest.mark.parametrize("name", ["an_honest_one", "honest", "zz_honest"])
def test_the_honest_get_their_points(graded: Graded, name: str) -> None:
    assert record(graded, name).points == 5


def test_no_attack_leaves_a_trace(graded: Graded) -> None:
    assert list(graded.traces.iterdir()) == []
    assert not TRACE_IN_TMP.exists()
    assert graded.after == graded.before
    assert graded.connections == 0


def test_no_attack_passes_for_an_error_of_the_author(graded: Graded) -> None:
    assert [name for name in CELLS if record(graded, name).author_errors] == []


def test_a_given_cell_is_the_author_s(graded: Graded) -> None:
    assert record(graded, "rewrites_the_given_cell").ended == ""


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("sleeps", "it took longer than 15 s"),
        ("prints_without_end", "it printed more than 4 MB"),
        ("fills_the_memory_in_children", "it used more than 2048 MB of memory"),
        ("exits_the_process", "the notebook's code ended the process that runs it"),
        ("crashes_at_once", "the notebook's code ended the process that runs it"),
    ],
)
def test_the_record_says_why_it_was_stopped(graded: Graded, name: str, reason: str) -> None:
    assert record(graded, name).ended == reason


def test_what_the_record_shows_was_refused_inside(graded: Graded) -> None:
    refused = {
        "reads_the_hidden_tests": "No such file",
        "reads_the_secret": "No such file",
        "leaves_a_file": "No such file",
        "writes_into_torch": "[Errno ",
        "opens_a_socket": "Connection refused",
        "hides_memory_in_memfds": "Operation not permitted",
        "makes_a_user_namespace": "AssertionError",
        "traces_a_process": "AssertionError",
        "fills_the_disk": "No space left",
    }
    for name, word in refused.items():
        found = record(graded, name)
        assert word in str(found), (name, found)


@pytest.mark.parametrize("name", CELLS)
def test_the_page_of_an_attack_holds_no_markup_of_it(graded: Graded, name: str) -> None:
    page = feedback_page(record(graded, name), {})
    assert page.count("<script") == 0
    assert "<img" not in page
    assert all(c.isprintable() or c == "\n" for c in page)
    assert "default-src 'none'" in page


def test_what_a_notebook_says_of_itself_does_not_count(graded: Graded) -> None:
    found = record(graded, "forges_outputs_and_metadata")
    assert {mark.grade_id: mark.max_points for mark in found.cells}["softmax-test"] == 3
    assert FORGED not in feedback_page(found, {})


def test_no_page_shows_a_hidden_test_or_the_solution(graded: Graded) -> None:
    for name in CELLS:
        page = feedback_page(record(graded, name), {})
        assert "manual_seed(seed)" not in page
        assert "shifted = x" not in page
