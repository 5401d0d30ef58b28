"""Notebooks of an assignment: the author's source and what a student hands in."""

import hashlib
import io
import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from coursepkg.files import check_regular
from coursepkg.grading.calls import perform
from coursepkg.grading.driver import run_cell
from coursepkg.grading.hidden_tests import (
    HiddenTest,
    RunningTest,
    Verdict,
    collecting,
)

LARGEST_NOTEBOOK = 50 * 2**20
"""Bytes of a notebook file that is read."""


@dataclass(frozen=True)
class Cell:
    """A notebook cell with nbgrader's settings."""

    kind: str
    """code, markdown or raw."""
    source: str
    grade_id: str = ""
    """Empty for a cell that nbgrader does not know."""
    grade: bool = False
    solution: bool = False
    points: float = 0.0

    @property
    def is_test(self) -> bool:
        """Whether its points come from hidden tests."""
        return self.kind == "code" and self.grade and not self.solution

    @property
    def is_manual(self) -> bool:
        """Whether a person gives its points."""
        return self.grade and not self.is_test


def read_cells(path: Path) -> list[Cell]:
    """The cells of a notebook file, whoever wrote it.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no notebook of format 4, or is too large.
    """
    check_regular(path)
    size = path.stat().st_size
    if size > LARGEST_NOTEBOOK:
        raise ValueError(
            f"{path.name} has {size / 2**20:,.0f} MB, more than"
            f" {LARGEST_NOTEBOOK // 2**20}; clear its outputs and hand it in again"
        )
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
        if content["nbformat"] != 4:
            raise ValueError("another format")
        return [_cell(one) for one in content["cells"]]
    except (
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as reason:
        raise ValueError(
            f"{path.name} is no Jupyter notebook of format 4; save it as .ipynb and"
            " hand it in again"
        ) from reason


def _cell(raw: Any) -> Cell:
    source = raw["source"]
    source = source if isinstance(source, str) else "".join(source)
    # JSON can hold halves of characters, which no other text can.
    source = source.encode(errors="replace").decode()
    # Colab and VS Code add metadata of their own; a copy through a cloud may drop ours.
    metadata = raw.get("metadata") or {}
    settings = metadata.get("nbgrader") or {}
    if not isinstance(settings, dict) or settings.get("task"):
        settings = {}
    grade_id = settings.get("grade_id", "")
    return Cell(
        str(raw["cell_type"]),
        source,
        unicodedata.normalize("NFC", grade_id) if isinstance(grade_id, str) else "",
        settings.get("grade") is True,
        settings.get("solution") is True,
        float(settings.get("points") or 0),
    )


@dataclass(frozen=True)
class Assignment:
    """An author's source notebook: given cells, solutions, tests, points."""

    name: str
    cells: Sequence[Cell]

    @classmethod
    def read(cls, path: Path) -> "Assignment":
        """Read and check a source notebook.

        Raises:
            ValueError: a grade id is missing or used twice, or a graded cell has no
                hidden test; names the cell.
        """
        cells = read_cells(path)
        for number, cell in enumerate(cells, start=1):
            if cell.grade and not cell.grade_id:
                raise ValueError(f"{path}: cell {number} is graded without a grade id")
        ids = [cell.grade_id for cell in cells if cell.grade_id]
        for name in ids:
            if ids.count(name) > 1:
                raise ValueError(
                    f"{path}: two cells have the grade id {name!r}; rename one"
                )
        for cell in cells:
            if cell.is_test and "@hidden_test" not in cell.source:
                raise ValueError(
                    f"{path}: the graded cell {cell.grade_id!r} has no @hidden_test;"
                    " its verdict would come from the student's own process"
                )
        if not any(cell.grade for cell in cells):
            raise ValueError(f"{path}: no cell is graded; give one points")
        return cls(path.stem, cells)

    @property
    def digest(self) -> str:
        """SHA-256 of what decides about marks: code cells and points."""
        rows = [
            (c.grade_id, c.source if c.kind == "code" else "", c.points)
            for c in self.cells
            if c.kind == "code" or c.grade
        ]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()

    @property
    def graded(self) -> list[Cell]:
        """Cells with points, in order."""
        return [cell for cell in self.cells if cell.grade]

    def given(self) -> dict[str, str]:
        """Code of the cells that the student may not change, by grade id."""
        return {
            cell.grade_id: cell.source
            for cell in self.cells
            if cell.kind == "code"
            and cell.grade_id
            and not cell.grade
            and not cell.solution
        }

    @cached_property
    def tests(self) -> dict[str, list[HiddenTest]]:
        """The hidden tests by grade id, with the solution in their namespace.

        The notebook runs in this process, once: it is the author's. What it prints is
        not shown.

        Raises:
            ValueError: a cell raises; names it.
        """
        namespace: dict[str, Any] = {"__name__": "__main__"}
        found: dict[str, list[HiddenTest]] = {}
        for number, cell in enumerate(self.cells, start=1):
            if cell.kind != "code":
                continue
            with collecting() as tests, redirect_stdout(io.StringIO()):
                problem = run_cell(cell.source, namespace)
            if problem:
                raise ValueError(
                    f"{self.name}: cell {number} ({cell.grade_id or 'no grade id'})"
                    f" of the source notebook fails: {problem}"
                )
            if cell.is_test:
                found[cell.grade_id] = tests
        return found

    def judge(
        self, student: Mapping[str, str] | None = None
    ) -> dict[str, list[Verdict]]:
        """Run the hidden tests on trusted code in this process, without a sandbox.

        For an author's mutants and second solutions; never for a submission.

        Args:
            student: code by grade id in place of the solution of that cell; the other
                cells keep the author's.

        Returns:
            Verdicts by grade id of the graded cells.
        """
        namespace: dict[str, Any] = {"__name__": "__main__"}
        with redirect_stdout(io.StringIO()):
            for cell in self.cells:
                if cell.kind == "code" and not cell.is_test:
                    run_cell((student or {}).get(cell.grade_id, cell.source), namespace)
            return {
                grade_id: [_judged(test, namespace) for test in tests]
                for grade_id, tests in self.tests.items()
            }


def _judged(test: HiddenTest, namespace: Mapping[str, Any]) -> Verdict:
    running = RunningTest(test, seed=1)
    return running.verdict([perform(one, namespace) for one in running.requests])


def remarks(assignment: Assignment, submitted: Sequence[Cell]) -> Iterator[str]:
    """What a student should know of a submission that is run all the same: lost cells.

    A cell that lost its grade id is run where it stands; a text is not found by whoever
    marks it.
    """
    present = {cell.grade_id for cell in submitted if cell.grade_id}
    known = {cell.grade_id for cell in assignment.cells if cell.grade_id}
    others = ", ".join(map(repr, sorted(present - known)))
    for cell in assignment.cells:
        if cell.solution and cell.grade_id not in present:
            yield (
                f"the cell {cell.grade_id!r} is not there: it was deleted or its grade"
                " id renamed" + (f" (other grade ids: {others})" if others else "")
            )


def student_code(assignment: Assignment, submitted: Sequence[Cell]) -> Iterator[str]:
    """The code of a submission as it is run: no tests, given cells as they were given.

    Given cells that the student's notebook lacks come first.

    Raises:
        ValueError: the notebook has none of the assignment's solution cells, or one of
            them twice; names it.
    """
    wanted = {c.grade_id: c.kind for c in assignment.cells if c.solution}
    present = [cell.grade_id for cell in submitted if cell.grade_id]
    for name in wanted:
        if present.count(name) > 1:
            raise ValueError(
                f"two cells have the grade id {name!r}; keep one and hand it in again"
            )
    if wanted and not wanted.keys() & set(present):
        raise ValueError(
            "none of the cells to fill in is there (their grade ids were lost or"
            " renamed); start from the file that was handed out"
        )
    given = assignment.given()
    tests = {cell.grade_id for cell in assignment.cells if cell.is_test}
    for name, source in given.items():
        if name not in present:
            yield source
    for cell in submitted:
        if cell.kind != "code" or cell.grade_id in tests or cell.is_test:
            continue
        yield given.get(cell.grade_id, cell.source)
