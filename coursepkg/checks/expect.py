"""What checks assert with: each failure says what came, what was expected."""

import re
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import torch
from torch import Tensor

from coursepkg.checks.runner import NotAttempted

SCALES: tuple[Mapping[str, float], ...] = (
    {
        **{"byte": 1, "bytes": 1, "B": 1},
        **{"kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12},
        **{"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40},
    },
    {
        **{"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "seconds": 1},
        **{"min": 60, "minutes": 60, "h": 3600, "hours": 3600},
    },
    {"FLOP": 1, "MFLOP": 1e6, "GFLOP": 1e9, "TFLOP": 1e12, "PFLOP": 1e15},
)
"""Units that can be converted into one another."""
QUANTITY = re.compile(r"\s*([-+]?[\d,]*\.?\d+(?:e[-+]?\d+)?)\s*(.*?)\s*", re.IGNORECASE)

DECIMAL_COMMA = re.compile(r"^[-+]?0*,|,(?!\d{3}(\D|$))")
"""A comma behind nothing or zero, or without three digits behind it."""


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


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, an int or one of NumPy's."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def same(value: Any, other: Tensor, *, tolerance: float = 1e-8) -> bool:
    """Whether a result is that of a known mistake, in whatever precision it came."""
    given = torch.as_tensor(value).detach().double()
    return torch.allclose(given, other.double(), atol=tolerance)


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
        assert isinstance(value, Real) or (
            isinstance(value, Tensor) and value.numel() == 1
        ), f"{what} is a {type(value).__name__}; one number is expected"
        value = torch.as_tensor(value, dtype=torch.float64).reshape(())
    is_tensor(value, expected.shape, what=what)
    value, expected = value.detach(), expected.detach()
    difference = (value.double() - expected.double()).abs()
    allowed = tolerance * max(
        1.0, float(expected.double().abs().max()) if expected.numel() else 1.0
    )
    if difference.numel() == 0 or float(difference.max()) <= allowed:
        return
    at = tuple(
        int(i) for i in torch.unravel_index(difference.argmax(), difference.shape)
    )
    place = f" at {list(at)}" if at else ""
    ending = f"; {hint}" if hint else ""
    came, wanted = _decimals(float(value[at]), float(expected[at]))
    raise AssertionError(f"{what}{place} is {came}, {wanted} is expected{ending}")


def _decimals(*numbers: float) -> list[str]:
    """Numbers with four decimals, or with more where these would not show them."""
    short = [f"{number:.4f}" for number in numbers]
    hidden = any(
        number and float(said) == 0 for number, said in zip(numbers, short, strict=True)
    )
    if hidden or len(set(short)) < len(short):
        return [f"{number:.8g}" for number in numbers]
    return short


def equal(
    value: Any, expected: Any, *, what: str = "the result", hint: str = ""
) -> None:
    """A value equal to the expected one: integers, strings, booleans, lists.

    Raises:
        AssertionError: says both values.
    """
    attempted(value)
    try:
        same = bool(
            torch.equal(value, expected)
            if isinstance(value, Tensor) and isinstance(expected, Tensor)
            else value == expected
        )
    except (RuntimeError, ValueError):
        same = False  # of an array, whose entries are compared one by one
    ending = f"; {hint}" if hint else ""
    assert same, f"{what} is {value!r}, {expected!r} is expected{ending}"


def unchanged(before: Tensor, after: Tensor, *, what: str) -> None:
    """An input that the student's function must not have written to.

    Raises:
        AssertionError: says which input was changed.
    """
    assert torch.equal(before, after), (
        f"{what} was changed in place; work on a new tensor"
    )


def quantity(
    value: Any,
    expected: int | float,
    unit: str,
    *,
    what: str = "the answer",
    tolerance: float = 0.01,
    mistakes: Mapping[int | float, str] | None = None,
) -> None:
    """A number with its unit, as a string such as "3.94 GiB".

    Args:
        value: what the student wrote.
        expected: the number, in `unit`.
        unit: unit of `expected`; another unit of the same kind is converted. Of a unit
            that `SCALES` lacks, such as "parameters", a plural s may be missing.
        tolerance: largest relative difference, for answers that were rounded.
        mistakes: for numbers that common mistakes lead to, in `unit`, what went wrong.

    Raises:
        AssertionError: names the missing or wrong unit, or the number with a hint.
    """
    attempted(value)
    found = QUANTITY.fullmatch(value) if isinstance(value, str) else None
    assert found, (
        f'{what} is {value!r}; write a number and its unit, such as "12 {unit}"'
    )
    assert not DECIMAL_COMMA.search(found[1]), (
        f"{what} is {value!r}; write a point before the decimals, a comma stands"
        " between thousands"
    )
    number, given = float(found[1].replace(",", "")), found[2]
    assert given, f"{what} is {value!r}, without a unit; {unit} is one that fits"
    scale = next((scale for scale in SCALES if unit in scale), {})
    fits = given in scale if scale else given.rstrip("s") == unit.rstrip("s")
    assert fits, f"{what} is in {given!r}; {unit} is expected"
    number *= scale.get(given, 1) / scale.get(unit, 1)
    if abs(number - expected) <= tolerance * abs(expected):
        return
    for wrong, reason in (mistakes or {}).items():
        if abs(number - wrong) <= tolerance * abs(wrong):
            raise AssertionError(f"{what} is not {value}: {reason}")
    other = given.replace("i", "") if "i" in given else f"{given[0]}i{given[1:]}"
    if scale is SCALES[0] and given in scale and other in scale:
        meant = number / scale[given] * scale[other]
        assert abs(meant - expected) > tolerance * abs(expected), (
            f"{what} is not {value} but {found[1]} {other}: kB, MB and GB are powers of"
            " 1000, KiB, MiB and GiB powers of 1024"
        )
    raise AssertionError(f"{what} is not {value}; do the steps once more, with units")


def choice(
    value: Any, right: str, wrong: Mapping[str, str], *, what: str = "the answer"
) -> None:
    """One letter of several.

    Args:
        value: what the student wrote.
        right: the letter of the right answer.
        wrong: for each other letter why it is wrong.

    Raises:
        AssertionError: says why the chosen answer is wrong, or which letters there are.
    """
    given = attempted(value)
    letters = sorted((right, *wrong))
    assert given in letters, f"{what} is {given!r}; choose one of {', '.join(letters)}"
    assert given == right, f"{what} is not {given}: {wrong[given]}"


def labels(
    value: Any,
    reference: Sequence[str],
    reasons: Sequence[str],
    kinds: Sequence[str],
    *,
    least: float = 0.6,
    what: str = "label",
) -> str:
    """Labels of many items, judged by how far they agree with a reference labelling.

    The measure is Cohen's kappa, (p - e) / (1 - e), with p the share of equal labels
    and e the share that two labellings of these frequencies share by chance.

    Args:
        value: one label an item, in the order of the reference.
        reference: the labels of the reference.
        reasons: for each item why it has its label.
        kinds: the labels that may be given.
        least: kappa from which on the labels are accepted.
        what: name of a label in the message.

    Returns:
        The agreement, with the first three items that differ; empty if none does.

    Raises:
        AssertionError: a wrong number of labels, a label that is none of the kinds, or
            an agreement below `least`.
    """
    is_list = isinstance(attempted(value), Sequence) and not isinstance(value, str)
    assert is_list, f"the result is a {type(value).__name__}; a list is expected"
    n = len(reference)
    assert len(value) == n, f"{len(value)} {what}s; {n} are expected, one an item"
    for number, given in enumerate(value, start=1):
        known = attempted(given) in kinds
        assert known, f"{what} {number} is {given!r}; need one of {', '.join(kinds)}"
    n_equal = sum(a == b for a, b in zip(value, reference, strict=True))
    if n_equal == n:
        return ""
    chance = sum(value.count(one) * list(reference).count(one) for one in kinds) / n**2
    kappa = (n_equal / n - chance) / (1 - chance) if chance < 1 else 0.0
    different = [i for i in range(n) if value[i] != reference[i]][:3]
    said = "; ".join(
        f"item {i + 1} is {reference[i]!r} and not {value[i]!r}: {reasons[i]}"
        for i in different
    )
    agreement = f"{n_equal} of {n} agree, Cohen's kappa {kappa:.2f}"
    assert kappa >= least, f"{agreement}; {least:g} is needed; {said}"
    return f"{agreement}; {said}"
