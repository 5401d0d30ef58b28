"""Learning-rate schedules: from the number of a step to the learning rate of that step.

Steps count from 1: `schedule(1)` is the rate of the first update. A schedule whose rate
depends on the step alone is a `Formula`, which has no state: a run that is resumed at
step n asks for `schedule(n)` and goes on exactly. `Plateau` reacts to scores, so its
state belongs into a checkpoint.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from coursepkg.validation import check_at_least, check_factor

Schedule = Callable[[int], float]
"""From a step, counted from 1, to its learning rate."""


@dataclass(frozen=True)
class Formula:
    """A schedule without state; two of the same name and numbers are equal."""

    name: str
    """The function that made it."""
    parameters: dict[str, int | float]
    """What that function was called with."""
    rate: Schedule = field(compare=False)
    """From a step, counted from 1, to its learning rate."""

    def __call__(self, step: int) -> float:
        """Learning rate of a step.

        Raises:
            ValueError: the step is below 1.
        """
        if step < 1:
            raise ValueError(f"step must be at least 1, the first step, got {step}")
        return float(self.rate(step))

    def __repr__(self) -> str:
        fields = ", ".join(f"{k}={value}" for k, value in self.parameters.items())
        return f"{self.name}({fields})"


def constant(lr: int | float) -> Formula:
    """The same learning rate at every step."""
    check_at_least("lr", lr, 0)
    return Formula("constant", {"lr": lr}, lambda step: lr)


def noam(d_model: int, warmup: int, factor: int | float = 1.0) -> Formula:
    """Linear warm-up, then inverse square root; the height follows from the width.

        lr = factor * d_model^-0.5 * min(step^-0.5, step * warmup^-1.5)

    The two branches meet at step = warmup, where the rate is highest: (d_model *
    warmup)^-0.5. Source: Vaswani et al. (arXiv 1706.03762), section 5.3, equation 3,
    with d_model 512 and warmup 4,000.

    Args:
        d_model: width of the model (E).
        warmup: steps up to the highest rate.
        factor: scales the whole curve; the paper has 1.

    Raises:
        ValueError: an argument is not positive.
    """
    check_at_least("d_model", d_model, 1)
    check_at_least("warmup", warmup, 1)
    if not 0 < factor < math.inf:
        raise ValueError(f"factor must be above 0 and finite, got {factor}")
    return Formula(
        "noam",
        {"d_model": d_model, "warmup": warmup, "factor": factor},
        lambda step: factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5),
    )


def inverse_sqrt(lr: int | float, warmup: int) -> Formula:
    """Linear warm-up to `lr`, then decay by the inverse square root of the step.

        lr(step) = lr * min(step / warmup, sqrt(warmup / step))

    It is Noam's curve with a height of one's own choice. The Olympiad tutorials train
    with lr 2e-4 and warmup 200.

    Args:
        lr: the highest rate, reached at step = warmup.
        warmup: steps up to it.

    Raises:
        ValueError: lr is negative, or warmup below 1.
    """
    check_at_least("lr", lr, 0)
    check_at_least("warmup", warmup, 1)
    return Formula(
        "inverse_sqrt",
        {"lr": lr, "warmup": warmup},
        lambda step: lr * min(step / warmup, math.sqrt(warmup / step)),
    )


def staircase(
    lr: int | float,
    d_model: int,
    warmup: int,
    decay_steps: int,
    decay_rate: int | float,
) -> Formula:
    """Linear warm-up, then a fall by `decay_rate` after every `decay_steps` steps.

        highest  = lr / (sqrt(d_model) * sqrt(warmup))
        lr(step) = highest * step / warmup                 up to the warm-up, then
                   highest * decay_rate^floor((step - warmup) / decay_steps)

    The Text recognition notes train with lr 0.3, warmup 2,000, decay_steps 32,000 (two
    epochs there) and rate 0.8.

    Args:
        lr: scale of the curve; the rate itself is smaller by sqrt(d_model * warmup).
        d_model: width of the model (E).
        warmup: steps up to the highest rate.
        decay_steps: length of a stair, in steps.
        decay_rate: what a stair multiplies the rate by, above 0 and at most 1.

    Raises:
        ValueError: an argument is out of range.
    """
    check_at_least("lr", lr, 0)
    check_at_least("d_model", d_model, 1)
    check_at_least("warmup", warmup, 1)
    check_at_least("decay_steps", decay_steps, 1)
    check_factor("decay_rate", decay_rate)
    highest = lr / (math.sqrt(d_model) * math.sqrt(warmup))

    def rate(step: int) -> float:
        if step < warmup:
            return highest * step / warmup
        return highest * decay_rate ** ((step - warmup) // decay_steps)

    parameters = {"lr": lr, "d_model": d_model, "warmup": warmup}
    return Formula(
        "staircase",
        parameters | {"decay_steps": decay_steps, "decay_rate": decay_rate},
        rate,
    )


def cosine(
    lr: int | float, warmup: int, total: int, floor: int | float = 0.0
) -> Formula:
    """Linear warm-up to `lr`, then half a cosine down to `floor`, which is kept.

        lr(step) = floor + (lr - floor) * (1 + cos(pi * (step - warmup) / (total -
        warmup))) / 2

    Source: Loshchilov and Hutter (arXiv 1608.03983), equation 5, one period without
    restart, with a warm-up before.

    Args:
        lr: the highest rate, reached at step = warmup.
        warmup: steps up to it; 0 starts at the top.
        total: step at which the floor is reached.
        floor: the lowest rate of the decay.

    Raises:
        ValueError: an argument is out of range.
    """
    check_at_least("lr", lr, 0)
    check_at_least("warmup", warmup, 0)
    check_at_least("total", total, warmup + 1)
    if not 0 <= floor <= lr:
        raise ValueError(f"floor must lie between 0 and lr ({lr}), got {floor}")

    def rate(step: int) -> float:
        if step < warmup:
            return lr * step / warmup
        done = min(1.0, (step - warmup) / (total - warmup))
        return floor + (lr - floor) * (1 + math.cos(math.pi * done)) / 2

    return Formula(
        "cosine", {"lr": lr, "warmup": warmup, "total": total, "floor": floor}, rate
    )


def by_name(
    name: str,
    lr: int | float,
    *,
    warmup: int,
    d_model: int,
    epoch_steps: int,
    total: int,
) -> Formula:
    """The schedule that a recipe names.

    Args:
        name: constant, inverse-sqrt, noam, staircase, or else cosine.
        lr: highest learning rate; the factor of noam and staircase.
        warmup: steps until it is highest; cosine shortens it to leave one step.
        d_model: width of the model, for noam and staircase.
        epoch_steps: steps of an epoch; a stair is two epochs long.
        total: steps of the run, for cosine.
    """
    if name == "constant":
        return constant(lr)
    if name == "inverse-sqrt":
        return inverse_sqrt(lr, warmup)
    if name == "noam":
        return noam(d_model, warmup, lr)
    if name == "staircase":
        return staircase(lr, d_model, warmup, 2 * epoch_steps, 0.8)
    return cosine(lr, min(warmup, total - 1), total)


class Plateau:
    """Cuts the learning rate when a score has stopped improving.

    Call `update` with the score of each validation. When more than `patience` of them
    in a row bring no new best, the rate is multiplied by `factor`, but never falls
    below `floor`. A score is a new best when it is better by more than the share
    `threshold` of the best one. For a "max" score below zero the share is taken of its
    magnitude.

    Args:
        lr: the first learning rate.
        factor: what a cut multiplies the rate by, above 0 and at most 1.
        patience: validations in a row without a new best that are let pass.
        mode: "min" where a lower score is better (a loss), "max" where a higher one is
            (BLEU).
        threshold: smallest improvement, as a share of the best score.
        floor: lowest rate.
        warmup: steps over which the rate rises linearly from 0; 0 for none.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        lr: int | float,
        *,
        factor: int | float = 0.1,
        patience: int = 10,
        mode: str = "min",
        threshold: int | float = 1e-4,
        floor: int | float = 0.0,
        warmup: int = 0,
    ) -> None:
        check_factor("factor", factor)
        sizes = {
            "lr": lr,
            "patience": patience,
            "threshold": threshold,
            "floor": floor,
            "warmup": warmup,
        }
        for name, value in sizes.items():
            check_at_least(name, value, 0)
        if floor > lr:
            raise ValueError(f"floor must lie between 0 and lr ({lr}), got {floor}")
        if mode not in ("min", "max"):
            raise ValueError(f"mode must be min or max, got {mode!r}")
        self.factor, self.patience, self.mode = factor, patience, mode
        self.threshold, self.floor, self.warmup = threshold, floor, warmup
        self._label = (
            f"Plateau(lr={lr}, factor={factor}, patience={patience}, mode={mode!r}, "
        )
        self._label += f"threshold={threshold}, floor={floor}, warmup={warmup})"
        self.lr = float(lr)
        self.best = math.inf if mode == "min" else -math.inf
        self.n_bad = 0

    def __repr__(self) -> str:
        return self._label

    def __call__(self, step: int) -> float:
        """Learning rate of a step, counted from 1, after the cuts made so far.

        Raises:
            ValueError: the step is below 1.
        """
        if step < 1:
            raise ValueError(f"step must be at least 1, the first step, got {step}")
        return self.lr * min(1.0, step / self.warmup) if self.warmup else self.lr

    def update(self, score: int | float) -> None:
        """Note the score of a validation; the rate may fall. NaN is no improvement."""
        if self._is_better(score):
            self.best, self.n_bad = float(score), 0
            return
        self.n_bad += 1
        if self.n_bad > self.patience:
            self.lr, self.n_bad = max(self.lr * self.factor, self.floor), 0

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint must hold: rate before warm-up, best score, bad ones since.

        JSON has no infinity, so `best` is None before the first score.
        """
        best = self.best if math.isfinite(self.best) else None
        return {"lr": self.lr, "best": best, "n_bad": self.n_bad}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what `state_dict` returned.

        Raises:
            ValueError: the state has other keys.
        """
        if state.keys() != self.state_dict().keys():
            raise ValueError(
                "state must have the keys lr, best, n_bad, got"
                f" {', '.join(state) or 'none'}"
            )
        self.lr, self.n_bad = state["lr"], state["n_bad"]
        self.best = (
            (math.inf if self.mode == "min" else -math.inf)
            if state["best"] is None
            else state["best"]
        )

    def _is_better(self, score: int | float) -> bool:
        margin = self.threshold * abs(self.best) if math.isfinite(self.best) else 0.0
        return (
            score < self.best - margin
            if self.mode == "min"
            else score > self.best + margin
        )
