"""What checks assert with: each failure says what came, what was expected."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from coursepkg.checks.runner import NotAttempted


def attempted(value: Any) -> Any:
    """Passes a value on; None and `...` mean that the exercise was not attempted.

    For what lies inside a result: the runner looks at the result itself.
    """
    if value is None or value is Ellipsis:
        raise NotAttempted
    return value


def is_tensor(
    value: Any, shape: Sequence[int] | None = None, *, what: str = "the result"
) -> Tensor:
    """A tensor of this shape, without NaN or infinity.

    Raises:
        AssertionError: says the type or the shape that came.
    """
    attempted(value)
    assert isinstance(value, Tensor), (
        f"{what} is a {type(value).__name__}; a torch.Tensor is expected"
    )
    if shape is not None:
        assert tuple(value.shape) == tuple(shape), (
            f"{what} has shape {tuple(value.shape)}; {tuple(shape)} is expected"
        )
    if value.is_floating_point():
        assert bool(torch.isfinite(value).all()), f"{what} has NaN or infinite entries"
    return value


def close(
    value: Any,
    expected: Tensor | float,
    *,
    what: str = "the result",
    tolerance: float = 1e-5,
    hint: str = "",
) -> None:
    """A tensor or number equal to the expected one within a tolerance.

    Args:
        tolerance: largest difference that counts as rounding, for entries of size one.
        hint: added to the message: what this mistake often comes from.

    Raises:
        AssertionError: says the first entry that differs most, with both numbers.
    """
    attempted(value)
    if not isinstance(expected, Tensor):
        expected = torch.tensor(float(expected), dtype=torch.float64)
        assert isinstance(value, int | float) or (
            isinstance(value, Tensor) and value.numel() == 1
        ), f"{what} is a {type(value).__name__}; one number is expected"
        value = torch.as_tensor(value, dtype=torch.float64).reshape(())
    is_tensor(value, expected.shape, what=what)
    difference = (value.detach().double() - expected.detach().double()).abs()
    allowed = tolerance * max(
        1.0, float(expected.detach().double().abs().max()) if expected.numel() else 1.0
    )
    if difference.numel() == 0 or float(difference.max()) <= allowed:
        return
    at = tuple(
        int(i) for i in torch.unravel_index(difference.argmax(), difference.shape)
    )
    place = f" at {list(at)}" if at else ""
    ending = f"; {hint}" if hint else ""
    raise AssertionError(
        f"{what}{place} is {float(value[at]):.4f}, {float(expected[at]):.4f} is"
        f" expected{ending}"
    )


def equal(
    value: Any, expected: Any, *, what: str = "the result", hint: str = ""
) -> None:
    """A value equal to the expected one: integers, strings, booleans, lists.

    Raises:
        AssertionError: says both values.
    """
    attempted(value)
    same = (
        torch.equal(value, expected)
        if isinstance(value, Tensor) and isinstance(expected, Tensor)
        else value == expected
    )
    ending = f"; {hint}" if hint else ""
    assert bool(same), f"{what} is {value!r}, {expected!r} is expected{ending}"


def unchanged(before: Tensor, after: Tensor, *, what: str) -> None:
    """An input that the student's function must not have written to.

    Raises:
        AssertionError: says which input was changed.
    """
    assert torch.equal(before, after), (
        f"{what} was changed in place; work on a new tensor"
    )
