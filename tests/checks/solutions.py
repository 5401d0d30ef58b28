"""A chapter's tests as two tables: solutions that its checks accept, and what they say of wrong ones."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from coursepkg.checks import run_check

Test = Callable[..., None]


def accepts(name: str, right: Any) -> None:
    """The check passes the solution."""
    outcome = run_check(name, right)
    assert outcome.status == "passed", str(outcome)


def rejects(name: str, wrong: Any, message_part: str) -> None:
    """The check finds the solution wrong, for the right reason."""
    outcome = run_check(name, wrong)
    assert outcome.status == "wrong", f"expected a rejection, got: {outcome}"
    assert message_part in outcome.message, f"{message_part!r} is not in: {outcome.message}"


def solution_tests(
    chapter: str, right: Mapping[str, Any], wrong: Mapping[str, tuple[Any, str]]
) -> tuple[Test, Test]:
    """Two tests of a chapter's checks, with a case for each row.

    A key is the name of the exercise and, behind a space, what is special about the solution. Its value is
    the solution, for a wrong one with a part of the message that has to come.
    """

    @pytest.mark.parametrize("case", right)
    def test_right(case: str) -> None:
        accepts(f"{chapter}.{case.split()[0]}", right[case])

    @pytest.mark.parametrize("case", wrong)
    def test_wrong(case: str) -> None:
        rejects(f"{chapter}.{case.split()[0]}", *wrong[case])

    return test_right, test_wrong
