"""How a stream of frames is cut into windows, and when what is read in them counts as a signed word."""

from dataclasses import dataclass

from coursepkg.arguments import check_field, check_finite, flag_of


@dataclass(frozen=True)
class StreamConfig:
    """How a stream is cut into windows and these become events.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    window: float = 2.5
    """Seconds that are looked at together, above 0: about as long as the clips that the network learnt from."""
    hop: float = 0.5
    """Seconds from one window to the next, above 0 and at most the window."""
    smoothing: float = 0.5
    """Share of the window before in the probabilities, in [0, 1); 0 takes each window for itself."""
    threshold: float = 0.5
    """A word is sure where its smoothed probability is at least this, above 0 and up to 1."""
    refractory: float = 1.0
    """A word that is sure again within so many seconds is still the same event, at least 0."""

    def __post_init__(self) -> None:
        for name in ("window", "hop", "smoothing", "threshold", "refractory"):
            check_finite(flag_of(name), getattr(self, name))
        check_field(self, "window", self.window > 0, "above 0")
        check_field(
            self, "hop", 0 < self.hop <= self.window, f"above 0 and at most the window, {self.window:g}"
        )
        check_field(self, "smoothing", 0 <= self.smoothing < 1, "in [0, 1)")
        check_field(self, "threshold", 0 < self.threshold <= 1, "above 0 and at most 1")
        check_field(self, "refractory", self.refractory >= 0, "at least 0")
