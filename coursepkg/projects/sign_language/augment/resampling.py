"""Speed as source 002 has it, kept as a control: the whole clip is played faster or slower before frames are taken.

Frames that are spaced evenly over what is played are nearly those that are spaced evenly over the clip. What is left is
rounding: both steps cut indices off. `time_warp.resampling_shift` measures it, `time_warp.DrawWarp` mends it.

Source: source 002, section V.2, `_speed_augment` and `_downsample_frames`.
"""

from dataclasses import dataclass

import numpy as np

from coursepkg.arguments import check_count, check_field, check_finite

LEAST_PLAYED = 4
"""Frames that are left of the fastest clip, as in the source."""


@dataclass(frozen=True)
class ResamplingConfig:
    """How much faster or slower clips are played.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    strength: float = 0.1
    """Speeds are drawn evenly from 1 - strength to 1 + strength, in [0, 0.9]; the source has 0.1."""
    n_frames: int = 30
    """Frames of a clip as filmed, by which indices are cut off; the usual clip of the contest has 30. At least 2."""

    def __post_init__(self) -> None:
        check_finite("--strength", self.strength)
        check_field(self, "strength", 0 <= self.strength <= 0.9, "in [0, 0.9]")
        check_count("--n-frames", self.n_frames, least=2)


@dataclass(frozen=True)
class Resampling:
    """A clip played at another speed."""

    speed: float
    """Above 1 is faster."""
    n_frames: int
    """Frames of the clip as filmed."""

    def __call__(self, count: int) -> np.ndarray:
        """The places of `count` frames that are spaced evenly over what is played, float64 (count,), in [0, 1]."""
        last = self.n_frames - 1
        n_played = max(LEAST_PLAYED, int(self.n_frames / self.speed))
        played = np.arange(n_played) * last // (n_played - 1)
        if n_played < count:  # the source repeats the last frame of a clip that has become too short
            played = np.concatenate([played, np.repeat(played[-1:], count - n_played)])
        taken = np.arange(count) * (len(played) - 1) // max(1, count - 1)
        places: np.ndarray = played[taken] / last
        return places


class DrawResampling:
    """What `ClipBatches` takes as `draw_places`: a speed for each clip.

    Args:
        config: how much faster or slower.
    """

    def __init__(self, config: ResamplingConfig) -> None:
        self.config = config

    def __call__(self, rng: np.random.Generator) -> Resampling:
        """The speed of one clip."""
        low, high = 1 - self.config.strength, 1 + self.config.strength
        return Resampling(float(rng.uniform(low, high)), self.config.n_frames)
