"""How much two quadrilaterals have in common."""

import numpy as np

from coursepkg.projects.ocr.data.geometry import area, cut_along, signed_area


def intersection_over_union(one: np.ndarray, other: np.ndarray) -> float:
    """Common area over joint area of two convex quadrilaterals (4, 2), in [0, 1]; 0 where one has no area."""
    if (one.max(axis=0) < other.min(axis=0)).any() or (other.max(axis=0) < one.min(axis=0)).any():
        return 0.0
    common = area(_clipped(one, other))
    joint = area(one) + area(other) - common
    return float(min(1.0, common / joint)) if joint > 0 else 0.0


def _clipped(polygon: np.ndarray, window: np.ndarray) -> np.ndarray:
    """What of a polygon lies in a convex window.

    Source: Sutherland and Hodgman, "Reentrant polygon clipping" (1974).
    """
    if signed_area(window) < 0:
        window = window[::-1]
    found = polygon
    for start, end in zip(window, np.roll(window, -1, axis=0), strict=True):
        along = end - start
        found = cut_along(found, along[0] * (found[:, 1] - start[1]) - along[1] * (found[:, 0] - start[0]))
    return found
