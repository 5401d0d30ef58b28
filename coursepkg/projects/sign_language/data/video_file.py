"""Open a video file of a user, and what it is without its pictures: size, times, codec.

Only containers of moving pictures are opened, and only files: a playlist that is named
`clip.mp4` could otherwise make the reader fetch other files or addresses.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.projects.sign_language.data.clip import quarter_turns, shown_size
from coursepkg.validation import one_line

CONTAINERS = "mov,matroska,webm,avi,mpeg,mpegts,flv,ogg,asf"
"""Formats that are read, by their names in FFmpeg; mp4, m4v and 3gp are `mov`."""
SEEKABLE = ("mov", "matroska")
"""Formats whose every frame has its time in the file, so that jumping to a key frame
lands exactly there."""
SAY_LENGTH = ("matroska", "flv")
"""Formats that promise no number of frames, but a length in seconds."""
MOST_PIXELS = 64_000_000
"""Largest frame that is decoded, in pixels; 4K has 8 million, 8K 33 million."""

_NO_VIDEO = (
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"\x89PNG", "a PNG picture"),
    (b"GIF8", "a GIF picture"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"%PDF", "a PDF"),
    (b"version https://git-lfs", "a Git LFS pointer (git lfs pull fetches the video)"),
    (b"#EXTM3U", "a playlist"),
    (b"<!doctype", "a web page, perhaps of a failed download"),
    (b"<html", "a web page, perhaps of a failed download"),
)


_CUT = "the video is cut short, its table of frames is missing"


class VideoError(ValueError):
    """The message names an unreadable video and the remedy in one line."""


@dataclass
class PacketTable:
    """What the packets of a stream say before anything is decoded."""

    shown: list[int] = field(default_factory=list)
    """Time stamp of each frame that is to be shown, in units of the stream, in the
    order of the file."""
    keys: list[int] = field(default_factory=list)
    """Time stamps of the frames that need no other frame."""
    announced: int = 0
    """Frames that the container's own table promises; 0 where it has none."""
    length: float = 0.0
    """Time stamp at which the last frame ends, as the container promises; 0 where it
    does not."""
    step: float = 1.0
    """How long a frame is shown on average, in units of the stream."""
    least_gap: float = 0.0
    """Above this, what is missing of the promised length is missing frames."""
    n_hidden: int = 0
    """Packets that an edit list hides: they are decoded and not shown."""
    n_shown: int = 0
    """Frames that are to be shown."""
    start: int | None = None
    """Lowest time stamp of the frames that are to be shown; None before the first."""
    end: float = 0.0
    """Time stamp at which the last of them ends."""
    keeps_stamps: bool = True
    """False only counts, for a film that may be long."""

    def add(self, packet: Any) -> None:
        """Take a packet into account."""
        stamp = packet.dts if packet.pts is None else packet.pts
        if packet.is_discard or stamp is None:
            self.n_hidden += packet.is_discard
            return
        self.n_shown += 1
        self.start = stamp if self.start is None else min(self.start, stamp)
        self.end = max(self.end, stamp + (packet.duration or self.step))
        if self.keeps_stamps:
            self.shown.append(stamp)
        if self.keeps_stamps and packet.is_keyframe:
            self.keys.append(stamp)

    @property
    def expected(self) -> int:
        """Return the larger of the frames found and those announced, less hidden.

        A container may announce more frames than the file holds, or a greater length.
        """
        gap = self.length - self.end
        n_missing = round(gap / self.step) if gap > self.least_gap else 0
        return max(self.n_shown + n_missing, self.announced - self.n_hidden)


def import_av(what: str = "reading") -> Any:
    """The library for reading or writing videos, or an ImportError of one line."""
    try:
        import av
    except ImportError as reason:
        raise ImportError(
            f"{what} videos needs av: pip install 'coursepkg[video]'"
        ) from reason
    return av


@contextmanager
def opened(path: Path) -> Iterator[tuple[Any, Any]]:
    """A container of PyAV and its video stream.

    Raises:
        FileNotFoundError: there is no such file.
        VideoError: it is no video, cut short, without pictures, or its pictures are too
            large or of an unknown kind.
        ImportError: av is not installed.
    """
    av = import_av()
    if path.is_dir():
        raise VideoError(f"{path} is a folder; name a video in it")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such video")
    options = {"format_whitelist": CONTAINERS, "protocol_whitelist": "file"}
    try:
        # With its protocol in front, a colon in a name is no protocol.
        container = av.open(f"file:{path}", options=options, **_any_metadata(av))
    except PermissionError:
        raise VideoError(f"{path} may not be read; check its permissions") from None
    except (av.error.FFmpegError, ValueError) as reason:
        raise VideoError(f"{path}: {_what_it_is(path, reason)}") from None
    with container:
        yield container, _video_stream(container, path)


def packet_table(
    container: Any, stream: Any, *, keeps_stamps: bool = True
) -> PacketTable:
    """An empty table, with what the container promises of a stream of pictures."""
    unit, step = float(stream.time_base), 1 / frame_rate(stream)
    return PacketTable(
        announced=stream.frames,
        length=_length(container, stream) / unit,
        step=step / unit,
        least_gap=max(0.1, 2 * step) / unit,
        keeps_stamps=keeps_stamps,
    )


def frame_rate(stream: Any) -> float:
    """Frames a second on average; 25 where the film does not say."""
    return float(stream.average_rate or 25)


def _length(container: Any, stream: Any) -> float:
    """Seconds that the container promises of the pictures alone; 0 where it does not.

    That of the whole film is no such promise where it has sound, which may be longer.
    """
    if stream.frames or container.format.name.split(",")[0] not in SAY_LENGTH:
        return 0.0
    own = stream.metadata.get("DURATION", "")
    if told := re.fullmatch(r"(\d+):(\d+):(\d+\.?\d*)", own):
        return 3600 * int(told[1]) + 60 * int(told[2]) + float(told[3])
    return (container.duration or 0) / 1e6 if len(container.streams) == 1 else 0.0


def packets(
    container: Any, stream: Any, table: PacketTable | None = None
) -> Iterator[Any]:
    """Yield a stream's packets and the empty last one; a cut file ends earlier."""
    av = import_av()
    source = container.demux(stream)
    while True:
        try:
            packet = next(source, None)
        except av.error.FFmpegError:
            return
        if packet is None:
            return
        if table is not None and packet.size:
            table.add(packet)
        yield packet


def frames_of(packet: Any) -> list[Any]:
    """Return the undamaged frames that a packet completes, none if decoding fails."""
    av = import_av()
    try:
        return [frame for frame in packet.decode() if not frame.is_corrupt]
    except (av.error.FFmpegError, EOFError):
        return []


def can_seek(container: Any) -> bool:
    """Whether jumping to a key frame is exact."""
    return any(name in SEEKABLE for name in container.format.name.split(","))


def _any_metadata(av: Any) -> dict[str, str]:
    """Return the option of PyAV below 19 that allows titles in any encoding.

    From version 19 on PyAV needs no option for this.
    """
    return (
        {"metadata_errors": "replace"} if int(av.__version__.split(".")[0]) < 19 else {}
    )


def _video_stream(container: Any, path: Path) -> Any:
    av = import_av()
    pictures = [
        stream
        for stream in container.streams.video
        if not stream.disposition
        & av.stream.Disposition.attached_pic  # the cover of a piece of music
    ]
    if not pictures:
        said = "it holds no stream of pictures"
        if container.streams.audio:
            said = "audio only, no moving pictures"
        elif _is_cut(path):
            said = _CUT
        raise VideoError(f"{path}: {said}; copy it again or leave it out")
    stream = pictures[0]
    context = stream.codec_context
    if context is None:
        raise VideoError(
            f"{path}: its pictures are of a kind that av cannot decode; save it as"
            " H.264 in mp4"
        )
    if context.width * context.height > MOST_PIXELS:
        raise VideoError(
            f"{path}: frames of {context.width:,} x {context.height:,} pixels, more"
            f" than {MOST_PIXELS:,}; scale it down"
        )
    # Short clips lose more by starting threads than they win; and which frames are
    # skipped is told by the packet.
    context.thread_count = 1
    return stream


def _what_it_is(path: Path, reason: Exception) -> str:
    """Why a file was not opened, from its first bytes."""
    with path.open("rb") as file:
        head = file.read(64)
    if not head:
        return "the file is empty; copy it again or leave it out"
    if _is_cut(path):
        return f"{_CUT}; copy it again or leave it out"
    for magic, kind in _NO_VIDEO:
        if head.lower().startswith(magic.lower()):
            return f"{kind}, not a video; save it as mp4 or leave it out"
    said = one_line(getattr(reason, "strerror", None) or reason)[:80]
    return f"not a video that can be read ({said}); save it as mp4 or leave it out"


def _is_cut(path: Path) -> bool:
    """Return whether a file is an mp4 that lacks all or part of its `moov` box.

    A recorder writes this box last.
    """
    length, place = path.stat().st_size, 0
    with path.open("rb") as file:
        while place + 8 <= length:
            file.seek(place)
            head = file.read(16)
            size, kind = int.from_bytes(head[:4], "big"), head[4:8]
            if place == 0 and kind != b"ftyp":
                return False
            size = int.from_bytes(head[8:16], "big") if size == 1 else size
            if kind == b"moov":
                return place + size > length
            if size < 8:
                break
            place += size
    return place > 0


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
    """Frames that the container promises, or that its promised length would hold; more
    than there are times where the file is cut short. An MPEG or Ogg stream, and a film
    that a browser recorded, promises nothing: where it is cut cannot be seen."""
    codec: str
    container: str
    rotation: int
    """Degrees by which the stored frames are turned against the clock to stand upright:
    0, 90, 180 or 270."""
    has_audio: bool

    @property
    def seconds(self) -> float:
        """Return how long it is shown in seconds; 0 for a single frame.

        The last frame lasts as long as the one before it.
        """
        steps = np.diff(self.times)
        return float(self.times[-1] + steps[-1]) if len(steps) else 0.0

    @property
    def fps(self) -> float:
        """Frames a second, on average; 0 for a single frame."""
        return (
            (len(self.times) - 1) / float(self.times[-1])
            if len(self.times) > 1
            else 0.0
        )

    @property
    def has_variable_rate(self) -> bool:
        """Return whether a step is below 0.5 or above 1.5 times the median step.

        A step is the time from one frame to the next.
        """
        steps = np.diff(self.times)
        if len(steps) < 2:
            return False
        usual = float(np.median(steps))
        return bool(steps.min() < 0.5 * usual or steps.max() > 1.5 * usual)


def probe(path: str | Path) -> VideoFacts:
    """Return the facts of a video after one of its frames was decoded.

    The decoded frame proves that the video has a picture.

    Raises:
        FileNotFoundError: there is no such file.
        VideoError: it cannot be read.
        ImportError: av is not installed.
    """
    path = Path(path)
    with opened(path) as (container, stream):
        table, first = packet_table(container, stream), None
        for packet in packets(container, stream, table):
            if first is None:
                first = next(iter(frames_of(packet)), None)
        return facts_of(path, container, stream, table, first)


def facts_of(
    path: Path, container: Any, stream: Any, table: PacketTable, first: Any
) -> VideoFacts:
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


def seconds_of(
    stamps: Sequence[int], stream: Any, start: int | None = None
) -> np.ndarray:
    """Convert a stream's time stamps to rising seconds, float64 (N,).

    Of two equal stamps the later is raised by 1 ms; where that does not suffice, the
    frame rate sets all times.

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
    if (
        np.diff(times) <= 0
    ).any():  # a whole run is alike: the frame rate is all that is known
        return np.arange(len(stamps)) / frame_rate(stream)
    return times


def why_nothing(path: Path, table: PacketTable) -> str:
    """Why not a single frame of a video could be decoded, in one line.

    Args:
        path: of the video.
        table: of all its packets.
    """
    if not table.expected:
        return (
            f"{path}: a video without a single frame, perhaps cut short; copy it again"
            " or leave it out"
        )
    if not table.n_shown:
        return (
            f"{path}: cut short before its first frame of {table.expected}; copy it"
            " again or leave it out"
        )
    return (
        f"{path}: none of its {table.expected} frames can be decoded; copy it again or"
        " leave it out"
    )
