"""A learning rate that falls when the validation score has stopped improving."""

import math
from typing import Any

from coursepkg.training.schedules import check_at_least, check_factor


class Plateau:
    """Cuts the learning rate when a score has stopped improving.

    Call `update` with the score of each validation. When more than `patience` of them in a row bring no new best,
    the rate is multiplied by `factor`, but never falls below `floor`. A score is a new best when it is better by more
    than the share `threshold` of the best one. For a "max" score below zero the share is taken of its magnitude.

    Args:
        lr: the first learning rate.
        factor: what a cut multiplies the rate by, above 0 and at most 1.
        patience: validations in a row without a new best that are let pass.
        mode: "min" where a lower score is better (a loss), "max" where a higher one is (BLEU).
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
        sizes = {"lr": lr, "patience": patience, "threshold": threshold, "floor": floor, "warmup": warmup}
        for name, value in sizes.items():
            check_at_least(name, value, 0)
        if mode not in ("min", "max"):
            raise ValueError(f"mode must be min or max, got {mode!r}")
        self.factor, self.patience, self.mode = factor, patience, mode
        self.threshold, self.floor, self.warmup = threshold, floor, warmup
        self._said = f"Plateau(lr={lr}, factor={factor}, patience={patience}, mode={mode!r}, "
        self._said += f"threshold={threshold}, floor={floor}, warmup={warmup})"
        self.lr = float(lr)
        self.best = math.inf if mode == "min" else -math.inf
        self.n_bad = 0

    def __repr__(self) -> str:
        return self._said

    def __call__(self, step: int) -> float:
        """Learning rate of a step, counted from 1, after the cuts made so far.

        Raises:
            ValueError: the step is below 1.
        """
        if step < 1:
            raise ValueError(f"step must be at least 1, the first step, got {step}")
        return self.lr * min(1.0, step / self.warmup) if self.warmup else self.lr

    def update(self, score: int | float) -> None:
        """Take note of the score of a validation; the rate may fall. NaN is no improvement."""
        if self._is_better(score):
            self.best, self.n_bad = float(score), 0
            return
        self.n_bad += 1
        if self.n_bad > self.patience:
            self.lr, self.n_bad = max(self.lr * self.factor, self.floor), 0

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint must hold to go on exactly: the rate without warm-up, the best score, the bad ones since.

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
            raise ValueError(f"state must have the keys lr, best, n_bad, got {', '.join(state) or 'none'}")
        self.lr, self.n_bad = state["lr"], state["n_bad"]
        self.best = (
            (math.inf if self.mode == "min" else -math.inf) if state["best"] is None else state["best"]
        )

    def _is_better(self, score: int | float) -> bool:
        margin = self.threshold * abs(self.best) if math.isfinite(self.best) else 0.0
        return score < self.best - margin if self.mode == "min" else score > self.best + margin
