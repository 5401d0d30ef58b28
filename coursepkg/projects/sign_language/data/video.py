"""Videos of users as pictures with times: all frames, those needed, or one by one.

A frame's place is its time, never its number divided by a frame rate: telephones record
at a varying rate. What cannot be decoded is counted; nothing is left out silently. For
a stream one frame is in memory at a time, however long the film is. A camera is an
iterator of pictures like any other:

>>> frames = array_frames(pictures_of_my_camera(), fps=30, size=96)
"""

import math
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from coursepkg.app.recipe import AtLeast, Count, PositiveShare, check_fields
from coursepkg.projects.sign_language.data.clip import (
    Clip,
    Fit,
    Framing,
    check_frames,
    kept_frames,
    shrink,
    to_array,
)
from coursepkg.projects.sign_language.data.video_file import (
    VideoError,
    VideoFacts,
    can_seek,
    facts_of,
    frame_rate,
    frames_of,
    import_av,
    opened,
    packet_table,
    packets,
    seconds_of,
    why_nothing,
)
from coursepkg.projects.sign_language.recipe import (
    BrokenThresholds,
    Recipe,
    architecture_of,
)
from coursepkg.validation import check_finite

MOST_BYTES = 2**30
"""Most memory that the frames of one video may take."""

Choose = Callable[[np.ndarray], np.ndarray]
"""From the times of all frames, float64 (N,), to the numbers of those that are needed,
int (T,), in any order."""


@dataclass(frozen=True, eq=False)
class DecodedVideo:
    """Frames of a video with their times."""

    facts: VideoFacts
    frames: np.ndarray
    """RGB, uint8 (T, height, width, 3)."""
    times: np.ndarray
    """Of each frame, in seconds from the start of the video, float64 (T,)."""
    n_lost: int
    """Frames of the whole video that could not be decoded. Where only some were asked
    for and all of them came, the others were not looked at and count as whole."""

    @property
    def lost(self) -> float:
        """Share of the video's frames that could not be decoded, in [0, 1)."""
        return self.n_lost / max(1, self.facts.expected)

    @property
    def complaint(self) -> str:
        """What is wrong with the video, in one line; empty where nothing is."""
        if not self.n_lost:
            return ""
        return (
            f"{self.facts.path}: {self.n_lost} of {self.facts.expected} frames are"
            " missing or cannot be decoded; copy it again or leave it out"
        )


def read_clip(
    path: str | Path,
    *,
    label: str = "",
    signer: str = "",
    size: int = 0,
    fit: Fit = "crop",
    most_side: int = 640,
    most_lost: float = 0.0,
) -> Clip:
    """All frames of a video file as a clip.

    Args:
        path: of the video.
        label: what is signed, in NFC.
        signer: who signs.
        size: see `Framing`.
        fit: see `Framing`.
        most_side: see `Framing`.
        most_lost: share of the frames, in [0, 1], that may be undecodable before the
            video is refused.

    Raises:
        FileNotFoundError: there is no such file.
        VideoError: it cannot be read, or more frames are lost than `most_lost` allows.
        ImportError: av is not installed.
    """
    found = decode_video(path, size=size, fit=fit, most_side=most_side)
    if found.lost > most_lost:
        raise VideoError(found.complaint)
    return Clip(found.frames, found.times, label, signer, str(path))


def decode_video(
    path: str | Path, *, size: int = 0, fit: Fit = "crop", most_side: int = 640
) -> DecodedVideo:
    """All frames of a video that can be decoded.

    Args:
        path: of the video.
        size: see `Framing`; each frame is scaled as it is decoded, so 4K takes no more
            memory than its result.
        fit: see `Framing`.
        most_side: see `Framing`.

    Raises:
        FileNotFoundError: there is no such file.
        VideoError: it cannot be read, no frame can be decoded, or the frames would not
            fit into memory.
        ImportError: av is not installed.
    """
    path, framing = Path(path), Framing(size, fit, most_side)
    with opened(path) as (container, stream):
        table, first = packet_table(container, stream), None
        images: list[np.ndarray] = []
        stamps: list[int] = []
        for packet in packets(container, stream, table):
            for frame in frames_of(packet):
                first = first or frame
                stamps.append(len(stamps) if frame.pts is None else frame.pts)
                images.append(to_array(frame, stream, framing))
                _check_room(len(images), images[0], path)
        facts = facts_of(path, container, stream, table, first)
        # The decoder gives frames in the order in which they are shown; AVI knows only
        # when they are decoded.
        times = seconds_of(sorted(stamps), stream, table.start)
    frames = _stacked(images, path)
    return DecodedVideo(facts, frames, times, max(0, facts.expected - len(frames)))


def decode_needed(
    path: str | Path,
    choose: Choose,
    *,
    size: int = 0,
    fit: Fit = "crop",
    most_side: int = 640,
) -> DecodedVideo:
    """The frames of a video that are needed, with no more work than they ask for.

    The time stamps are read first, without decoding; `choose` says which frames are
    needed. Stretches without a needed frame are jumped over, frames that no other one
    is built on are skipped, and only what is needed becomes RGB. Where a needed frame
    cannot be decoded, all others are, and `choose` chooses again among them.

    Args:
        path: of the video.
        choose: see `Choose`.
        size: see `Framing`.
        fit: see `Framing`.
        most_side: see `Framing`.

    Returns:
        frames and times in the order that `choose` gave, repetitions included.

    Raises:
        FileNotFoundError: there is no such file.
        VideoError: it cannot be read, no frame can be decoded, or what is needed would
            not fit into memory.
        ImportError: av is not installed.
    """
    found = _decode_by_jumping(Path(path), choose, Framing(size, fit, most_side))
    if found is not None:
        return found
    whole = decode_video(path, size=size, fit=fit, most_side=most_side)
    chosen = choose(whole.times)
    return DecodedVideo(
        whole.facts, whole.frames[chosen], whole.times[chosen], whole.n_lost
    )


def _decode_by_jumping(
    path: Path, choose: Choose, framing: Framing
) -> DecodedVideo | None:
    """Return the result of `decode_needed` by seeking, or None where that fails.

    It fails where the container cannot seek exactly, the packets are incomplete or
    have no key frame, or a needed frame is lost.
    """
    with opened(path) as (container, stream):
        if not can_seek(container):
            return None
        table = packet_table(container, stream)
        deque(
            packets(container, stream, table), maxlen=0
        )  # read through, for what it writes into the table
        stamps = sorted(set(table.shown))
        if len(stamps) < table.expected or not table.keys:
            return None
        times = seconds_of(stamps, stream)
        chosen = choose(times)
        wanted, first = {stamps[i] for i in chosen}, None
        images: dict[int, np.ndarray] = {}
        for frame in _needed_frames(container, stream, wanted, sorted(table.keys)):
            first = first or frame
            images[frame.pts] = to_array(frame, stream, framing)
            _check_room(len(images), images[frame.pts], path)
        if len(images) < len(wanted):
            return None
        facts = facts_of(path, container, stream, table, first)
    return DecodedVideo(
        facts, _stacked([images[stamps[i]] for i in chosen], path), times[chosen], 0
    )


def _needed_frames(
    container: Any, stream: Any, wanted: set[int], keys: Sequence[int]
) -> Iterator[Any]:
    """Yield the frames with these time stamps and seek over unneeded stretches.

    A stretch reaches from one key frame to the next.
    """
    stretches: dict[int, int] = {}
    for stamp in sorted(wanted):
        stretches[max(0, bisect_right(keys, stamp) - 1)] = (
            stamp  # the last one that is wanted in each
        )
    frames: Iterator[Any] = iter(())
    at = -2
    for number, last in stretches.items():
        if number > at + 1:
            container.seek(keys[number], stream=stream)
            frames = _decoded(container, stream, wanted)
        at = number
        for frame in frames:
            if frame.pts in wanted:
                yield frame
            if frame.pts is None or frame.pts >= last:
                break


def _decoded(container: Any, stream: Any, wanted: set[int]) -> Iterator[Any]:
    context = stream.codec_context
    for packet in packets(container, stream):
        # A frame that is not wanted is decoded only where others are built on it.
        context.skip_frame = (
            "DEFAULT" if packet.pts is None or packet.pts in wanted else "NONREF"
        )
        yield from frames_of(packet)


def _stacked(images: list[np.ndarray], path: Path) -> np.ndarray:
    if len({image.shape for image in images}) > 1:
        sizes = ", ".join(
            sorted({f"{image.shape[1]} x {image.shape[0]}" for image in images})
        )
        raise VideoError(
            f"{path}: its frames have several sizes ({sizes}); read it with a fixed"
            " size"
        )
    return np.stack(images)


def _check_room(count: int, image: np.ndarray, path: Path) -> None:
    if count * image.nbytes > MOST_BYTES:
        height, width = image.shape[:2]
        raise VideoError(
            f"{path}: more than {count - 1:,} frames of {width} x {height} do not fit"
            f" into {MOST_BYTES >> 20} MiB; cut the video, or read it at a smaller size"
        )


class TimedFrame(NamedTuple):
    """A picture and when it is shown."""

    seconds: float
    """From the start of the stream."""
    pixels: np.ndarray
    """RGB, uint8 (height, width, 3)."""


class VideoFrames:
    """An iteration decodes the frames of a video file one by one in display order.

    Every iteration begins at the first frame. After it `complaint` says what was lost.

    Args:
        path: of the video.
        size: see `Framing`.
        fit: see `Framing`.
    """

    def __init__(self, path: str | Path, *, size: int = 0, fit: Fit = "crop") -> None:
        self.path, self.framing = Path(path), Framing(size, fit)
        self.complaint = ""
        """What was wrong with the video, in one line; empty where nothing was, and
        before its end."""

    def __iter__(self) -> Iterator[TimedFrame]:
        """The frames.

        Raises:
            FileNotFoundError: there is no such file.
            VideoError: it cannot be read, or not a single frame can be decoded.
            ImportError: av is not installed.
        """
        self.complaint = ""
        with opened(self.path) as (container, stream):
            table = packet_table(container, stream, keeps_stamps=False)
            count, last = 0, -1.0
            first: int | None = None
            # In AVI frames have the times of their decoding alone.
            is_avi = container.format.name == "avi"
            usual = 1 / frame_rate(stream)
            for packet in packets(container, stream, table):
                for frame in frames_of(packet):
                    stamp = frame.dts if is_avi else frame.pts
                    if first is None and None not in (stamp, frame.pts, table.start):
                        # A damaged film may have lost its first frames.
                        first = table.start + stamp - frame.pts
                    known = stamp is not None and first is not None
                    seconds = (
                        (stamp - first) * float(stream.time_base)
                        if known
                        else last + usual
                    )
                    # Times that stand still or go back are those of a damaged file: the
                    # frame rate is what is left.
                    last = max(0.0, seconds if seconds > last else last + usual)
                    count += 1
                    yield TimedFrame(last, to_array(frame, stream, self.framing))
        lost = table.expected - count
        if not count:
            raise VideoError(why_nothing(self.path, table))
        if lost > 0:
            self.complaint = (
                f"{self.path}: {lost} of {table.expected} frames are missing or cannot"
                " be decoded; copy the video again"
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
        yield TimedFrame(
            number / fps, framed(picture, framing, f"{name}, frame {number + 1}")
        )


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
        frame = import_av().VideoFrame.from_ndarray(
            np.ascontiguousarray(picture), format="rgb24"
        )
        picture = frame.to_ndarray(
            format="rgb24", width=scaled[0], height=scaled[1], interpolation="AREA"
        )
    return framing.finish(picture)


@dataclass(frozen=True)
class CacheConfig:
    """How clips are kept, in memory or in a folder.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    size: Annotated[int, AtLeast(8)] = 64
    """Side of the square frames, in pixels."""
    frames: Count = 32
    """Most frames of a clip, evenly spaced in time; a clip that has fewer keeps all of
    them."""
    fit: Fit = "crop"
    """How frames become squares, see `Framing`."""
    skip_solid: bool = False
    """Leave frames in one colour out, and close the gap in time, see `solid`."""
    most_lost: PositiveShare = 0.6
    """A clip of which this share of the frames or more cannot be decoded is left out,
    above 0 and up to 1."""
    n_features: int = 0
    """Numbers of a step where clips are kept as landmarks, in `frames` steps, see
    `landmarks.steps`; 0 keeps pictures."""

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def frame_shape(self) -> tuple[int, ...]:
        """Of one frame as it is kept: (size, size, 3), or (F,) of landmarks."""
        return (self.n_features,) if self.n_features else (self.size, self.size, 3)

    @property
    def network_shape(self) -> tuple[int, ...]:
        """Of one frame as a network takes it: (3, size, size), or (F,) of landmarks."""
        return (self.n_features,) if self.n_features else (3, self.size, self.size)

    @property
    def frame_type(self) -> np.dtype[Any]:
        """Of one number of a frame: uint8, or float32 of landmarks."""
        return np.dtype(np.float32 if self.n_features else np.uint8)

    @property
    def frame_bytes(self) -> int:
        """Of one frame."""
        return math.prod(self.frame_shape) * self.frame_type.itemsize


def cache_config(recipe: Recipe) -> CacheConfig:
    """Return how clips are kept, with twice the frames that the recipe samples.

    The additional frames let time be warped. The number of frames is at least 32.
    """
    return CacheConfig(
        size=recipe.size,
        frames=max(32, 2 * recipe.n_frames),
        skip_solid=recipe.skip_solid,
        n_features=architecture_of(recipe.backbone).n_features,
    )


def is_solid(thumbs: np.ndarray, thresholds: BrokenThresholds) -> np.ndarray:
    """Which frames have one colour, bool (T,)."""
    cells = thumbs.reshape(len(thumbs), -1, thumbs.shape[-1])
    apart = np.abs(cells - np.median(cells, axis=1, keepdims=True)).max(axis=-1)
    return (apart <= thresholds.solid_spread).mean(axis=1) >= thresholds.solid_share


def seen_frames(
    frames: np.ndarray,
    times: np.ndarray,
    config: CacheConfig,
    solid: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return small frames and their times; `skip_solid` removes one-colour frames."""
    return without_solid(frames, times, solid) if config.skip_solid else (frames, times)


def without_solid(
    frames: np.ndarray, times: np.ndarray, solid: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the frames that are not in one colour, and when they are shown.

    The times do not count the frames that are left out.

    A clip that is in one colour from its first frame to its last stays as it is.

    Args:
        frames: uint8 (T, height, width, 3).
        times: in seconds (T,), rising.
        solid: what `solid_frames` says of them, where it was asked already.
    """
    whole = np.flatnonzero(~(solid_frames(frames) if solid is None else solid))
    if len(whole) in (0, len(frames)):
        return frames, times
    # Each frame that stays is shown as long after the one before as it was after its
    # neighbour in the file.
    steps = np.diff(times, prepend=times[:1])[whole]
    steps[0] = times[whole[0]]
    return frames[whole], np.cumsum(steps)


def solid_frames(frames: np.ndarray) -> np.ndarray:
    """Return which frames, uint8 (T, height, width, 3), have one colour, bool (T,)."""
    return is_solid(shrink(frames), BrokenThresholds())


def read_small(path: str | Path, config: CacheConfig) -> tuple[Clip, str]:
    """Return a video as a clip of few small frames, and the flaws of a readable video.

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
        path,
        lambda times: kept_frames(times, config.frames),
        size=config.size,
        fit=config.fit,
    )
    solid = solid_frames(video.frames)
    frames, times = seen_frames(video.frames, video.times, config, solid)
    little = _little_to_see(solid, n_left=len(frames))
    flaw = "; ".join(
        filter(None, (video.complaint, f"{path}: {little}" if little else ""))
    )
    return Clip(frames, times, "", "", str(path)), flaw


def _little_to_see(solid: np.ndarray, n_left: int) -> str:
    """Return what is wrong with the frames that were looked at, or an empty text."""
    if solid.all():
        return "every frame is in one colour; the answer means nothing"
    n_looked, said = len(solid), []
    if n_left < n_looked:
        gone = n_looked - n_left
        said.append(
            f"{gone} of {n_looked} frames that were looked at are in one colour and"
            " were left out"
        )
    if n_left == 1:
        said.append("one frame only, no motion to read")
    return "; ".join(said)


def made_small(clip: Clip, config: CacheConfig) -> Clip:
    """Return a clip in memory in the form of `read_small`.

    Frames that have the size already are not scaled.

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
