"""The state of a training run: where it stands, and everything that moves in it.

Optimiser state is written as tensors with names, the same whether one process holds it
all or each a shard.
"""

import copy
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, cast

import torch
from lightning_fabric import Fabric
from lightning_fabric.wrappers import _FabricModule, _FabricOptimizer
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_optimizer_state_dict,
    set_optimizer_state_dict,
)
from torch.optim import Optimizer

from coursepkg.training.config import TrainConfig
from coursepkg.training.engine import gather, is_sharded
from coursepkg.training.muon import Muon, hidden_matrices
from coursepkg.training.regularisers import EMA, SAM
from coursepkg.training.schedules import Plateau, Schedule, constant
from coursepkg.training.seed import load_rng_state, rng_state
from coursepkg.training.weights import (
    bare_name,
    load_weights,
    tied_names,
    unwrapped,
    weight_tensors,
)


@dataclass
class Progress:
    """Where a run stands."""

    step: int = 0
    """Optimiser steps taken."""
    epoch: int = 0
    """Number of the epoch whose batches come next."""
    position: int = 0
    """Index of the next batch in that epoch."""
    best_score: float | None = None
    """Best score of a validation so far."""
    best_step: int | None = None
    """Step after which it was reached."""
    due_best: float | None = None
    """Best score of the validations that were due; the last one of a call may come
    early, and patience ignores it."""
    n_bad: int = 0
    """Due validations since then."""

    def advance(self, position: int, n_batches: int) -> None:
        """A step has used the batches before `position`, of `n_batches` an epoch."""
        self.step += 1
        self.position = position
        if position == n_batches:
            self.epoch, self.position = self.epoch + 1, 0

    def note(self, score: float, mode: str, *, is_due: bool) -> bool:
        """Note a validation's score; returns whether it is the best. NaN never is.

        A validation that is not due leaves no trace in `n_bad`, so that a run which
        ended there and is prolonged stops where a longer run would have stopped.
        """
        if is_due:
            improves = _is_better(score, self.due_best, mode)
            self.due_best, self.n_bad = (
                (score, 0) if improves else (self.due_best, self.n_bad + 1)
            )
        if not _is_better(score, self.best_score, mode):
            return False
        self.best_score, self.best_step = score, self.step
        return True


def _is_better(score: float, best: float | None, mode: str) -> bool:
    sign = 1.0 if mode == "max" else -1.0
    return sign * score > (-math.inf if best is None else sign * best)


WHOLE = StateDictOptions(full_state_dict=True)
"""With shards every process gathers everything for a moment: enough for models that fit
on one GPU several times."""


def optimizer_tensors(model: nn.Module, optimizer: Optimizer) -> dict[str, Tensor]:
    """The optimiser's state as `parameter.entry`; every process must call this."""
    state: Any = get_optimizer_state_dict(unwrapped(model), optimizer, options=WHOLE)
    return {
        f"{parameter}.{entry}": tensor
        for parameter, entries in state.get("state", {}).items()
        for entry, tensor in entries.items()
    }


def load_optimizer(
    model: nn.Module, optimizer: Optimizer, tensors: Mapping[str, Tensor]
) -> None:
    """Put back what `optimizer_tensors` returned; learning rate and decay stay."""
    network = unwrapped(model)
    groups = get_optimizer_state_dict(network, optimizer, options=WHOLE)["param_groups"]
    state: dict[str, Any] = {}
    for name, tensor in tensors.items():
        parameter, _, entry = name.rpartition(".")
        state.setdefault(parameter, {})[entry] = tensor
    set_optimizer_state_dict(
        network, optimizer, {"state": state, "param_groups": groups}, options=WHOLE
    )


class Run:
    """The model with all that trains it.

    Raises:
        ValueError: the model has nothing to train, or none of the parameters that a
            learning-rate factor is for.
    """

    def __init__(self, fabric: Fabric, model: nn.Module, config: TrainConfig) -> None:
        self.fabric, self.config, self.progress = fabric, config, Progress()
        self.module, self.tied = model, tied_names(model)
        # FSDP flattens the weights, so which are matrices must be asked before.
        decayed = {name for name, p in model.named_parameters() if p.dim() > 1}
        if not any(p.requires_grad for p in model.parameters()):
            raise ValueError(
                "model must have a parameter that requires a gradient, got none"
            )
        _check_factors(model, config.learning_rate_factors)
        self.model: _FabricModule = fabric.setup_module(model)
        self.optimizer = make_optimizer(self.model, decayed, config)
        # What Fabric wraps around it scales fp16 gradients; the state is that of the
        # bare optimiser.
        self.stepper = cast(_FabricOptimizer, fabric.setup_optimizers(self.optimizer))
        self.schedule = _schedule(config)
        self.ema = None if config.ema_decay is None else EMA(model, config.ema_decay)
        self.sam = None if config.sam_rho is None else SAM(model, config.sam_rho)

    @contextmanager
    def validation_model(self) -> Iterator[nn.Module]:
        """The network to validate: with averaged weights where there are any."""
        network = self.model if is_sharded(self.fabric) else self.module
        if self.ema is None:
            yield network
            return
        with self.ema.applied(self.module):
            yield network

    def tensors(self) -> dict[str, dict[str, Tensor]]:
        """A checkpoint's tensors by file. Every process calls it, the first writes."""
        device = self.fabric.device
        states = {name: state.to(device) for name, state in rng_state(device).items()}
        rng = {name: gather(self.fabric, state).cpu() for name, state in states.items()}
        files = {
            "model": weight_tensors(self.model, self.tied),
            "optimizer": optimizer_tensors(self.model, self.optimizer),
            "rng": rng,
        }
        return files if self.ema is None else files | {"ema": self.ema.state_dict()}

    def state(self) -> dict[str, Any]:
        """What a checkpoint stores as JSON."""
        schedule = (
            self.schedule.state_dict() if isinstance(self.schedule, Plateau) else None
        )
        return {
            "progress": asdict(self.progress),
            "schedule": schedule,
            "precision": self.fabric.strategy.precision.state_dict(),
        }

    def load(self, files: dict[str, dict[str, Tensor]], state: dict[str, Any]) -> None:
        """Go on from what `tensors` and `state` returned."""
        load_weights(self.model, self.tied, files["model"], "the checkpoint")
        load_optimizer(self.model, self.optimizer, files["optimizer"])
        if self.ema is not None:
            self.ema.load_state_dict(files["ema"])
        if isinstance(self.schedule, Plateau):
            self.schedule.load_state_dict(state["schedule"])
        self.fabric.strategy.precision.load_state_dict(state["precision"])
        self.progress = Progress(**state["progress"])
        mine = {
            name: states[self.fabric.global_rank]
            for name, states in files["rng"].items()
        }
        load_rng_state(mine, self.fabric.device)


def make_optimizer(
    model: nn.Module, decayed: set[str], config: TrainConfig
) -> torch.optim.AdamW:
    """The optimiser, in groups by weight decay, learning-rate factor and kind.

    `factor` multiplies the learning rate of a step, see
    `TrainConfig.learning_rate_factors`; `muon` says which matrices Muon moves.
    """
    is_muon = config.optimizer == "muon"
    matrices = hidden_matrices(model) if is_muon else set()
    groups: dict[tuple[bool, float, bool], list[nn.Parameter]] = {
        (True, 1.0, False): [],
        (False, 1.0, False): [],
    }
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            bare = bare_name(name)
            factor = _factor(bare, config.learning_rate_factors)
            key = (bare in decayed, factor, parameter in matrices)
            groups.setdefault(key, []).append(parameter)
    told = [
        {
            "params": part,
            "weight_decay": float(config.weight_decay) * decays,
            "factor": factor,
            "muon": by_muon,
        }
        for (decays, factor, by_muon), part in groups.items()
    ]
    kind = Muon if is_muon else torch.optim.AdamW
    return kind(told, lr=0.0, betas=config.betas, eps=config.eps)


def _check_factors(model: nn.Module, factors: Mapping[str, float]) -> None:
    names = [name for name, _ in model.named_parameters()]
    for start in factors:
        if not any(name.startswith(start) for name in names):
            raise ValueError(
                f"learning_rate_factors[{start!r}] must be the beginning of a"
                f" parameter's name, such as {names[0]}"
            )


def _factor(name: str, factors: Mapping[str, float]) -> float:
    return next(
        (float(factor) for start, factor in factors.items() if name.startswith(start)),
        1.0,
    )


def _schedule(config: TrainConfig) -> Schedule:
    if callable(config.learning_rate):
        # A plateau moves during a run; the configuration must not.
        return copy.deepcopy(config.learning_rate)
    return constant(config.learning_rate)
