"""The race between three ways to T frames of a clip: from the cache, decoded live, and by a bare loop of PyAV."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from coursepkg.bench.race import Comparison, Contest, Gate
from coursepkg.projects.sign_language.clip import ClipFile
from coursepkg.projects.sign_language.data.cache import CacheConfig, CachedClips
from coursepkg.projects.sign_language.data.caching import cache_clips
from coursepkg.projects.sign_language.data.container import import_av
from coursepkg.projects.sign_language.data.sampling import uniform_frames
from coursepkg.projects.sign_language.data.video import decode_needed

CACHED_TARGET = 20.0
"""How many times faster cached clips are promised to be than live decoding."""
LIVE_TARGET = 1 / 1.3
"""How fast live decoding is promised to be at least, as a multiple of the bare loop's speed."""


@dataclass(frozen=True)
class Ways:
    """The same frames of the same clips in the same order, by three ways; uint8 (T, size, size, 3) a clip."""

    cached: Callable[[], list[np.ndarray]]
    live: Callable[[], list[np.ndarray]]
    bare: Callable[[], list[np.ndarray]]
    n_clips: int


def loading_ways(
    files: Sequence[ClipFile], folder: str | Path, *, n_frames: int = 16, size: int = 64, seed: int = 0
) -> Ways:
    """Cache some clips, and return what loads them, in one random order.

    Args:
        files: of an even frame rate and with at least `n_frames` frames: the bare loop goes by numbers.
        folder: of the cache.
        n_frames: of a clip, T.
        size: of the square frames, in pixels; frames are squeezed, which every way does in one step.
        seed: of the order.

    Raises:
        ValueError: a clip cannot be decoded, or has fewer frames.
    """
    cached = cache_clips(files, folder, CacheConfig(size=size, frames=n_frames, fit="stretch"))
    if cached.left_out:
        raise ValueError(f"{len(cached.left_out)} clips cannot be decoded: {cached.left_out[0].reason}")
    short = next((clip for clip in cached.clips if len(clip.times) < n_frames), None)
    if short is not None:
        raise ValueError(f"{short.name}: {len(short.times)} frames at {n_frames} moments; leave the clip out")
    order = list(range(len(files)))
    random.Random(seed).shuffle(order)

    def live(i: int) -> np.ndarray:
        return decode_needed(
            files[i].path, lambda times: uniform_frames(times, n_frames), size=size, fit="stretch"
        ).frames

    av = import_av()
    return Ways(
        cached=lambda: [_sampled(cached, i, n_frames) for i in order],
        live=lambda: [live(i) for i in order],
        bare=lambda: [_bare_loop(av, files[i].path, n_frames, size) for i in order],
        n_clips=len(files),
    )


def loading_contest(
    files: Sequence[ClipFile], folder: str | Path, *, n_frames: int = 16, size: int = 64
) -> Contest:
    """The race for `coursepkg bench`; its gates ask for equal pixels.

    Args:
        files: see `loading_ways`.
        folder: of the cache, which must last as long as the contest.
        n_frames: see `loading_ways`.
        size: see `loading_ways`.
    """
    ways = loading_ways(files, folder, n_frames=n_frames, size=size)

    def pixels(load: Callable[[], list[np.ndarray]]) -> Callable[[], list[Tensor]]:
        return lambda: [torch.from_numpy(frames.astype(np.float64)) for frames in load()]

    bare = pixels(ways.bare)
    return Contest(
        name=f"{ways.n_clips} clips, {n_frames} frames of {size} x {size}",
        variants={"cached": ways.cached, "live": ways.live, "bare loop": ways.bare},
        comparisons=[
            Comparison("cached", "live", target=CACHED_TARGET),
            Comparison("live", "bare loop", target=LIVE_TARGET),
        ],
        gates=[Gate("cached", pixels(ways.cached), bare, bare), Gate("live", pixels(ways.live), bare, bare)],
    )


def _sampled(clips: CachedClips, i: int, n_frames: int) -> np.ndarray:
    return clips.frames(i, uniform_frames(clips.times(i), n_frames))


def _bare_loop(av: Any, path: Path, n_frames: int, size: int) -> np.ndarray:
    """What one writes down first: decode up to the last frame that is needed, and convert those that are."""
    found = []
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        last = stream.frames - 1
        wanted = {place * last // (n_frames - 1) for place in range(n_frames)}
        for number, frame in enumerate(container.decode(stream)):
            if number in wanted:
                found.append(frame.to_ndarray(format="rgb24", width=size, height=size, interpolation="AREA"))
            if number == last:
                break
    return np.stack(found)
