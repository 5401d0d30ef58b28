"""The progress bar of a run, on standard error."""

import sys
from types import TracebackType

from tqdm import tqdm

from coursepkg.training.config import TrainConfig
from coursepkg.training.step import Step


class ProgressBar:
    """Steps done, steps a second, loss and learning rate; and a count of what was trained on.

    Args:
        step: steps that the run has behind it.
        config: says how many there will be, and whether to show anything.
        shown: whether this process is the one that shows it.
    """

    def __init__(self, step: int, config: TrainConfig, *, shown: bool) -> None:
        self.units = 0
        self.bar = tqdm(
            total=config.max_steps,
            initial=step,
            unit="step",
            file=sys.stderr,
            disable=not (shown and config.progress),
        )

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.close()

    def show(self, step: Step, learning_rate: float) -> None:
        """One more step is done."""
        self.units += step.units
        self.bar.set_postfix_str(f"loss {step.loss:.4f}, lr {learning_rate:.2e}", refresh=False)
        self.bar.update()
