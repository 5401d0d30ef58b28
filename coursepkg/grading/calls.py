"""What the grader asks of a student's code, and what comes back.

A `Request` names a function of the student with its arguments, or a variable. It is
plain data, run in the sandbox by `perform`; the answer is a `Returned`.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._python_dispatch import TorchDispatchMode

from coursepkg.checks.assignments.measure import LargestTensor
from coursepkg.grading.plain import encode
from coursepkg.validation import error_line


@dataclass(frozen=True)
class Request:
    """A function to call or a variable to read, with the limits of one answer."""

    name: str
    is_call: bool = True
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    cotangent: Tensor | None = None
    is_observed: bool = False
    seconds: float = 10.0
    memory_mb: int = 0

    def with_gradients(self, cotangent: Tensor) -> "Request":
        """Also ask for the gradients of (result * cotangent).sum().

        Every floating-point tensor among the arguments gets one.

        Args:
            cotangent: a tensor of the shape of the expected result.
        """
        return replace(self, cotangent=cotangent)

    def observed(self) -> "Request":
        """Also ask which functions of torch ran and how large the largest tensor was.

        The observation is made beside the student's code, which could forge it; the
        limit of `within` is the kernel's.
        """
        return replace(self, is_observed=True)

    def within(self, *, seconds: int | float = 10, memory_mb: int = 0) -> "Request":
        """Limit the call.

        Args:
            seconds: of wall-clock time.
            memory_mb: mebibytes that may be allocated on top of what is in use before
                the call; 0 leaves the limit of the whole submission.
        """
        return replace(self, seconds=float(seconds), memory_mb=memory_mb)

    def as_plain(self) -> dict[str, Any]:
        """The request as `plain.encode` takes it."""
        return {**vars(self), "kwargs": dict(self.kwargs)}


def call(name: str, /, *args: Any, **kwargs: Any) -> Request:
    """Ask for `name(*args, **kwargs)`, a function of the student's notebook."""
    return Request(name, args=args, kwargs=kwargs)


def read(name: str) -> Request:
    """Ask for the value of a variable of the student's notebook."""
    return Request(name, is_call=False)


@dataclass(frozen=True)
class Returned:
    """The answer to a request. `value` fails the test where the code failed."""

    name: str
    result: Any = None
    raised: str = ""
    """Name of the exception's class, empty where none was raised."""
    message: str = ""
    """What went wrong, in one line."""
    gradients: tuple[Tensor | None, ...] = ()
    """One a floating-point tensor of the arguments, in order; None where the result
    does not depend on it."""
    changed_in_place: tuple[int, ...] = ()
    """Positions of the tensors among the arguments that the call wrote to."""
    torch_functions: frozenset[str] = frozenset()
    """Names of the functions and operators of torch that ran, where observed, such as
    `torch.nn.functional.softmax` and `aten::_softmax`."""
    largest_tensor: int = 0
    """Elements of the largest tensor that was made, where observed."""

    @property
    def value(self) -> Any:
        """What came back.

        Raises:
            AssertionError: the code raised, took too long or gave no plain value.
        """
        assert not self.raised, f"{self.name}: {self.message}"
        return self.result

    def assert_not_called(self, *banned: str) -> None:
        """Fail the test if one of these functions ran; matched by its last name.

        Raises:
            AssertionError: names the function.
        """
        _ = self.value
        for ran in sorted(self.torch_functions):
            last = ran.replace("::", ".").rpartition(".")[2]
            for name in banned:
                assert last.strip("_") != name.strip("_"), (
                    f"{self.name} calls {last}; write it with simpler operations"
                )

    def assert_largest_tensor(self, elements: int) -> None:
        """Fail the test if a tensor with more elements than this was made.

        Raises:
            AssertionError: says both numbers.
        """
        _ = self.value
        assert self.largest_tensor <= elements, (
            f"{self.name} makes a tensor of {self.largest_tensor:,} elements; at most"
            f" {elements:,} are allowed"
        )


def perform(request: Request, namespace: Mapping[str, Any]) -> Returned:
    """Call or read what a request names; what is raised becomes part of the answer.

    Args:
        namespace: the variables of the notebook.
    """
    if request.name not in namespace:
        return Returned(
            request.name, raised="NameError", message="is not defined in the notebook"
        )
    try:
        if not request.is_call:
            encode(namespace[request.name])
            return Returned(request.name, namespace[request.name])
        return _call(request, namespace[request.name])
    except Exception as reason:
        kind, message = type(reason).__name__, f"raised {error_line(reason)}"
        return Returned(request.name, raised=kind, message=message)


def _call(request: Request, function: Any) -> Returned:
    torch.manual_seed(0)
    args = [_own(one, request) for one in request.args]
    kwargs = {name: _own(one, request) for name, one in request.kwargs.items()}
    tensors = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
    versions = [tensor._version for tensor in tensors]
    with _observing(request.is_observed) as seen:
        result = function(*args, **kwargs)
    changed = tuple(i for i, x in enumerate(tensors) if x._version != versions[i])
    gradients: tuple[Tensor | None, ...] = ()
    if request.cotangent is not None:
        learned = [x for x in tensors if x.requires_grad]
        if not isinstance(result, Tensor) or not result.requires_grad:
            raise TypeError("the result is no tensor that gradients flow through")
        if result.shape != request.cotangent.shape:
            raise ValueError(
                f"the result has the shape {tuple(result.shape)},"
                f" {tuple(request.cotangent.shape)} is expected"
            )
        # A scalar: with `grad_outputs` each process would import SymPy first.
        total = (result * request.cotangent.to(result.dtype)).sum()
        gradients = torch.autograd.grad(total, learned, allow_unused=True)
    encode(result)
    return Returned(
        request.name,
        result,
        gradients=gradients,
        changed_in_place=changed,
        torch_functions=frozenset(seen.names),
        largest_tensor=seen.largest,
    )


def _own(value: Any, request: Request) -> Any:
    """A copy of an argument, which takes gradients where the request asks for them."""
    if not isinstance(value, Tensor):
        return value
    copy = value.detach().clone()
    wanted = request.cotangent is not None and value.is_floating_point()
    return copy.requires_grad_(wanted)


class _Seen:
    def __init__(self) -> None:
        self.names: set[str] = set()
        self.largest = 0


class _Functions(TorchFunctionMode):
    def __init__(self, seen: _Seen) -> None:
        super().__init__()
        self.seen = seen

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.seen.names.add(resolve_name(func) or getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))


class _Operators(TorchDispatchMode):
    def __init__(self, seen: _Seen) -> None:
        super().__init__()
        self.seen = seen

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Do not import PyTorch's compiler at the first operator: it takes a second."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.seen.names.add(func.name().partition(".")[0])
        return func(*args, **(kwargs or {}))


@contextmanager
def _observing(wanted: bool) -> Iterator[_Seen]:
    seen = _Seen()
    if not wanted:
        yield seen
        return
    with _Functions(seen), LargestTensor() as sizes, _Operators(seen):
        yield seen
    seen.largest = sizes.elements
