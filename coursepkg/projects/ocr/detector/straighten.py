"""A page of crooked lines made straight: coordinates in which every line of text runs level.

The photograph of a page is turned, and its perspective lets the lines of one page run in different directions. The
direction is taken as a smooth function of the place, fitted to the long boxes; each point then has the height at which
its own line crosses the middle of the page.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coursepkg.projects.ocr.detector.box import TextBox
from coursepkg.projects.ocr.detector.direction import difference, page_angle

LONG = 2.5
"""A box so many times wider than high has a direction that can be trusted."""
_LEAST_BOXES = 6
"""Fewer long boxes give one direction for the whole page."""
_ODD = 0.35
"""Boxes further from the page's direction than this, in radians, are stamps or text along a margin."""
_STEPS = 16


@dataclass(frozen=True, eq=False)
class Straightening:
    """The map from pixels to a straight page.

    In the frame turned by `angle`, lines follow dy/dx = slope + bend_x x + bend_y y, and u, v of a point are its x
    and the height of its line at x = 0.
    """

    angle: float
    """Direction of the text in the middle of the page, in radians."""
    middle: np.ndarray
    """Float64 (2,): the middle of the page, in pixels."""
    slope: float
    """Of the lines in the middle, against `angle`."""
    bend_x: float
    """How the slope changes along the lines, per pixel: curved paper."""
    bend_y: float
    """How the slope changes from line to line, per pixel: perspective."""

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Points (n, 2) in pixels to (n, 2): u along the lines, v across them, both in pixels."""
        x, y = _turned(points - self.middle, -self.angle).T
        at, height = x.copy(), y.copy()
        step = -x / _STEPS
        for _ in range(_STEPS):
            # The midpoint rule: a step of a whole line's length bends too much for Euler's.
            half = height + self._slope(at, height) * step / 2
            height = height + self._slope(at + step / 2, half) * step
            at = at + step
        return np.column_stack([x, height])

    def _slope(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(np.clip(self.slope + self.bend_x * x + self.bend_y * y, -_ODD, _ODD))


def fit_straightening(boxes: Sequence[TextBox]) -> Straightening:
    """The straightening of a page from its boxes, whose corners begin where their text does.

    Least squares over the long boxes, each weighing as much as it is wide, without those that stay far off.
    """
    angle = page_angle(boxes)
    if not boxes:
        return Straightening(angle, np.zeros(2), 0.0, 0.0, 0.0)
    centers = np.array([box.center for box in boxes])
    middle = (centers.min(axis=0) + centers.max(axis=0)) / 2
    long = [i for i, box in enumerate(boxes) if box.width > LONG * box.height and not stands_out(box, angle)]
    if len(long) < _LEAST_BOXES:
        return Straightening(angle, middle, 0.0, 0.0, 0.0)
    places = _turned(centers[long] - middle, -angle)
    slopes = np.tan([difference(boxes[i].angle, angle) for i in long])
    widths = np.array([boxes[i].width for i in long])
    found = np.zeros(3)
    kept = np.ones(len(long), bool)
    for _ in range(3):
        if kept.sum() < _LEAST_BOXES:
            break
        found = _fit(places[kept], slopes[kept], widths[kept])
        off = np.abs(slopes - np.column_stack([np.ones(len(long)), places]) @ found)
        kept = off <= max(3 * float(np.median(off)), 0.01)
    slope, bend_x, bend_y = found.tolist()
    return Straightening(angle, middle, slope, bend_x, bend_y)


def stands_out(box: TextBox, angle: float) -> bool:
    """Whether a long box runs in another direction than its page."""
    return box.width > LONG * box.height and abs(difference(box.angle, angle)) > _ODD


def _fit(places: np.ndarray, slopes: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Slope, bend along and bend across, drawn to none where the boxes do not say otherwise."""
    spread = max(float(np.abs(places).max()), 1.0)
    columns = np.column_stack([np.ones(len(places)), places / spread])
    weighted = columns * widths[:, None]
    # Two boxes at one place must not decide about a bend.
    hold = np.diag([0.0, 0.05, 0.05]) * float((widths).sum())
    found = np.linalg.solve(columns.T @ weighted + hold, weighted.T @ slopes)
    return np.asarray(found / np.array([1.0, spread, spread]))


def _turned(points: np.ndarray, angle: float) -> np.ndarray:
    """Points turned about the origin, clockwise in the picture."""
    cos, sin = np.cos(angle), np.sin(angle)
    return np.asarray(points @ np.array([[cos, sin], [-sin, cos]]))
