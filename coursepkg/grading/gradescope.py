"""An autograder for Gradescope: the kit's grading of one submission in its container.

    setup.sh          builds the image: bubblewrap, Python, packages
    run_autograder    grades ROOT/submission into ROOT/results/results.json
    class/            the assignment, and a key of its own for the data of hidden tests
    coursepkg/        this package

Here as in a class, the student's code runs as a process without rights on inputs that
are handed in, and the verdict is made outside of it. Format:
https://gradescope-autograders.readthedocs.io/en/latest/specs/
"""

import json
import os
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import coursepkg
from coursepkg.files import whole_file
from coursepkg.grading.course import Course, safe_id
from coursepkg.grading.grade import CellMark, Grader, Record
from coursepkg.grading.sandbox import Limits, sandbox_problem
from coursepkg.requirements import installed, requirements
from coursepkg.validation import one_line

ROOT = Path("/autograder")
SHOWN = "after_due_date"
"""When students see points and messages: before, each try would tell them more of the
hidden tests."""

HIDDEN = ("source", "results", "submission", "submission_metadata.json")
"""What a student's code may not read. Its Python lies beside: the root stays open."""

WEIGHTS = (".safetensors", ".tflite")
"""Endings of the trained models, which no hidden test needs and which would make up
nine tenths of the file."""

SETUP = """#!/usr/bin/env bash
# Builds the image, from Gradescope's base image of Ubuntu 22.04.
set -euo pipefail
apt-get update
apt-get install -y --no-install-recommends bubblewrap python3.11 python3.11-venv
home=/usr/local/grader
python3.11 -m venv "$home"
"$home/bin/pip" install {torch} --index-url https://download.pytorch.org/whl/cpu
"$home/bin/pip" install {others}
cp -r /autograder/source/coursepkg "$home/lib/python3.11/site-packages/"
"""
RUN = """#!/usr/bin/env bash
# Grades one submission. Another Python or root folder is for trying it elsewhere.
python=${GRADER_PYTHON:-/usr/local/grader/bin/python}
exec "$python" -P -m coursepkg.grading.gradescope "${1:-/autograder}"
"""


def write_autograder(course: Course, name: str, out: Path) -> None:
    """Write the zip file that Gradescope takes: all of this package but its models.

    Args:
        course: where the assignment was released.
        name: of the assignment.
        out: the file; its folder is made.

    Raises:
        ValueError: the assignment was not released.
    """
    course.require_released(name)
    with (
        whole_file(out) as file,
        zipfile.ZipFile(
            file, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False
        ) as target,
    ):
        for script, text in (("setup.sh", _setup()), ("run_autograder", RUN)):
            member = zipfile.ZipInfo(script)
            member.external_attr = 0o755 << 16
            target.writestr(member, text)
        copy = Course(Path("class"))
        target.write(course.source(name), copy.source(name))
        target.write(course.release(name), copy.release(name))
        target.writestr("class/seed.key", course.key("gradescope", name).hex())
        package = Path(coursepkg.__file__).parent
        for path in sorted(package.rglob("*")):
            if (
                path.is_file()
                and path.suffix not in WEIGHTS
                and "__pycache__" not in path.parts
            ):
                target.write(path, Path("coursepkg") / path.relative_to(package))


def _setup() -> str:
    """The script with the versions of this environment."""
    pins = {name: installed(name) or floor for name, floor in requirements().items()}
    found = {name: version.partition("+")[0] for name, version in pins.items()}
    torch = f"torch=={found.pop('torch')}"
    others = " ".join(f"{name}=={version}" for name, version in found.items())
    return SETUP.format(torch=torch, others=others)


def grade_submission(root: Path) -> dict[str, Any]:
    """Grade what a student handed in on Gradescope; returns its results.

    Without bubblewrap the code runs as another user, who may read nothing below `root`
    but the Python that runs it.

    Raises:
        ValueError: neither is possible here.
    """
    problem = sandbox_problem()
    if os.geteuid() == 0:
        for path in filter(Path.exists, map(root.joinpath, HIDDEN)):
            path.chmod(0o700)
    elif problem:
        raise ValueError(f"{problem}; and only root can run code as another user")
    with tempfile.TemporaryDirectory() as scratch:
        course = Course(Path(scratch) / "class")
        shutil.copytree(root / "source" / "class", course.root)
        (name,) = course.assignments()
        student = _student(root / "submission_metadata.json")
        course.submission(student, name).parent.mkdir(parents=True)
        course.submission(student, name).symlink_to(root / "submission")
        grader = Grader(course, name, limits=Limits(), unsafe=bool(problem))
        return results(grader.grade_one(student))


def _student(metadata: Path) -> str:
    """A name for who handed in, from which the data of hidden tests are drawn."""
    try:
        users = json.loads(metadata.read_text(encoding="utf-8"))["users"]
        return safe_id("-".join(sorted(str(user["id"]) for user in users))) or "student"
    except (OSError, LookupError, TypeError, ValueError):
        return "student"


def results(record: Record) -> dict[str, Any]:
    """A record as Gradescope reads it; tasks for a person are graded there by hand.

    What the code printed is left out: it can hold the inputs of hidden tests.
    """
    notes = [record.error, record.ended, *record.notes]
    return {
        "output": "\n".join(filter(None, notes)),
        "execution_time": round(record.seconds),
        "stdout_visibility": "hidden",
        "tests": [_test(mark) for mark in record.cells if not mark.is_manual],
    }


def _test(mark: CellMark) -> dict[str, Any]:
    lines = [
        f"{one['about'] or one['test']} {one['message'] or 'passed'}"
        for one in mark.verdicts
    ]
    return {
        "name": mark.grade_id,
        "score": mark.points,
        "max_score": mark.max_points,
        "output": "\n".join(lines),
        "output_format": "text",
        "visibility": SHOWN,
    }


def main() -> int:
    """Grade, and write the results in any case."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    try:
        found = grade_submission(root)
    except (OSError, ValueError) as reason:
        print(f"error: {one_line(reason)}", file=sys.stderr)
        found = {
            "score": 0,
            "output": "The autograder could not run; tell your teacher.",
        }
    with whole_file(root / "results" / "results.json") as file:
        file.write(json.dumps(found, indent=1).encode())
    return 1 if "score" in found else 0


if __name__ == "__main__":
    sys.exit(main())
