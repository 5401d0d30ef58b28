"""The polygons of one annotated text, as a table of MC-OCR gives them, and which of them cannot be used."""

from coursepkg.projects.ocr.data.geometry import area, as_corners, clip_polygon, convex_hull

MOST_CORNERS = 1_000
"""Of a polygon; people mark a handful."""
FARTHEST = 1e6
"""A corner has no coordinate beyond it on either side, in pixels: no photograph is so large."""
LEAST_AREA = 1.0
"""Square pixels; an outline of less shows nothing."""

Polygon = tuple[tuple[float, float], ...]
"""Corners (x, y) in pixels of the photograph, y downwards."""


def read_outlines(flats: object, size: tuple[int, int], faults: list[tuple[str, str]]) -> tuple[Polygon, ...]:
    """The polygons that outline a text.

    Args:
        flats: what the table says under `segmentation`: a list of polygons, each x0, y0, x1, y1, ...
        size: width and height of the photograph in pixels.
        faults: gets what is wrong, as kind and detail.

    Returns:
        the polygons; none where no part of the photograph is outlined, and the fault says why.
    """
    if not isinstance(flats, list):
        faults.append(("malformed polygon", "no list of polygons; the instance is left out"))
        return ()
    polygons = [_polygon(flat) for flat in flats]
    good = tuple(polygon for polygon in polygons if polygon is not None)
    if len(good) < len(polygons):
        n_bad = len(polygons) - len(good)
        said = (
            f"{n_bad} of {len(polygons)} are no 3 to {MOST_CORNERS:,} corners within {FARTHEST:,.0f} pixels"
        )
        faults.append(("malformed polygon", said))
    if not good:
        faults.append(("no polygon", "it is left out"))
        return ()
    if all(_is_empty(polygon) for polygon in good):
        faults.append(("no area", "its outline is a line or a point; it is left out"))
        return ()
    inside = tuple(polygon for polygon in good if _shows(polygon, size))
    width, height = size
    if len(inside) < len(good):
        left = "it is left out" if not inside else f"{len(good) - len(inside)} of {len(good)} are left out"
        faults.append(("wholly outside the image", f"no corner is left within {width} x {height}; {left}"))
    if len(inside) > 1:
        faults.append(("several polygons", f"{len(inside)}"))
    if any(_leaves(polygon, size) for polygon in inside):
        faults.append(("outside the image", f"a corner lies outside {width} x {height}; it is clipped"))
    return inside


def _polygon(flat: object) -> Polygon | None:
    """x0, y0, x1, y1, ... as corners; None unless there are three or more, none of them beyond `FARTHEST`."""
    if not isinstance(flat, list) or len(flat) % 2 or not 6 <= len(flat) <= 2 * MOST_CORNERS:
        return None
    # The bound is compared before a number becomes a float: an integer may have hundreds of digits.
    if not all(type(value) in (int, float) and abs(value) <= FARTHEST for value in flat):
        return None
    return tuple((float(x), float(y)) for x, y in zip(flat[::2], flat[1::2], strict=True))


def _is_empty(polygon: Polygon) -> bool:
    return area(convex_hull(as_corners(polygon))) < LEAST_AREA


def _leaves(polygon: Polygon, size: tuple[int, int]) -> bool:
    width, height = size
    return any(not (0 <= x <= width and 0 <= y <= height) for x, y in polygon)


def _shows(polygon: Polygon, size: tuple[int, int]) -> bool:
    """Whether some of a polygon lies in the photograph; a sliver within it does, though it has no area."""
    if not _leaves(polygon, size):
        return True
    left, _ = clip_polygon(convex_hull(as_corners(polygon)), *size)
    return len(left) > 2 and area(left) >= LEAST_AREA
