"""Every exercise of every chapter: the starter is not attempted, the folded solution passes its public check."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from exercises import Exercise, read_exercises, read_objectives, read_self_check
from notebook_rules import notebook_paths

from coursepkg.checks import names, run_check

PRELUDE = """
import math
import torch
import torch.nn.functional as F
from torch import Tensor, nn
"""


def exercises_of(path: Path) -> list[Exercise]:
    return read_exercises(nbformat.read(path, as_version=4))


def defined(code: str) -> dict[str, Any]:
    """The names that a piece of a notebook defines, run on its own after the prelude."""
    scope: dict[str, Any] = {"__name__": "exercise"}
    exec(compile(PRELUDE + code, "exercise", "exec"), scope)
    return scope


def test_three_exercises_or_more_numbered_in_order(notebook_path: Path) -> None:
    found = exercises_of(notebook_path)
    assert len(found) >= 3
    assert [exercise.number for exercise in found] == list(range(1, len(found) + 1))


def test_each_exercise_states_difficulty_and_minutes(notebook_path: Path) -> None:
    for exercise in exercises_of(notebook_path):
        words = exercise.text.lower()
        assert "min" in words, f"exercise {exercise.number} does not say how long it takes"
        assert any(level in words for level in ("easy", "medium", "hard")), (
            f"exercise {exercise.number} does not say how difficult it is (easy, medium or hard)"
        )


def test_each_exercise_trains_an_objective_of_its_chapter(notebook_path: Path) -> None:
    known = range(1, len(read_objectives(nbformat.read(notebook_path, as_version=4))) + 1)
    for exercise in exercises_of(notebook_path):
        assert exercise.objectives, f"exercise {exercise.number} names no objective"
        assert set(exercise.objectives) <= set(known)


def test_five_questions_cover_the_objectives(notebook_path: Path) -> None:
    notebook = nbformat.read(notebook_path, as_version=4)
    questions = read_self_check(notebook)
    assert [question.number for question in questions] == [1, 2, 3, 4, 5]
    assert all(question.text and len(question.answer.split()) > 3 for question in questions)
    asked = {number for question in questions for number in question.objectives}
    assert asked == set(range(1, len(read_objectives(notebook)) + 1))


EVERYWHERE = {
    "write code",
    "find the bug",
    "by hand",
    "predict, then measure",
    "read a plot",
    "design under a budget",
    "classify errors",
}
"""Kinds of exercise that each part of the book has."""


PARTS = ("foundations", "attention", "transformer", "translation", "ocr", "sign_language")


@pytest.mark.parametrize("part", PARTS)
def test_each_part_has_exercises_of_every_kind(part: str) -> None:
    chapters = [path for path in notebook_paths() if path.parent.name == part]
    kinds = {exercise.kind for path in chapters for exercise in exercises_of(path)}
    assert EVERYWHERE - kinds == set()


def test_solutions_pass_their_checks(notebook_path: Path) -> None:
    for exercise in exercises_of(notebook_path):
        student = defined(exercise.solution)[exercise.student]
        assert str(run_check(exercise.check, student)) == f"{exercise.check}: passed"


def test_starters_are_not_attempted(notebook_path: Path) -> None:
    for exercise in exercises_of(notebook_path):
        assert exercise.printed == f"{exercise.check}: not attempted yet\n"


def test_checks_belong_to_the_chapter_and_all_are_used(notebook_path: Path) -> None:
    found = exercises_of(notebook_path)
    chapter = notebook_path.stem
    assert sorted(exercise.check for exercise in found) == sorted(
        f"{chapter}.{name}" for name in names(chapter)
    )


def notebook_of(*cells: Any) -> Any:
    return nbformat.v4.new_notebook(cells=list(cells))


def task(text: str) -> Any:
    return nbformat.v4.new_markdown_cell(text)


def starter(code: str) -> Any:
    return nbformat.v4.new_code_cell(code, metadata={"tags": ["exercise"]})


TASK = (
    "### Exercise 1: Double\n\nKind: write code. Objectives 1 and 3.\n\n"
    "<details><summary>Hint</summary>\n\nMultiply.\n\n</details>"
)
STARTER = 'def double(x):\n    ...\n\n\ncheck("chapter.double", double)'
SOLUTION = (
    "<details><summary>Solution</summary>\n\n```python\ndef double(x):\n    return 2 * x\n```\n\n</details>"
)


def test_reads_an_exercise() -> None:
    (exercise,) = read_exercises(notebook_of(task(TASK), starter(STARTER), task(SOLUTION)))
    assert (exercise.name, exercise.check, exercise.student) == ("Double", "chapter.double", "double")
    assert (exercise.kind, exercise.objectives) == ("write code", (1, 3))
    assert exercise.hint == "Multiply.\n"
    assert exercise.solution == "def double(x):\n    return 2 * x\n"


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (
            (task("### Exercise 1: Double"), starter(STARTER), task(SOLUTION)),
            "exercise 1: no <details><summary>Hint",
        ),
        ((task(TASK), starter(STARTER), task("Text.")), "exercise 1: no <details><summary>Solution"),
        ((task(TASK), starter(STARTER)), "exercise 1: no <details><summary>Solution"),
        ((task(TASK), starter("def double(x): ..."), task(SOLUTION)), "does not call check"),
        ((task(TASK.replace("Kind:", "")), starter(STARTER), task(SOLUTION)), "states no kind"),
        ((task(TASK.replace("write", "guess")), starter(STARTER), task(SOLUTION)), "the kind 'guess code'"),
        ((task(TASK), task(SOLUTION)), "1 headings"),
        ((task(TASK), starter(STARTER), task(SOLUTION.replace("python", ""))), "no ```python block"),
    ],
)
def test_names_what_is_missing(cells: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_exercises(notebook_of(*cells))
