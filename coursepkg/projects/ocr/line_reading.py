"""What a reader of lines answers: for each picture its readings with their confidences, or why there is none."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Alternative:
    """One of several readings of a line."""

    text: str
    """What the line may say."""
    confidence: float
    """Geometric mean of the probabilities of its characters and of the end behind them, and of all looks, in [0, 1]."""
    score: float
    """What ranks it."""


@dataclass(frozen=True)
class LineReading:
    """A line and what it says."""

    n_best: tuple[Alternative, ...]
    """Readings, best first; empty where the picture could not be read."""
    error: str | None = None
    """Why it could not be read, in one line."""

    @property
    def text(self) -> str:
        """The best reading; empty where there is none."""
        return self.n_best[0].text if self.n_best else ""

    @property
    def confidence(self) -> float:
        """That of the best reading; 0 where there is none, or where it is empty: nothing read is never sure."""
        return self.n_best[0].confidence if self.text.strip() else 0.0

    def is_doubtful(self, below: float) -> bool:
        """Whether something was read, and with less confidence than this. Of an empty reading nothing is known."""
        return bool(self.text.strip()) and self.confidence < below
