"""Where text stands in a picture, and what finds it: the two types that detectors, pages and commands hand on."""

import math
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from coursepkg.projects.ocr.data.geometry import sides


@dataclass(frozen=True, eq=False)
class TextBox:
    """Four corners around some text. Two boxes are never equal by their fields: compare what you mean.

    Raises:
        ValueError: there are not four finite corners, the score is no number in [0, 1], or the rim is none above -0.5.
    """

    corners: np.ndarray
    """Float64 (4, 2): x and y in pixels of the upright picture, clockwise from the upper left corner of the text as
    it is read."""
    score: float
    """The detector's confidence, in [0, 1]."""
    rim: float = 0.0
    """How far the box reaches beyond the ink on every side, in heights of the ink, above -0.5; 0 for an outline."""

    def __post_init__(self) -> None:
        corners = np.array(self.corners, dtype=np.float64)
        if corners.shape != (4, 2) or not np.isfinite(corners).all():
            raise ValueError(f"corners of a box must be four finite points (x, y), got shape {corners.shape}")
        if not (math.isfinite(self.score) and 0 <= self.score <= 1):
            raise ValueError(f"score of a box must be in [0, 1], got {self.score}")
        if not (math.isfinite(self.rim) and self.rim > -0.5):
            raise ValueError(f"rim of a box must be a number above -0.5, got {self.rim}")
        object.__setattr__(self, "corners", corners)
        object.__setattr__(self, "score", float(self.score))

    @property
    def width(self) -> float:
        """Along the text, in pixels: the longer of the upper and the lower side."""
        return sides(self.corners)[0]

    @property
    def height(self) -> float:
        """Across the text, in pixels: the longer of the left and the right side."""
        return sides(self.corners)[1]

    @property
    def center(self) -> np.ndarray:
        """The mean of the corners, float64 (2,)."""
        return np.asarray(self.corners.mean(axis=0))

    @property
    def angle(self) -> float:
        """Direction in which the text is read, in radians in (-pi, pi]; positive turns clockwise in the picture."""
        top_left, top_right, bottom_right, bottom_left = self.corners
        x, y = (top_right - top_left) + (bottom_right - bottom_left)
        return math.atan2(float(y), float(x))

    def turned(self, quarters: int) -> "TextBox":
        """The same place, read in another direction: by so many quarters further clockwise."""
        return replace(self, corners=np.roll(self.corners, -quarters, axis=0))


@runtime_checkable
class Detector(Protocol):
    """What finds the text of a picture. It holds memory or a process until it is closed."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of weights and settings: another fingerprint may find other boxes."""
        ...

    def detect(self, image: np.ndarray, name: str = "picture") -> list[TextBox]:
        """The boxes of a picture in no set order.

        Args:
            image: uint8 (height, width, 3), red, green, blue.
            name: what messages call it.

        Raises:
            ValueError: it is no such picture, or too large; the message is one line.
            OSError: the detector cannot run, or fails at this picture.
        """
        ...

    def close(self) -> None:
        """Let go of memory and processes; a closed detector finds nothing more."""
        ...


def check_rgb(image: np.ndarray, name: str) -> None:
    """Raises a ValueError unless this is a colour picture: uint8 (height, width, 3), neither side 0."""
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
        raise ValueError(
            f"{name}: a page must be in colour, uint8 (height, width, 3), got {image.dtype} "
            f"{tuple(image.shape)}; read it with coursepkg.projects.ocr.data.images.read_rgb"
        )
