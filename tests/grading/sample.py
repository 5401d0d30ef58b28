"""A small assignment of the tests, and submissions made from its student edition."""

import copy
import json
from pathlib import Path
from typing import Any

SETUP = "import torch"
SOFTMAX = '''def softmax(x):
    """Softmax over the last dimension, without overflow."""
    ### BEGIN SOLUTION
    shifted = x - x.max(dim=-1, keepdim=True).values
    powers = shifted.exp()
    return powers / powers.sum(dim=-1, keepdim=True)
    ### END SOLUTION'''
SOFTMAX_TEST = '''assert softmax(torch.zeros(2)).shape == (2,), "softmax keeps the shape"
### BEGIN HIDDEN TESTS
from coursepkg.grading import call, close, equal, hidden_test, read


@hidden_test
def large_scores(seed):
    """Scores near 1000 neither overflow nor give NaN."""
    generator = torch.Generator().manual_seed(seed)
    scores = 1000 + torch.randn(3, 5, generator=generator)
    answer = yield call("softmax", scores).within(seconds=5)
    close(answer.value, softmax(scores), what="softmax", hint="subtract the maximum")


@hidden_test
def gradient_flows(seed):
    """The gradient of the first weight."""
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(4, generator=generator).double().requires_grad_()
    pick = torch.tensor([1.0, 0, 0, 0]).double()
    (expected,) = torch.autograd.grad(softmax(scores) @ pick, scores)
    answer = yield call("softmax", scores).with_gradients(pick).within(seconds=5)
    close(answer.value, softmax(scores))
    close(answer.gradients[0], expected, what="the gradient")
### END HIDDEN TESTS'''
NUMBER = """### BEGIN SOLUTION
cache_mib = 2 * 8 * 1024 * 64 * 4 / 2**20
### END SOLUTION"""
NUMBER_TEST = '''assert isinstance(cache_mib, float), "a number in MiB"
### BEGIN HIDDEN TESTS
@hidden_test
def number_of_the_cache(seed):
    """Keys and values of 8 heads."""
    answer = yield read("cache_mib")
    close(answer.value, 4.0, what="cache_mib", tolerance=0.01)
### END HIDDEN TESTS'''


def cell(source: str, grade_id: str, points: float | None = None, **settings: bool) -> Any:
    """A code cell with nbgrader's metadata; points make it graded."""
    nbgrader: dict[str, Any] = {
        "schema_version": 3,
        "grade_id": grade_id,
        "grade": points is not None,
        "locked": not settings.get("solution", False),
        "solution": settings.get("solution", False),
        "task": False,
    }
    if points is not None:
        nbgrader["points"] = points
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": grade_id,
        "metadata": {"nbgrader": nbgrader},
        "outputs": [],
        "source": source,
    }


def essay(source: str, grade_id: str, points: float) -> Any:
    """A text that a person marks."""
    made = cell(source, grade_id, points, solution=True)
    return {k: v for k, v in made.items() if k not in ("outputs", "execution_count")} | {
        "cell_type": "markdown"
    }


def source_notebook() -> dict[str, Any]:
    """The author's notebook: two graded tasks and one essay."""
    return {
        "cells": [
            cell(SETUP, "setup"),
            cell(SOFTMAX, "softmax", solution=True),
            cell(SOFTMAX_TEST, "softmax-test", 3),
            cell(NUMBER, "number", solution=True),
            cell(NUMBER_TEST, "number-test", 2),
            essay("Why subtract the maximum?", "why", 5),
        ],
        "metadata": {
            "kernelspec": {
                "display_name": "Python 3",
                "language": "python",
                "name": "python3",
            },
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


RIGHT = {
    "softmax": "def softmax(x):\n    return torch.softmax(x, dim=-1)",
    "number": "cache_mib = 4.0",
}
WRONG = {
    "softmax": "def softmax(x):\n    return x.exp() / x.exp().sum(-1, keepdim=True)",
    "number": "cache_mib = 2.0",
}


def write_source(folder: Path, name: str = "sample") -> Path:
    """Write the author's notebook; return its path."""
    path = folder / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(source_notebook(), indent=1), encoding="utf-8")
    return path


def solved(edition: Path, answers: dict[str, str]) -> dict[str, Any]:
    """The student edition with cells filled in by grade id."""
    notebook = copy.deepcopy(json.loads(edition.read_text(encoding="utf-8")))
    for one in notebook["cells"]:
        grade_id = one["metadata"].get("nbgrader", {}).get("grade_id")
        if grade_id in answers:
            one["source"] = answers[grade_id]
    return notebook


def hand_in(path: Path, notebook: Any) -> None:
    """Write a submission."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")
