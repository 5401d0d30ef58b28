"""What tests of the exercises' checks use: a wrong solution must be rejected with a message that says why."""

from collections.abc import Callable
from typing import Any

import pytest

from coursepkg.checks import run_check


@pytest.fixture
def assert_rejects() -> Callable[[str, Callable[..., Any], str], None]:
    """assert_rejects(check_name, wrong_function, part_of_the_message)"""

    def rejects(name: str, wrong: Callable[..., Any], message_part: str) -> None:
        outcome = run_check(name, wrong)
        assert outcome.status == "wrong", f"expected a rejection, got: {outcome}"
        assert message_part in outcome.message, f"{message_part!r} is not in: {outcome.message}"

    return rejects


@pytest.fixture
def assert_accepts() -> Callable[[str, Callable[..., Any]], None]:
    """assert_accepts(check_name, right_function)"""

    def accepts(name: str, right: Callable[..., Any]) -> None:
        outcome = run_check(name, right)
        assert outcome.status == "passed", str(outcome)

    return accepts
