"""The check of an exercise: found by its name, run, and told in one line.

A check is a public function of `coursepkg/checks/<chapter>.py` named as the exercise.
It takes the student's function, calls it, and raises AssertionError with a message that
says what is wrong.
"""

import difflib
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from coursepkg.validation import one_line

NOT_CHAPTERS = {"__init__", "runner", "expect"}
"""Modules of this folder that hold no checks."""


class NotAttempted(Exception):
    """The student's function gave nothing back: it is still the starter."""


@dataclass(frozen=True)
class Outcome:
    """The status of a check, with a note or what is wrong."""

    name: str
    status: Literal["passed", "not attempted", "wrong"]
    message: str = ""

    def __str__(self) -> str:
        if self.status == "passed":
            note = f": {self.message}" if self.message else ""
            return f"{self.name}: passed{note}"
        if self.status == "not attempted":
            return f"{self.name}: not attempted yet"
        return f"{self.name}: not yet: {self.message}"


def check(name: str, student: Any) -> None:
    """Check one exercise and print its status in one line.

    Args:
        name: "chapter.exercise".
        student: the function, or class, that was written.

    Raises:
        ValueError: for a name that no check has.
    """
    print(run_check(name, student))


def run_check(name: str, student: Any) -> Outcome:
    """As `check`, but returns the outcome.

    A result of None or `...` counts as not attempted; any exception of the student's
    code is named in the message.

    Raises:
        ValueError: for a name that no check has.
    """
    judge = find(name)
    if student is None or student is Ellipsis:
        return Outcome(name, "not attempted")
    try:
        note = judge(_watched(student))
    except (NotAttempted, NotImplementedError):
        return Outcome(name, "not attempted")
    except AssertionError as error:
        return Outcome(
            name, "wrong", one_line(str(error)) or "the result is not the expected one"
        )
    except Exception as error:
        return Outcome(
            name,
            "wrong",
            f"your code raised {type(error).__name__}: {one_line(str(error))}",
        )
    return Outcome(name, "passed", note or "")


def find(name: str) -> Callable[[Callable[..., Any]], str | None]:
    """The check function of an exercise.

    Raises:
        ValueError: for a name that no check has; says which names are close.
    """
    chapter, dot, exercise = name.partition(".")
    if not dot or chapter not in chapters():
        raise ValueError(
            f"name: {name!r} is no exercise; need 'chapter.exercise', chapters are"
            f" {chapters()}"
        )
    if exercise not in names(chapter):
        near = difflib.get_close_matches(exercise, names(chapter), n=1) or names(
            chapter
        )
        raise ValueError(
            f"name: {chapter!r} has no exercise {exercise!r}; need one of {near}"
        )
    return getattr(import_module(f"{__package__}.{chapter}"), exercise)


def chapters() -> list[str]:
    """Chapters that have checks."""
    files = Path(__file__).parent.glob("*.py")
    return sorted(file.stem for file in files if file.stem not in NOT_CHAPTERS)


def names(chapter: str) -> list[str]:
    """Exercises of a chapter, in the order of the chapter's module."""
    module = import_module(f"{__package__}.{chapter}")
    return [
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not name.startswith("_")
    ]


def _watched(student: Any) -> Any:
    """The student's function, which now reports an empty result as not attempted."""
    if inspect.isclass(student) or not callable(student):
        return student

    @functools.wraps(student)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = student(*args, **kwargs)
        if result is None or result is Ellipsis:
            raise NotAttempted
        return result

    return call
