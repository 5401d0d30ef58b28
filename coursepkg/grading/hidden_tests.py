"""Hidden tests: how an author writes them, and how they become marks.

A hidden test is a generator function. It makes inputs, yields what the student's code
is to be asked, and checks the answers:

    @hidden_test
    def odd_sizes(seed):
        "The sizes T = 5 and S = 7."
        generator = torch.Generator().manual_seed(seed)
        q = torch.randn(1, 2, 5, 4, generator=generator)
        k = torch.randn(1, 2, 7, 4, generator=generator)
        answer = yield call("scores", q, k)
        close(answer.value, scores(q, k), what="scores")

In the author's notebook, where the functions are the solution, the test runs at once.
In the grader the function's source stays with the grader: only the requests enter the
sandbox, and only plain data come out.
"""

import inspect
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from coursepkg.checks.expect import close, equal, is_tensor
from coursepkg.checks.runner import NotAttempted
from coursepkg.grading.calls import Request, Returned, perform
from coursepkg.validation import error_line, one_line

__all__ = [
    "HiddenTest",
    "RunningTest",
    "Verdict",
    "close",
    "collecting",
    "equal",
    "hidden_test",
    "is_tensor",
]

NO_YIELD = "it must yield call(...) or read(...) once"

Requests = Request | list[Request]
Answers = Returned | list[Returned]
HiddenTest = Callable[[int], Generator[Requests, Any, None]]

_collected: ContextVar[list[HiddenTest] | None] = ContextVar("tests", default=None)


def hidden_test(test: HiddenTest) -> HiddenTest:
    """Mark a generator function as a hidden test.

    It takes a seed, yields once (a request or a list of them), is sent the answers (one
    or a list) and raises AssertionError with a message for the student.

    In a notebook it runs at once, on the notebook's own functions; in the grader it is
    collected.
    """
    tests = _collected.get()
    if tests is None:
        _run_here(test)
    else:
        tests.append(test)
    return test


@contextmanager
def collecting() -> Iterator[list[HiddenTest]]:
    """Collect the hidden tests that are marked in the block instead of running them."""
    tests: list[HiddenTest] = []
    token = _collected.set(tests)
    try:
        yield tests
    finally:
        _collected.reset(token)


def _run_here(test: HiddenTest) -> None:
    namespace: Mapping[str, Any] = test.__globals__
    running = RunningTest(test, seed=0)
    message = running.finish([perform(one, namespace) for one in running.requests])
    assert not message, message


@dataclass(frozen=True)
class Verdict:
    """Whether one hidden test passed."""

    test: str
    """Name of its function."""
    about: str
    """First line of its docstring."""
    message: str = ""
    """What is wrong, for the student; empty where it passed."""
    is_author_error: bool = False
    """Whether the test broke off with something else than an AssertionError."""


class RunningTest:
    """A hidden test between its requests and their answers."""

    def __init__(self, test: HiddenTest, seed: int) -> None:
        """Run the test to its requests.

        Raises:
            ValueError: it yields no requests.
        """
        if not inspect.isgeneratorfunction(test):
            raise ValueError(f"hidden test {test.__name__}: {NO_YIELD}")
        self.name = test.__name__
        self.about = (test.__doc__ or "").strip().partition("\n")[0]
        self._generator = test(seed)
        try:
            requests = next(self._generator)
        except StopIteration:
            raise ValueError(f"hidden test {self.name}: {NO_YIELD}") from None
        self._is_list = isinstance(requests, list)
        self.requests = requests if isinstance(requests, list) else [requests]
        if not all(isinstance(one, Request) for one in self.requests):
            raise ValueError(
                f"hidden test {self.name}: it yields something else than call(...) or"
                " read(...)"
            )

    def finish(self, answers: list[Returned]) -> str:
        """Send the answers; return what is wrong, "" where nothing is.

        Raises:
            ValueError: the test yields a second time.
            Exception: whatever its checks raise but AssertionError.
        """
        sent: Answers = answers if self._is_list else answers[0]
        try:
            self._generator.send(sent)
        except StopIteration:
            return ""
        except NotAttempted:
            return "not attempted"
        except AssertionError as wrong:
            return one_line(str(wrong)) or "the result is not the expected one"
        raise ValueError(f"hidden test {self.name}: it may yield only once")

    def verdict(self, answers: list[Returned]) -> Verdict:
        """As `finish`, on answers of a stranger's code: nothing is raised."""
        try:
            return Verdict(self.name, self.about, self.finish(answers))
        except Exception as reason:
            return Verdict(
                self.name,
                self.about,
                f"the check could not read the result ({error_line(reason, 200)})",
                is_author_error=True,
            )
