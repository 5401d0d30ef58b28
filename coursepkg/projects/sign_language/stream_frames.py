"""Frames one after another with their times: from a video file as if it were a camera, or from any source of pictures.

One frame is in memory at a time, however long the film is. A camera is an iterator of pictures like any other:

>>> frames = array_frames(pictures_of_my_camera(), fps=30, size=96)
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from coursepkg.arguments import check_finite
from coursepkg.projects.sign_language.clip import check_frames
from coursepkg.projects.sign_language.data.container import (
    PacketTable,
    VideoError,
    frames_of,
    import_av,
    opened,
    packets,
)
from coursepkg.projects.sign_language.data.facts import why_nothing
from coursepkg.projects.sign_language.data.framing import Fit, Framing, to_array


class TimedFrame(NamedTuple):
    """A picture and when it is shown."""

    seconds: float
    """From the start of the stream."""
    pixels: np.ndarray
    """RGB, uint8 (height, width, 3)."""


class VideoFrames:
    """The frames of a video file in the order in which they are shown, each decoded when it is asked for.

    Every iteration begins at the first frame. After it `complaint` says what was lost.

    Args:
        path: of the video.
        size: see `Framing`.
        fit: see `Framing`.
    """

    def __init__(self, path: str | Path, *, size: int = 0, fit: Fit = "crop") -> None:
        self.path, self.framing = Path(path), Framing(size, fit)
        self.complaint = ""
        """What was wrong with the video, in one line; empty where nothing was, and before its end."""

    def __iter__(self) -> Iterator[TimedFrame]:
        """The frames.

        Raises:
            FileNotFoundError: there is no such file.
            VideoError: it cannot be read, or not a single frame can be decoded.
            ImportError: av is not installed.
        """
        self.complaint = ""
        with opened(self.path) as (container, stream):
            table, count, last = PacketTable(announced=stream.frames, keeps_stamps=False), 0, -1.0
            first: int | None = None
            usual = 1 / float(stream.average_rate or 25)
            for packet in packets(container, stream, table):
                for frame in frames_of(packet):
                    stamp = frame.pts
                    first = stamp if first is None else first
                    known = stamp is not None and first is not None
                    seconds = (stamp - first) * float(stream.time_base) if known else last + usual
                    # Times that stand still or go back are those of a damaged file: the frame rate is what is left.
                    last = max(0.0, seconds if seconds > last else last + usual)
                    count += 1
                    yield TimedFrame(last, to_array(frame, stream, self.framing))
        lost = table.expected - count
        if not count:
            raise VideoError(why_nothing(self.path, table))
        if lost > 0:
            self.complaint = (
                f"{self.path}: {lost} of {table.expected} frames are missing or cannot be decoded; copy the "
                "video again"
            )


def array_frames(
    pictures: Iterable[np.ndarray],
    *,
    fps: int | float,
    size: int = 0,
    fit: Fit = "crop",
    name: str = "stream",
) -> Iterator[TimedFrame]:
    """Pictures that come at an even rate, as frames with times.

    Args:
        pictures: RGB, uint8 (height, width, 3).
        fps: how many come in a second, above 0.
        size: see `Framing`.
        fit: see `Framing`.
        name: of the source, for messages.

    Raises:
        ValueError: a picture is of another kind, or the rate is out of range.
        ImportError: pictures are to be scaled and av is not installed.
    """
    check_finite("fps", fps)
    if fps <= 0:
        raise ValueError(f"fps must be above 0, got {fps}")
    framing = Framing(size, fit)
    for number, picture in enumerate(pictures):
        yield TimedFrame(number / fps, framed(picture, framing, f"{name}, frame {number + 1}"))


def framed(picture: np.ndarray, framing: Framing, name: str = "picture") -> np.ndarray:
    """A picture in the size that a video's frames would have, scaled by the same code.

    Args:
        picture: RGB, uint8 (height, width, 3).
        framing: the size.
        name: of the picture, for messages.

    Raises:
        ValueError: it is no such picture.
        ImportError: it is to be scaled and av is not installed.
    """
    check_frames(picture[None], name)
    height, width = picture.shape[:2]
    scaled = framing.scaled(width, height)
    if scaled != (width, height):
        frame = import_av().VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
        picture = frame.to_ndarray(format="rgb24", width=scaled[0], height=scaled[1], interpolation="AREA")
    return framing.finish(picture)
