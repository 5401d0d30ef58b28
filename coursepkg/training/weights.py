"""The weights of a network as tensors with names.

The names and shapes are the same whether one process holds a network or each a shard. A
tensor that two modules share is stored once, under its first name.

What wraps a network for training (Fabric, DDP, FSDP) is imported only where something
is wrapped: reading a finished model for inference needs none of it.
"""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from coursepkg.validation import one_line

Module = TypeVar("Module", bound=nn.Module)

WRAPPERS = (
    "lightning_fabric",
    "torch.nn.parallel",
    "torch.distributed",
    "torch._dynamo",
)
"""Packages of the modules that may stand around or inside a network in training."""


def tied_names(module: nn.Module) -> dict[str, str]:
    """For each further name of a shared tensor its first name; ask before FSDP."""
    first: dict[int, str] = {}
    tied = {}
    for name, tensor in module.state_dict(keep_vars=True).items():
        if first.setdefault(id(tensor), name) != name:
            tied[name] = first[id(tensor)]
    return tied


def unwrapped(model: nn.Module) -> nn.Module:
    """What holds the weights inside Fabric's wrapper: FSDP's module, or the network."""
    from lightning_fabric.wrappers import _unwrap_objects
    from torch.nn.parallel import DistributedDataParallel

    inner = _unwrap_objects(model)
    return inner.module if isinstance(inner, DistributedDataParallel) else inner


def _is_plain(model: nn.Module) -> bool:
    """Whether nothing wraps the network or a part of it."""
    return not any(type(m).__module__.startswith(WRAPPERS) for m in model.modules())


def bare_name(name: str) -> str:
    """A parameter's name without the prefixes of Fabric, DDP and FSDP."""
    for wrapper in ("_forward_module.", "_fsdp_wrapped_module."):
        name = name.replace(wrapper, "")
    return name.removeprefix("module.")


def weight_tensors(model: nn.Module, tied: Mapping[str, str]) -> dict[str, Tensor]:
    """Parameters and buffers by name. Every process must call this."""
    if _is_plain(model):
        weights: dict[str, Any] = model.state_dict()
    else:
        from torch.distributed.checkpoint.state_dict import (
            StateDictOptions,
            get_model_state_dict,
        )

        whole = StateDictOptions(full_state_dict=True)
        weights = get_model_state_dict(unwrapped(model), options=whole)
    return {name: tensor for name, tensor in weights.items() if name not in tied}


def load_weights(
    model: nn.Module,
    tied: Mapping[str, str],
    weights: Mapping[str, Tensor],
    source: str,
) -> None:
    """Put back what `weight_tensors` returned; `source` says where it came from.

    Raises:
        ValueError: names or shapes are not those of the model.
    """
    whole: dict[str, Any] = {
        **weights,
        **{name: weights[first] for name, first in tied.items() if first in weights},
    }
    check_same_tensors(weight_tensors(model, tied), weights, source)
    if _is_plain(model):
        model.load_state_dict(whole)
        return
    from torch.distributed.checkpoint.state_dict import (
        StateDictOptions,
        set_model_state_dict,
    )

    options = StateDictOptions(full_state_dict=True)
    set_model_state_dict(unwrapped(model), whole, options=options)


def check_same_tensors(
    wanted: Mapping[str, Tensor], weights: Mapping[str, Tensor], source: str
) -> None:
    """Raises a ValueError that names the first tensor in which two sets differ."""
    for name in sorted(wanted.keys() | weights.keys()):
        if name not in weights or name not in wanted:
            said = (
                "lacks {}, which the model has"
                if name in wanted
                else "has {}, which the model lacks"
            )
            raise ValueError(
                f"{source} {said.format(name)}; build the model as it was when it was"
                " saved"
            )
        if weights[name].shape != wanted[name].shape:
            raise ValueError(
                f"{source} has {name} of shape {tuple(weights[name].shape)}, the model"
                f" of {tuple(wanted[name].shape)}; build the model as it was when it"
                " was saved"
            )
        if weights[name].is_floating_point() != wanted[name].is_floating_point():
            raise ValueError(
                f"{source} has {name} in {weights[name].dtype}, the model in"
                f" {wanted[name].dtype}; build the model as it was when it was saved"
            )


MOST_CALLS = 100
"""Calls into PyTorch that build one weight of a file; they are some ten."""
LARGEST_SIZE = 2**24
"""Of a model in any direction: twenty million words, pixels or layers are a mistake."""
LARGEST_TABLE = 2**24
"""Numbers of a table that a network computes instead of storing it."""


DRAWS = ("normal_", "uniform_", "kaiming_uniform_")
"""Functions that fill a tensor at random. Of one without numbers they do nothing but
import PyTorch's compiler, which takes seconds."""


class _OutlineMode(TorchFunctionMode):
    """Builds a network without numbers, and ends if it is far larger than its file."""

    def __init__(self, most_calls: int) -> None:
        super().__init__()
        self.left = most_calls

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        given = dict(kwargs or {})
        self.left -= 1
        if self.left < 0:
            raise ValueError("it has more layers than there are weights")
        if getattr(func, "__name__", "") in DRAWS:
            return args[0] if args else given["tensor"]
        if func is torch.Tensor.mul:  # tables of positions are made on the CPU
            _check_table(np.broadcast_shapes(*(getattr(x, "shape", ()) for x in args)))
        return func(*args, **given)


def outline_of(
    build: Callable[[], Module], config: dict[str, Any], n_weights: int
) -> Module:
    """A network on the device `meta`, where tensors have shapes and no numbers.

    Args:
        build: makes it from its configuration, which may come from a damaged file.
        config: the configuration.
        n_weights: tensors that the file of its weights holds.

    Raises:
        ValueError: a size is beyond every sensible one. A build from a damaged
            configuration may raise anything else.
    """
    check_sizes(config)
    with torch.device("meta"), _OutlineMode(MOST_CALLS * (n_weights + 10)):
        outline = build()
    for table in outline.buffers():
        _check_table(table.shape)
    return outline


def build_for(
    build: Callable[[dict[str, Any]], Module],
    config: dict[str, Any],
    weights: Mapping[str, Tensor],
    card: str | Path,
    source: str,
) -> Module:
    """A network of a stored configuration, built only if these weights fill it.

    A configuration may name sizes that no memory holds, so the network is outlined
    first.

    Args:
        build: makes the network from the configuration.
        config: as JSON gives it back.
        weights: what it shall be filled with.
        card: the file of the configuration, for messages.
        source: the file of the weights, for messages.

    Raises:
        ValueError: the configuration is none of this version, or the weights have
            other names or shapes.
    """
    try:
        outline = outline_of(lambda: build(config), config, len(weights))
    except (ImportError, OSError):
        raise
    except Exception as reason:
        # A damaged configuration makes any part of a network fail in any way.
        raise ValueError(
            f"{card} does not describe a model that this version can build:"
            f" {one_line(reason)}"
        ) from reason
    check_same_tensors(weight_tensors(outline, tied_names(outline)), weights, source)
    return build(config)


def _check_table(shape: Sequence[int]) -> None:
    if math.prod(shape) > LARGEST_TABLE:
        raise ValueError(f"it has a table of {' x '.join(map(str, shape))} numbers")


def check_sizes(value: Any, name: str = "config") -> None:
    """Raises a ValueError if an integer anywhere in a JSON value is no size."""
    if isinstance(value, dict):
        for key, inner in value.items():
            check_sizes(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            check_sizes(inner, name)
    elif isinstance(value, int) and value > LARGEST_SIZE:
        raise ValueError(f"{name} must be at most {LARGEST_SIZE:,}, got {value}")


def check_weights_finite(model: nn.Module, source: str) -> None:
    """Raises a ValueError that names the first weight that is no finite number."""
    for name, weight in model.state_dict().items():
        if weight.is_floating_point() and not bool(weight.isfinite().all()):
            raise ValueError(
                f"{source} has {name} with NaN or infinite numbers; train the model"
                " again, or take another"
            )


def parameter_counts(model: nn.Module) -> dict[str, int]:
    """Numbers of the weights by part, and all as `total`; shared ones count in each.

    Frozen weights count, too. A weight of the model itself is a part by its own name.
    """
    counts = {
        name: sum(p.numel() for p in part.parameters())
        for name, part in model.named_children()
    }
    own = model.named_parameters(recurse=False)
    counts |= {name: weight.numel() for name, weight in own}
    return {name: n for name, n in counts.items() if n} | {
        "total": sum(counts.values())
    }


def in_half(model: Module) -> Module:
    """A copy to be stored: matrices in float16, norms and biases in float32.

    Loading puts them back into float32, so nothing computes in half precision. float16
    keeps 11 binary digits of a weight, where bfloat16 keeps 8.

    Raises:
        ValueError: a weight is too large for float16.
    """
    halved = copy.deepcopy(model)
    for name, parameter in halved.named_parameters():
        if parameter.dim() > 1:
            half = parameter.data.to(torch.float16)
            if not bool(half.isfinite().all()):
                raise ValueError(
                    f"{name} has a weight beyond float16's largest number, 65504; store"
                    " it in float32"
                )
            parameter.data = half
    return halved


def mean_weights(
    models: Sequence[nn.Module], shares: Sequence[float] | None = None
) -> dict[str, Tensor]:
    """The weighted mean of the weights of models that are built alike, as a state dict.

    The mean of a model that learnt something new and the one that it began with has
    forgotten less. Source: Wortsman et al., 2022, "Model soups" (arXiv 2203.05482).

    Args:
        models: at least one. What is no floating-point number, such as a counter, is
            that of the last.
        shares: of each model, 1 together; None: all have the same.

    Raises:
        ValueError: there is not one share for each model, or they are not 1 together.
    """
    parts = [1 / len(models)] * len(models) if shares is None else shares
    if len(parts) != len(models) or not math.isclose(sum(parts), 1.0):
        raise ValueError(
            f"shares must be {len(models)} numbers that are 1 together, got {parts}"
        )
    read = [one.state_dict() for one in models]
    return {
        name: (
            torch.stack(
                [p * one[name] for p, one in zip(parts, read, strict=True)]
            ).sum(0)
            if last.is_floating_point()
            else last
        )
        for name, last in read[-1].items()
    }
