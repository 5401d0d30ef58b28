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
    due_best: float | None = None
    """Best score of the validations that were due; the last one of a call may come early, and patience ignores it."""
    n_bad: int = 0
    """Due validations since then."""

    def advance(self, position: int, n_batches: int) -> None:
        """A step has used the batches before `position`, of `n_batches` in the epoch."""
        self.step += 1
        self.position = position
        if position == n_batches:
            self.epoch, self.position = self.epoch + 1, 0

    def note(self, score: float, mode: str, *, is_due: bool) -> bool:
        """Take note of a validation's score and return whether it is the best so far. NaN never is.

        A validation that is not due leaves no trace in `n_bad`, so that a run which ended there and is prolonged
        stops where a longer run would have stopped.
        """
        if is_due:
            improves = _is_better(score, self.due_best, mode)
            self.due_best, self.n_bad = (score, 0) if improves else (self.due_best, self.n_bad + 1)
        if not _is_better(score, self.best_score, mode):
            return False
        self.best_score, self.best_step = score, self.step
        return True


def _is_better(score: float, best: float | None, mode: str) -> bool:
    sign = 1.0 if mode == "max" else -1.0
    return sign * score > (-math.inf if best is None else sign * best)
