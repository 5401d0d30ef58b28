"""T frames of a clip, evenly spaced in time, and what fills up a clip that has fewer.

At an even frame rate the frames are those of the contest's baseline, `linspace(0, N - 1, T)` rounded down. At an uneven
one they are the pictures that are on the screen at T evenly spaced moments: a frame number says nothing about time
there.

Source: source 002, sections IV.1 and V.1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from coursepkg.arguments import check_count, check_finite

Padding = Literal["repeat", "loop", "mask"]
PADDINGS = ("repeat", "loop", "mask")
"""What fills up a clip that has fewer frames than are wanted.

- `repeat`: its last frame again and again, as the contest does. The model sees hands that stand still.
- `loop`: the clip from its beginning. The model sees the sign again.
- `mask`: its last frame, marked as not real. A model that respects the mask sees nothing.
"""
_NEAR = 0.03
"""A frame counts as begun this share of the frame before it too early: some files round times to milliseconds."""


Places = Callable[[int], np.ndarray]
"""From a number of frames to as many places, rising, in [0, 1] from the begin of a clip to its end."""


@dataclass(frozen=True, eq=False)
class Sampled:
    """Which frames of a clip stand for it."""

    numbers: np.ndarray
    """Of the frames, from 0, int64 (T,)."""
    mask: np.ndarray
    """Bool (T,), True where the frame is real."""


def frames_at(times: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The frames that are on the screen at these places.

    Args:
        times: of all frames, in seconds (N,), rising.
        places: in [0, 1] from the time of the first frame to that of the last (T,).

    Returns:
        numbers of frames, int64 (T,).

    Raises:
        ValueError: there is no frame.
    """
    _check_times(times)
    first, length = float(times[0]), float(times[-1] - times[0])
    begins = times.copy()
    begins[1:] -= _NEAR * np.diff(times)
    moments = first + length * places.clip(0, 1)
    return np.searchsorted(begins, moments, side="right").astype(np.int64) - 1


def uniform_frames(times: np.ndarray, count: int, *, offset: int | float = 0.0) -> np.ndarray:
    """The frames that are on the screen at evenly spaced moments from the first frame to the last.

    Args:
        times: of all frames, in seconds (N,), rising.
        count: moments, T.
        offset: moves every moment by this share of the distance between two of them, in [-1, 1]; moments beyond
            the ends become the ends. Predictions of several offsets can be averaged.

    Returns:
        numbers of frames, int64 (T,), ascending; a frame that is long on the screen comes several times.

    Raises:
        ValueError: there is no frame, or an argument is out of range.
    """
    check_count("count", count)
    check_finite("offset", offset)
    if not -1 <= offset <= 1:
        raise ValueError(f"offset must be in [-1, 1], got {offset}")
    return frames_at(times, np.linspace(0, 1, count) + offset / max(1, count - 1))


def kept_frames(times: np.ndarray, most: int) -> np.ndarray:
    """The numbers of the frames that a cache keeps of a clip: all, or where there are more, so many evenly in time.

    Args:
        times: of all frames, in seconds (N,), rising.
        most: how many are kept.
    """
    if len(times) <= most:
        return np.arange(len(times))
    return np.unique(uniform_frames(times, most))


def sample_frames(
    times: np.ndarray, count: int = 16, padding: Padding = "mask", *, places: Places | None = None
) -> Sampled:
    """T frames of a clip: evenly spaced in time where it has so many, otherwise all of them and padding.

    Args:
        times: of all frames, in seconds (N,), rising.
        count: frames that are wanted, T.
        padding: see `PADDINGS`.
        places: moves the places where frames are taken, as a warp of time does; None spaces them evenly. Of a clip
            with fewer than T frames as many are taken as it has.

    Raises:
        ValueError: there is no frame, or an argument is out of range.
    """
    check_count("count", count)
    if padding not in PADDINGS:
        raise ValueError(f"padding must be one of {', '.join(PADDINGS)}, got {padding!r}")
    _check_times(times)
    real = min(count, len(times))
    if places is not None:
        taken = frames_at(times, places(real))
    else:
        taken = uniform_frames(times, count) if real == count else np.arange(real, dtype=np.int64)
    order = np.arange(count, dtype=np.int64)
    numbers = taken[order % real if padding == "loop" else order.clip(max=real - 1)]
    return Sampled(numbers, order < real if padding == "mask" else np.ones(count, dtype=bool))


def _check_times(times: np.ndarray) -> None:
    if times.ndim != 1 or not len(times):
        raise ValueError(f"times must be one number a frame and at least one, got shape {times.shape}")
