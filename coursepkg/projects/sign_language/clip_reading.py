"""Clips for prediction, read as `data.caching` reads those for training: square, and at most so many frames."""

from pathlib import Path

import numpy as np

from coursepkg.projects.sign_language.clip import Clip
from coursepkg.projects.sign_language.data.cache import CacheConfig
from coursepkg.projects.sign_language.data.framing import Framing
from coursepkg.projects.sign_language.data.sampling import kept_frames
from coursepkg.projects.sign_language.data.solid import seen_frames, solid_frames
from coursepkg.projects.sign_language.data.video import decode_needed
from coursepkg.projects.sign_language.stream_frames import framed


def read_small(path: str | Path, config: CacheConfig) -> tuple[Clip, str]:
    """A video as a clip of few small frames, and what is wrong with it although it can be read.

    Args:
        path: of the video.
        config: size and number of the frames; its `most_lost` refuses nothing here.

    Returns:
        the clip, and one line, empty where nothing is wrong.

    Raises:
        FileNotFoundError: there is no such file.
        VideoError: it cannot be read.
        ImportError: av is not installed.
    """
    video = decode_needed(
        path, lambda times: kept_frames(times, config.frames), size=config.size, fit=config.fit
    )
    solid = solid_frames(video.frames)
    frames, times = seen_frames(video.frames, video.times, config, solid)
    little = _little_to_see(solid, n_left=len(frames))
    flaw = "; ".join(filter(None, (video.complaint, f"{path}: {little}" if little else "")))
    return Clip(frames, times, "", "", str(path)), flaw


def _little_to_see(solid: np.ndarray, n_left: int) -> str:
    """What is wrong with the pictures that are left of those that were looked at; empty where nothing is."""
    if solid.all():
        return "every frame is in one colour; the answer means nothing"
    n_looked, said = len(solid), []
    if n_left < n_looked:
        gone = n_looked - n_left
        said.append(f"{gone} of {n_looked} frames that were looked at are in one colour and were left out")
    if n_left == 1:
        said.append("one frame only, no motion to read")
    return "; ".join(said)


def made_small(clip: Clip, config: CacheConfig) -> Clip:
    """A clip in memory in the same form; frames that have the size already stay as they are.

    Raises:
        ImportError: frames are to be scaled and av is not installed.
    """
    chosen = kept_frames(clip.times, config.frames)
    frames = clip.frames[chosen]
    if frames.shape[1:3] != (config.size, config.size):
        framing = Framing(config.size, config.fit)
        frames = np.stack([framed(frame, framing, clip.name) for frame in frames])
    frames, times = seen_frames(frames, clip.times[chosen], config)
    return Clip(frames, times, clip.label, clip.signer, clip.name)
