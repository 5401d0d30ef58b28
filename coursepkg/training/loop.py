"""The training loop, whole and visible.

for each group of micro-batches:
    learning rate <- schedule(step)
    loss, gradient, clip, update          (coursepkg/training/step.py)
    log; validate; keep the best; checkpoint; stop?
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from lightning_fabric import Fabric
from torch import nn

from coursepkg.training.config import CLOCKS, TrainConfig
from coursepkg.training.describe import describe_batches, describe_task
from coursepkg.training.engine import check_fabric, make_fabric
from coursepkg.training.folder import RunFolder
from coursepkg.training.interrupt import noticed_interrupt
from coursepkg.training.log import Row
from coursepkg.training.plateau import Plateau
from coursepkg.training.progress import Progress
from coursepkg.training.progress_bar import ProgressBar
from coursepkg.training.run import Run
from coursepkg.training.seed import preserved_rng, set_seed
from coursepkg.training.step import Step, take_step
from coursepkg.training.task import Batches, StepAware, Task

Validate = Callable[[nn.Module], dict[str, float]]
"""Scores a network, which is in eval mode, by name."""


@dataclass(frozen=True)
class History:
    """What a run has done, from its first step on. Complete on the first process only."""

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
    """CPU time of this process in this call, its threads added up; other programs do not add to it."""
    units_per_second: float = field(compare=False)
    """Units (target tokens) of training data a second in this call, validation and checkpoints included."""


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

    Seeds every generator with `config.seed`. Stopped anywhere (Ctrl-C, kill, `max_seconds`) and called again in the
    same way with `resume`, it goes on from the last checkpoint; on a CPU weights, optimiser, logs and best score are
    bit-equal to those of a run that was never stopped. Under `torchrun` the same call trains on all processes.

    Args:
        model: the network, on any device.
        task: counts and sums the loss of a batch.
        batches: the training data; every process passes the same.
        config: how long, how fast, how exactly.
        out: folder for logs and checkpoints, shared by all processes; None stores nothing.
        validate: scores the network; it sees averaged weights where `ema_decay` is set. What it draws at random does
            not disturb training.
        resume: go on with the run in `out` if there is one.
        fabric: a launched Fabric of one's own.

    Raises:
        TrainingError: the loss or the gradient is not finite; the step is named, the last checkpoint kept.
        ValueError: settings or data that cannot be trained with; `out` holds another run.
        OSError: `out` cannot be read or written; the last checkpoint is kept.
        KeyboardInterrupt: after Ctrl-C, when the step has ended and a checkpoint is stored.
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
    first_step, begin, begin_cpu = run.progress.step, time.monotonic(), time.process_time()
    with ProgressBar(run.progress.step, config, shown=fabric.is_global_zero) as bar:
        stopped = _train(run, task, batches, validate, folder, bar)
    seconds = time.monotonic() - begin
    model.train(was_training)
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
    run: Run, task: Task, batches: Batches, validate: Validate | None, folder: RunFolder, bar: ProgressBar
) -> str:
    """Step after step until a limit is reached; returns its name."""
    config, progress = run.config, run.progress
    now = CLOCKS[config.clock]
    deadline = now() + (math.inf if config.max_seconds is None else config.max_seconds)
    groups = _groups(batches, progress, config.accumulate * run.fabric.world_size)
    run.model.train()
    with noticed_interrupt() as interrupted:
        while _limit(progress, config) is None:
            epoch, group = next(groups)
            number, rate = progress.epoch, run.schedule(progress.step + 1)
            if isinstance(task, StepAware):
                task.start_step(progress.step + 1)
            step = take_step(run, task, epoch, group, rate)
            progress.advance(group.stop, len(epoch))
            bar.show(step, rate)
            if progress.step % config.log_every == 0:
                folder.steps.add(_row(progress.step, number, rate, step))
            is_last = _limit(progress, config) is not None
            improved = False
            is_due = _is_due(config.validate_every, progress)
            if validate is not None and (is_last or is_due):
                improved = _judge(run, validate, number, folder, is_due=is_due)
            is_last = _limit(progress, config) is not None
            wish = interrupted() or now() >= deadline
            halted = run.fabric.strategy.reduce_boolean_decision(wish, all=False)
            if improved or is_last or halted or _is_due(config.checkpoint_every, progress):
                folder.save()
            if interrupted():
                raise KeyboardInterrupt
            if halted and not is_last:
                return "max_seconds"
    return str(_limit(progress, config))


def _groups(batches: Batches, progress: Progress, size: int) -> Iterator[tuple[Sequence[Any], range]]:
    """For each step the epoch it lies in and the numbers of its batches; the last of an epoch may be fewer."""
    while True:
        number = progress.epoch
        epoch = batches.epoch(number)
        if progress.position >= len(epoch):
            raise ValueError(
                f"batches.epoch({number}) must have more than {progress.position} batches, got {len(epoch)}"
                f"{'; resume with the data that the run began with' if progress.position else ''}"
            )
        while progress.epoch == number:
            yield epoch, range(progress.position, min(progress.position + size, len(epoch)))


def _judge(run: Run, validate: Validate, epoch: int, folder: RunFolder, *, is_due: bool) -> bool:
    """Validate, log the scores, and return whether they are the best so far.

    The validation at the end of a call may not be due; it is judged, but learning rate and patience ignore it.
    """
    config, progress = run.config, run.progress
    with run.weights_to_judge() as network, torch.no_grad(), preserved_rng(run.fabric.device):
        network.eval()
        scores = run.fabric.broadcast({name: float(score) for name, score in validate(network).items()})
    run.model.train()
    if config.select_by not in scores:
        raise ValueError(
            f"select_by must be one of validate's scores ({', '.join(scores)}), got {config.select_by!r}"
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
    """Whether a period of `every` steps ends here; without one, whether an epoch does."""
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
        raise ValueError(f"task must have the methods count and loss, got {type(task).__name__}")
    if not isinstance(batches, Batches):
        raise ValueError(f"batches must have the method epoch, got {type(batches).__name__}")
    if resume and out is None:
        raise ValueError("resume needs out, the folder of the run")
    needs_scores = "patience" if config.patience is not None else "a Plateau as learning_rate"
    if validate is None and (config.patience is not None or isinstance(config.learning_rate, Plateau)):
        raise ValueError(f"validate must be given, because {needs_scores} goes by its scores")
