"""Averages of weights: along a run (EMA), and over stored checkpoints.

Late in training the weights circle around a minimum; their mean lies nearer to it than any of them.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn


class EMA:
    """Exponential moving average of the weights of a model.

        average <- d * average + (1 - d) * weights        d = min(decay, (1 + t) / (10 + t)) at the t-th update

    It starts as the weights at its creation. With `warmup` the early d is small, so that these first, random weights
    are soon forgotten; without, d = decay throughout. Averages are kept in float32 at least. Buffers are not averaged.
    Source: Polyak and Juditsky (SIAM J. Control Optim. 30(4), 1992) for averaging; the warm-up is the `num_updates`
    rule of TensorFlow's `ExponentialMovingAverage`.

    Args:
        model: whose weights are averaged.
        decay: share of the old average at an update, at least 0 and below 1.
        warmup: let the decay rise with the number of updates.

    Raises:
        ValueError: decay is out of range.
    """

    def __init__(self, model: nn.Module, decay: int | float = 0.999, *, warmup: bool = True) -> None:
        if not 0 <= decay < 1:
            raise ValueError(f"decay must be at least 0 and below 1, got {decay}")
        self.decay, self.warmup, self.n_updates = decay, warmup, 0
        self.averages = {
            name: p.detach().to(torch.promote_types(p.dtype, torch.float32), copy=True)
            for name, p in model.named_parameters()
        }

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        """Take in the present weights, once after each optimiser step.

        Raises:
            ValueError: the model has other parameters.
        """
        matched = self._matched(model)
        self.n_updates += 1
        decay = min(self.decay, (1 + self.n_updates) / (10 + self.n_updates)) if self.warmup else self.decay
        for name, parameter in matched:
            self.averages[name].lerp_(parameter.to(self.averages[name]), 1 - decay)

    @contextmanager
    def applied(self, model: nn.Module) -> Iterator[nn.Module]:
        """Inside `with`, the model has the averaged weights; afterwards its own again, bit by bit.

        Raises:
            ValueError: the model has other parameters.
        """
        matched = self._matched(model)
        own = [parameter.detach().clone() for _, parameter in matched]
        try:
            with torch.no_grad():
                for name, parameter in matched:
                    parameter.copy_(self.averages[name])
            yield model
        finally:
            with torch.no_grad():
                for (_, parameter), value in zip(matched, own, strict=True):
                    parameter.copy_(value)

    def state_dict(self) -> dict[str, Tensor]:
        """The averages by name of the parameter, and the number of updates as `n_updates`: tensors all."""
        return {**self.averages, "n_updates": torch.tensor(self.n_updates)}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Go on from what `state_dict` returned.

        Raises:
            ValueError: names or shapes are not those of this model.
        """
        _check_names("state", state.keys(), [*self.averages, "n_updates"], "the average")
        for name, average in self.averages.items():
            _check_shape(f"state[{name!r}]", state[name], average)
        for name, average in self.averages.items():
            average.copy_(state[name])
        self.n_updates = int(state["n_updates"])

    def _matched(self, model: nn.Module) -> list[tuple[str, nn.Parameter]]:
        """The model's parameters by name, if they are those of the averages."""
        parameters = list(model.named_parameters())
        _check_names("model", dict(parameters).keys(), self.averages.keys(), "the average")
        for name, parameter in parameters:
            _check_shape(f"model.{name}", parameter, self.averages[name])
        return parameters


def average_checkpoints(paths: Sequence[str | Path]) -> dict[str, Tensor]:
    """The mean of the weights in several safetensors files, as the mean of the last checkpoints of a run.

    Sums are kept in float64; only one tensor of each file is in memory at a time. Integers and booleans have no mean
    and must agree in all files. Source: Vaswani et al. (arXiv 1706.03762), section 6.1, who average the last 5.

    Args:
        paths: safetensors files of one model.

    Returns:
        tensors by name, of the dtypes in the files.

    Raises:
        ValueError: there is no file, one cannot be read, or names, shapes or dtypes differ; the file is named.
    """
    if not paths:
        raise ValueError("paths must name at least one checkpoint, got none")
    first, *others = map(Path, paths)
    wanted = _described(first)
    for path in others:
        found = _described(path)
        _check_names(str(path), found.keys(), wanted.keys(), str(first))
        for name in wanted:
            if found[name] != wanted[name]:
                raise ValueError(
                    f"{path} must have {name} as {wanted[name]} as {first} has, got {found[name]}"
                )
    return {name: _mean_tensor(name, [first, *others]) for name in wanted}


def _mean_tensor(name: str, paths: Sequence[Path]) -> Tensor:
    first = _read(paths[0], name)
    if not first.is_floating_point():
        for path in paths[1:]:
            if not torch.equal(_read(path, name), first):
                raise ValueError(f"{path} must have the {name} of {paths[0]}, as {first.dtype} has no mean")
        return first
    total = first.double()
    for path in paths[1:]:
        total += _read(path, name)
    return (total / len(paths)).to(first.dtype)


def _described(path: Path) -> dict[str, str]:
    """Dtype and shape of every tensor of a file."""
    try:
        with safe_open(path, framework="pt") as file:
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
            return {name: f"{part.get_dtype()} {part.get_shape()}" for name, part in slices.items()}
    except (OSError, SafetensorError) as reason:
        raise ValueError(f"{path} must be a safetensors file, but: {reason}") from reason


def _read(path: Path, name: str) -> Tensor:
    with safe_open(path, framework="pt") as file:
        return file.get_tensor(name)


def _check_names(owner: str, found: Collection[str], wanted: Collection[str], other: str) -> None:
    missing = [name for name in wanted if name not in found]
    extra = [name for name in found if name not in wanted]
    if missing or extra:
        said = f"it lacks {missing[0]}" if missing else f"it also has {extra[0]}"
        raise ValueError(f"{owner} must have the same tensors as {other}, but {said}")


def _check_shape(name: str, tensor: Tensor, wanted: Tensor) -> None:
    if tensor.shape != wanted.shape:
        raise ValueError(f"{name} must have shape {tuple(wanted.shape)}, got {tuple(tensor.shape)}")
