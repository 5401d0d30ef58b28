"""The settings of a training run."""

import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from coursepkg.arguments import check_count, check_finite
from coursepkg.training.describe import describe_schedule
from coursepkg.training.sam import refuse_sam
from coursepkg.training.schedules import Schedule

PRECISIONS = ("32-true", "bf16-mixed", "16-mixed")
STRATEGIES = ("ddp", "fsdp")
MODES = ("min", "max")
CLOCKS = {"wall": time.monotonic, "cpu": time.process_time}
"""What `max_seconds` counts, by name: functions that return seconds."""

CHANGEABLE = ("max_steps", "max_epochs", "max_seconds", "clock", "checkpoint_every", "keep_last", "progress")
"""Fields that a run may change when it is resumed, because no step depends on them."""

LATER: dict[str, Any] = {"learning_rate_factors": {}}
"""Fields that runs of older versions do not name, with what they had then."""


@dataclass(frozen=True)
class TrainConfig:
    """How long, how fast and how exactly to train. At least one of the three limits must be given."""

    max_steps: int | None = None
    """Optimiser steps, at least 1."""
    max_epochs: int | None = None
    """Passes over the data, at least 1."""
    max_seconds: int | float | None = None
    """Seconds of one call of `fit` by the `clock`, above 0. A run that it stops is resumed where it was."""
    clock: str = "wall"
    """What `max_seconds` counts: time on the wall, or CPU time of this process, its threads added up, which other
    programs on the machine do not use up."""
    learning_rate: int | float | Schedule = 1e-3
    """A number, at least 0, or a schedule from the step (counted from 1) to its rate."""
    learning_rate_factors: Mapping[str, float] = field(default_factory=dict)
    """What multiplies the learning rate of the parameters whose names begin so, above 0; of several beginnings the
    first counts, and a parameter without one keeps the learning rate. Freeze what shall not move at all."""
    betas: tuple[float, float] = (0.9, 0.98)
    """AdamW's decay of the averages of gradient and squared gradient, at least 0 and below 1."""
    eps: float = 1e-9
    """AdamW's epsilon, above 0. It and betas are those of Vaswani et al. (arXiv 1706.03762), section 5.3."""
    weight_decay: int | float = 0.0
    """AdamW's decoupled decay a step, in units of the learning rate, at least 0; biases and norms are spared."""
    accumulate: int = 1
    """Micro-batches that each process adds up in one step, at least 1."""
    clip_norm: int | float | None = 1.0
    """Largest norm of the gradient over all parameters, above 0; None does not clip."""
    precision: Literal["32-true", "bf16-mixed", "16-mixed"] = "32-true"
    """What the forward pass computes in. The weights are float32 always."""
    strategy: Literal["ddp", "fsdp"] = "ddp"
    """How several processes share the work, see book/training_at_scale.md. One process alone needs none."""
    ema_decay: float | None = None
    """Keep an exponential moving average of the weights with this decay, at least 0 and below 1, and validate it."""
    sam_rho: float | None = None
    """Radius of sharpness-aware minimisation, above 0; it doubles the cost of a step."""
    validate_every: int | None = None
    """Steps between validations, at least 1; None validates at the end of each epoch."""
    select_by: str = "loss"
    """Which of the scores that `validate` returns says what is best."""
    mode: Literal["min", "max"] = "min"
    """Whether the lowest or the highest score is best."""
    patience: int | None = None
    """Stop after this many validations in a row without a new best, at least 1; None never does."""
    checkpoint_every: int | None = None
    """Steps between checkpoints, at least 1; None writes one at the end of each epoch."""
    keep_last: int = 1
    """Checkpoints that stay beside the best one, at least 1; several can be averaged."""
    log_every: int = 1
    """Steps between rows of the log, at least 1."""
    seed: int = 0
    """Of dropout and whatever else is random inside `fit`, at least 0. Process r of several takes seed + r."""
    progress: bool = True
    """Show a progress bar on standard error."""

    def __post_init__(self) -> None:
        if self.max_steps is None and self.max_epochs is None and self.max_seconds is None:
            raise ValueError("max_steps, max_epochs or max_seconds must be given, or training never ends")
        self._check_numbers()
        for name, choices in (
            ("precision", PRECISIONS),
            ("strategy", STRATEGIES),
            ("mode", MODES),
            ("clock", CLOCKS),
        ):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {', '.join(choices)}, got {getattr(self, name)!r}")
        if self.sam_rho is not None:
            refuse_sam(precision=self.precision, accumulate=self.accumulate, sharded=self.strategy == "fsdp")
        if self.ema_decay is not None and self.strategy == "fsdp":
            raise ValueError("ema_decay must be None with strategy fsdp: no process holds all the weights")

    def _check_numbers(self) -> None:
        optional = ("max_steps", "max_epochs", "patience", "validate_every", "checkpoint_every")
        for name in (*optional, "accumulate", "keep_last", "log_every"):
            value = getattr(self, name)
            if value is not None or name not in optional:
                check_count(name, value)
        for name in ("max_seconds", "clip_norm", "sam_rho", "eps"):
            value = getattr(self, name)
            if value is not None:
                check_finite(name, value)
                if value <= 0:
                    raise ValueError(f"{name} must be above 0, got {value}")
        rates = {} if callable(self.learning_rate) else {"learning_rate": self.learning_rate}
        for start, factor in self.learning_rate_factors.items():
            check_finite(f"learning_rate_factors[{start!r}]", factor)
            if factor <= 0:
                raise ValueError(f"learning_rate_factors[{start!r}] must be above 0, got {factor}")
        for name, value in {**rates, "weight_decay": self.weight_decay}.items():
            check_finite(name, value)
            if value < 0:
                raise ValueError(f"{name} must be at least 0, got {value}")
        check_count("seed", self.seed, least=0, most=2**32 - 1)
        if not isinstance(self.betas, tuple | list) or len(self.betas) != 2:
            raise ValueError(f"betas must be two numbers, got {self.betas!r}")
        for name, share in (("ema_decay", self.ema_decay), *(("betas", beta) for beta in self.betas)):
            if share is None:
                continue
            check_finite(name, share)
            if not 0 <= share < 1:
                raise ValueError(f"{name} must be at least 0 and below 1, got {share}")

    def described(self) -> dict[str, Any]:
        """All fields as JSON can hold them; a schedule becomes a text that says what it is."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        if callable(self.learning_rate):
            fields["learning_rate"] = describe_schedule(self.learning_rate)
        return fields | {
            "betas": list(self.betas),
            "learning_rate_factors": dict(self.learning_rate_factors),
        }
