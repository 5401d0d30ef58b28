"""A training run in a folder: opened or resumed, trained, its best weights stored.

OUT/recipe.json     what decides the run: recipe, data and seed
OUT/calls.json      how long each call trained, with how much memory, on what machine
OUT/run/            logs and checkpoints, see `coursepkg.training.loop`
OUT/model/          the finished model: the weights of the best validation, its card

A project brings a `TrainingSetup`: network, task, batches, settings and validation.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from coursepkg.bench.machine import circumstances
from coursepkg.training import schedules
from coursepkg.training.config import TrainConfig
from coursepkg.training.engine import native_precision
from coursepkg.training.loop import History, fit
from coursepkg.training.regularisers import draw_bytewise
from coursepkg.training.run_card import add_call, open_run_or_rollback
from coursepkg.training.saved_model import (
    restore,
    restore_best,
    store_model,
    take_weights,
)
from coursepkg.training.schedules import Schedule
from coursepkg.training.task import Batches, Task

Validate = Callable[[nn.Module], dict[str, float]]


@dataclass(frozen=True, eq=False)
class TrainingSetup:
    """What `fit` is called with."""

    network: nn.Module
    """What is trained; where only a part of it is kept, `stored` says which."""
    task: Task
    batches: Batches
    config: TrainConfig
    """Its `select_by` names the score that chooses the best weights."""
    validate: Validate | None = None
    """Scores of a network on the dev part; None keeps the last weights."""
    stored: nn.Module | None = None
    """The part of the network that becomes the model; None: all of it."""


@dataclass(frozen=True, eq=False)
class Trained:
    """What a training run leaves behind."""

    model: nn.Module
    """With the best weights, in evaluation mode."""
    history: History
    card: dict[str, Any]
    """What is stored beside the weights."""


@dataclass(frozen=True, eq=False)
class BestWeights:
    """A network after training, with its best weights loaded."""

    network: nn.Module
    """In evaluation mode."""
    history: History
    step: int
    """Optimiser steps behind the weights."""
    score: float | None
    """The validation score that they were chosen by; None without a dev part."""


def train_in_folder(
    out: Path,
    card: Mapping[str, Any],
    prepare: Callable[[], TrainingSetup],
    describe: Callable[[BestWeights], Mapping[str, Any]],
    *,
    resume: bool,
    changeable: Collection[str],
    added: Mapping[str, Any] | None = None,
) -> Trained:
    """Train in a folder, load the best weights, and store the model with its card.

    Stopped anywhere and called again with `resume`, it goes on; `out` then holds the
    same model as if it had never been stopped, on a CPU bit by bit, unless the limit
    was `max_seconds`.

    Args:
        out: folder, which must not hold another run.
        card: what decides the run, as JSON can hold it; "recipe" holds its settings.
        prepare: makes what is trained; where it raises a ValueError, the files of a
            new run are removed again, and a new folder with them.
        describe: what the card of the model says besides, such as its dev score.
        resume: go on with the run in `out`.
        changeable: settings of the recipe that may change when a run goes on.
        added: settings that cards of older runs do not name, with their value then.

    Raises:
        ValueError: `out` holds a run already, or another one; or `prepare` raises it.
        OSError: `out` cannot be written.
    """
    with open_run_or_rollback(out, card, resume, changeable=changeable, added=added):
        setup = prepare()
    network, run = setup.network, out / "run"
    network.to("cuda" if torch.cuda.is_available() else "cpu")
    history = fit(
        network,
        setup.task,
        setup.batches,
        config=setup.config,
        out=run,
        validate=setup.validate,
        resume=resume,
    )
    add_call(out, history, **circumstances())
    step, score = _restore(setup, run, history)
    best = BestWeights(network.eval(), history, step, score)
    model = (setup.stored or network).eval()
    whole = {**card, "steps": step, **describe(best)}
    store_model(out / "model", model, whole)
    return Trained(model, history, whole)


def first_model(
    model: nn.Module, start: Path | None, read: Callable[[Path], nn.Module]
) -> nn.Module:
    """A fresh model, with the weights of another one where a run begins with one.

    Args:
        model: fresh.
        start: folder of a finished model; None keeps the random weights.
        read: reads the model of that folder.

    Raises:
        ValueError: the other model has other sizes.
    """
    draw_bytewise(model)
    return model if start is None else take_weights(model, read(start), start)


def training_config(
    recipe: Any,
    *,
    epoch_steps: int,
    select_by: str,
    mode: str,
    learning_rate: Schedule | None = None,
    **options: Any,
) -> TrainConfig:
    """How `fit` is to train by the fields that all recipes share.

    Args:
        recipe: of any system.
        epoch_steps: steps of an epoch.
        select_by: score of the validation that chooses the best weights.
        mode: whether a `max` or a `min` of it is best.
        learning_rate: a schedule that is none of `schedules.by_name`.
        **options: further settings of `TrainConfig`, which win.
    """
    shared: dict[str, Any] = {
        "max_epochs": recipe.max_epochs,
        "max_seconds": recipe.max_seconds,
        "learning_rate": learning_rate or schedule_of(recipe, epoch_steps),
        "weight_decay": recipe.weight_decay,
        "precision": native_precision()
        if recipe.precision == "auto"
        else recipe.precision,
        "ema_decay": recipe.ema or None,
        "select_by": select_by,
        "mode": mode,
        "patience": recipe.patience,
    }
    return TrainConfig(**(shared | options))


def schedule_of(recipe: Any, epoch_steps: int) -> Schedule:
    """The learning rate by step that a recipe names."""
    return schedules.by_name(
        recipe.schedule,
        recipe.learning_rate,
        warmup=recipe.warmup,
        d_model=recipe.d_model,
        epoch_steps=epoch_steps,
        total=max(2, recipe.max_epochs * epoch_steps),
    )


def _restore(
    setup: TrainingSetup, run: Path, history: History
) -> tuple[int, float | None]:
    """Load the best weights; their step and score."""
    network, validate = setup.network, setup.validate
    if validate is None:
        return restore(network, run, "last"), None
    name = setup.config.select_by

    def score_of(one: nn.Module) -> float:
        return validate(one.eval())[name]

    return restore_best(network, run, history, score_of, setup.config.mode)
