"""Fine-tune a T5 on sentence pairs with our own loop.

OUT/start/      the tiny model as it was built, where it was built here
OUT/run/        logs and checkpoints of `fit`
OUT/model/      the best model as Hugging Face stores it, with its prefixes
OUT/result.json settings, coverage, scores
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from torch import nn

from coursepkg.arguments import check_count, check_finite, flag_of
from coursepkg.projects.translation.t5.corpora import Direction
from coursepkg.projects.translation.t5.data import Ids, T5Batches, encode_pairs
from coursepkg.projects.translation.t5.model import T5
from coursepkg.projects.translation.t5.task import T5Task, TextToText, t5_mean_loss
from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import History, fit
from coursepkg.training.saved_model import restore
from coursepkg.training.schedules import Formula, constant


@dataclass(frozen=True)
class FineTuning:
    """How a T5 is fine-tuned; the defaults are the report's, and what it does not say is Hugging Face's Trainer's."""

    learning_rate: int | float = 2e-5
    """The highest rate, above 0."""
    schedule: Literal["linear", "constant"] = "linear"
    """linear falls to 0 at the last step; constant does not."""
    batch_size: int = 32
    """Sentence pairs of a step, at least 1."""
    weight_decay: int | float = 0.01
    """AdamW's decoupled decay, at least 0."""
    epochs: int = 3
    """Passes over the training part, at least 1."""
    precision: str = "32-true"
    """32-true or bf16-mixed."""
    max_tokens: int = 160
    """Most tokens of a side, prefix and EOS included; longer pairs are left out and counted."""
    seed: int = 0
    """Of the order of the pairs and of dropout."""

    def __post_init__(self) -> None:
        for name in ("batch_size", "epochs", "max_tokens"):
            check_count(flag_of(name), getattr(self, name))
        for name, least in (("learning_rate", "above 0"), ("weight_decay", "at least 0")):
            value = getattr(self, name)
            check_finite(flag_of(name), value)
            if value < 0 or (value == 0 and least == "above 0"):
                raise ValueError(f"{flag_of(name)} must be {least}, got {value}")
        if self.schedule not in ("linear", "constant"):
            raise ValueError(f"--schedule must be linear or constant, got {self.schedule}")
        if self.precision not in ("32-true", "bf16-mixed"):
            raise ValueError(
                f"--precision must be 32-true or bf16-mixed, got {self.precision}; in fp16 a T5 gives NaN"
            )


PRESETS = {
    "tiny": FineTuning(learning_rate=3e-3, schedule="linear", weight_decay=0.01, epochs=30),
    "report": FineTuning(),
}
"""By the name that `--preset` takes: for random weights on a CPU, and for a pretrained model."""


def fine_tune(
    t5: T5,
    directions: Sequence[Direction],
    settings: FineTuning,
    *,
    out: Path,
    resume: bool = False,
    max_seconds: int | float | None = None,
    progress: bool = False,
) -> tuple[History, list[str]]:
    """Train in place; afterwards the model has the weights with the lowest loss on the dev parts.

    Args:
        t5: the model to begin with; the same one when a run is resumed.
        directions: what it learns, all in one model.
        settings: how.
        out: folder of logs and checkpoints.
        resume: go on with the run in `out`.
        max_seconds: wall-clock limit of this call; None has none.
        progress: show a bar.

    Returns:
        what the run did, and a note for each direction whose pairs were too long.

    Raises:
        ValueError: no pair is left, or `out` holds another run.
    """
    train, notes = _examples(t5, directions, "train", settings.max_tokens)
    dev, dev_notes = _examples(t5, directions, "dev", settings.max_tokens)
    ids: dict[str, Any] = {"pad_id": t5.pad_id, "start_id": t5.start_id}
    batches = T5Batches(train, settings.batch_size, seed=settings.seed, **ids)
    judged = T5Batches(dev, settings.batch_size, shuffle=False, **ids).epoch(0)
    config = TrainConfig(
        max_epochs=settings.epochs,
        max_seconds=max_seconds,
        learning_rate=_schedule(settings, math.ceil(len(train) / settings.batch_size) * settings.epochs),
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=settings.weight_decay,
        precision="bf16-mixed" if settings.precision == "bf16-mixed" else "32-true",
        seed=settings.seed,
        progress=progress,
    )

    def validate(network: nn.Module) -> dict[str, float]:
        return {"loss": t5_mean_loss(network, judged)}

    model = TextToText(t5.network)
    history = fit(model, T5Task(), batches, config=config, out=out, validate=validate, resume=resume)
    # A run that was stopped before its first validation has no best weights yet.
    if history.best_step is not None:
        restore(model, out)
    return history, notes + dev_notes


def linear_to_zero(lr: int | float, total: int) -> Formula:
    """A straight line from lr at the first step towards 0 behind the last: lr (total - step + 1) / total."""
    return Formula(
        "linear_to_zero", {"lr": lr, "total": total}, lambda step: lr * max(0, total - step + 1) / total
    )


def _examples(
    t5: T5, directions: Sequence[Direction], part: str, max_tokens: int
) -> tuple[list[Ids], list[str]]:
    """Examples of all directions, and a note where pairs were too long."""
    examples: list[Ids] = []
    notes = []
    for direction in directions:
        pairs = direction.natural(getattr(direction.parts, part))
        kept, left_out = encode_pairs(t5, pairs, direction.prefix, max_tokens)
        examples += kept
        if left_out:
            first = f"{left_out[0].file}:{left_out[0].line}"
            notes.append(
                f"{direction.name} {part}: {len(left_out)} of {len(pairs)} pairs have more than {max_tokens} tokens "
                f"and are left out, the first is {first}"
            )
    return examples, notes


def _schedule(settings: FineTuning, n_steps: int) -> Formula:
    rate = settings.learning_rate
    return linear_to_zero(rate, n_steps) if settings.schedule == "linear" else constant(rate)
