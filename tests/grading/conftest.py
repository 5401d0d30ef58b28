"""A class whose one assignment is released, and what a test needs to run submissions."""

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from coursepkg.grading.course import Course
from coursepkg.grading.sandbox import sandbox_problem
from tests.grading import sample
from tests.said import said

needs_nbgrader = pytest.mark.skipif(
    importlib.util.find_spec("nbgrader") is None, reason="nbgrader (the extra `class`) is not installed"
)
needs_sandbox = pytest.mark.skipif(bool(sandbox_problem()), reason=sandbox_problem() or "never")


@pytest.fixture(scope="session")
def released(tmp_path_factory) -> Path:
    """A class with its released assignment, which no test changes."""
    if importlib.util.find_spec("nbgrader") is None:
        pytest.skip("nbgrader (the extra `class`) is not installed")
    folder = tmp_path_factory.mktemp("released")
    source = sample.write_source(folder / "sources")
    done = said("class", "release", source, "--course", folder / "class", "--due", "2026-12-01T12:00")
    assert done.code == 0, done.err
    return folder / "class"


@pytest.fixture
def course(released: Path, tmp_path: Path) -> Course:
    """A copy of the class."""
    return Course(Path(shutil.copytree(released, tmp_path / "class")))


@pytest.fixture
def hand_in(course: Course) -> Callable[..., Path]:
    """Puts the submission of a student into the class; returns its path."""

    def put(student: str, answers: dict[str, str]) -> Path:
        path = course.submission(student, "sample") / "sample.ipynb"
        sample.hand_in(path, sample.solved(course.release("sample"), answers))
        return path

    return put
