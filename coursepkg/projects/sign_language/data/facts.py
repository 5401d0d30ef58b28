"""What a video is, without its pictures: size, times of its frames, codec."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.projects.sign_language.data.container import (
    PacketTable,
    VideoError,
    frames_of,
    opened,
    packets,
)
from coursepkg.projects.sign_language.data.framing import quarter_turns, shown_size

_LEAST_STEP = 1e-3
"""Seconds between two frames whose time stamps do not rise."""


@dataclass(frozen=True, eq=False)
class VideoFacts:
    """What a video is."""

    path: Path
    width: int
    """As it is shown: upright, in square pixels."""
    height: int
    times: np.ndarray
    """When each frame is shown, in seconds from the first, float64 (N,), rising."""
    expected: int
    """Frames that the container promises; more than there are times where the file is cut short."""
    codec: str
    container: str
    rotation: int
    """Degrees by which the stored frames are turned against the clock to stand upright: 0, 90, 180 or 270."""
    has_audio: bool

    @property
    def seconds(self) -> float:
        """How long it is shown, the last frame for as long as the one before it; 0 for a single frame."""
        steps = np.diff(self.times)
        return float(self.times[-1] + steps[-1]) if len(steps) else 0.0

    @property
    def fps(self) -> float:
        """Frames a second, on average; 0 for a single frame."""
        return (len(self.times) - 1) / float(self.times[-1]) if len(self.times) > 1 else 0.0

    @property
    def has_variable_rate(self) -> bool:
        """Whether some frame is shown for less than half or more than one and a half times the usual time."""
        steps = np.diff(self.times)
        if len(steps) < 2:
            return False
        usual = float(np.median(steps))
        return bool(steps.min() < 0.5 * usual or steps.max() > 1.5 * usual)


def probe(path: str | Path) -> VideoFacts:
    """What a video is. One frame of it is decoded, so what is said is true of pictures that exist.

    Raises:
        FileNotFoundError: there is no such file.
        VideoError: it cannot be read.
        ImportError: av is not installed.
    """
    path = Path(path)
    with opened(path) as (container, stream):
        table, first = PacketTable(announced=stream.frames), None
        for packet in packets(container, stream, table):
            if first is None:
                first = next(iter(frames_of(packet)), None)
        return facts_of(path, container, stream, table, first)


def facts_of(path: Path, container: Any, stream: Any, table: PacketTable, first: Any) -> VideoFacts:
    """What is known once all packets were seen and one frame was decoded.

    Args:
        path: of the video.
        container: of PyAV.
        stream: of its pictures.
        table: of the stream's packets.
        first: a frame of it; None where none could be decoded.

    Raises:
        VideoError: there is no frame.
    """
    if first is None:
        raise VideoError(why_nothing(path, table))
    width, height = shown_size(first, stream)
    return VideoFacts(
        path=path,
        width=width,
        height=height,
        times=seconds_of(sorted(table.shown), stream),
        expected=table.expected,
        codec=stream.codec_context.name,
        container=container.format.name,
        rotation=90 * quarter_turns(first),
        has_audio=bool(container.streams.audio),
    )


def seconds_of(stamps: Sequence[int], stream: Any, start: int | None = None) -> np.ndarray:
    """Time stamps of a stream in seconds, float64 (N,), made to rise where two are alike.

    Args:
        stamps: ascending.
        stream: whose units they are in.
        start: the stamp that counts as 0; None takes the first.
    """
    if not stamps:
        return np.zeros(0)
    start = stamps[0] if start is None else start
    unit = float(stream.time_base)
    times = np.array([(stamp - start) * unit for stamp in stamps])
    for i in np.flatnonzero(np.diff(times) <= 0) + 1:
        times[i] = times[i - 1] + _LEAST_STEP
    if (np.diff(times) <= 0).any():  # a whole run is alike: the frame rate is all that is known
        return np.arange(len(stamps)) / float(stream.average_rate or 25)
    return times


def why_nothing(path: Path, table: PacketTable) -> str:
    """Why not a single frame of a video could be decoded, in one line.

    Args:
        path: of the video.
        table: of all its packets.
    """
    if not table.expected:
        return f"{path}: a video without a single frame, perhaps cut short; copy it again or leave it out"
    if not table.n_shown:
        return f"{path}: cut short before its first frame of {table.expected}; copy it again or leave it out"
    return f"{path}: none of its {table.expected} frames can be decoded; copy it again or leave it out"
