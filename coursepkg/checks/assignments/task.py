"""A graded task: the cases it is tried on, how the student's function is run, a judge.

Judging needs a case and the data that came back, never the function itself, so that a
function may run in another process than its judge.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from coursepkg.checks.assignments.measure import observe, with_gradients
from coursepkg.checks.runner import NotAttempted
from coursepkg.validation import one_line

Run = Literal["call", "gradients", "observe", "twice"]


@dataclass(frozen=True)
class Task:
    """One graded task of an assignment."""

    name: str
    make: Callable[..., tuple[Any, ...]]
    """A case from plain values, such as sizes and a seed."""
    judge: Callable[[tuple[Any, ...], Any], None]
    """Takes a case and what came back; raises AssertionError with what is wrong."""
    public: Sequence[tuple[Any, ...]] = ()
    """Values of the cases that a student may try."""
    run: Run = "call"
    """What comes back: the result; (result, gradients); the fields of `Observed` with
    those two as its result; or the results of two calls."""
    arguments: Callable[[tuple[Any, ...]], tuple[Any, ...]] = tuple
    """The part of a case that the student's function is given."""

    def call(self, student: Callable[..., Any], case: tuple[Any, ...]) -> Any:
        """Runs the student's function on a case; returns data for the judge.

        The function gets copies: what it does to them, the judge does not see.

        Raises:
            NotImplementedError: the function is still the starter.
            AssertionError: it raised something else; says what.
        """
        arguments = copy.deepcopy(self.arguments(case))
        try:
            if self.run == "gradients":
                return with_gradients(student, *arguments)
            if self.run == "observe":
                seen = observe(with_gradients, student, *arguments)
                return seen.result, seen.largest, seen.called
            if self.run == "twice":
                again = copy.deepcopy(arguments)
                return student(*arguments), student(*again)
            return student(*arguments)
        except NotImplementedError:
            raise
        except Exception as error:
            raise AssertionError(
                f"{self.name} raised {type(error).__name__}: {one_line(str(error))}"
            ) from error

    def cases(self, *values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """The public cases, and those of further values."""
        return [self.make(*one) for one in (*self.public, *values)]

    def judge_all(
        self, cases: Sequence[tuple[Any, ...]], answers: Sequence[Any]
    ) -> None:
        """Judges what came back from elsewhere, each as `answer.value`.

        Raises:
            AssertionError: one line that says what is wrong.
        """
        for case, answer in zip(cases, answers, strict=True):
            self.judge(case, answer.value)

    def check(self, student: Callable[..., Any]) -> None:
        """Tries the function on the public cases.

        Raises:
            AssertionError: one line that says what is wrong.
            NotImplementedError: the function is still the starter.
        """
        for case in self.cases():
            try:
                self.judge(case, self.call(student, case))
            except NotAttempted:
                raise NotImplementedError(f"{self.name} returns nothing yet") from None
