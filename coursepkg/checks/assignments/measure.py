"""What the tests of assignments measure: quantities, gradients, sizes and calls."""

import hashlib
import random
import re
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from coursepkg.checks import expect
from coursepkg.checks.runner import NotAttempted

QUANTITY = re.compile(
    r"(?P<number>[-+]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?)\s*"
    r"(?P<unit>\D.*)?"
)
DIGITS = re.compile(r"[-+]?[\d.,]*")
BYTES = {
    "bytes": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}
"""Units of memory and their bytes: those with an i are powers of two."""


def personal(student: Any, task: str) -> random.Random:
    """A random generator that is the same for one student and task on every machine.

    Raises:
        AssertionError: the name of the student is empty, or is no text.
    """
    is_id = isinstance(student, str) and student.strip()
    assert is_id, (
        f"STUDENT is {student!r}; write your id into the cell at the top, in quotation"
        " marks"
    )
    key = f"{student.strip().casefold()}/{task}".encode()
    return random.Random(int.from_bytes(hashlib.sha256(key).digest()[:8], "big"))


def quantity(
    answer: Any,
    expected: float,
    unit: str,
    *,
    tolerance: float = 0.01,
    hint: str = "",
    mistakes: Iterable[tuple[float, str]] = (),
) -> None:
    """A number with its unit, such as "12.5 MiB", right within a relative tolerance.

    Args:
        answer: what the student wrote.
        expected: the number, in `unit`.
        unit: of `expected`; sizes in bytes are converted.
        tolerance: largest relative difference.
        hint: what to do, for a number that is wrong.
        mistakes: numbers that common mistakes lead to, in `unit`, each with its hint.

    Raises:
        AssertionError: says whether the number, the unit or both are wrong.
    """
    for wrong, reason in mistakes:
        try:
            quantity(answer, wrong, unit, tolerance=tolerance)
        except AssertionError:
            continue
        raise AssertionError(f"{answer} is not right; {reason}")
    if answer is None or answer is Ellipsis or answer == "":
        raise NotAttempted
    wanted = f"a text such as '12.5 {unit}' is expected"
    assert isinstance(answer, str), f"the answer is a {type(answer).__name__}; {wanted}"
    digits = DIGITS.match(answer.strip())
    assert not (digits and expect.DECIMAL_COMMA.search(digits[0])), (
        f"the answer is {answer!r}; write a point before the decimals, a comma stands"
        " between thousands"
    )
    match = QUANTITY.fullmatch(answer.strip())
    assert match, f"the answer {answer!r} has no number at its beginning; {wanted}"
    number = float(match["number"].replace(",", ""))
    given = (match["unit"] or "").strip()
    assert given, f"the answer {answer!r} has no unit; the unit is {unit}"
    ending = f"; {hint}" if hint else ""
    if unit in BYTES and given in BYTES:
        size, right = number * BYTES[given], expected * BYTES[unit]
        for other in BYTES:
            swapped = number * BYTES[other]
            if abs(swapped - right) <= tolerance * abs(right) < abs(size - right):
                raise AssertionError(
                    f"the number {number:g} would be right in {other}, not in {given}"
                )
        assert abs(size - right) <= tolerance * abs(right), (
            f"{answer} is not right{ending}"
        )
        return
    assert given == unit, f"the unit is {given!r}; {unit!r} is expected"
    assert abs(number - expected) <= tolerance * abs(expected), (
        f"{answer} is not right{ending}"
    )


@dataclass(frozen=True)
class Observed:
    """A result, and what happened on the way to it."""

    result: Any
    largest: int
    """Elements of the largest tensor that was allocated; views count nothing."""
    called: frozenset[str]
    """Names of built-in functions, and `module.name` of the functions in Python."""

    def must_not_call(self, names: Collection[str], why: str) -> None:
        """Refuses functions by their name, or a package by its name and a dot.

        Raises:
            AssertionError: says which function was called.
        """
        for call in sorted(self.called):
            for name in names:
                banned = call.startswith(name) if name.endswith(".") else call == name
                assert not banned, f"{call} was called; {why}"

    def must_stay_below(self, elements: int, what: str) -> None:
        """Refuses a tensor of so many elements or more.

        Raises:
            AssertionError: says how large the largest tensor was.
        """
        assert self.largest < elements, (
            f"a tensor of {self.largest:,} elements was allocated; that is {what}, and"
            f" fewer than {elements:,} are allowed"
        )


def observe(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Observed:
    """Runs a function and watches it: sizes of new tensors, and what it calls."""
    called: set[str] = set()
    before = sys.getprofile()
    with LargestTensor() as sizes:
        # A lambda: it runs at every call, and tests wrap each function in checks.
        sys.setprofile(
            lambda frame, event, argument: called.add(
                argument.__name__
                if event == "c_call"
                else f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}"
            )
        )
        try:
            result = function(*args, **kwargs)
        finally:
            sys.setprofile(before)
    return Observed(result, sizes.elements, frozenset(called))


class LargestTensor(TorchDispatchMode):
    """Remembers the largest tensor that an operation of torch made.

    Its storage counts: a view such as expand() has many elements and little memory.
    """

    elements = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Do not import PyTorch's compiler at the first operator: it takes a second."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        for value in result if isinstance(result, tuple | list) else [result]:
            if isinstance(value, torch.Tensor):
                stored = value.untyped_storage().nbytes()
                size = stored // max(value.element_size(), 1)
                self.elements = max(self.elements, size)
        return result


def with_gradients(
    function: Callable[..., Any], *args: Any
) -> tuple[Any, list[torch.Tensor | None]]:
    """A function's result, and the gradients that reach its arguments.

    The gradient that arrives at each output is cos(0), cos(1), ... in the output's
    order, so that no symmetry hides a mistake.

    Returns:
        the result, detached, and for each argument its gradient, or None where it is
        no floating-point tensor or no gradient reached it.
    """
    given = [
        value.clone().requires_grad_() if _is_floating(value) else value
        for value in args
    ]
    result = function(*given)
    outputs = result if isinstance(result, tuple | list) else [result]
    total = torch.zeros((), dtype=torch.float64)
    for output in outputs:
        if _is_floating(output) and output.requires_grad:
            arriving = torch.arange(output.numel(), dtype=torch.float64).cos()
            total = total + (output.double().flatten() * arriving).sum()
    if total.requires_grad:
        total.backward()
    detached = [
        value.detach() if isinstance(value, torch.Tensor) else value
        for value in outputs
    ]
    gradients = [value.grad if _is_floating(value) else None for value in given]
    same_form = isinstance(result, tuple | list)
    return (tuple(detached) if same_form else detached[0]), gradients


def _is_floating(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def gradients_close(
    found: Sequence[torch.Tensor | None],
    exact: Sequence[torch.Tensor | None],
    names: Sequence[str],
    *,
    tolerance: float | None = None,
) -> None:
    """Gradients of named arguments, equal to the exact ones where there are any.

    Raises:
        AssertionError: says which gradient is missing, not finite, or wrong.
    """
    for gradient, right, name in zip(found, exact, names, strict=True):
        if right is None:
            continue
        assert gradient is not None, (
            f"no gradient reaches {name}; something is detached or rounded"
        )
        assert bool(torch.isfinite(gradient).all()), (
            f"the gradient of {name} is NaN or infinite, though the output is finite"
        )
        rounding = 1e-6 if gradient.dtype == torch.float64 else 1e-3
        expect.close(
            gradient,
            right,
            what=f"the gradient of {name}",
            tolerance=tolerance or rounding,
        )


def two(result: Any, what: str) -> tuple[Any, Any]:
    """A pair of results.

    Raises:
        AssertionError: says that two are expected, and which.
    """
    expect.attempted(result)
    is_pair = isinstance(result, tuple | list) and len(result) == 2
    assert is_pair, f"two results are expected: {what}"
    return result[0], result[1]


def same_numbers(found: Sequence[float], wanted: Sequence[float]) -> bool:
    """Whether as many numbers are equal but for rounding, to 1e-9."""
    return all(abs(a - b) < 1e-9 for a, b in zip(found, wanted, strict=True))


def tensor_of(value: Any, shape: Sequence[int], *, what: str) -> torch.Tensor:
    """A tensor of this shape; NaN is allowed, for the judge to say where it stands.

    Raises:
        AssertionError: says the type or the shape that came.
    """
    expect.attempted(value)
    is_tensor = isinstance(value, torch.Tensor)
    found = tuple(value.shape) if is_tensor else type(value).__name__
    assert found == tuple(shape), (
        f"{what} is {found}; a tensor of shape {tuple(shape)} is expected"
    )
    return value


def same_dtype(given: torch.Tensor, *results: torch.Tensor) -> None:
    """Results that have the dtype of what was given.

    Raises:
        AssertionError: says both dtypes.
    """
    for result in results:
        assert result.dtype == given.dtype, (
            f"a result has dtype {result.dtype}; {given.dtype} is expected, as it came"
        )
