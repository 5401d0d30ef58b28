"""Numbers and reasons in sentences."""

import pytest

from coursepkg.validation import counted, one_line


@pytest.mark.parametrize(
    ("n", "said"), [(0, "0 lines"), (1, "1 line"), (2, "2 lines"), (6585, "6,585 lines")]
)
def test_a_noun_agrees_with_its_number(n: int, said: str) -> None:
    assert counted(n, "line") == said


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        (ValueError("no such\n\t thing \n"), "no such thing"),
        (MemoryError(), "MemoryError"),
        (OSError(2, "No such file"), "[Errno 2] No such file"),
        ("a\r\nb", "a b"),
        ("", ""),
    ],
)
def test_a_reason_has_one_line(reason: object, said: str) -> None:
    assert one_line(reason) == said
