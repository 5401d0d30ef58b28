"""Opening a video file of a user: what it holds is checked before a picture is decoded, what it lacks is said plainly.

Only containers of moving pictures are opened, and only files: a playlist that is named `clip.mp4` could otherwise make
the reader fetch other files or addresses.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coursepkg.wording import one_line

CONTAINERS = "mov,matroska,webm,avi,mpeg,mpegts,flv,ogg,asf"
"""Formats that are read, by their names in FFmpeg; mp4, m4v and 3gp are `mov`."""
SEEKABLE = ("mov", "matroska")
"""Formats whose every frame has its time in the file, so that jumping to a key frame lands exactly there."""
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
    """A video cannot be read; the message is one line that names the file and what to do."""


@dataclass
class PacketTable:
    """What the packets of a stream say before anything is decoded."""

    shown: list[int] = field(default_factory=list)
    """Time stamp of each frame that is to be shown, in units of the stream, in the order of the file."""
    keys: list[int] = field(default_factory=list)
    """Time stamps of the frames that need no other frame."""
    announced: int = 0
    """Frames that the container's own table promises; 0 where it has none."""
    n_hidden: int = 0
    """Packets that an edit list hides: they are decoded and not shown."""
    n_shown: int = 0
    """Frames that are to be shown."""
    keeps_stamps: bool = True
    """False only counts, for a film that may be long."""

    def add(self, packet: Any) -> None:
        """Take a packet into account."""
        stamp = packet.dts if packet.pts is None else packet.pts
        if packet.is_discard or stamp is None:
            self.n_hidden += packet.is_discard
            return
        self.n_shown += 1
        if self.keeps_stamps:
            self.shown.append(stamp)
        if self.keeps_stamps and packet.is_keyframe:
            self.keys.append(stamp)

    @property
    def expected(self) -> int:
        """Frames that there should be: those that were found, and those that the container promises beyond them."""
        return max(self.n_shown, self.announced - self.n_hidden)


def import_av() -> Any:
    """The decoder, or an ImportError of one line."""
    try:
        import av
    except ImportError as reason:
        raise ImportError("reading videos needs av: pip install 'coursepkg[video]'") from reason
    return av


@contextmanager
def opened(path: Path) -> Iterator[tuple[Any, Any]]:
    """A container of PyAV and its video stream.

    Raises:
        FileNotFoundError: there is no such file.
        VideoError: it is no video, cut short, without pictures, or its pictures are too large or of an unknown kind.
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


def packets(container: Any, stream: Any, table: PacketTable | None = None) -> Iterator[Any]:
    """The packets of a stream, the empty one that ends it included; a file that is cut short just ends earlier."""
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
    """The frames that a packet completes; none where it cannot be decoded, and none that is known to be damaged."""
    av = import_av()
    try:
        return [frame for frame in packet.decode() if not frame.is_corrupt]
    except (av.error.FFmpegError, EOFError):
        return []


def can_seek(container: Any) -> bool:
    """Whether jumping to a key frame is exact."""
    return any(name in SEEKABLE for name in container.format.name.split(","))


def _any_metadata(av: Any) -> dict[str, str]:
    """The option that lets titles be in any encoding; from version 19 on they always may."""
    return {"metadata_errors": "replace"} if int(av.__version__.split(".")[0]) < 19 else {}


def _video_stream(container: Any, path: Path) -> Any:
    av = import_av()
    pictures = [
        stream
        for stream in container.streams.video
        if not stream.disposition & av.stream.Disposition.attached_pic  # the cover of a piece of music
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
        raise VideoError(f"{path}: its pictures are of a kind that av cannot decode; save it as H.264 in mp4")
    if context.width * context.height > MOST_PIXELS:
        raise VideoError(
            f"{path}: frames of {context.width:,} x {context.height:,} pixels, more than {MOST_PIXELS:,}; "
            "scale it down"
        )
    # Short clips lose more by starting threads than they win; and which frames are skipped is told by the packet.
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
    """Whether a file is an mp4 without the whole of its `moov` box, which a recorder writes last."""
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
