"""What it takes to release the course's assignments and to grade a class.

The submissions are generated from the assignments' own solutions: right, wrong, as
handed out, and one in twenty hostile.
"""

import ast
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import coursepkg
from coursepkg.bench.machine import Device
from coursepkg.bench.measure import CaseResult
from coursepkg.grading.course import Course
from coursepkg.grading.gradebook import require_nbgrader
from coursepkg.grading.sandbox import process_tree, resident_bytes, sandbox_problem
from coursepkg.grading.source import Assignment
from coursepkg.validation import counted

SOURCES = Path(coursepkg.__file__).parents[1] / "notebooks" / "exercises"
N_SUBMISSIONS = 200
HOSTILE_SHARE = 0.05
WORKERS = 2
RELEASE_SECONDS = 60.0
SECONDS_EACH = 10.0
MOST_BYTES = 4e9
WATCH_SECONDS = 0.5
"""How often the memory of all processes is added up."""

HOSTILE = (
    "import os\nos._exit(0)",
    "import time\ntime.sleep(9_999)",
    "held = []\nwhile True: held.append('x' * 10**8)",
    "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "while True: print('x' * 10_000)",
)


@dataclass(frozen=True)
class Ran:
    """A command that has ended."""

    document: Any
    """Its JSON."""
    seconds: float
    peak_bytes: int
    """Most memory of it and all its descendants at one time."""


def run_class(*arguments: object) -> Ran:
    """`coursepkg class ...` in a process of its own; its progress bar is shown.

    Raises:
        RuntimeError: the command could not do its work.
    """
    command = [sys.executable, "-m", "coursepkg", "class", *map(str, arguments)]
    path = os.pathsep.join(filter(None, map(os.path.abspath, sys.path)))
    started, peak = time.monotonic(), 0
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [*command, "--json"], stdout=output, env=os.environ | {"PYTHONPATH": path}
        )
        while process.poll() is None:
            held = sum(map(resident_bytes, process_tree(process.pid)))
            peak = max(peak, held)
            time.sleep(WATCH_SECONDS)
        seconds = time.monotonic() - started
        output.seek(0)
        lines = output.read().splitlines()
    if process.returncode not in (0, 1) or not lines:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return Ran(json.loads(lines[-1]), seconds, peak)


def kinds_of(n: int) -> list[str]:
    """What each of `n` submissions is: right, wrong, empty or hostile, in mixed order.

    At least one is hostile.
    """
    n_hostile = max(1, round(n * HOSTILE_SHARE))
    honest = ("right", "wrong", "empty")
    kinds = ["hostile"] * n_hostile + [honest[i % 3] for i in range(n - n_hostile)]
    random.Random(0).shuffle(kinds)
    return kinds


def write_submissions(course: Course, kinds: Sequence[str]) -> dict[str, list[str]]:
    """Hand in generated submissions, to one assignment after another.

    Returns:
        The kinds by assignment, in the order of its students.
    """
    names = course.assignments()
    found: dict[str, list[str]] = {name: [] for name in names}
    n_hostile = 0
    for number, kind in enumerate(kinds):
        name = names[number % len(names)]
        student = f"student-{len(found[name]):03d}"
        path = course.submission(student, name) / f"{name}.ipynb"
        path.parent.mkdir(parents=True)
        book = _filled_in(course, name, kind, HOSTILE[n_hostile % len(HOSTILE)])
        path.write_text(json.dumps(book), encoding="utf-8")
        found[name].append(kind)
        n_hostile += kind == "hostile"
    return found


def _filled_in(course: Course, name: str, kind: str, attack: str) -> Any:
    """The student edition as a submission of a kind."""
    cells = Assignment.read(course.source(name)).cells
    solutions = {c.grade_id: c.source for c in cells if c.solution and c.kind == "code"}
    book = json.loads(course.release(name).read_text(encoding="utf-8"))
    for cell in book["cells"]:
        grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if kind == "empty" or grade_id not in solutions:
            continue
        cell["source"] = {
            "right": solutions[grade_id],
            "wrong": solutions[grade_id] + _nothing_returned(solutions[grade_id]),
            "hostile": attack,
        }[kind]
    return book


def _nothing_returned(code: str) -> str:
    """Lines that let the functions and classes of a cell work as before for nothing."""
    made = ast.FunctionDef | ast.ClassDef
    names = [one.name for one in ast.parse(code).body if isinstance(one, made)]
    return "".join(
        f"\n{name} = lambda *args, f={name}, **named: (f(*args, **named), None)[1]"
        for name in names
    )


@dataclass(frozen=True)
class ClassCase:
    """Release of assignments, then grading of generated submissions."""

    sources: Path = SOURCES
    n_submissions: int = N_SUBMISSIONS

    def run(self, device: Device) -> list[CaseResult]:
        """Time and memory of both, as shares of their limits."""
        with tempfile.TemporaryDirectory() as folder:
            course = Course(Path(folder) / "class")
            made = run_class("release", self.sources, "--course", course.root)
            handed_in = write_submissions(course, kinds_of(self.n_submissions))
            done = run_class("grade", "--course", course.root, "--workers", WORKERS)
        return [self._released(made), *self._graded(done, made, handed_in)]

    def _released(self, made: Ran) -> CaseResult:
        n = counted(len(made.document["released"]), "assignment")
        return _share(f"release of {n}", "s", made.seconds, RELEASE_SECONDS)

    def _graded(
        self, done: Ran, made: Ran, handed_in: dict[str, list[str]]
    ) -> list[CaseResult]:
        n = self.n_submissions
        most = {
            one["assignment"]: one["points"] - one["manual_points"]
            for one in made.document["released"]
        }
        as_expected = [
            _is_expected(kind, found["points"], most[one["assignment"]])
            for one in done.document["assignments"]
            for kind, found in zip(
                handed_in[one["assignment"]],
                sorted(one["graded"], key=lambda found: found["student"]),
                strict=True,
            )
        ]
        n_hostile = sum(kinds.count("hostile") for kinds in handed_in.values())
        what = f"{n} submissions, {n_hostile} of them hostile, {WORKERS} workers"
        each = done.seconds / n
        return [
            CaseResult(
                f"{what}: share graded with the right marks",
                "coursepkg class grade",
                "all",
                sum(as_expected) / n,
                target=1.0,
                note=f"{len(as_expected)} graded",
            ),
            _share(f"{what}: average time", "s", each, SECONDS_EACH),
            _share(
                f"{what}: peak memory", "GB", done.peak_bytes / 1e9, MOST_BYTES / 1e9
            ),
        ]


def _is_expected(kind: str, points: float, most: float) -> bool:
    if kind == "right":
        return points == most
    return points < most if kind == "wrong" else points == 0


def _share(case: str, unit: str, found: float, limit: float) -> CaseResult:
    return CaseResult(
        case,
        f"coursepkg class {'release' if case.startswith('release') else 'grade'}",
        f"limit of {limit:g} {unit}",
        found / limit,
        target=1.0,
        at_most=True,
        note=f"{found:.2f} {unit}",
    )


@dataclass(frozen=True)
class MissingCase:
    """Stands for the measurement where something it needs is missing."""

    reason: str

    def run(self, device: Device) -> list[CaseResult]:
        """One row that says so."""
        return [
            CaseResult("a class", "coursepkg class", "limits", None, note=self.reason)
        ]


def cases(device: Device) -> list[ClassCase | MissingCase]:
    """On a CPU; it needs a checkout, the extra `class` and bubblewrap."""
    if device.is_cuda:
        raise ValueError("the suite class needs no GPU; use --device cpu")
    try:
        require_nbgrader()
    except ImportError as reason:
        return [MissingCase(str(reason))]
    missing = sandbox_problem()
    if not SOURCES.is_dir():
        missing = f"no folder {SOURCES}; measure in a checkout of the course"
    return [MissingCase(missing)] if missing else [ClassCase()]
