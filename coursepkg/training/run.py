"""Everything that moves during training, in one object that a checkpoint can hold and restore."""

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, cast

import torch
from lightning_fabric import Fabric
from lightning_fabric.wrappers import _FabricModule, _FabricOptimizer
from torch import Tensor, nn

from coursepkg.training.averaging import EMA
from coursepkg.training.config import TrainConfig
from coursepkg.training.engine import gather, is_sharded
from coursepkg.training.plateau import Plateau
from coursepkg.training.progress import Progress
from coursepkg.training.sam import SAM
from coursepkg.training.schedules import Schedule, constant
from coursepkg.training.seed import load_rng_state, rng_state
from coursepkg.training.weights import (
    bare_name,
    load_optimizer,
    load_weights,
    optimizer_tensors,
    tied_names,
    weight_tensors,
)


class Run:
    """The model with all that trains it.

    Args:
        fabric: launched.
        model: the bare network; it is moved to the device.
        config: settings of the run.

    Raises:
        ValueError: the model has nothing to train.
    """

    def __init__(self, fabric: Fabric, model: nn.Module, config: TrainConfig) -> None:
        self.fabric, self.config, self.progress = fabric, config, Progress()
        self.module, self.tied = model, tied_names(model)
        # FSDP flattens the weights, so which are matrices must be asked before.
        decayed = {name for name, p in model.named_parameters() if p.dim() > 1}
        if not any(p.requires_grad for p in model.parameters()):
            raise ValueError("model must have a parameter that requires a gradient, got none")
        self.model: _FabricModule = fabric.setup_module(model)
        self.optimizer = make_optimizer(self.model, decayed, config)
        # What Fabric wraps around it scales fp16 gradients; the state is that of the bare optimiser.
        self.stepper = cast(_FabricOptimizer, fabric.setup_optimizers(self.optimizer))
        self.schedule = _schedule(config)
        self.ema = None if config.ema_decay is None else EMA(model, config.ema_decay)
        self.sam = None if config.sam_rho is None else SAM(model, config.sam_rho)

    @contextmanager
    def weights_to_judge(self) -> Iterator[nn.Module]:
        """The network as it is validated: with averaged weights where there is an average."""
        network = self.model if is_sharded(self.fabric) else self.module
        if self.ema is None:
            yield network
            return
        with self.ema.applied(self.module):
            yield network

    def tensors(self) -> dict[str, dict[str, Tensor]]:
        """What a checkpoint stores as tensors, by file. Every process must call this; the first one writes."""
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
        schedule = self.schedule.state_dict() if isinstance(self.schedule, Plateau) else None
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
        mine = {name: states[self.fabric.global_rank] for name, states in files["rng"].items()}
        load_rng_state(mine, self.fabric.device)


def make_optimizer(model: nn.Module, decayed: set[str], config: TrainConfig) -> torch.optim.AdamW:
    """AdamW in groups: parameters named in `decayed` shrink by weight decay, and each has a factor of its own.

    `factor` multiplies the learning rate of a step, see `TrainConfig.learning_rate_factors`.
    """
    groups: dict[tuple[bool, float], list[nn.Parameter]] = {(True, 1.0): [], (False, 1.0): []}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            bare = bare_name(name)
            key = (bare in decayed, _factor(bare, config.learning_rate_factors))
            groups.setdefault(key, []).append(parameter)
    return torch.optim.AdamW(
        [
            {"params": part, "weight_decay": float(config.weight_decay) * decays, "factor": factor}
            for (decays, factor), part in groups.items()
        ],
        lr=0.0,
        betas=config.betas,
        eps=config.eps,
    )


def _factor(name: str, factors: Mapping[str, float]) -> float:
    return next((float(factor) for start, factor in factors.items() if name.startswith(start)), 1.0)


def _schedule(config: TrainConfig) -> Schedule:
    if callable(config.learning_rate):
        # A plateau moves during a run; the configuration must not.
        return copy.deepcopy(config.learning_rate)
    return constant(config.learning_rate)
