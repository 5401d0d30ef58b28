"""The weights of a network as tensors with names.

The names and shapes are the same whether one process holds a network or each a shard. A
tensor that two modules share is stored once, under its first name.

What wraps a network for training (Fabric, DDP, FSDP) is imported only where something
is wrapped: reading a finished model for inference needs none of it.
"""

import copy
from collections.abc import Mapping
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

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


def parameter_counts(model: nn.Module) -> dict[str, int]:
    """Trainable numbers by part, and all as `total`; shared ones count in each."""
    counts = {
        name: sum(p.numel() for p in part.parameters())
        for name, part in model.named_children()
    }
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
