"""A turned square of a picture: where a network looks next, and the way back.

A hand lies in the picture at any angle, and the network was trained on hands whose
fingers point up. So the square is turned until they do, cut out, and given to the
network; what the network finds in the cut is mapped back to the picture:

    p = c + s R(a) (q - 1/2)        R(a) = [[cos a, -sin a], [sin a, cos a]]

with c the middle of the square, s its side and a its angle in the picture, q a point of
the cut, from 0 to 1 along both sides, and p the same point in the picture.

Source: Bazarevsky et al., "BlazePose" (arXiv 2006.10204), section 2.1; Zhang et al.,
"MediaPipe Hands" (arXiv 2006.10214), section 2.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np


def import_cv2() -> Any:
    """OpenCV, or an ImportError of one line."""
    try:
        import cv2
    except ImportError as reason:
        raise ImportError(
            "landmarks need OpenCV: pip install 'coursepkg[landmarks]'"
        ) from reason
    return cv2


@dataclass(frozen=True)
class Region:
    """A square in a picture, turned by an angle."""

    x: float
    """Its middle, in pixels from the left edge of the picture."""
    y: float
    """Its middle, in pixels from the upper edge."""
    side: float
    """Length of a side, in pixels."""
    angle: float = 0.0
    """By which it is turned clockwise, in radians."""

    @classmethod
    def whole(cls, width: int, height: int) -> "Region":
        """The smallest upright square that holds a picture of this size."""
        return cls(width / 2, height / 2, float(max(width, height)))

    def crop(self, frame: np.ndarray, size: int, *, repeat_edge: bool) -> np.ndarray:
        """Cut the square out of a picture and scale it, by bilinear interpolation.

        Args:
            frame: RGB, uint8 (height, width, 3).
            size: side of the cut, in pixels.
            repeat_edge: beyond the picture's edge its last pixels are repeated;
                otherwise it is black there.

        Returns:
            RGB, uint8 (size, size, 3).
        """
        cv2 = import_cv2()
        step = self.side / size
        cos, sin = step * math.cos(self.angle), step * math.sin(self.angle)
        half = size / 2
        # From pixels of the cut to those of the picture.
        matrix = np.array(
            [
                [cos, -sin, self.x - cos * half + sin * half],
                [sin, cos, self.y - sin * half - cos * half],
            ]
        )
        border = cv2.BORDER_REPLICATE if repeat_edge else cv2.BORDER_CONSTANT
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        return np.asarray(
            cv2.warpAffine(frame, matrix, (size, size), flags=flags, borderMode=border)
        )

    def to_frame(self, points: np.ndarray) -> np.ndarray:
        """Map points of the cut to points of the picture.

        Args:
            points: (..., 2), from 0 to 1 along both sides; or (..., 3) with a depth in
                sides of the cut.

        Returns:
            the same shape, in pixels.
        """
        found = np.empty_like(points)
        found[..., :2] = turned(points[..., :2] - 0.5, self.angle) * self.side
        found[..., :2] += (self.x, self.y)
        if points.shape[-1] == 3:
            found[..., 2] = points[..., 2] * self.side
        return found

    def overlap(self, other: "Region") -> float:
        """Intersection over union of two squares taken as upright, in [0, 1]."""
        reach = (self.side + other.side) / 2
        least = min(self.side, other.side)
        wide = min(least, reach - abs(self.x - other.x))
        high = min(least, reach - abs(self.y - other.y))
        shared = max(0.0, wide) * max(0.0, high)
        union = self.side**2 + other.side**2 - shared
        return shared / union if union > 0 else 0.0


def turned(points: np.ndarray, angle: float) -> np.ndarray:
    """Turn points (..., 2) about the origin by an angle in radians, clockwise."""
    cos, sin = math.cos(angle), math.sin(angle)
    x, y = points[..., 0], points[..., 1]
    return np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)


def upright_angle(begin: np.ndarray, end: np.ndarray) -> float:
    """The angle by which a square is turned so that begin -> end points up in its cut.

    Args:
        begin: a point (2,).
        end: another.

    Returns:
        radians, in [-pi, pi).
    """
    x, y = (end - begin).tolist()
    angle = math.pi / 2 - math.atan2(-y, x)
    return angle - 2 * math.pi * math.floor((angle + math.pi) / (2 * math.pi))
