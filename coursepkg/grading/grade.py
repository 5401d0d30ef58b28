"""Grading: submissions run in sandboxes, verdicts and marks are made out here.

Each submission leaves a record. A record is valid for one file and one state of the
tests, so that grading which was stopped goes on where it was, and a mended test is
graded again.
"""

import datetime
import hashlib
import itertools
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from coursepkg.files import file_sha256, read_json, write_json
from coursepkg.grading.calls import Returned
from coursepkg.grading.course import Course, Student, read_timestamp
from coursepkg.grading.gradebook import (
    manual_marks,
    open_gradebook,
    require_entered,
    store_marks,
)
from coursepkg.grading.hidden_tests import HiddenTest, RunningTest, Verdict
from coursepkg.grading.sandbox import Limits, Run, clean_text, run_sandboxed
from coursepkg.grading.source import Assignment, read_cells, remarks, student_code
from coursepkg.validation import one_line

CHECK_SECONDS = 20
"""Time that one hidden test may take to look at answers."""


@dataclass
class CellMark:
    """What a graded cell brought, and why."""

    grade_id: str
    points: float
    max_points: float
    is_manual: bool = False
    verdicts: list[dict[str, Any]] = field(default_factory=list)
    """Test, what it is about, and what is wrong ("" where it passed)."""
    answer_sha256: str = ""
    """Of the text that a person marks; empty where there is none."""


@dataclass
class Record:
    """The outcome of grading one submission."""

    assignment: str
    student: str
    submission_sha256: str
    tests_sha256: str
    cells: list[CellMark]
    error: str = ""
    """Why nothing could be run; empty where it could."""
    ended: str = ""
    """Why the sandbox was closed before the end; empty where it was not."""
    notes: list[str] = field(default_factory=list)
    """What is odd about the notebook though it was run."""
    problems: list[str] = field(default_factory=list)
    """What the student's cells raised."""
    output: str = ""
    seconds: float = 0.0
    peak_mb: float = 0.0

    @property
    def points(self) -> float:
        """Automatic points."""
        return sum(mark.points for mark in self.cells)

    @property
    def author_errors(self) -> list[str]:
        """Hidden tests that broke off; the author should look at them."""
        return [
            f"{mark.grade_id}: {verdict['test']}: {verdict['message']}"
            for mark in self.cells
            for verdict in mark.verdicts
            if verdict["is_author_error"]
        ]


def read_record(path: Path) -> Record | None:
    """A record of grading, None where there is none or it is damaged."""
    try:
        content = read_json(path)
        content.pop("format")
        cells = [CellMark(**one) for one in content.pop("cells")]
        return Record(cells=cells, **content)
    except (OSError, TypeError, ValueError):
        return None


@dataclass(frozen=True)
class Changed:
    """A cell whose points differ from an earlier grading."""

    student: str
    grade_id: str
    before: float
    after: float


@dataclass
class Summary:
    """What a grading of one assignment did."""

    assignment: str
    graded: list[Record] = field(default_factory=list)
    kept: int = 0
    """Submissions whose record was still valid."""
    rewritten: list[tuple[str, str]] = field(default_factory=list)
    """Student and task whose answer was marked by a person and is another now."""
    failed: list[str] = field(default_factory=list)
    """Students whose submission could not be run, now or before."""
    changed: list[Changed] = field(default_factory=list)


class Grader:
    """Grades the submissions of one assignment."""

    def __init__(
        self, course: Course, name: str, *, limits: Limits, unsafe: bool = False
    ) -> None:
        """Load the tests.

        Raises:
            ValueError: the assignment was not released, or its source fails.
        """
        course.require_released(name)
        self.course = course
        self.assignment = Assignment.read(course.source(name))
        self.tests = self.assignment.tests
        self.limits = limits
        self.unsafe = unsafe
        self.students = {student.id: student for student in course.roster()}

    def grade(
        self,
        students: Sequence[str],
        *,
        workers: int = 2,
        force: bool = False,
        done: Callable[[str], object] = lambda student: None,
    ) -> Summary:
        """Grade submissions whose record is missing or no longer valid.

        One that runs out of time beside others is run once more, alone: a neighbour may
        have taken all processors.

        Args:
            students: ids.
            workers: sandboxes at once.
            force: whether to grade valid ones again.
            done: told after each submission.
        """
        summary = Summary(self.assignment.name)
        waiting = iter(students)
        running: dict[Future[Run], Attempt] = {}
        late: list[Attempt] = []
        with (
            open_gradebook(self.course) as gradebook,
            ThreadPoolExecutor(workers) as pool,
        ):
            require_entered(gradebook, [self.assignment.name])
            while True:
                while len(running) < workers:
                    student = next(waiting, None)
                    if student is None:
                        break
                    attempt = Attempt(self, student)
                    summary.failed += [student] if attempt.error else []
                    if attempt.is_valid and not force:
                        # A run that was killed may have left the gradebook behind.
                        self._store(gradebook, attempt.old)
                        summary.kept += 1
                        done(student)
                    elif attempt.error:
                        self._finish(gradebook, attempt, Run(), summary)
                        done(student)
                    else:
                        attempt.start()
                        running[pool.submit(attempt.run)] = attempt
                if not running:
                    for attempt in late:
                        self._finish(gradebook, attempt, attempt.run(), summary)
                        done(attempt.student)
                    summary.changed.sort(key=lambda one: (one.student, one.grade_id))
                    return summary
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    attempt, run = running.pop(future), future.result()
                    if run.is_late and workers > 1:
                        late.append(attempt)
                        continue
                    self._finish(gradebook, attempt, run, summary)
                    done(attempt.student)

    def grade_one(self, student: str) -> Record:
        """Grade one submission, without a gradebook, and store nothing."""
        attempt = Attempt(self, student)
        if attempt.error:
            return attempt.judge(Run())
        attempt.start()
        return attempt.judge(attempt.run())

    def _finish(
        self, gradebook: Any, attempt: "Attempt", run: Run, summary: Summary
    ) -> None:
        record = attempt.judge(run)
        path = self.course.record(record.student, record.assignment)
        write_json(path, asdict(record))
        self._store(gradebook, record)
        summary.graded.append(record)
        if attempt.old is not None:
            summary.changed += _differences(attempt.old, record)
            marked = manual_marks(gradebook, record.assignment, record.student)
            summary.rewritten += [
                (record.student, task)
                for task in _rewritten(attempt.old, record)
                if task in marked
            ]

    def _store(self, gradebook: Any, record: Record | None) -> None:
        assert record is not None
        student = self.students.get(record.student, Student(record.student))
        folder = self.course.submission(record.student, record.assignment)
        points = {one.grade_id: one.points for one in record.cells if not one.is_manual}
        store_marks(gradebook, record.assignment, student, points, handed_in(folder))


class Attempt:
    """One submission on its way through the sandbox."""

    def __init__(self, grader: Grader, student: str) -> None:
        """Read the submission; `error` says why it cannot be run."""
        self.grader = grader
        self.student = student
        self.name = grader.assignment.name
        self.error = ""
        self.code: list[str] = []
        self.notes: list[str] = []
        self.texts: dict[str, str] = {}
        self.sha256 = ""
        try:
            path = find_notebook(grader.course.submission(student, self.name))
            self.sha256 = file_sha256(path)
            cells = read_cells(path)
            self.code = list(student_code(grader.assignment, cells))
            self.texts = {cell.grade_id: cell.source for cell in cells}
            self.notes = list(map(clean_text, remarks(grader.assignment, cells)))
        except (OSError, ValueError) as reason:
            self.error = clean_text(one_line(reason))
        self.old = read_record(grader.course.record(student, self.name))
        self.running: dict[str, list[RunningTest]] = {}

    @property
    def is_valid(self) -> bool:
        """Whether the record belongs to this file and these tests."""
        return self.old is not None and (
            self.old.submission_sha256,
            self.old.tests_sha256,
            self.old.error,
        ) == (self.sha256, self.grader.assignment.digest, self.error)

    def start(self) -> None:
        """Run every hidden test to its requests, on data of this student."""
        for grade_id, tests in self.grader.tests.items():
            self.running[grade_id] = [self._started(grade_id, test) for test in tests]

    def _started(self, grade_id: str, test: HiddenTest) -> RunningTest:
        about = (self.name, self.student, grade_id, test.__name__)
        seed = self.grader.course.seed(*about)
        torch.manual_seed(seed)
        return RunningTest(test, seed)

    def run(self) -> Run:
        """Run the submission in a sandbox; called in a thread."""
        requests = [
            request
            for tests in self.running.values()
            for test in tests
            for request in test.requests
        ]
        return run_sandboxed(
            self.code, requests, self.grader.limits, unsafe=self.grader.unsafe
        )

    def judge(self, run: Run) -> Record:
        """The record of the submission, from the data that came out."""
        answers = itertools.count()
        cells = []
        for cell in self.grader.assignment.graded:
            mark = CellMark(cell.grade_id, 0.0, cell.points, cell.is_manual)
            if cell.is_manual and cell.grade_id in self.texts:
                text = self.texts[cell.grade_id].encode()
                mark.answer_sha256 = hashlib.sha256(text).hexdigest()
            for test in self.running.get(cell.grade_id, []):
                numbers = [next(answers) for _ in test.requests]
                verdict = _verdict(test, [self._answer(run, i) for i in numbers])
                mark.verdicts.append(asdict(verdict))
            if mark.verdicts and not any(one["message"] for one in mark.verdicts):
                mark.points = cell.points
            cells.append(mark)
        return Record(
            self.name,
            self.student,
            self.sha256,
            self.grader.assignment.digest,
            cells,
            error=self.error,
            ended=run.ended,
            notes=self.notes,
            problems=[text for _, text in sorted(run.problems.items())],
            output=run.output,
            seconds=round(run.seconds, 2),
            peak_mb=round(run.peak_mb, 1),
        )

    def _answer(self, run: Run, number: int) -> Returned:
        found = run.answers.get(number)
        reason = run.ended or "the notebook's code ended the process that runs it"
        return found or Returned("the notebook", None, "SystemExit", reason)


def _verdict(test: RunningTest, answers: list[Returned]) -> Verdict:
    with _time_limit(CHECK_SECONDS):
        found = test.verdict(answers)
    return replace(found, message=clean_text(found.message))


@contextmanager
def _time_limit(seconds: int) -> Iterator[None]:
    """Break off what looks too long at a stranger's data, in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise TimeoutError(f"looking at the result took over {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _differences(old: Record, new: Record) -> list[Changed]:
    before = {mark.grade_id: mark.points for mark in old.cells}
    return [
        Changed(new.student, mark.grade_id, before.get(mark.grade_id, 0.0), mark.points)
        for mark in new.cells
        if before.get(mark.grade_id, 0.0) != mark.points
    ]


def _rewritten(old: Record, new: Record) -> list[str]:
    """Tasks for a person whose answer differs from that of an earlier submission."""
    before = {mark.grade_id: mark.answer_sha256 for mark in old.cells}
    return [
        mark.grade_id
        for mark in new.cells
        if mark.is_manual
        and before.get(mark.grade_id, mark.answer_sha256) != mark.answer_sha256
    ]


def find_notebook(folder: Path) -> Path:
    """The notebook of a submission's folder.

    Raises:
        ValueError: there is none, several, or a link in its place.
    """
    found = sorted(path for path in folder.glob("*.ipynb"))
    named = [path for path in found if path.stem == folder.name]
    if len(named or found) != 1:
        raise ValueError(
            f"{'no notebook' if not found else 'several notebooks'} in the submission;"
            f" hand in {folder.name}.ipynb"
        )
    (path,) = named or found
    if path.is_symlink() or not path.is_file():
        raise ValueError(f"{path.name} is a link or no file; hand in the file itself")
    return path


def handed_in(folder: Path) -> datetime.datetime:
    """When a submission was handed in, in UTC without a zone as nbgrader stores it."""
    try:
        when = read_timestamp(folder / "timestamp.txt")
    except (OSError, ValueError):
        seconds = max(
            (p.lstat().st_mtime for p in folder.iterdir()), default=time.time()
        )
        when = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return when.replace(tzinfo=None)
