"""The runner of the public checks: one line, whatever the student's code does."""

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from coursepkg.checks import chapters, check, expect, names, run_check, runner


def double(student: Callable[[Tensor], Tensor]) -> None:
    x = torch.arange(3.0)
    given = x.clone()
    result = student(given)
    expect.unchanged(x, given, what="x")
    expect.close(result, 2 * x, what="double(x)", hint="multiply by two")


@pytest.fixture(autouse=True)
def one_chapter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chapter `trial` with one exercise, in place of the real ones."""
    module = ModuleType("coursepkg.checks.trial")
    monkeypatch.setattr(double, "__module__", module.__name__)
    module.double = double  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(runner, "chapters", lambda: ["trial"])


def raising(error: Exception) -> Callable[..., Any]:
    def student(x: Tensor) -> Tensor:
        raise error

    return student


@pytest.mark.parametrize(
    ("student", "line"),
    [
        (lambda x: 2 * x, "trial.double: passed"),
        (lambda x: None, "trial.double: not attempted yet"),
        (lambda x: ..., "trial.double: not attempted yet"),
        (None, "trial.double: not attempted yet"),
        (raising(NotImplementedError()), "trial.double: not attempted yet"),
        (
            lambda x: x,
            "trial.double: not yet: double(x) at [2] is 2.0000, 4.0000 is expected; multiply by two",
        ),
        (lambda x: 2 * x[:2], "trial.double: not yet: double(x) has shape (2,); (3,) is expected"),
        (lambda x: x / 0, "trial.double: not yet: double(x) has NaN or infinite entries"),
        (lambda x: [0, 2, 4], "trial.double: not yet: double(x) is a list; a torch.Tensor is expected"),
        (lambda x: x.mul_(2), "trial.double: not yet: x was changed in place; work on a new tensor"),
        (
            raising(RuntimeError("one\n  two")),
            "trial.double: not yet: your code raised RuntimeError: one two",
        ),
        (lambda: 1, "trial.double: not yet: your code raised TypeError: "),
        (3, "trial.double: not yet: your code raised TypeError: 'int' object is not callable"),
    ],
)
def test_prints_one_line(student: Any, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    check("trial.double", student)
    printed = capsys.readouterr().out
    assert printed.startswith(line)
    assert printed.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("double", "'double' is no exercise; need 'chapter.exercise'"),
        ("nowhere.double", "'nowhere.double' is no exercise"),
        ("trial.duoble", r"'trial' has no exercise 'duoble'; need one of \['double'\]"),
    ],
)
def test_an_unknown_name_says_which_are_known(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run_check(name, lambda x: x)


def test_names_are_the_functions_written_in_the_chapter() -> None:
    assert names("trial") == ["double"]


def test_a_class_is_handed_on_as_it_is() -> None:
    class Doubling(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return 2 * x

    assert str(run_check("trial.double", lambda x: Doubling()(x))) == "trial.double: passed"
    assert runner._watched(Doubling) is Doubling


@pytest.mark.parametrize(
    ("value", "expected", "message"),
    [
        (1.5, 2.0, "the result is 1.5000, 2.0000 is expected"),
        (torch.tensor(1.5), 2.0, "the result is 1.5000, 2.0000 is expected"),
        ("x", 2.0, "the result is a str; one number is expected"),
        (torch.ones(2), 1.0, "the result is a Tensor; one number is expected"),
    ],
)
def test_close_compares_numbers(value: Any, expected: float, message: str) -> None:
    with pytest.raises(AssertionError) as failure:
        expect.close(value, expected)
    assert str(failure.value) == message
    expect.close(expected, expected)


def test_close_allows_rounding_and_no_more() -> None:
    expected = torch.tensor([1.0, 100.0])
    expect.close(expected + 5e-4, expected)
    with pytest.raises(AssertionError, match=r"at \[0\] is 1.0020, 1.0000 is expected"):
        expect.close(expected + torch.tensor([2e-3, 0.0]), expected)


def test_equal_compares_exactly() -> None:
    expect.equal([1, 2], [1, 2])
    expect.equal(torch.tensor([1]), torch.tensor([1]))
    with pytest.raises(AssertionError, match="steps is 3, 4 is expected; count the last one"):
        expect.equal(3, 4, what="steps", hint="count the last one")
    with pytest.raises(runner.NotAttempted):
        expect.equal(None, 4)


def test_every_chapter_of_the_package_loads() -> None:
    for chapter in chapters():
        assert names(chapter), f"{chapter} has no exercise"
