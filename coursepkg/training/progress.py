"""Where a run stands: what a checkpoint must say besides tensors."""

import math
from dataclasses import dataclass


@dataclass
class Progress:
    """Where a run stands."""

    step: int = 0
    """Optimiser steps taken."""
    epoch: int = 0
    """Number of the epoch whose batches come next."""
    position: int = 0
    """Index of the next batch in that epoch."""
    best_score: float | None = None
    """Best score of a validation so far."""
    best_step: int | None = None
    """Step after which it was reached."""
    n_bad: int = 0
    """Validations since then."""

    def advance(self, position: int, n_batches: int) -> None:
        """A step has used the batches before `position`, of `n_batches` in the epoch."""
        self.step += 1
        self.position = position
        if position == n_batches:
            self.epoch, self.position = self.epoch + 1, 0

    def note(self, score: float, mode: str) -> bool:
        """Take note of a validation's score and return whether it is the best so far. NaN never is."""
        sign = 1.0 if mode == "max" else -1.0
        best = -math.inf if self.best_score is None else sign * self.best_score
        if not sign * score > best:
            self.n_bad += 1
            return False
        self.best_score, self.best_step, self.n_bad = score, self.step, 0
        return True
