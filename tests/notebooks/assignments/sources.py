"""An assignment's source notebook as its tests use it: its cells, and each task with another solution."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from coursepkg.checks.assignments import Task
from coursepkg.grading import call, hidden_test, read
from coursepkg.grading.calls import perform
from coursepkg.grading.hidden_tests import RunningTest, collecting

EXERCISES = Path(__file__).parents[3] / "notebooks" / "exercises"
SEEDS = (0, 1, 20_261_125)
"""Seeds of the hidden tests that right solutions are tried with; wrong ones with the last."""
IN_TESTS = {"call": call, "hidden_test": hidden_test, "read": read}
"""What the hidden part of a notebook's first test imports for all of them."""


def source(name: str) -> NotebookNode:
    return nbformat.read(EXERCISES / name / f"{name}.ipynb", as_version=4)


def settings(cell: NotebookNode) -> dict[str, Any]:
    return dict(cell.metadata.get("nbgrader", {}))


def code_of(notebook: NotebookNode, name: str) -> list[str]:
    """The given function that calls a task, and the cells of its tests."""
    ids = (f"run_{name}", f"test_{name}", f"hidden_{name}")
    return [cell.source for cell in notebook.cells if settings(cell).get("grade_id") in ids]


def solution_tests(
    name: str, module: Any, right: Mapping[str, Any], wrong: Mapping[str, tuple[Any, str]]
) -> tuple[Callable[..., None], Callable[..., None]]:
    """Two tests of an assignment's tasks, with a case for each row.

    A key is the name of the task and, behind a space, what is special about the solution. Its value is the solution,
    for a wrong one with a part of the message that has to come. The hidden tests alone decide about points, so a wrong
    solution must fail in them; what is wrong may be said there or by the public test.
    """
    notebook = source(name)

    def messages(case: str, student: Any, seeds: tuple[int, ...]) -> list[str]:
        """What the hidden tests say with each seed, and first the public test."""
        task: Task = getattr(module, case.split()[0])
        scope = {name: module, "STUDENT": "an-id", task.name: student, **IN_TESTS}
        said = ""
        try:
            task.check(student)
        except AssertionError as error:
            said = str(error)
        with collecting() as tests:
            for code in code_of(notebook, task.name):
                hidden = code.partition("### BEGIN HIDDEN TESTS")
                exec(hidden[2] or hidden[0], scope)
        assert tests
        running = [RunningTest(test, seed) for test in tests for seed in seeds]
        return [said, *(one.finish([perform(ask, scope) for ask in one.requests]) for one in running)]

    @pytest.mark.parametrize("case", right)
    def test_right(case: str) -> None:
        assert set(messages(case, right[case], SEEDS)) == {""}

    @pytest.mark.parametrize("case", wrong)
    def test_wrong(case: str) -> None:
        student, part = wrong[case]
        said, *hidden = messages(case, student, SEEDS[-1:])
        assert any(hidden), "it passes the hidden tests"
        assert part in " / ".join([said, *hidden])

    return test_right, test_wrong
