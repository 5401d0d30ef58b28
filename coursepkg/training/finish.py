"""The two ends of a training run: the weights it begins with, and those it leaves behind."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from torch import nn

from coursepkg.training.files import read_json
from coursepkg.training.loop import History
from coursepkg.training.saved_model import restore, save_model


def take_weights(model: nn.Module, begun: nn.Module, start: Path) -> nn.Module:
    """The model with the weights of another of the same sizes.

    Raises:
        ValueError: the other one, from the folder `start`, has other sizes.
    """
    try:
        model.load_state_dict(begun.state_dict())
    except RuntimeError as reason:
        raise ValueError(
            f"--start {start} holds a model of other sizes than the recipe asks for; give the sizes of that model"
        ) from reason
    return model


def restore_best(
    network: nn.Module,
    run: Path,
    history: History,
    score_of: Callable[[nn.Module], float],
    mode: Literal["min", "max"],
) -> tuple[int, float]:
    """Load the best weights: those of the best validation, or the last ones where time ran out behind it.

    Args:
        network: what was trained.
        run: folder of its checkpoints.
        history: what `fit` returned.
        score_of: the score that validation chose by.
        mode: whether a lower or a higher score is better.

    Returns:
        the step of these weights, and their score.
    """
    step, best = restore(network, run, "last"), history.best_score
    if best is None or (history.stopped == "max_seconds" and step != history.best_step):
        last = score_of(network)
        if best is None or (last > best if mode == "max" else last < best):
            return step, last
    return restore(network, run, "best"), best


def store_model(folder: Path, model: nn.Module, card: dict[str, Any]) -> None:
    """Write the model, in the place of the one that a shorter run left; the same one is not written again."""
    if folder.exists():
        if read_json(folder / "model.json")["meta"] == card:
            return
        shutil.rmtree(folder)
    save_model(folder, model, **card)
