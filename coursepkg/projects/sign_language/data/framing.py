"""The size in which frames leave the decoder: turned upright, in square pixels, scaled one by one while decoding."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from coursepkg.arguments import check_choices, check_count

Fit = Literal["crop", "pad", "stretch"]


@dataclass(frozen=True)
class Framing:
    """How large frames become.

    Raises:
        ValueError: a field is out of range.
    """

    size: int = 0
    """Side of the square that every frame becomes, in pixels; 0 keeps the proportions."""
    fit: Fit = "crop"
    """How a frame becomes a square: the middle of it, all of it with black beside it, or squeezed as the contest
    (source 002) does."""
    most_side: int = 640
    """With `size` 0: longest side in pixels; a larger frame is scaled down to it, a smaller one stays. 0 sets no
    limit."""

    def __post_init__(self) -> None:
        check_count("size", self.size, least=0)
        check_count("most_side", self.most_side, least=0)
        check_choices(self)

    def scaled(self, width: int, height: int) -> tuple[int, int]:
        """Width and height that a frame of a size is scaled to, before it is cut or padded."""
        if self.size and self.fit == "stretch":
            return self.size, self.size
        if self.size:
            side = min(width, height) if self.fit == "crop" else max(width, height)
            factor = self.size / side
        else:
            factor = min(1.0, self.most_side / max(width, height)) if self.most_side else 1.0
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
    """Quarter turns against the clock that bring a frame upright: a telephone held upright stores it on its side."""
    return round(frame.rotation / 90) % 4


def to_array(frame: Any, stream: Any, framing: Framing) -> np.ndarray:
    """A frame of the decoder as RGB, uint8 (height, width, 3), in its final size."""
    turns = quarter_turns(frame)
    width, height = framing.scaled(*shown_size(frame, stream))
    if turns % 2:
        width, height = height, width
    image = frame.to_ndarray(format="rgb24", width=width, height=height, interpolation="AREA")
    return framing.finish(np.rot90(image, turns) if turns else image)


def _square(frame: Any, stream: Any) -> tuple[int, int]:
    """The stored size with pixels made square, as those of old camcorders are not."""
    aspect = float(stream.sample_aspect_ratio or 1)
    if aspect == 1 or not 0.1 < aspect < 10:
        return frame.width, frame.height
    return max(1, round(frame.width * aspect)), frame.height
