"""One optimiser step: micro-batches of all processes, one division by what they count together.

    gradient = sum over processes and micro-batches of d(loss sum) / d(weights), over the sum of their counts

so that one large batch, the same batch in pieces, and the pieces spread over processes give the same step.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from coursepkg.training.engine import gather
from coursepkg.training.run import Run
from coursepkg.training.task import Task


class TrainingError(ValueError):
    """Training cannot go on; the message is one line. The last checkpoint is as it was."""


@dataclass(frozen=True)
class Step:
    """What a step reports."""

    loss: float
    """Mean over the units of the step, before the update."""
    grad_norm: float
    """Norm of the gradient over all parameters, before clipping. Not finite where fp16 scaling skips the update."""
    units: int
    """Units (target tokens) that the step saw."""


def take_step(run: Run, task: Task, epoch: Sequence[Any], group: range, learning_rate: float) -> Step:
    """Update the weights once, from the batches of `epoch` that `group` numbers. Every process calls this.

    Process r takes every n-th batch of the group, beginning with the r-th. A process that runs out of batches takes
    part with weight 0, since the others wait for it.

    Raises:
        TrainingError: the loss or the gradient is not finite; the weights are as they were before the step.
        ValueError: the task returns something else than a count and a sum.
    """
    fabric = run.fabric
    mine = [fabric.to_device(epoch[i]) for i in group[fabric.global_rank :: fabric.world_size]]
    weights = [1.0] * len(mine)
    n_rounds = math.ceil(len(group) / fabric.world_size)
    if len(mine) < n_rounds:
        mine.append(fabric.to_device(epoch[group[0]]))
        weights.append(0.0)
    units = _count_units(run, task, mine, weights)
    # DDP and FSDP average over the processes; the sum is wanted.
    scale = fabric.world_size / units

    def backward() -> Tensor:
        losses = []
        for i, (batch, weight) in enumerate(zip(mine, weights, strict=True)):
            with fabric.no_backward_sync(run.model, enabled=i < n_rounds - 1):
                loss = task.loss(run.model, batch)
                _check_loss(loss)
                fabric.backward(loss * (weight * scale))
            losses.append(loss.detach())
        return torch.stack(losses)

    losses = backward() if run.sam is None else run.sam.backward(backward)
    total = _sum_losses(run, losses, group)
    norm = _clip(run)
    for parameters in run.optimizer.param_groups:
        parameters["lr"] = learning_rate * parameters["factor"]
    run.stepper.step()
    run.stepper.zero_grad()
    if run.ema is not None:
        run.ema.update(run.module)
    return Step(total / units, norm, units)


def _count_units(run: Run, task: Task, batches: Sequence[Any], weights: Sequence[float]) -> int:
    """Units of all micro-batches of all processes."""
    counts = [task.count(batch) for batch, weight in zip(batches, weights, strict=True) if weight]
    here = torch.tensor(sum(counts), device=run.fabric.device)
    units = int(run.fabric.strategy.all_reduce(here, reduce_op="sum"))
    if units < 1:
        raise ValueError(
            f"task.count must be at least 1 over a step, got {units} at step {run.progress.step + 1}"
        )
    return units


def _check_loss(loss: Tensor) -> None:
    if loss.dim() or not loss.requires_grad:
        raise ValueError(
            "task.loss must return one number that can be differentiated, the sum over the batch, "
            f"got a tensor of shape {tuple(loss.shape)}{'' if loss.requires_grad else ' without gradient'}"
        )


def _sum_losses(run: Run, losses: Tensor, group: range) -> float:
    """The sum over all processes and micro-batches, if each is finite."""
    # (processes, rounds) -> in the order of the group; what weighed 0 stands at the end
    ordered = gather(run.fabric, losses).T.flatten()[: len(group)].cpu().double()
    wrong = (~ordered.isfinite()).nonzero()
    if wrong.numel():
        first = int(wrong[0])
        _give_up(run, f"the loss is {float(ordered[first])}", f"batch {group[first]}")
    return float(ordered.sum())


def _clip(run: Run) -> float:
    """Clip the gradient and return its norm from before."""
    limit = math.inf if run.config.clip_norm is None else run.config.clip_norm
    norm = run.fabric.clip_gradients(run.model, run.stepper, max_norm=limit, error_if_nonfinite=False)
    found = math.nan if norm is None else float(norm)
    # Scaled fp16 gradients overflow now and then; the scaler then skips the update and lowers the scale.
    if not math.isfinite(found) and run.config.precision != "16-mixed":
        position = run.progress.position
        _give_up(run, f"the gradient's norm is {found}", f"the step that begins at batch {position}")
    return found


def _give_up(run: Run, what: str, where: str) -> None:
    run.stepper.zero_grad()
    raise TrainingError(
        f"{what} at step {run.progress.step + 1} (epoch {run.progress.epoch}, {where}); training stopped, "
        "checkpoints stored before are kept; look at that batch, lower the learning rate, or clip"
    )
