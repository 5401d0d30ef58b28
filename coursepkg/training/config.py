"""The settings of a training run; a run may be resumed with the same settings only."""

import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from coursepkg.training.regularisers import refuse_sam
from coursepkg.training.schedules import Formula, Schedule
from coursepkg.validation import (
    check_at_least,
    check_choice,
    check_count,
    check_finite,
    check_positive,
    is_number,
    python_number,
    use_python_numbers,
)


def describe_task(task: Any) -> dict[str, Any]:
    """The settings that a task was made with, where it is a dataclass."""
    if not dataclasses.is_dataclass(task):
        return {}
    fields = (field.name for field in dataclasses.fields(task) if field.init)
    return {f"task.{name}": _plain(getattr(task, name)) for name in fields}


def describe_batches(batches: Any) -> dict[str, Any]:
    """The `fingerprint` of the training data, where they offer one."""
    fingerprint = getattr(batches, "fingerprint", None)
    return {} if fingerprint is None else {"batches.fingerprint": str(fingerprint)}


def describe_schedule(schedule: Schedule) -> str:
    """The text by which two schedules count as the same."""
    if isinstance(schedule, partial):
        fixed = [
            *map(repr, schedule.args),
            *(f"{k}={v!r}" for k, v in sorted(schedule.keywords.items())),
        ]
        return f"partial({', '.join([describe_schedule(schedule.func), *fixed])})"
    name = getattr(schedule, "__qualname__", None)
    if name is not None:
        return f"{schedule.__module__}.{name}"
    if isinstance(schedule, Formula):
        return repr(schedule)
    fields = ", ".join(f"{k}={v!r}" for k, v in vars(schedule).items())
    return f"{type(schedule).__name__}({fields})"


def _plain(value: Any) -> Any:
    if callable(value):
        return describe_schedule(value)
    if is_number(value):
        return python_number(value)
    return value if isinstance(value, str | bool | None) else repr(value)


PRECISIONS = ("32-true", "bf16-mixed", "16-mixed")
MODES = ("min", "max")
CLOCKS = {"wall": time.monotonic, "cpu": time.process_time}
"""What `max_seconds` counts, by name: functions that return seconds."""

OPTIONAL_COUNTS = [
    "max_steps",
    "max_epochs",
    "patience",
    "validate_every",
    "checkpoint_every",
]
CHANGEABLE = [
    "max_steps",
    "max_epochs",
    "max_seconds",
    "clock",
    "checkpoint_every",
    "keep_last",
    "progress",
]
"""Fields that a run may change when it is resumed, because no step depends on them."""

ADDED_SETTINGS: dict[str, Any] = {"learning_rate_factors": {}, "optimizer": "adamw"}
"""Fields that runs of older versions do not name, with what they had then."""


@dataclass(frozen=True)
class TrainConfig:
    """How long, how fast and how exactly to train; one of the limits must be given."""

    max_steps: int | None = None
    """Optimiser steps, at least 1."""
    max_epochs: int | None = None
    """Passes over the data, at least 1."""
    max_seconds: int | float | None = None
    """Seconds of one call of `fit` by the `clock`, above 0. A run that it stops is
    resumed where it was."""
    clock: str = "wall"
    """What `max_seconds` counts: time on the wall, or CPU time of this process, its
    threads added up, which other programs on the machine do not use up."""
    learning_rate: int | float | Schedule = 1e-3
    """A number, at least 0, or a schedule from the step (counted from 1) to its
    rate."""
    learning_rate_factors: Mapping[str, float] = field(default_factory=dict)
    """What multiplies the learning rate of the parameters whose names begin so, above
    0; of several beginnings the first counts, and a parameter without one keeps the
    learning rate. Freeze what shall not move at all."""
    optimizer: Literal["adamw", "muon"] = "adamw"
    """What moves the weights; muon moves hidden matrices by Muon, all else by AdamW,
    see `coursepkg.training.muon`."""
    betas: tuple[float, float] = (0.9, 0.98)
    """AdamW's decay of the averages of gradient and squared gradient, at least 0 and
    below 1."""
    eps: float = 1e-9
    """AdamW's epsilon, above 0. It and betas are those of Vaswani et al. (arXiv
    1706.03762), section 5.3."""
    weight_decay: int | float = 0.0
    """AdamW's decoupled decay a step, in units of the learning rate, at least 0; biases
    and norms are spared."""
    accumulate: int = 1
    """Micro-batches that each process adds up in one step, at least 1."""
    clip_norm: int | float | None = 1.0
    """Largest norm of the gradient over all parameters, above 0; None does not clip."""
    precision: Literal["32-true", "bf16-mixed", "16-mixed"] = "32-true"
    """What the forward pass computes in. The weights are float32 always."""
    strategy: Literal["ddp", "fsdp"] = "ddp"
    """How several processes share the work, see book/training_at_scale.md. One process
    alone needs none."""
    ema_decay: float | None = None
    """Keep an exponential moving average of the weights with this decay, at least 0 and
    below 1, and validate it."""
    sam_rho: float | None = None
    """Radius of sharpness-aware minimisation, above 0; it doubles the cost of a
    step."""
    validate_every: int | None = None
    """Steps between validations, at least 1; None validates at the end of each
    epoch."""
    select_by: str = "loss"
    """Which of the scores that `validate` returns says what is best."""
    mode: Literal["min", "max"] = "min"
    """Whether the lowest or the highest score is best."""
    patience: int | None = None
    """Stop after this many validations in a row without a new best, at least 1; None
    never does."""
    checkpoint_every: int | None = None
    """Steps between checkpoints, at least 1; None writes one at the end of each
    epoch."""
    keep_last: int = 1
    """Checkpoints that stay beside the best one, at least 1; several can be
    averaged."""
    log_every: int = 1
    """Steps between rows of the log, at least 1."""
    seed: int = 0
    """Of dropout and whatever else is random inside `fit`, at least 0. Process r of
    several takes seed + r."""
    progress: bool = True
    """Show a progress bar on standard error."""

    def __post_init__(self) -> None:
        limits = (self.max_steps, self.max_epochs, self.max_seconds)
        if all(limit is None for limit in limits):
            raise ValueError(
                "max_steps, max_epochs or max_seconds must be given, or training never"
                " ends"
            )
        self._check_numbers()
        use_python_numbers(self)
        for name, choices in (
            ("precision", PRECISIONS),
            ("strategy", ("ddp", "fsdp")),
            ("optimizer", ("adamw", "muon")),
            ("mode", MODES),
            ("clock", CLOCKS),
        ):
            check_choice(name, getattr(self, name), choices)
        sharded = self.strategy == "fsdp"
        if sharded and self.optimizer == "muon":
            raise ValueError(
                "optimizer must be adamw with strategy fsdp: Muon needs whole matrices,"
                " of which each process holds a shard"
            )
        if self.sam_rho is not None:
            refuse_sam(
                precision=self.precision, accumulate=self.accumulate, sharded=sharded
            )
        if self.ema_decay is not None and sharded:
            raise ValueError(
                "ema_decay must be None with strategy fsdp: no process holds all the"
                " weights"
            )

    def _check_numbers(self) -> None:
        for name in (*OPTIONAL_COUNTS, "accumulate", "keep_last", "log_every"):
            value = getattr(self, name)
            if value is not None or name not in OPTIONAL_COUNTS:
                check_count(name, value)
        for name in ("max_seconds", "clip_norm", "sam_rho", "eps"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))
        for start, factor in self.learning_rate_factors.items():
            check_positive(f"learning_rate_factors[{start!r}]", factor)
        for name in ("learning_rate", "weight_decay"):
            if not callable(value := getattr(self, name)):
                check_finite(name, value)
                check_at_least(name, value, 0)
        check_count("seed", self.seed, least=0, most=2**32 - 1)
        if not isinstance(self.betas, tuple | list) or len(self.betas) != 2:
            raise ValueError(f"betas must be two numbers, got {self.betas!r}")
        shares = [("betas", beta) for beta in self.betas]
        if self.ema_decay is not None:
            shares.append(("ema_decay", self.ema_decay))
        for name, share in shares:
            check_finite(name, share)
            if not 0 <= share < 1:
                raise ValueError(f"{name} must be at least 0 and below 1, got {share}")

    def described(self) -> dict[str, Any]:
        """All fields as JSON can hold them; a schedule becomes its description."""
        fields = {
            field.name: getattr(self, field.name) for field in dataclasses.fields(self)
        }
        if callable(self.learning_rate):
            fields["learning_rate"] = describe_schedule(self.learning_rate)
        return fields | {
            "betas": list(self.betas),
            "learning_rate_factors": dict(self.learning_rate_factors),
        }
