"""Frames in one colour leave a clip before frames are sampled: what stands in their place shows the sign.

Of 16 frames taken evenly from a clip that is white for two thirds of its time five show something. Of the same clip
without the white frames all 16 do.
"""

import numpy as np

from coursepkg.projects.sign_language.data.cache import CacheConfig
from coursepkg.projects.sign_language.quality.broken import BrokenThresholds, is_solid
from coursepkg.projects.sign_language.quality.thumbnails import shrink


def seen_frames(
    frames: np.ndarray, times: np.ndarray, config: CacheConfig, solid: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """What is kept of small frames: all, or with `skip_solid` those that show something."""
    return without_solid(frames, times, solid) if config.skip_solid else (frames, times)


def without_solid(
    frames: np.ndarray, times: np.ndarray, solid: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The frames that are not in one colour, and when they are shown: time stands still over those that are left out.

    A clip that is in one colour from its first frame to its last stays as it is.

    Args:
        frames: uint8 (T, height, width, 3).
        times: in seconds (T,), rising.
        solid: what `solid_frames` says of them, where it was asked already.
    """
    whole = np.flatnonzero(~(solid_frames(frames) if solid is None else solid))
    if len(whole) in (0, len(frames)):
        return frames, times
    # Each frame that stays is shown as long after the one before as it was after its neighbour in the file.
    steps = np.diff(times, prepend=times[:1])[whole]
    steps[0] = times[whole[0]]
    return frames[whole], np.cumsum(steps)


def solid_frames(frames: np.ndarray) -> np.ndarray:
    """Which frames of a clip are in one colour, bool (T,); frames are uint8 (T, height, width, 3)."""
    return is_solid(shrink(frames), BrokenThresholds())
