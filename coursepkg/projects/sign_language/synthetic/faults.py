"""What goes wrong in recordings: runs of frames in one colour, and frames that stand still."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

Fault = Literal["", "solid", "frozen", "duplicate"]
"""What may be wrong with a clip: nothing, a run in one colour, a frame that stands still, or that it is a copy."""
COLOURS = ((0, 0, 0), (255, 255, 255), (250, 214, 20), (16, 40, 200))
"""Black, white, yellow and blue: those of the contest's broken clips."""
LEAST_SIGNED = 6
"""Frames that at least stay for the word."""


@dataclass(frozen=True)
class Gap:
    """A run of broken frames within a clip."""

    begin: int
    """Frames before it."""
    length: int
    """Its frames; 0 where the clip is whole."""
    colour: tuple[int, int, int] | None
    """Of all its pixels; without one, the frame before it stands still."""


def draw_gap(fault: Literal["solid", "frozen"], n_frames: int, rng: np.random.Generator) -> Gap:
    """Where a clip is broken.

    Two of three runs in one colour are 25 to 42% of the clip and the third is 62 to 75%, as far as `LEAST_SIGNED`
    frames stay: the two heaps that the contest's data have. A frame stands still for 25 to 50%.

    Args:
        fault: what is wrong.
        n_frames: of the whole clip.
        rng: where chance comes from.
    """
    heavy = fault == "solid" and rng.random() < 1 / 3
    low, high = (0.62, 0.75) if heavy else (0.25, 0.42 if fault == "solid" else 0.5)
    length = min(round(rng.uniform(low, high) * n_frames), n_frames - LEAST_SIGNED)
    # A frame can stand only once there is one.
    begin = int(rng.integers(0 if fault == "solid" else 1, n_frames - length + 1))
    colour = COLOURS[int(rng.integers(len(COLOURS)))] if fault == "solid" else None
    return Gap(begin, length, colour)


def fill_gap(frames: np.ndarray, gap: Gap) -> np.ndarray:
    """The frames with the gap between them.

    Args:
        frames: uint8 (T, height, width, 3).
        gap: which may be empty.

    Returns:
        uint8 (T + gap.length, height, width, 3).
    """
    if not gap.length:
        return frames
    filling = np.empty((gap.length, *frames.shape[1:]), np.uint8)
    filling[:] = frames[gap.begin - 1] if gap.colour is None else np.array(gap.colour, np.uint8)
    return np.concatenate([frames[: gap.begin], filling, frames[gap.begin :]])
