"""Speed as a warp of time that is not even: now faster, now slower, the order never changed.

Signers do not differ in one number. One lifts the hands slowly and signs fast, another lingers at the end. A clip that
is only played faster as a whole, and is then sampled at moments evenly spaced over its length, gives the same frames
again: `resampling_shift` measures how little is left. A warp moves the places where frames are taken.
"""

from dataclasses import dataclass

import numpy as np

from coursepkg.arguments import check_count, check_field, check_finite
from coursepkg.projects.sign_language.data.sampling import frames_at, uniform_frames


@dataclass(frozen=True)
class WarpConfig:
    """How strongly time is warped.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    strength: float = 0.3
    """A stretch is at most 1 / (1 - strength) times faster or slower, before the whole is brought back to its old
    length; in [0, 0.9], 0 leaves time as it is. 0.1 draws from about the speeds of source 002, 0.9 to 1.1."""
    stretches: int = 4
    """Parts of equal length with a speed of their own, from 2; a single one would lose its speed to the old length."""

    def __post_init__(self) -> None:
        check_finite("--strength", self.strength)
        check_field(self, "strength", 0 <= self.strength <= 0.9, "in [0, 0.9]")
        check_count("--stretches", self.stretches, least=2)


@dataclass(frozen=True, eq=False)
class TimeWarp:
    """A rising curve from the time of the clip that is shown to that of the clip that was filmed, both in [0, 1].

    Straight between knots, where its slope is the speed. It goes through both corners, so a warped clip begins and
    ends with the frames of the old one.
    """

    shown: np.ndarray
    """Where the stretches begin and end in the new clip, float64 (N + 1,), from 0 to 1, rising."""
    filmed: np.ndarray
    """Where they do in the old one, float64 (N + 1,), from 0 to 1, rising."""

    def __call__(self, count: int) -> np.ndarray:
        """The places in the old clip of frames that are evenly spaced in the new one, float64 (count,), rising."""
        return np.interp(np.linspace(0, 1, count), self.shown, self.filmed)


def draw_warp(config: WarpConfig, rng: np.random.Generator) -> TimeWarp:
    """A warp by chance.

        speed_k = (1 - strength)^(u_k),  u_k even in [-1, 1];  filmed_k = (speed_1 + ... + speed_k) / sum of all

    Args:
        config: the strength, and how many stretches k counts.
        rng: where chance comes from.
    """
    speeds = (1 - config.strength) ** rng.uniform(-1, 1, config.stretches)
    filmed = np.concatenate([[0.0], np.cumsum(speeds) / speeds.sum()])
    filmed[-1] = 1.0
    return TimeWarp(np.linspace(0, 1, config.stretches + 1), filmed)


class DrawWarp:
    """What `ClipBatches` takes as `draw_places`: a warp for each clip by a draw of its own.

    A clip of no more frames than are sampled changes as well: some of its frames come twice, others not at all.

    Args:
        config: how strongly.
    """

    def __init__(self, config: WarpConfig) -> None:
        self.config = config

    def __call__(self, rng: np.random.Generator) -> TimeWarp:
        """The warp of one clip."""
        return draw_warp(self.config, rng)


@dataclass(frozen=True)
class Shift:
    """By how many frames the samples of a clip move, without sign."""

    mean: float
    """On average over the samples."""
    most: int
    """That of the sample that moves furthest."""


def resampling_shift(n_frames: int, n_samples: int, speed: int | float) -> Shift:
    """How far playing a clip faster or slower moves the frames that are then sampled evenly: hardly.

    It is done as in source 002 (`_speed_augment`, then `_downsample_frames`), where both cut indices off. What is left
    comes from that alone: with real numbers for indices both steps together would be the identity.

    Args:
        n_frames: of the clip, at least `n_samples`.
        n_samples: taken of it, T.
        speed: above 0; above 1 is faster. The source draws it from 0.9 to 1.1.

    Raises:
        ValueError: an argument is out of range.
    """
    check_count("n_samples", n_samples, least=2)
    check_count("n_frames", n_frames, least=n_samples)
    check_finite("speed", speed)
    if speed <= 0:
        raise ValueError(f"speed must be above 0, got {speed}")
    played = _even_indices(n_frames, max(4, int(n_frames / speed)))
    if len(played) < n_samples:  # the source repeats the last frame of a clip that has become too short
        played = np.concatenate([played, np.repeat(played[-1:], n_samples - len(played))])
    return _shift(played[_even_indices(len(played), n_samples)], _even_indices(n_frames, n_samples))


def warp_shift(n_frames: int, n_samples: int, warp: TimeWarp) -> Shift:
    """How far a warp moves the frames that are sampled, to compare with `resampling_shift`.

    Args:
        n_frames: of the clip, evenly spaced in time.
        n_samples: taken of it, T.
        warp: of its time.
    """
    times = np.arange(n_frames, dtype=np.float64)
    return _shift(frames_at(times, warp(n_samples)), uniform_frames(times, n_samples))


def _even_indices(n_frames: int, n_samples: int) -> np.ndarray:
    """`torch.linspace(0, n_frames - 1, n_samples).long()` of the source, with exact fractions."""
    return np.arange(n_samples) * (n_frames - 1) // (n_samples - 1)


def _shift(one: np.ndarray, other: np.ndarray) -> Shift:
    apart = np.abs(one - other)
    return Shift(float(apart.mean()), int(apart.max()))
