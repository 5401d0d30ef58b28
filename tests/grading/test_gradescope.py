"""The autograder for Gradescope, unpacked and run as Gradescope does it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from coursepkg.grading import gradescope
from coursepkg.grading.course import Course
from tests.grading import sample
from tests.grading.conftest import needs_sandbox
from tests.said import said

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = """
def tried(name, path, mode):
    try:
        with open(path, mode) as file:
            file.write('{{}}') if 'w' in mode else file.read()
        open('{trace}/' + name, 'w').close()
    except OSError:
        pass

tried('ran', '{trace}/ran', 'w')
tried('read-the-tests', '{root}/source/class/source/sample/sample.ipynb', 'r')
tried('read-the-key', '{root}/source/class/seed.key', 'r')
tried('read-its-python', '{root}/venv/pyvenv.cfg', 'r')
tried('forged-the-results', '{root}/results/results.json', 'w')
print('{{"tests": [{{"score": 3, "max_score": 3}}]}}')
def softmax(x): return x
"""

JUDGE = """
import sys
from pathlib import Path
import coursepkg
from coursepkg.grading.source import Assignment

print(coursepkg.__file__)
for path in map(Path, sys.argv[1:]):
    verdicts = Assignment.read(path).judge().values()
    print(path.stem, sorted({one.message for found in verdicts for one in found}))
"""


@pytest.fixture
def trace(tmp_path: Path) -> Iterator[Path]:
    """A folder that everybody on this machine can reach and write to."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)


@pytest.fixture(scope="module")
def archive(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gradescope")
    course = shutil.copytree(released, folder / "class")
    done = said("class", "gradescope", "sample", "--course", course, "--out", folder / "autograder.zip")
    assert done.code == 0, done.err
    return folder / "autograder.zip"


@pytest.fixture
def place(archive: Path) -> Iterator[Path]:
    """The archive unpacked where a container has it; the path to it is open to all."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        root = Path(folder) / "autograder"
        with zipfile.ZipFile(archive) as file:
            wanted = [name for name in file.namelist() if not name.startswith("coursepkg/projects/")]
            file.extractall(root / "source", wanted)
        for name in ("results", "submission", "venv"):
            (root / name).mkdir()
        (root / "venv" / "pyvenv.cfg").touch()
        (root / "submission_metadata.json").write_text('{"users": [{"id": 7}, {"id": 3}]}')
        yield root


def hand_in(root: Path, answers: dict[str, str], trace: Path) -> None:
    filled = {name: code.format(root=root, trace=trace) for name, code in answers.items()}
    book = sample.solved(root / "source/class/release/sample/sample.ipynb", filled)
    sample.hand_in(root / "submission" / "my answers.ipynb", book)


def scores(found: Any) -> dict[str, tuple[float, float]]:
    return {one["name"]: (one["score"], one["max_score"]) for one in found["tests"]}


OPEN = ["ran", "read-its-python"]
ATTACK = {"softmax": HOSTILE, "number": "cache_mib = 4.0"}
MARKS = [
    (sample.RIGHT, {"softmax-test": (3, 3), "number-test": (2, 2)}),
    (sample.WRONG, {"softmax-test": (0, 3), "number-test": (0, 2)}),
    (ATTACK, {"softmax-test": (0, 3), "number-test": (2, 2)}),
]


@needs_sandbox
@pytest.mark.parametrize(("answers", "expected"), MARKS, ids=["right", "wrong", "hostile"])
def test_the_autograder_gives_the_marks_of_the_kit(
    place: Path, trace: Path, answers: dict[str, str], expected: dict[str, tuple[float, float]]
) -> None:
    hand_in(place, answers, trace)
    environment = os.environ | {"GRADER_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    command = ["bash", place / "source" / "run_autograder", place]
    ran = subprocess.run(command, env=environment, cwd=place, timeout=300)
    found = json.loads((place / "results" / "results.json").read_text())
    assert ran.returncode == 0
    assert scores(found) == expected
    assert {one["visibility"] for one in found["tests"]} == {"after_due_date"}
    assert found["stdout_visibility"] == "hidden"
    assert "shifted" not in str(found)
    assert list(trace.iterdir()) == []


PYTHON_IS_OPEN = all(path.stat().st_mode & 0o001 for path in Path(torch.__file__).parents)
right_as_other_user = pytest.param(
    *MARKS[0],
    marks=pytest.mark.skipif(not PYTHON_IS_OPEN, reason="Python lies where other users may not read"),
)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run code as another user")
@pytest.mark.parametrize(("answers", "expected"), [right_as_other_user, MARKS[2]], ids=["right", "hostile"])
def test_without_bubblewrap_another_user_runs_the_code(
    place: Path,
    trace: Path,
    monkeypatch: pytest.MonkeyPatch,
    answers: dict[str, str],
    expected: dict[str, tuple[float, float]],
) -> None:
    monkeypatch.setattr(gradescope, "sandbox_problem", lambda: "bubblewrap does not work here")
    hand_in(place, answers, trace)
    assert scores(gradescope.grade_submission(place)) == expected
    # The attack could leave a file where everybody may and read the Python that runs it, and nothing else.
    assert sorted(path.name for path in trace.iterdir()) == (OPEN if answers is ATTACK else [])
    assert list((place / "results").iterdir()) == []


def test_without_any_boundary_nothing_is_run(
    place: Path, trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gradescope, "sandbox_problem", lambda: "bubblewrap is not installed")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(sys, "argv", ["run", str(place)])
    hand_in(place, ATTACK, trace)
    assert gradescope.main() == 1
    found = json.loads((place / "results" / "results.json").read_text())
    assert found == {"score": 0, "output": "The autograder could not run; tell your teacher."}
    assert "only root can run code as another user" in capsys.readouterr().err
    assert list(trace.iterdir()) == []


def test_what_is_no_notebook_is_said_to_the_student(place: Path) -> None:
    (place / "submission" / "answers.ipynb").write_text("no notebook")
    found = gradescope.grade_submission(place)
    assert "answers.ipynb is no Jupyter notebook of format 4" in found["output"]
    assert scores(found) == {"softmax-test": (0, 3), "number-test": (0, 2)}


def test_the_archive_has_what_gradescope_runs(archive: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        names = file.namelist()
        assert file.getinfo("run_autograder").external_attr >> 16 == 0o755
        setup = file.read("setup.sh").decode()
        key = file.read("class/seed.key")
    assert {"setup.sh", "class/source/sample/sample.ipynb", "coursepkg/grading/driver.py"} <= {*names}
    assert [name for name in names if "__pycache__" in name or "submitted" in name] == []
    assert "torch==" in setup
    assert "+cpu" not in setup
    assert key != (archive.parent / "class" / "seed.key").read_bytes()


def test_what_is_packed_is_enough_for_the_tests_of_every_assignment(archive: Path, tmp_path: Path) -> None:
    """The trained models are left out."""
    assert archive.stat().st_size < 5e6
    with zipfile.ZipFile(archive) as file:
        file.extractall(tmp_path, [name for name in file.namelist() if name.startswith("coursepkg/")])
    sources = sorted(ROOT.glob("notebooks/exercises/*/*.ipynb"))
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-P", "-c", JUDGE, *map(str, sources)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    package, *judged = ran.stdout.splitlines()
    assert Path(package).is_relative_to(tmp_path)
    assert judged == [f"{path.stem} ['']" for path in sources]


def test_one_assignment_is_named(course: Course) -> None:
    assert "name the one assignment" in said("class", "gradescope", "--course", course.root).mistake
    mistake = said("class", "gradescope", "other", "--course", course.root).mistake
    assert "assignment 'other' was not released" in mistake
