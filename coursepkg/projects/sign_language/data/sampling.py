"""T frames of a clip, evenly spaced in time, and what fills up a clip that has fewer.

At an even frame rate the frames are those of the contest's baseline, `linspace(0, N - 1, T)` rounded down. At an uneven
one they are the pictures that are on the screen at T evenly spaced moments: a frame number says nothing about time
there.

Source: source 002, sections IV.1 and V.1.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from coursepkg.arguments import check_count, check_finite
from coursepkg.projects.sign_language.clip import Clip

Padding = Literal["repeat", "loop", "mask"]
PADDINGS = ("repeat", "loop", "mask")
"""What fills up a clip that has fewer frames than are wanted.

- `repeat`: its last frame again and again, as the contest does. The model sees hands that stand still.
- `loop`: the clip from its beginning. The model sees the sign again.
- `mask`: its last frame, marked as not real. A model that respects the mask sees nothing.
"""
_NEAR = 1e-3
"""A frame that begins this share of a frame after the moment counts as begun: time stamps are rounded."""


@dataclass(frozen=True, eq=False)
class Sampled:
    """Which frames of a clip stand for it."""

    numbers: np.ndarray
    """Of the frames, from 0, int64 (T,)."""
    mask: np.ndarray
    """Bool (T,), True where the frame is real."""


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
    _check(times, count)
    check_finite("offset", offset)
    if not -1 <= offset <= 1:
        raise ValueError(f"offset must be in [-1, 1], got {offset}")
    first, last = float(times[0]), float(times[-1])
    moments = np.linspace(first, last, count) + offset * (last - first) / max(1, count - 1)
    moments = moments.clip(first, last) + _NEAR * (last - first) / max(1, len(times) - 1)
    return np.searchsorted(times, moments, side="right").astype(np.int64) - 1


def sample_frames(
    times: np.ndarray, count: int = 16, padding: Padding = "mask", *, offset: int | float = 0.0
) -> Sampled:
    """T frames of a clip: evenly spaced in time where it has so many, otherwise all of them and padding.

    Args:
        times: of all frames, in seconds (N,), rising.
        count: frames that are wanted, T.
        padding: see `PADDINGS`.
        offset: see `uniform_frames`.

    Raises:
        ValueError: there is no frame, or an argument is out of range.
    """
    _check(times, count)
    if padding not in PADDINGS:
        raise ValueError(f"padding must be one of {', '.join(PADDINGS)}, got {padding!r}")
    if len(times) >= count:
        return Sampled(uniform_frames(times, count, offset=offset), np.ones(count, dtype=bool))
    places = np.arange(count, dtype=np.int64)
    numbers = places % len(times) if padding == "loop" else places.clip(max=len(times) - 1)
    mask = places < len(times) if padding == "mask" else np.ones(count, dtype=bool)
    return Sampled(numbers, mask)


def thin_clip(clip: Clip, most: int) -> Clip:
    """At most so many frames of a clip, evenly spaced in time, none of them twice."""
    if len(clip.times) <= most:
        return clip
    numbers = np.unique(uniform_frames(clip.times, most))
    return replace(clip, frames=clip.frames[numbers], times=clip.times[numbers])


def _check(times: np.ndarray, count: int) -> None:
    check_count("count", count)
    if times.ndim != 1 or not len(times):
        raise ValueError(f"times must be one number a frame and at least one, got shape {times.shape}")
