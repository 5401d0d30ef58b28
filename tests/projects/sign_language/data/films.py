"""Short films with known pictures, whole and damaged."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

PLACES = ((0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (1, 2))
"""Cells of a frame, two rows of three, that write its number in binary."""


def picture(number: int, width: int = 96, height: int = 64) -> np.ndarray:
    """A frame that says its number: six cells, bright where a binary digit is 1. Gray, so no colour is lost."""
    frame = np.full((height, width, 3), 40, dtype=np.uint8)
    for digit, (row, column) in enumerate(PLACES):
        if number >> digit & 1:
            top, left = row * height // 2, column * width // 3
            frame[top : top + height // 2, left : left + width // 3] = 210
    return frame


def number_of(frame: np.ndarray) -> int:
    """What number a frame says, in any size."""
    height, width = frame.shape[:2]
    cells = ((int((row + 0.5) * height / 2), int((column + 0.5) * width / 3)) for row, column in PLACES)
    return sum(1 << digit for digit, place in enumerate(cells) if frame[place].mean() > 125)


def numbers_of(frames: np.ndarray) -> list[int]:
    """What numbers frames say."""
    return [number_of(frame) for frame in frames]


def write_film(
    path: Path,
    n_frames: int = 30,
    *,
    size: tuple[int, int] = (96, 64),
    fps: int = 30,
    stamps: Sequence[int] | None = None,
    codec: str = "libx264",
    every_key: int = 250,
    rotation: int | None = None,
    with_sound: bool = False,
    pixel: Fraction | None = None,
    title: str = "",
    container: Mapping[str, str] | None = None,
) -> Path:
    """Write a film whose frames say their numbers.

    Args:
        stamps: when each frame is shown, in milliseconds; None for `fps` frames a second.
        every_key: frames from one key frame to the next.
        rotation: degrees against the clock by which a player is to turn it.
        with_sound: add half a second of silence.
        pixel: width of a pixel by its height; None for square ones.
        title: of the file.
        container: options of the file format.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w", options=dict(container or {})) as out:
        options = (
            {"crf": "12", "preset": "ultrafast", "bf": "2", "g": str(every_key)} if codec == "libx264" else {}
        )
        stream = out.add_stream(codec, rate=fps, options=options)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.codec_context.thread_count = 1
        if codec != "libx264":
            stream.codec_context.gop_size = every_key
        if pixel is not None:
            stream.codec_context.sample_aspect_ratio = pixel
        if title:
            out.metadata["title"] = title
        if rotation is not None:
            stream.set_display_rotation(rotation)
        if stamps is not None:
            stream.codec_context.time_base = Fraction(1, 1000)
        sound = out.add_stream("aac", rate=16000, layout="mono") if with_sound else None
        for number in range(n_frames):
            frame = av.VideoFrame.from_ndarray(picture(number, *size), format="rgb24")
            if stamps is not None:
                frame.pts, frame.time_base = stamps[number], Fraction(1, 1000)
            out.mux(stream.encode(frame))
        out.mux(stream.encode())
        if sound is not None:
            _silence(out, sound)
    return path


def write_sound(path: Path) -> Path:
    """Write an mp4 with sound and no picture."""
    with av.open(str(path), "w", format="mp4") as out:
        _silence(out, out.add_stream("aac", rate=16000, layout="mono"))
    return path


def write_empty_film(path: Path) -> Path:
    """Write an mp4 that has a stream of pictures without a single one: its tables say that there are none."""
    content = bytearray(write_film(path, 3).read_bytes())
    moov = content.index(b"moov")
    for table, before in ((b"stts", 4), (b"ctts", 4), (b"stss", 4), (b"stsc", 4), (b"stco", 4), (b"stsz", 8)):
        at = content.find(table, moov)
        if at > 0:
            content[at + 4 + before : at + 8 + before] = bytes(4)
    path.write_bytes(content)
    return path


def cut(path: Path, share: float) -> Path:
    """The beginning of a film under another name; the film itself stays."""
    content = path.read_bytes()
    shorter = path.with_name(f"cut {path.name}")
    shorter.write_bytes(content[: int(share * len(content))])
    return shorter


def _silence(out: av.container.OutputContainer, stream: av.AudioStream) -> None:
    for start in range(0, 8000, 1000):
        frame = av.AudioFrame.from_ndarray(
            np.zeros((1, 1000), dtype=np.float32), format="fltp", layout="mono"
        )
        frame.sample_rate, frame.pts, frame.time_base = 16000, start, Fraction(1, 16000)
        out.mux(stream.encode(frame))
    out.mux(stream.encode())
