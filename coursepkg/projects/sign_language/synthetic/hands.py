"""The shapes of a hand: for each finger where it points and how long it is seen, and the outlines that follow.

A hand has its own axes: u across the palm towards the thumb, v along the fingers; the unit is the length of the hand
from the wrist to the tip of the middle finger.
"""

import numpy as np

FINGERS = ("thumb", "index", "middle", "ring", "little")
ROOTS = np.array([[0.17, -0.08], [0.15, 0.19], [0.05, 0.22], [-0.06, 0.21], [-0.16, 0.16]])
"""Where each finger begins, seen from the middle of the palm: (5, 2) of u and v."""
RADII = np.array([0.062, 0.056, 0.058, 0.056, 0.05])
"""Half the width of each finger."""
PALM = np.array(
    [[-0.2, -0.16], [-0.12, -0.27], [0.12, -0.27], [0.21, -0.14], [0.2, 0.2], [0.05, 0.26], [-0.2, 0.2]]
)
"""Outline of the palm, (7, 2) of u and v."""
WRIST = np.array([0.0, -0.3])
"""Where the hand is joined to the arm."""

SHAPES: dict[str, np.ndarray] = {
    name: np.array(fingers, float)
    for name, fingers in {
        "flat": ((14, 0.30), (3, 0.42), (1, 0.46), (-1, 0.42), (-4, 0.33)),
        "spread": ((62, 0.36), (20, 0.42), (5, 0.46), (-11, 0.42), (-28, 0.34)),
        "fist": ((-62, 0.26), (0, 0.06), (0, 0.07), (0, 0.06), (0, 0.05)),
        "point": ((-50, 0.24), (0, 0.46), (0, 0.06), (0, 0.05), (0, 0.04)),
        "two": ((-55, 0.26), (16, 0.44), (-9, 0.46), (0, 0.05), (0, 0.04)),
        "pinch": ((-17, 0.46), (-23, 0.30), (-5, 0.31), (16, 0.30), (33, 0.31)),
        "cup": ((80, 0.40), (22, 0.44), (18, 0.42), (16, 0.34), (14, 0.24)),
        "relaxed": ((22, 0.26), (5, 0.34), (1, 0.37), (-3, 0.34), (-8, 0.26)),
    }.items()
}
"""For each shape (5, 2): degrees from the axis of the hand, positive towards the thumb, and length of each finger."""


def between(first: np.ndarray, second: np.ndarray, share: np.ndarray) -> np.ndarray:
    """The hand on its way from one shape to another.

    Args:
        first: fingers (5, 2), or (T, 5, 2).
        second: the same.
        share: of the way, (T,) in [0, 1].

    Returns:
        fingers (T, 5, 2).
    """
    return np.asarray(first + (second - first) * share[:, None, None])


def turned(points: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Points of the hand's axes in those of its side: x outwards, y up.

    Args:
        points: (n, 2), or (T, n, 2), of u and v.
        degrees: where the fingers point, (T,): 0 up, 90 to the middle of the body.

    Returns:
        (T, n, 2).
    """
    angle = np.radians(degrees)[:, None]
    u, v = points[..., 0], points[..., 1]
    # Fingers up and the palm to the camera, the thumb points to the middle of the body, against x.
    return np.stack([-u * np.cos(angle) - v * np.sin(angle), v * np.cos(angle) - u * np.sin(angle)], axis=-1)


def finger_bones(
    fingers: np.ndarray, degrees: np.ndarray, facing: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where the fingers begin and end, from the middle of the palm.

    Args:
        fingers: (T, 5, 2).
        degrees: where the hand points, (T,).
        facing: how much of the palm is seen, (T,): 1 all of it, 0 the hand from its edge, -1 its back.

    Returns:
        roots and tips, each (T, 5, 2) in the axes of the hand's side.
    """
    lean = np.radians(fingers[..., 0])
    along = np.stack([np.sin(lean), np.cos(lean)], axis=-1) * fingers[..., 1:]
    return turned(faced(ROOTS, facing), degrees), turned(faced(ROOTS + along, facing), degrees)


def faced(points: np.ndarray, facing: np.ndarray) -> np.ndarray:
    """Points (n, 2) or (T, n, 2) of the hand's axes, as narrow as they look (T, n, 2)."""
    width = np.stack([facing, np.ones_like(facing)], axis=-1)
    return np.asarray(points * width[:, None])
