"""Weights and optimiser state as tensors with names, the same whether one process holds them all or each a shard.

A tensor that two modules share is stored once, under its first name.
"""

import copy
from collections.abc import Mapping
from typing import Any, TypeVar

import torch
from lightning_fabric.wrappers import _unwrap_objects
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer

Module = TypeVar("Module", bound=nn.Module)

WHOLE = StateDictOptions(full_state_dict=True)
"""With shards every process gathers everything for a moment: enough for models that fit on one GPU several times."""


def tied_names(module: nn.Module) -> dict[str, str]:
    """For each further name of a shared parameter or buffer its first name. Ask before FSDP takes the module apart."""
    first: dict[int, str] = {}
    tied = {}
    for name, tensor in module.state_dict(keep_vars=True).items():
        if first.setdefault(id(tensor), name) != name:
            tied[name] = first[id(tensor)]
    return tied


def _network(model: nn.Module) -> nn.Module:
    """What holds the weights inside Fabric's wrapper: the module of FSDP, or else the bare network."""
    inner = _unwrap_objects(model)
    return inner.module if isinstance(inner, DistributedDataParallel) else inner


def bare_name(name: str) -> str:
    """A parameter's name without what Fabric, DDP and FSDP put in front of its parts."""
    for wrapper in ("_forward_module.", "_fsdp_wrapped_module."):
        name = name.replace(wrapper, "")
    return name.removeprefix("module.")


def weight_tensors(model: nn.Module, tied: Mapping[str, str]) -> dict[str, Tensor]:
    """Parameters and buffers by name. Every process must call this."""
    weights: dict[str, Any] = get_model_state_dict(_network(model), options=WHOLE)
    return {name: tensor for name, tensor in weights.items() if name not in tied}


def load_weights(
    model: nn.Module, tied: Mapping[str, str], weights: Mapping[str, Tensor], source: str
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
    set_model_state_dict(_network(model), whole, options=WHOLE)


def optimizer_tensors(model: nn.Module, optimizer: Optimizer) -> dict[str, Tensor]:
    """The optimiser's state as `parameter.entry`. Every process must call this, as for the weights."""
    state: Any = get_optimizer_state_dict(_network(model), optimizer, options=WHOLE)
    return {
        f"{parameter}.{entry}": tensor
        for parameter, entries in state.get("state", {}).items()
        for entry, tensor in entries.items()
    }


def load_optimizer(model: nn.Module, optimizer: Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put back what `optimizer_tensors` returned; learning rate and weight decay stay those of the optimiser."""
    network = _network(model)
    groups = get_optimizer_state_dict(network, optimizer, options=WHOLE)["param_groups"]
    state: dict[str, Any] = {}
    for name, tensor in tensors.items():
        parameter, _, entry = name.rpartition(".")
        state.setdefault(parameter, {})[entry] = tensor
    set_optimizer_state_dict(network, optimizer, {"state": state, "param_groups": groups}, options=WHOLE)


def check_same_tensors(wanted: Mapping[str, Tensor], weights: Mapping[str, Tensor], source: str) -> None:
    """Raises a ValueError that names the first tensor which only one side has, or whose shapes differ."""
    for name in sorted(wanted.keys() | weights.keys()):
        if name not in weights or name not in wanted:
            said = "lacks {}, which the model has" if name in wanted else "has {}, which the model lacks"
            raise ValueError(f"{source} {said.format(name)}; build the model as it was when it was saved")
        if weights[name].shape != wanted[name].shape:
            raise ValueError(
                f"{source} has {name} of shape {tuple(weights[name].shape)}, the model of "
                f"{tuple(wanted[name].shape)}; build the model as it was when it was saved"
            )


def parameter_counts(model: nn.Module) -> dict[str, int]:
    """Trainable numbers by part of a network, and all of them as `total`; what parts share counts in each."""
    counts = {name: sum(p.numel() for p in part.parameters()) for name, part in model.named_children()}
    return {name: n for name, n in counts.items() if n} | {"total": sum(counts.values())}


def in_half(model: Module) -> Module:
    """A copy to be stored: matrices and kernels in float16, half as large; norms and biases stay in float32.

    Loading puts them back into float32, so nothing computes in half precision. float16 keeps 11 binary digits of a
    weight, where bfloat16 keeps 8.

    Raises:
        ValueError: a weight is too large for float16.
    """
    halved = copy.deepcopy(model)
    for name, parameter in halved.named_parameters():
        if parameter.dim() > 1:
            half = parameter.data.to(torch.float16)
            if not bool(half.isfinite().all()):
                raise ValueError(
                    f"{name} has a weight beyond float16's largest number, 65504; store it in float32"
                )
            parameter.data = half
    return halved
