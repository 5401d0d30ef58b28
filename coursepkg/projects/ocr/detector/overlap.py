"""How much two quadrilaterals have in common."""

import numpy as np

from coursepkg.projects.ocr.data.geometry import area


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
    if _signed_area(window) < 0:
        window = window[::-1]
    found = polygon
    for start, end in zip(window, np.roll(window, -1, axis=0), strict=True):
        along = end - start
        depth = along[0] * (found[:, 1] - start[1]) - along[1] * (found[:, 0] - start[0])
        kept: list[np.ndarray] = []
        for i in range(len(found)):
            before, here = depth[i - 1], depth[i]
            if (before < 0) != (here < 0):
                kept.append(found[i - 1] + (found[i] - found[i - 1]) * (before / (before - here)))
            if here >= 0:
                kept.append(found[i])
        found = np.array(kept).reshape(-1, 2)
    return found


def _signed_area(polygon: np.ndarray) -> float:
    """Positive for corners that run clockwise in the picture, where y points downwards."""
    after = np.roll(polygon, -1, axis=0)
    return float(np.sum(polygon[:, 0] * after[:, 1] - after[:, 0] * polygon[:, 1])) / 2
