"""The training loop, whole and visible.

    for each group of micro-batches:
        learning rate <- schedule(step)
        loss, gradient, clip, update
        log; validate; keep the best; checkpoint; stop?

The gradient of a step is the sum over processes and micro-batches of d(loss sum) /
d(weights), divided once by the sum of their counts: one large batch, the same batch in
pieces, and the pieces spread over processes give the same step.
"""

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
from lightning_fabric import Fabric
from torch import Tensor, nn
from tqdm import tqdm

from coursepkg.processor import defer_sigint
from coursepkg.training.config import (
    CLOCKS,
    TrainConfig,
    describe_batches,
    describe_task,
)
from coursepkg.training.engine import check_fabric, gather, make_fabric
from coursepkg.training.folder import RunFolder
from coursepkg.training.log import Row
from coursepkg.training.schedules import Plateau
from coursepkg.training.seed import preserved_rng, set_seed
from coursepkg.training.state import Progress, Run
from coursepkg.training.task import Batches, InputChecker, StepAware, Task


class TrainingError(ValueError):
    """Training cannot go on; the last checkpoint is as it was."""


@dataclass(frozen=True)
class Step:
    """What a step reports."""

    loss: float
    """Mean over the units of the step, before the update."""
    grad_norm: float
    """Norm of the gradient over all parameters, before clipping. Not finite where fp16
    scaling skips the update."""
    units: int
    """Units (target tokens) that the step saw."""


def train_step(
    run: Run, task: Task, epoch: Sequence[Any], group: range, learning_rate: float
) -> Step:
    """Update the weights once, from the batches of `epoch` that `group` numbers.

    Process r takes every n-th batch of the group, beginning with the r-th. A process
    that runs out of batches takes part with weight 0, since the others wait for it.

    Raises:
        TrainingError: the loss or the gradient is not finite; the weights are as they
            were before the step.
        ValueError: the task returns something else than a count and a sum.
    """
    fabric = run.fabric
    mine = [
        fabric.to_device(epoch[i])
        for i in group[fabric.global_rank :: fabric.world_size]
    ]
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


def _count_units(
    run: Run, task: Task, batches: Sequence[Any], weights: Sequence[float]
) -> int:
    """Units of all micro-batches of all processes."""
    counts = [
        task.count(batch)
        for batch, weight in zip(batches, weights, strict=True)
        if weight
    ]
    here = torch.tensor(sum(counts), device=run.fabric.device)
    units = int(run.fabric.strategy.all_reduce(here, reduce_op="sum"))
    if units < 1:
        raise ValueError(
            f"task.count must be at least 1 over a step, got {units} at step"
            f" {run.progress.step + 1}"
        )
    return units


def _check_loss(loss: Tensor) -> None:
    if loss.dim() or not loss.requires_grad:
        raise ValueError(
            "task.loss must return one number that can be differentiated, the sum over"
            " the batch, got a tensor of shape"
            f" {tuple(loss.shape)}{'' if loss.requires_grad else ' without gradient'}"
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
    norm = run.fabric.clip_gradients(
        run.model, run.stepper, max_norm=limit, error_if_nonfinite=False
    )
    found = math.nan if norm is None else float(norm)
    # Scaled fp16 gradients overflow now and then; the scaler then skips the update and
    # lowers the scale.
    if not math.isfinite(found) and run.config.precision != "16-mixed":
        position = run.progress.position
        _give_up(
            run,
            f"the gradient's norm is {found}",
            f"the step that begins at batch {position}",
        )
    return found


def _give_up(run: Run, what: str, where: str) -> None:
    run.stepper.zero_grad()
    raise TrainingError(
        f"{what} at step {run.progress.step + 1} (epoch {run.progress.epoch}, {where});"
        " training stopped, checkpoints stored before are kept; look at that batch,"
        " lower the learning rate, or clip"
    )


class ProgressBar:
    """Steps done, steps a second, loss and learning rate; it also counts the units."""

    def __init__(self, step: int, config: TrainConfig, *, shown: bool) -> None:
        self.units = 0
        self.bar = tqdm(
            total=config.max_steps,
            initial=step,
            unit="step",
            file=sys.stderr,
            disable=not (shown and config.progress),
        )

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bar.close()

    def show(self, step: Step, learning_rate: float) -> None:
        """One more step is done."""
        self.units += step.units
        self.bar.set_postfix_str(
            f"loss {step.loss:.4f}, lr {learning_rate:.2e}", refresh=False
        )
        self.bar.update()


Validate = Callable[[nn.Module], dict[str, float]]
"""Scores a network, which is in eval mode, by name."""


@dataclass(frozen=True)
class History:
    """What a run has done since its first step; complete on the first process only."""

    steps: list[Row]
    """One row a logged step: step, epoch, loss, learning_rate, grad_norm, units."""
    validations: list[Row]
    """One row a validation: step, epoch, and the scores by name."""
    step: int
    """Steps taken."""
    first_step: int = field(compare=False)
    """Steps that were there when this call began."""
    best_step: int | None
    """Step after which the best validation was made."""
    best_score: float | None
    """Its score."""
    stopped: str
    """Why it ended: max_steps, max_epochs, max_seconds or patience."""
    seconds: float = field(compare=False)
    """Wall-clock time of this call."""
    cpu_seconds: float = field(compare=False)
    """CPU time of this process in this call, its threads added up; other programs do
    not add to it."""
    units_per_second: float = field(compare=False)
    """Units (target tokens) of training data a second in this call, validation and
    checkpoints included."""


def fit(
    model: nn.Module,
    task: Task,
    batches: Batches,
    *,
    config: TrainConfig,
    out: str | Path | None = None,
    validate: Validate | None = None,
    resume: bool = False,
    fabric: Fabric | None = None,
) -> History:
    """Train a model in place.

    Seeds every generator with `config.seed`. Stopped anywhere (Ctrl-C, kill,
    `max_seconds`) and called again in the same way with `resume`, it goes on from the
    last checkpoint; on a CPU weights, optimiser, logs and best score are bit-equal to
    those of a run that was never stopped. Under `torchrun` the same call trains on all
    processes.

    Args:
        model: the network, on any device.
        task: counts and sums the loss of a batch.
        batches: the training data; every process passes the same.
        config: how long, how fast, how exactly.
        out: folder for logs and checkpoints, shared by all processes; None stores
            nothing.
        validate: scores the network; it sees averaged weights where `ema_decay` is set.
            What it draws at random does not disturb training.
        resume: go on with the run in `out` if there is one.
        fabric: a launched Fabric of one's own.

    Raises:
        TrainingError: the loss or the gradient is not finite; the step is named, the
            last checkpoint kept.
        ValueError: settings or data that cannot be trained with; `out` holds another
            run.
        OSError: `out` cannot be read or written; the last checkpoint is kept.
        KeyboardInterrupt: after Ctrl-C, when the step has ended and a checkpoint is
            stored.
    """
    _check_arguments(model, task, batches, config, out, validate, resume)
    fabric = make_fabric(config) if fabric is None else fabric
    check_fabric(fabric, config)
    set_seed(config.seed + fabric.global_rank)
    was_training = model.training
    run = Run(fabric, model, config)
    learnt = describe_task(task) | describe_batches(batches)
    folder = RunFolder(None if out is None else Path(out), run, learnt)
    folder.open(resume=resume)
    first_step, begin, begin_cpu = (
        run.progress.step,
        time.monotonic(),
        time.process_time(),
    )
    try:
        with ProgressBar(run.progress.step, config, shown=fabric.is_global_zero) as bar:
            stopped = _train(run, task, batches, validate, folder, bar)
    finally:
        model.train(was_training)
    seconds = time.monotonic() - begin
    return History(
        steps=folder.steps.rows,
        validations=folder.validations.rows,
        step=run.progress.step,
        first_step=first_step,
        best_step=run.progress.best_step,
        best_score=run.progress.best_score,
        stopped=stopped,
        seconds=seconds,
        cpu_seconds=time.process_time() - begin_cpu,
        units_per_second=bar.units / seconds,
    )


def _train(
    run: Run,
    task: Task,
    batches: Batches,
    validate: Validate | None,
    folder: RunFolder,
    bar: ProgressBar,
) -> str:
    """Step after step until a limit is reached; returns its name."""
    config, progress = run.config, run.progress
    now = CLOCKS[config.clock]
    deadline = now() + (math.inf if config.max_seconds is None else config.max_seconds)
    size = config.accumulate * run.fabric.world_size
    check = (
        partial(task.check_inputs, run.module)
        if isinstance(task, InputChecker)
        else None
    )
    groups = _groups(batches, progress, size, check)
    run.model.train()
    with defer_sigint() as interrupted:
        halted = False
        while not halted and _limit(progress, config) is None:
            epoch, group = next(groups)
            number, rate = progress.epoch, run.schedule(progress.step + 1)
            if isinstance(task, StepAware):
                task.start_step(progress.step + 1)
            step = train_step(run, task, epoch, group, rate)
            progress.advance(group.stop, len(epoch))
            bar.show(step, rate)
            if progress.step % config.log_every == 0:
                folder.steps.add(_row(progress.step, number, rate, step))
            is_last = _limit(progress, config) is not None
            improved = False
            is_due = _is_due(config.validate_every, progress)
            if validate is not None and (is_last or is_due):
                improved = _validate(run, validate, number, folder, is_due=is_due)
            # The validation may have used up the patience.
            is_last = _limit(progress, config) is not None
            # A Ctrl-C after this line ends the next step, in all processes together.
            wish = interrupted() or now() >= deadline
            halted = run.fabric.strategy.reduce_boolean_decision(wish, all=False)
            if (
                improved
                or is_last
                or halted
                or _is_due(config.checkpoint_every, progress)
            ):
                folder.save()
        if interrupted():
            raise KeyboardInterrupt
    return _limit(progress, config) or "max_seconds"


def _groups(
    batches: Batches,
    progress: Progress,
    size: int,
    check: Callable[[Sequence[Any]], None] | None,
) -> Iterator[tuple[Sequence[Any], range]]:
    """For each step its epoch and batch numbers; the last of an epoch may be fewer."""
    while True:
        number = progress.epoch
        epoch = batches.epoch(number)
        if progress.position >= len(epoch):
            hint = "; resume with the data that the run began with"
            raise ValueError(
                f"batches.epoch({number}) must have more than {progress.position}"
                f" batches, got {len(epoch)}{hint if progress.position else ''}"
            )
        if check is not None:
            check(epoch)
        while progress.epoch == number:
            yield (
                epoch,
                range(progress.position, min(progress.position + size, len(epoch))),
            )


def _validate(
    run: Run, validate: Validate, epoch: int, folder: RunFolder, *, is_due: bool
) -> bool:
    """Validate, log the scores, and return whether they are the best so far.

    The validation at the end of a call may not be due; it is judged, but learning rate
    and patience ignore it.
    """
    config, progress = run.config, run.progress
    with (
        run.validation_model() as network,
        torch.no_grad(),
        preserved_rng(run.fabric.device),
    ):
        network.eval()
        scores = run.fabric.broadcast(
            {name: float(score) for name, score in validate(network).items()}
        )
    run.model.train()
    if config.select_by not in scores:
        raise ValueError(
            f"select_by must be one of validate's scores ({', '.join(scores)}), got"
            f" {config.select_by!r}"
        )
    folder.validations.add({"step": progress.step, "epoch": epoch, **scores})
    if is_due and isinstance(run.schedule, Plateau):
        run.schedule.update(scores[config.select_by])
    return progress.note(scores[config.select_by], config.mode, is_due=is_due)


def _limit(progress: Progress, config: TrainConfig) -> str | None:
    """The limit that is reached, if any."""
    if config.max_steps is not None and progress.step >= config.max_steps:
        return "max_steps"
    if config.max_epochs is not None and progress.epoch >= config.max_epochs:
        return "max_epochs"
    if config.patience is not None and progress.n_bad >= config.patience:
        return "patience"
    return None


def _is_due(every: int | None, progress: Progress) -> bool:
    """Whether a period of `every` steps, or else an epoch, ends here."""
    return progress.position == 0 if every is None else progress.step % every == 0


def _row(number: int, epoch: int, rate: float, step: Step) -> Row:
    return {
        "step": number,
        "epoch": epoch,
        "loss": step.loss,
        "learning_rate": rate,
        "grad_norm": step.grad_norm,
        "units": step.units,
    }


def _check_arguments(
    model: nn.Module,
    task: Task,
    batches: Batches,
    config: TrainConfig,
    out: str | Path | None,
    validate: Validate | None,
    resume: bool,
) -> None:
    if not isinstance(model, nn.Module):
        raise ValueError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    if not isinstance(config, TrainConfig):
        raise ValueError(f"config must be a TrainConfig, got {type(config).__name__}")
    if not isinstance(task, Task):
        raise ValueError(
            f"task must have the methods count and loss, got {type(task).__name__}"
        )
    if not isinstance(batches, Batches):
        raise ValueError(
            f"batches must have the method epoch, got {type(batches).__name__}"
        )
    if resume and out is None:
        raise ValueError("resume needs out, the folder of the run")
    needs_scores = (
        "patience" if config.patience is not None else "a Plateau as learning_rate"
    )
    if validate is None and (
        config.patience is not None or isinstance(config.learning_rate, Plateau)
    ):
        raise ValueError(
            f"validate must be given, because {needs_scores} goes by its scores"
        )
