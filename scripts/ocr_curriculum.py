"""Training by a curriculum: stages, each a run that may be stopped and continued.

    short       CNN, encoder and CTC head on narrow lines: letters are learnt where a step is cheap
    all         the same on every line
    decoder     the decoder behind the finished encoder
    together    all parts, so that each helps the others

CTC comes first because the decoder learns nothing while the encoder sees nothing, and a
step without the decoder takes three quarters of the time. Behind a finished encoder the
decoder's own step takes a third.
"""

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ocr_shards import Shards

from coursepkg.projects.ocr.data.batches import LineBatches
from coursepkg.projects.ocr.line import TextLine
from coursepkg.projects.ocr.recipe import Recipe
from coursepkg.projects.ocr.training import (
    Trained,
    augmentation,
    picture_options,
    train,
)
from coursepkg.text.vocabulary import Vocabulary
from coursepkg.training.run_card import read_calls
from coursepkg.validation import counted


@dataclass(frozen=True)
class Stage:
    """One part of a training."""

    name: str
    """Of its folder."""
    recipe: Recipe
    """What is trained and how; its `max_width` bounds the network, not the lines."""
    most_width: int
    """Widest line that it trains on, in pixels at the recipe's height."""


def usual_stages(
    recipe: Recipe,
    *,
    short_epochs: int,
    epochs: int,
    decoder_epochs: int,
    together_epochs: int = 0,
) -> tuple[Stage, ...]:
    """The stages for a recipe; one without epochs is left out.

    Args:
        recipe: sizes, and the highest learning rate.
        short_epochs: passes over the lines that are at most eight times as wide as
            high.
        epochs: passes over all lines.
        decoder_epochs: passes of the decoder behind the encoder.
        together_epochs: passes of the whole network, at half the learning rate.
    """
    ctc = dataclasses.replace(recipe, learns="ctc", reader="ctc")
    begin = dataclasses.replace(
        ctc, max_epochs=max(1, short_epochs), schedule="inverse-sqrt", warmup=500
    )
    every = dataclasses.replace(
        ctc, max_epochs=max(1, epochs), schedule="cosine", warmup=500
    )
    behind = dataclasses.replace(
        recipe,
        learns="decoder",
        reader="joint",
        max_epochs=max(1, decoder_epochs),
        schedule="cosine",
        warmup=500,
    )
    together = dataclasses.replace(
        behind,
        learns="all",
        max_epochs=max(1, together_epochs),
        learning_rate=recipe.learning_rate / 2,
    )
    stages = (
        (short_epochs, Stage("1-short", begin, 8 * recipe.height)),
        (epochs, Stage("2-all", every, recipe.widest_line)),
        (decoder_epochs, Stage("3-decoder", behind, recipe.widest_line)),
        (together_epochs, Stage("4-together", together, recipe.widest_line)),
    )
    return tuple(stage for count, stage in stages if count)


def run_stages(
    stages: Sequence[Stage],
    lines: Shards,
    dev: Sequence[TextLine],
    out: Path,
    *,
    vocabulary: Vocabulary,
    data: dict[str, Any] | None = None,
    start: Path | None = None,
    seed: int = 0,
    max_seconds: int | float = float("inf"),
    log: Callable[[str], None] = print,
    progress: bool = True,
) -> Trained | None:
    """Train stage after stage, from where an earlier call stopped.

    Args:
        stages: at least one; each begins with the weights of the one before.
        lines: training lines at the recipes' height.
        dev: lines that choose the best weights of each stage.
        out: a folder for each stage goes into it.
        vocabulary: characters of all stages.
        data: what the lines are, as JSON can hold it.
        start: folder of a finished model that the first stage begins with.
        seed: of weights, order and dropout.
        max_seconds: wall-clock seconds of this call.
        log: receives one line at a time.
        progress: show a progress bar.

    Returns:
        what the last stage left behind, or None where time ran out before it was done.

    Raises:
        ValueError: there is no stage, or a folder holds a run of another plan.
    """
    if not stages:
        raise ValueError(
            "stages must hold at least one stage, got none; give it at least one epoch"
        )
    deadline = time.monotonic() + max_seconds
    before = start
    trained = None
    for stage in stages:
        folder, is_last = out / stage.name, stage is stages[-1]
        left = deadline - time.monotonic()
        if is_done(folder) and not is_last:
            log(f"{stage.name}: done before")
        elif left <= 0:
            return None
        else:
            recipe = dataclasses.replace(
                stage.recipe,
                max_seconds=min(left, stage.recipe.max_seconds),
                clock="wall",
            )
            options: dict[str, Any] = {
                "vocabulary": vocabulary,
                "data": data,
                "start": before,
                "seed": seed,
            }
            batches = _batches(stage, lines, vocabulary, seed, log)
            trained = train(
                recipe,
                batches,
                dev,
                folder,
                resume=True,
                log=log,
                progress=progress,
                **options,
            )
            if trained.history.stopped == "max_seconds":
                log(
                    f"{stage.name}: stopped after {trained.history.step} steps; the"
                    " same command goes on"
                )
                return None
        before = folder
    return trained


def _batches(
    stage: Stage,
    lines: Shards,
    vocabulary: Vocabulary,
    seed: int,
    log: Callable[[str], None],
) -> LineBatches:
    """What a stage learns from; what is left out is counted."""
    log(
        f"{stage.name}: {counted(stage.recipe.max_epochs, 'epoch')} of lines up to"
        f" {stage.most_width} pixels"
    )
    fitting = lines.fitting(
        most_width=stage.most_width, most_characters=stage.recipe.max_len - 1
    )
    left_out = len(lines) - len(fitting)
    log(
        f"  {counted(len(fitting), 'line')}; {left_out:,} of {len(lines):,} are too"
        " wide or too long"
    )
    chosen = augmentation(stage.recipe)
    return LineBatches(
        fitting, vocabulary, seed=seed, augment=chosen, **picture_options(stage.recipe)
    )


def is_done(folder: Path) -> bool:
    """Whether a stage in this folder came to its end."""
    calls = read_calls(folder)
    return (
        bool(calls)
        and calls[-1]["stopped"] != "max_seconds"
        and (folder / "model").is_dir()
    )


def calls_of(out: Path, stages: Sequence[Stage]) -> dict[str, list[dict[str, Any]]]:
    """How long each stage trained, and on what machine."""
    return {stage.name: read_calls(out / stage.name) for stage in stages}
