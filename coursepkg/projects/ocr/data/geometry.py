"""Polygons around text, and straight grayscale crops of what they outline.

Coordinates are pixels with y downwards, corners are rows (x, y) of float64 arrays.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from coursepkg.projects.ocr.data.images import LEAST_SIDE

Corners = np.ndarray
"""Float64 (number of corners, 2)."""

Outline = Sequence[Sequence[int | float]] | np.ndarray
"""A polygon as it comes from outside: corners (x, y)."""

QUARTERS = ("upright", "turned clockwise", "upside down", "turned counter-clockwise")
"""How a text lies in its picture: index k means turned by k quarters clockwise, so that
1 runs downwards and 3 upwards."""
_KEPT_AREA = 0.95
"""Four corners stand for a hull when they keep so much of its area."""


def rectangle(
    left: int | float, top: int | float, right: int | float, bottom: int | float
) -> Corners:
    """The corners of an upright rectangle, clockwise from the upper left."""
    corners = [[left, top], [right, top], [right, bottom], [left, bottom]]
    return np.array(corners, dtype=np.float64)


def as_corners(polygon: Outline) -> Corners:
    """A polygon as an array.

    Raises:
        ValueError: it has no three corners, or one is not finite.
    """
    corners = np.asarray(polygon, dtype=np.float64)
    is_list = corners.ndim == 2 and corners.shape[-1] == 2 and len(corners) > 2
    if not is_list or not np.isfinite(corners).all():
        raise ValueError(
            "a polygon needs at least three finite corners (x, y), got shape"
            f" {corners.shape}"
        )
    return corners


def area(polygon: Corners) -> float:
    """Area in square pixels: |sum x_i y_(i+1) - x_(i+1) y_i| / 2."""
    return abs(signed_area(polygon))


def signed_area(polygon: Corners) -> float:
    """The area, positive for corners that run clockwise in the picture."""
    after = np.roll(polygon, -1, axis=0)
    return float(np.sum(polygon[:, 0] * after[:, 1] - after[:, 0] * polygon[:, 1])) / 2


def convex_hull(points: Corners) -> Corners:
    """The corners of the convex hull, clockwise in the picture, none on an edge.

    Source: Andrew, "Another Efficient Algorithm for Convex Hulls in Two Dimensions"
    (1979).
    """
    ordered = sorted({(float(x), float(y)) for x, y in points})
    if len(ordered) < 3:
        return np.array(ordered)

    def chain(along: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        found: list[tuple[float, float]] = []
        for point in along:
            while len(found) > 1 and _cross(found[-2], found[-1], point) <= 0:
                found.pop()
            found.append(point)
        return found[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


def smallest_rectangle(points: Corners) -> Corners:
    """The rotated rectangle (4, 2) of smallest area around points, clockwise.

    One of its sides lies on an edge of the hull, so each edge is tried.

    Source: Freeman and Shapira, "Determining the minimum-area encasing rectangle for an
    arbitrary closed curve" (1975).
    """
    hull = convex_hull(points)
    best: tuple[float, Corners] | None = None
    for edge in np.roll(hull, -1, axis=0) - hull:
        along = edge / max(float(np.hypot(*edge)), 1e-12)
        axes = np.array([along, [-along[1], along[0]]])
        inside = hull @ axes.T
        (left, top), (right, bottom) = inside.min(axis=0), inside.max(axis=0)
        size = float((right - left) * (bottom - top))
        if best is None or size < best[0] - 1e-9:
            best = size, rectangle(left, top, right, bottom) @ axes
    assert best is not None
    return best[1]


def four_corners(points: Corners) -> Corners:
    """Four corners around points, clockwise: the outline's own, else a rectangle.

    Annotators draw four corners and often a fifth beside the first. Corners whose loss
    costs least are taken away until four are left; where these keep nearly all of the
    hull they follow the perspective of the photograph, otherwise the smallest rectangle
    serves.
    """
    hull = convex_hull(points)
    whole = area(hull) if len(hull) > 2 else 0.0
    left = hull
    while len(left) > 4:
        cost = [
            area(np.array([left[i - 1], left[i], left[(i + 1) % len(left)]]))
            for i in range(len(left))
        ]
        left = np.delete(left, int(np.argmin(cost)), axis=0)
    if len(left) == 4 and whole > 0 and area(left) >= _KEPT_AREA * whole:
        rectangle = smallest_rectangle(points)
        # Two strokes that cross would give a sharp kite whose sides say nothing about
        # the line.
        return left if area(left) >= 0.6 * area(rectangle) else rectangle
    return smallest_rectangle(points)


def in_reading_order(corners: Corners, quarter: int = 0) -> Corners:
    """Top left, top right, bottom right, bottom left, as the text is read.

    Args:
        corners: (4, 2), clockwise or not.
        quarter: how the text lies, see `QUARTERS`.
    """
    centre = corners.mean(axis=0)
    angles = np.arctan2(*(corners - centre).T[::-1])
    clockwise = corners[np.argsort(angles, kind="stable")]
    edges = np.roll(clockwise, -1, axis=0) - clockwise
    # A top edge runs to the right, and the bottom edge, two further on, to the left.
    across = edges - np.roll(edges, -2, axis=0)
    rightward = across[:, 0] / np.maximum(np.hypot(across[:, 0], across[:, 1]), 1e-12)
    return np.roll(clockwise, -(int(np.argmax(rightward)) + quarter), axis=0)


def sides(corners: Corners) -> tuple[float, float]:
    """Width and height in pixels: the longer of two opposite sides each."""
    top_left, top_right, bottom_right, bottom_left = corners
    width = max(math.dist(top_left, top_right), math.dist(bottom_left, bottom_right))
    height = max(math.dist(top_left, bottom_left), math.dist(top_right, bottom_right))
    return width, height


def clip_polygon(polygon: Corners, width: int, height: int) -> tuple[Corners, bool]:
    """The part of a convex polygon in a picture, and whether some was cut off.

    Source: Sutherland and Hodgman, "Reentrant polygon clipping" (1974).
    """
    found = polygon
    for axis, most in ((0, width), (1, height)):
        found = cut_along(found, found[:, axis])
        found = cut_along(found, most - found[:, axis])
    inside = (polygon >= -1e-9) & (polygon <= np.array([width, height]) + 1e-9)
    return found, not bool(inside.all())


def cut_along(polygon: Corners, depth: np.ndarray) -> Corners:
    """The part of a polygon on one side of a line: one step of clipping.

    Args:
        polygon: (n, 2), convex.
        depth: of its corners (n,), how far on that side they lie, on any scale;
            negative beyond the line.
    """
    kept: list[np.ndarray] = []
    for i in range(len(polygon)):
        before, here = depth[i - 1], depth[i]
        if (before < 0) != (here < 0):
            along = before / (before - here)
            kept.append(polygon[i - 1] + (polygon[i] - polygon[i - 1]) * along)
        if here >= 0:
            kept.append(polygon[i])
    return np.array(kept).reshape(-1, 2)


def _cross(
    o: tuple[float, float], a: tuple[float, float], b: tuple[float, float]
) -> float:
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def homography(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The perspective map that takes four source points to four target points.

    (x, y, 1) times the map is (u w, v w, w): the eight unknowns solve eight linear
    equations.

    Args:
        source: (4, 2).
        target: (4, 2).

    Returns:
        (3, 3), its lower right entry 1.

    Raises:
        ValueError: three of the points lie on one line.
    """
    rows, right = [], []
    for (x, y), (u, v) in zip(source, target, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        right += [u, v]
    try:
        solved = np.linalg.solve(
            np.array(rows, np.float64), np.array(right, np.float64)
        )
    except np.linalg.LinAlgError as reason:
        raise ValueError(
            "points: three of the four lie on one line, and no perspective takes them"
            " there"
        ) from reason
    return np.append(solved, 1).reshape(3, 3)


def map_points(matrix: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points (n, 2) under a perspective map."""
    mapped = np.column_stack([points, np.ones(len(points))]) @ matrix.T
    return np.asarray(mapped[:, :2] / mapped[:, 2:])


@dataclass(frozen=True, eq=False)
class Crop:
    """One line of text cut out of a picture."""

    image: np.ndarray
    """Uint8 (height, width), the text upright."""
    corners: np.ndarray
    """Where it was in the picture: float64 (4, 2), top left, top right, bottom right,
    bottom left of the text."""
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
    """Cut out the text that polygons outline together, as two halves of a line.

    Args:
        image: uint8 (height, width).
        polygons: corners (x, y) in pixels.
        quarter: how the text lies in the picture, see `geometry.QUARTERS`; the crop is
            turned upright.
        margin: how much is added on each side, in heights of the line.
        name: what messages call it.

    Raises:
        ValueError: the polygons lie outside the picture, or the crop would be a pixel
            wide or high; one line.
    """
    height, width = image.shape
    hull = convex_hull(np.concatenate([as_corners(polygon) for polygon in polygons]))
    if len(hull) < 3:
        raise ValueError(
            f"{name}: the polygon is a line without area; mend its corners"
        )
    inside, was_cut = clip_polygon(hull, width, height)
    if len(inside) < 3:
        raise ValueError(
            f"{name}: the polygon lies outside the image of {width} x {height} pixels"
        )
    corners = in_reading_order(four_corners(inside), quarter)
    if margin:
        corners = _widened(corners, margin)
    notes = ("clipped to the image",) if was_cut else ()
    return Crop(_warp(image, corners, name), corners, notes)


def crop_corners(
    image: np.ndarray, corners: np.ndarray, *, margin: float = 0.0, name: str = "crop"
) -> np.ndarray:
    """Straighten what four corners enclose; outside the picture is white.

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
            f"{name}: a crop of {wide} x {high} pixels holds no text; leave it out or"
            " mend its polygon"
        )
    back = perspective(corners, wide, high)
    return np.array(projected(Image.fromarray(image), (wide, high), back, fill=255))


def projected(
    image: Image.Image,
    size: tuple[int, int],
    back: np.ndarray,
    resampling: Image.Resampling = Image.Resampling.BICUBIC,
    fill: int | str | None = None,
) -> Image.Image:
    """A picture seen in perspective.

    Args:
        image: as Pillow has it.
        size: width and height of the result.
        back: the map (3, 3) from points of the result to those of the picture.
        resampling: between its pixels.
        fill: colour of what lies outside of it; None leaves zeros.
    """
    way, coefficients = Image.Transform.PERSPECTIVE, tuple(back.flat[:8].tolist())
    return image.transform(size, way, coefficients, resampling, fillcolor=fill)


def perspective(corners: np.ndarray, width: int, height: int) -> np.ndarray:
    """The map (3, 3) from a crop's pixels back into the picture.

        x = (a u + b v + c) / (g u + h v + 1)      y = (d u + e v + f) / (g u + h v + 1)

    Four corners give eight equations for a..h.

    Args:
        corners: (4, 2) in reading order, where the corners (0, 0), (width, 0), (width,
            height), (0, height) of the crop are in the picture.
        width: of the crop, in pixels.
        height: of the crop, in pixels.

    Raises:
        ValueError: three of the corners lie on a line, or one lies within the others.
    """
    bent = ValueError(
        "the four corners of a crop must form a convex quadrilateral; mend the polygon"
    )
    try:
        matrix = homography(rectangle(0, 0, width, height), corners)
    except ValueError:
        raise bent from None
    g, h, _ = matrix[2].tolist()
    # Where the divisor changes its sign, the crop would be folded over.
    divisors = (1.0, g * width + 1, g * width + h * height + 1, h * height + 1)
    if min(divisors) < 1e-6 or abs(np.linalg.det(matrix)) < 1e-9:
        raise bent
    return matrix


def _widened(corners: np.ndarray, margin: float) -> np.ndarray:
    """Corners moved outwards on each side by so many heights of the line."""
    _, high = sides(corners)
    top_left, top_right, bottom_right, bottom_left = corners
    along = _unit((top_right - top_left) + (bottom_right - bottom_left)) * margin * high
    down = _unit((bottom_left - top_left) + (bottom_right - top_right)) * margin * high
    return corners + np.array([-along - down, along - down, along + down, down - along])


def _unit(vector: np.ndarray) -> np.ndarray:
    return np.asarray(vector / max(math.hypot(*vector), 1e-12))
