"""Tight crops of text out of photographs: perspective corrected, turned upright, in grayscale."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from coursepkg.projects.ocr.data.geometry import (
    Outline,
    as_corners,
    clip_polygon,
    convex_hull,
    four_corners,
    homography,
    in_reading_order,
    sides,
)
from coursepkg.projects.ocr.data.images import LEAST_SIDE


@dataclass(frozen=True, eq=False)
class Crop:
    """One line of text cut out of a picture."""

    image: np.ndarray
    """Uint8 (height, width), the text upright."""
    corners: np.ndarray
    """Where it was in the picture: float64 (4, 2), top left, top right, bottom right, bottom left of the text."""
    notes: tuple[str, ...]
    """What had to be mended, such as `clipped to the image`."""


def crop_polygons(
    image: np.ndarray,
    polygons: Sequence[Outline],
    *,
    quarter: int = 0,
    margin: float = 0.0,
    name: str = "crop",
) -> Crop:
    """Cut out the text that one or more polygons outline together, such as the halves of one line.

    Args:
        image: uint8 (height, width).
        polygons: corners (x, y) in pixels.
        quarter: how the text lies in the picture, see `geometry.QUARTERS`; the crop is turned upright.
        margin: how much is added on each side, in heights of the line.
        name: what messages call it.

    Raises:
        ValueError: the polygons lie outside the picture, or the crop would be a pixel wide or high; one line.
    """
    height, width = image.shape
    hull = convex_hull(np.concatenate([as_corners(polygon) for polygon in polygons]))
    if len(hull) < 3:
        raise ValueError(f"{name}: the polygon is a line without area; mend its corners")
    inside, was_cut = clip_polygon(hull, width, height)
    if len(inside) < 3:
        raise ValueError(f"{name}: the polygon lies outside the image of {width} x {height} pixels")
    corners = in_reading_order(four_corners(inside), quarter)
    if margin:
        corners = _widened(corners, margin)
    notes = ("clipped to the image",) if was_cut else ()
    return Crop(_warp(image, corners, name), corners, notes)


def crop_corners(
    image: np.ndarray, corners: np.ndarray, *, margin: float = 0.0, name: str = "crop"
) -> np.ndarray:
    """Straighten what four corners in reading order enclose; what lies outside the picture is white.

    Args:
        image: uint8 (height, width).
        corners: (4, 2), in pixels.
        margin: how much is added on each side, in heights of the line.
        name: what messages call it.

    Raises:
        ValueError: the crop would be a pixel wide or high.
    """
    return _warp(image, _widened(corners, margin) if margin else corners, name)


def _warp(image: np.ndarray, corners: np.ndarray, name: str) -> np.ndarray:
    wide, high = (round(side) for side in sides(corners))
    if min(wide, high) < LEAST_SIDE:
        raise ValueError(
            f"{name}: a crop of {wide} x {high} pixels holds no text; leave it out or mend its polygon"
        )
    coefficients = perspective(corners, wide, high)
    size = (wide, high)
    return np.array(
        Image.fromarray(image).transform(
            size, Image.Transform.PERSPECTIVE, coefficients, Image.Resampling.BICUBIC, fillcolor=255
        )
    )


def perspective(corners: np.ndarray, width: int, height: int) -> list[float]:
    """The projection that leads from a crop's pixels back into the picture, as Pillow wants it.

        x = (a u + b v + c) / (g u + h v + 1)        y = (d u + e v + f) / (g u + h v + 1)

    Four corners give eight equations for a..h.

    Args:
        corners: (4, 2) in reading order, where the corners (0, 0), (width, 0), (width, height), (0, height) of the
            crop are in the picture.
        width: of the crop, in pixels.
        height: of the crop, in pixels.

    Raises:
        ValueError: three of the corners lie on a line, or one lies within the others.
    """
    bent = ValueError("the four corners of a crop must form a convex quadrilateral; mend the polygon")
    crop = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float64)
    try:
        matrix = homography(crop, corners)
    except ValueError:
        raise bent from None
    g, h, _ = matrix[2].tolist()
    # Where the divisor changes its sign, the crop would be folded over.
    divisors = (1.0, g * width + 1, g * width + h * height + 1, h * height + 1)
    if min(divisors) < 1e-6 or abs(np.linalg.det(matrix)) < 1e-9:
        raise bent
    return [float(value) for value in matrix.flat[:8]]


def _widened(corners: np.ndarray, margin: float) -> np.ndarray:
    """Corners moved outwards along both directions of the line by so many of its heights."""
    _, high = sides(corners)
    top_left, top_right, bottom_right, bottom_left = corners
    along = _unit((top_right - top_left) + (bottom_right - bottom_left)) * margin * high
    down = _unit((bottom_left - top_left) + (bottom_right - top_right)) * margin * high
    return corners + np.array([-along - down, along - down, along + down, down - along])


def _unit(vector: np.ndarray) -> np.ndarray:
    return np.asarray(vector / max(math.hypot(*vector), 1e-12))
