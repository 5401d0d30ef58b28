"""T frames of a clip, evenly spaced in time, and what fills up a clip that has fewer.

At an even frame rate the frames are those of the contest's baseline, `linspace(0, N -
1, T)` rounded down. At an uneven one they are the pictures that are on the screen at T
evenly spaced moments: a frame number says nothing about time there.

Source: the Olympiad tutorials, sections IV.1 and V.1.

One clip of a signed word: what data sets, generators and models of this project hand
to one another.

The size in which frames leave the decoder: turned upright, in square pixels, scaled
one by one while decoding.

Pictures as a network takes them: float32, channels first, in the statistics of
ImageNet.

    x = (pixel / 255 - mean) / std

Source: the constants of the pretrained networks, computed on ImageNet; the Olympiad
tutorials, section V.1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from coursepkg.blocks.convolution import IMAGENET_MEAN, IMAGENET_STD
from coursepkg.text.vietnamese import unicode_form
from coursepkg.validation import check_choice, check_choices, check_count, check_finite


@dataclass(frozen=True)
class ClipFile:
    """A video file of a data set, with what is known about it without opening it.

    Raises:
        ValueError: the label is not in NFC; the file is named.
    """

    path: Path
    label: str
    """The word that is signed, in Unicode form NFC; empty where it is not known, as in
    a contest's test part."""
    signer: str = ""
    """Who signs; empty where it is not known."""
    group: str = ""
    """Recording that the clip was cut from: clips of one group never stand on both
    sides of a split. Empty: itself."""

    def __post_init__(self) -> None:
        if unicode_form(self.label) not in ("NFC", "either"):
            raise ValueError(
                f"{self.path}: the label {self.label!r} is in Unicode form"
                f" {unicode_form(self.label)}, not NFC; compose it with"
                " coursepkg.text.vietnamese.compose"
            )


@dataclass(frozen=True, eq=False)
class LandmarkClip:
    """A clip with landmarks in place of pictures, see `landmarks.steps`."""

    frames: np.ndarray
    """Numbers of its steps, float32 (N, F)."""
    times: np.ndarray
    """Of the steps, in seconds from the start of the film, float64 (N,), rising."""
    label: str
    """The word that is signed, in NFC; empty where it is not known."""
    signer: str
    """Who signs; empty where it is not known."""
    name: str
    """Where the clip is from."""
    flaw: str = ""
    """What is wrong with it, in one line; empty where nothing is."""


@dataclass(frozen=True, eq=False)
class Clip:
    """A clip holds frames with their label.

    Two clips are never equal by their fields: compare the fields that you mean.

    Raises:
        ValueError: the frames are no colour pictures of one size; the clip is named.
    """

    frames: np.ndarray
    """RGB, uint8 (T, height, width, 3), in the order of time."""
    times: np.ndarray
    """When each frame is shown, in seconds from the start of the clip, float64 (T,),
    rising."""
    label: str
    """The word that is signed, in NFC; empty where it is not known."""
    signer: str
    """Who signs; empty where it is not known."""
    name: str
    """Where the clip is from: its file, or the generator's seed and number."""

    def __post_init__(self) -> None:
        check_frames(self.frames, self.name)
        if self.times.shape != (len(self.frames),) or bool(
            (np.diff(self.times) <= 0).any()
        ):
            raise ValueError(
                f"{self.name}: times must be one rising number a frame, got"
                f" {self.times.tolist()}"
            )

    @property
    def seconds(self) -> float:
        """From the first frame to the last."""
        return float(self.times[-1] - self.times[0])


def check_frames(frames: np.ndarray, name: str) -> None:
    """Raise a ValueError unless frames are uint8 (T, height, width, 3).

    They are colour pictures, and no dimension may be 0.
    """
    if (
        frames.dtype != np.uint8
        or frames.ndim != 4
        or frames.shape[-1] != 3
        or 0 in frames.shape
    ):
        raise ValueError(
            f"{name}: frames must be RGB pictures of one size, uint8 (T, height, width,"
            f" 3), got {frames.dtype} {tuple(frames.shape)}"
        )


Fit = Literal["crop", "pad", "stretch"]


@dataclass(frozen=True)
class Framing:
    """How large frames become.

    Raises:
        ValueError: a field is out of range.
    """

    size: int = 0
    """Side of the square that every frame becomes, in pixels; 0 keeps the proportions.
    """
    fit: Fit = "crop"
    """How a frame becomes a square: the middle of it, all of it with black beside it,
    or squeezed as the contest does."""
    most_side: int = 640
    """With `size` 0: longest side in pixels; a larger frame is scaled down to it, a
    smaller one stays. 0 sets no limit."""

    def __post_init__(self) -> None:
        check_count("size", self.size, least=0)
        check_count("most_side", self.most_side, least=0)
        check_choices(self)

    def scaled(self, width: int, height: int) -> tuple[int, int]:
        """Return the width and height of the scaled frame before the cut or padding."""
        if self.size and self.fit == "stretch":
            return self.size, self.size
        if self.size:
            side = min(width, height) if self.fit == "crop" else max(width, height)
            factor = self.size / side
        else:
            factor = (
                min(1.0, self.most_side / max(width, height)) if self.most_side else 1.0
            )
        return max(1, round(width * factor)), max(1, round(height * factor))

    def finish(self, image: np.ndarray) -> np.ndarray:
        """Cut or pad a scaled frame (height, width, 3) to the square."""
        if not self.size or self.fit == "stretch":
            return image
        height, width = image.shape[:2]
        if self.fit == "crop":
            top, left = (height - self.size) // 2, (width - self.size) // 2
            return image[top : top + self.size, left : left + self.size]
        room = np.zeros((self.size, self.size, 3), dtype=np.uint8)
        top, left = (self.size - height) // 2, (self.size - width) // 2
        room[top : top + height, left : left + width] = image
        return room


def shown_size(frame: Any, stream: Any) -> tuple[int, int]:
    """Width and height of a frame as it is to be shown: in square pixels, upright."""
    width, height = _square(frame, stream)
    return (height, width) if quarter_turns(frame) % 2 else (width, height)


def quarter_turns(frame: Any) -> int:
    """Return how many quarter turns against the clock bring a frame upright.

    A telephone that is held upright stores its frames on their side.
    """
    return round(frame.rotation / 90) % 4


def to_array(frame: Any, stream: Any, framing: Framing) -> np.ndarray:
    """A frame of the decoder as RGB, uint8 (height, width, 3), in its final size."""
    turns = quarter_turns(frame)
    width, height = framing.scaled(*shown_size(frame, stream))
    if turns % 2:
        width, height = height, width
    image = frame.to_ndarray(
        format="rgb24", width=width, height=height, interpolation="AREA"
    )
    return framing.finish(np.rot90(image, turns) if turns else image)


def _square(frame: Any, stream: Any) -> tuple[int, int]:
    """The stored size with pixels made square, as those of old camcorders are not."""
    aspect = float(stream.sample_aspect_ratio or 1)
    if aspect == 1 or not 0.1 < aspect < 10:
        return frame.width, frame.height
    return max(1, round(frame.width * aspect)), frame.height


def normalise(frames: np.ndarray | Tensor) -> Tensor:
    """Frames for a network.

    Args:
        frames: RGB, uint8 (..., height, width, 3).

    Returns:
        float32 (..., 3, height, width).

    Raises:
        ValueError: the frames are of another kind.
    """
    pixels = (
        torch.from_numpy(np.require(frames, requirements=["C", "W"]))
        if isinstance(frames, np.ndarray)
        else frames
    )
    if pixels.dtype != torch.uint8 or pixels.dim() < 3 or pixels.shape[-1] != 3:
        raise ValueError(
            "frames must be RGB pictures, uint8 (..., height, width, 3), got"
            f" {pixels.dtype} {tuple(pixels.shape)}"
        )
    mean, std = _constants(pixels.device)
    # Channels first while there is one byte a value, not four.
    upright = pixels.movedim(-1, -3).contiguous()
    return upright.to(torch.float32).sub_(255 * mean).div_(255 * std)


def network_input(frames: np.ndarray) -> Tensor:
    """Frames of a clip as a network takes them.

    Args:
        frames: pictures, uint8 (..., height, width, 3), or landmarks, float32 (..., F).

    Returns:
        pictures normalised, float32 (..., 3, height, width), or landmarks as they are.
    """
    if frames.dtype == np.float32:
        return torch.from_numpy(np.require(frames, requirements=["C", "W"]))
    return normalise(frames)


def to_unit(frames: Tensor) -> Tensor:
    """Normalised frames (..., 3, height, width) as float32 in [0, 1]."""
    mean, std = _constants(frames.device)
    return frames * std + mean


def to_pixels(frames: Tensor) -> np.ndarray:
    """Convert normalised frames (..., 3, height, width) to RGB pictures to look at.

    The pictures are uint8 (..., height, width, 3).
    """
    pixels = (
        to_unit(frames.detach().cpu().to(torch.float32)).mul(255).round().clamp(0, 255)
    )
    return pixels.to(torch.uint8).movedim(-3, -1).contiguous().numpy()


def _constants(device: torch.device) -> tuple[Tensor, Tensor]:
    return (
        torch.tensor(IMAGENET_MEAN, device=device).view(3, 1, 1),
        torch.tensor(IMAGENET_STD, device=device).view(3, 1, 1),
    )


Padding = Literal["repeat", "loop", "mask"]
PADDINGS = ("repeat", "loop", "mask")
"""What fills up a clip that has fewer frames than are wanted.

- `repeat`: its last frame again and again, as the contest does. The model sees hands
  that stand still.
- `loop`: the clip from its beginning. The model sees the sign again.
- `mask`: its last frame, marked as not real. A model that respects the mask sees
nothing. """
_NEAR = 0.03
"""A frame counts as begun this share of the frame before it too early: some files round
times to milliseconds."""


Places = Callable[[int], np.ndarray]
"""From a number of frames to as many places, rising, in [0, 1] from the begin of a clip
to its end."""


@dataclass(frozen=True, eq=False)
class Sampled:
    """Which frames of a clip stand for it."""

    numbers: np.ndarray
    """Of the frames, from 0, int64 (T,)."""
    mask: np.ndarray
    """Bool (T,), True where the frame is real."""


def frames_at(times: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The frames that are on the screen at these places.

    Args:
        times: of all frames, in seconds (N,), rising.
        places: in [0, 1] from the time of the first frame to that of the last (T,).

    Returns:
        numbers of frames, int64 (T,).

    Raises:
        ValueError: there is no frame.
    """
    _check_times(times)
    first, length = float(times[0]), float(times[-1] - times[0])
    begins = times.copy()
    begins[1:] -= _NEAR * np.diff(times)
    moments = first + length * places.clip(0, 1)
    return np.searchsorted(begins, moments, side="right").astype(np.int64) - 1


def uniform_frames(
    times: np.ndarray, count: int, *, offset: int | float = 0.0
) -> np.ndarray:
    """Return the frames that are on the screen at evenly spaced moments.

    The moments go from the first frame to the last.

    Args:
        times: of all frames, in seconds (N,), rising.
        count: moments, T.
        offset: moves every moment by this share of the distance between two of them, in
            [-1, 1]; moments beyond the ends become the ends. Predictions of several
            offsets can be averaged.

    Returns:
        numbers of frames, int64 (T,), ascending; a frame that is long on the screen
        comes several times.

    Raises:
        ValueError: there is no frame, or an argument is out of range.
    """
    check_count("count", count)
    check_finite("offset", offset)
    if not -1 <= offset <= 1:
        raise ValueError(f"offset must be in [-1, 1], got {offset}")
    return frames_at(times, np.linspace(0, 1, count) + offset / max(1, count - 1))


def kept_frames(times: np.ndarray, most: int) -> np.ndarray:
    """Return the numbers of the frames that a cache keeps of a clip.

    It keeps all where there are at most `most`; otherwise it keeps up to `most`, evenly
    spaced in time.

    Args:
        times: of all frames, in seconds (N,), rising.
        most: how many are kept.
    """
    if len(times) <= most:
        return np.arange(len(times))
    return np.unique(uniform_frames(times, most))


def sample_frames(
    times: np.ndarray,
    count: int = 16,
    padding: Padding = "mask",
    *,
    places: Places | None = None,
) -> Sampled:
    """Sample T frames of a clip, evenly spaced in time.

    A clip with fewer frames gives all of them and padding.

    Args:
        times: of all frames, in seconds (N,), rising.
        count: frames that are wanted, T.
        padding: see `PADDINGS`.
        places: moves the places where frames are taken, as a warp of time does; None
            spaces them evenly. Of a clip with fewer than T frames as many are taken as
            it has.

    Raises:
        ValueError: there is no frame, or an argument is out of range.
    """
    check_count("count", count)
    check_choice("padding", padding, PADDINGS)
    _check_times(times)
    real = min(count, len(times))
    if places is not None:
        taken = frames_at(times, places(real))
    else:
        taken = (
            uniform_frames(times, count)
            if real == count
            else np.arange(real, dtype=np.int64)
        )
    order = np.arange(count, dtype=np.int64)
    numbers = taken[order % real if padding == "loop" else order.clip(max=real - 1)]
    return Sampled(
        numbers, order < real if padding == "mask" else np.ones(count, dtype=bool)
    )


def _check_times(times: np.ndarray) -> None:
    if times.ndim != 1 or not len(times):
        raise ValueError(
            "times must be one number a frame and at least one, got shape"
            f" {times.shape}"
        )


GRID = 32
"""Cells of a thumbnail along each side: at 224 pixels 7 x 7 of them make a cell, and a
hand covers about 20 cells."""
_AT_ONCE = 32
"""Frames that stand in memory as floating-point numbers at one time."""
LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
"""How bright red, green and blue are to the eye (ITU-R BT.601)."""


def mean_weights(cells: int, pixels: int) -> np.ndarray:
    """Return the share of each cell that each pixel covers.

    The product with a row of pixels gives the cells' means.

    Cells are equally wide, so that a border may go through a pixel; every row adds up
    to 1.

    Args:
        cells: of the grid along one side, from 1.
        pixels: of the picture along that side, from 1; they may be fewer than the
            cells.

    Returns:
        float32 (cells, pixels).
    """
    check_count("cells", cells)
    check_count("pixels", pixels)
    edges = np.arange(cells + 1) * pixels / cells
    begin = np.maximum(edges[:-1, None], np.arange(pixels))
    end = np.minimum(edges[1:, None], np.arange(1, pixels + 1))
    return (np.clip(end - begin, 0, None) * cells / pixels).astype(np.float32)


def shrink(pictures: np.ndarray, rows: int = GRID, columns: int = GRID) -> np.ndarray:
    """The mean of every channel in every cell of a grid.

    Args:
        pictures: (T, height, width, channels), of any number type.
        rows: of the grid.
        columns: of the grid.

    Returns:
        float32 (T, rows, columns, channels), in the pictures' own gray levels.
    """
    count, height, width, channels = pictures.shape
    down, across = mean_weights(rows, height), mean_weights(columns, width).T
    small = np.empty((count, rows, columns, channels), dtype=np.float32)
    for start in range(0, count, _AT_ONCE):
        some = pictures[start : start + _AT_ONCE].astype(np.float32)
        # (t, height, width * channels) -> (t, rows, width, channels) -> (t, rows,
        # channels, columns)
        tall = (down @ some.reshape(len(some), height, -1)).reshape(
            len(some), rows, width, channels
        )
        small[start : start + _AT_ONCE] = (tall.swapaxes(2, 3) @ across).swapaxes(2, 3)
    return small


def thumbnails(clip: Clip) -> np.ndarray:
    """Return the mean colours of all frames, float32 (T, GRID, GRID, 3) in 0..255."""
    return shrink(clip.frames)


def brightness(thumbs: np.ndarray) -> np.ndarray:
    """How bright each cell is: (..., 3) to (...), in the same gray levels."""
    return thumbs @ LUMA
