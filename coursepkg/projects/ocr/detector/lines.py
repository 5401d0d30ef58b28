"""Boxes of words made into lines, in reading order: row by row, from left to right.

Two boxes of one row become one line where the gap between them is that of a space. The
name of the goods on the left and its price on the right stay two lines of one row. A
box says nothing about up and down; only reading can tell (`TextBox.turned`).

The photograph is turned, and perspective lets the lines of one page run in different
directions. The direction is taken as a smooth function of the place, fitted to the long
boxes; each point then has the height at which its own line crosses the middle of the
page.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from coursepkg.projects.ocr.data.geometry import (
    area,
    cut_along,
    in_reading_order,
    rectangle,
    sides,
    signed_area,
)
from coursepkg.validation import check_finite


def intersection_over_union(one: np.ndarray, other: np.ndarray) -> float:
    """Common over joint area of two convex quadrilaterals (4, 2), in [0, 1]."""
    common = common_area(one, other)
    joint = area(one) + area(other) - common
    return float(min(1.0, common / joint)) if joint > 0 else 0.0


def common_area(one: np.ndarray, other: np.ndarray) -> float:
    """What two convex quadrilaterals (4, 2) have in common, in square pixels."""
    apart = (one.max(axis=0) < other.min(axis=0)) | (
        other.max(axis=0) < one.min(axis=0)
    )
    return 0.0 if apart.any() else area(_clipped(one, other))


def _clipped(polygon: np.ndarray, window: np.ndarray) -> np.ndarray:
    """What of a polygon lies in a convex window.

    Source: Sutherland and Hodgman, "Reentrant polygon clipping" (1974).
    """
    if signed_area(window) < 0:
        window = window[::-1]
    found = polygon
    for start, end in zip(window, np.roll(window, -1, axis=0), strict=True):
        along = end - start
        found = cut_along(
            found,
            along[0] * (found[:, 1] - start[1]) - along[1] * (found[:, 0] - start[0]),
        )
    return found


@dataclass(frozen=True, eq=False)
class TextBox:
    """Four corners around some text. Boxes are not compared by their fields.

    Raises:
        ValueError: there are not four finite corners, the score is no number in [0, 1],
            or the rim is none above -0.5.
    """

    corners: np.ndarray
    """Float64 (4, 2): x and y in pixels of the upright picture, clockwise from the
    upper left corner of the text as it is read."""
    score: float
    """The detector's confidence, in [0, 1]."""
    rim: float = 0.0
    """How far the box reaches beyond the ink on every side, in heights of the ink,
    above -0.5; 0 for an outline."""

    def __post_init__(self) -> None:
        corners = np.array(self.corners, dtype=np.float64)
        if corners.shape != (4, 2) or not np.isfinite(corners).all():
            raise ValueError(
                "corners of a box must be four finite points (x, y), got shape"
                f" {corners.shape}"
            )
        if not (math.isfinite(self.score) and 0 <= self.score <= 1):
            raise ValueError(f"score of a box must be in [0, 1], got {self.score}")
        if not (math.isfinite(self.rim) and self.rim > -0.5):
            raise ValueError(
                f"rim of a box must be a number above -0.5, got {self.rim}"
            )
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
        """Direction of reading in radians in (-pi, pi], clockwise in the picture."""
        top_left, top_right, bottom_right, bottom_left = self.corners
        x, y = (top_right - top_left) + (bottom_right - bottom_left)
        return math.atan2(float(y), float(x))

    def turned(self, quarters: int) -> "TextBox":
        """The same place, read from so many quarters further clockwise."""
        return replace(self, corners=np.roll(self.corners, -quarters, axis=0))


@runtime_checkable
class Detector(Protocol):
    """What finds the text of a picture, with memory or a process until closed."""

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
    """Raises a ValueError unless this is a picture uint8 (height, width, 3)."""
    is_rgb = image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3
    if not is_rgb or 0 in image.shape:
        raise ValueError(
            f"{name}: a page must be in colour, uint8 (height, width, 3), got"
            f" {image.dtype} {tuple(image.shape)}; read it with"
            " coursepkg.projects.ocr.data.images.read_rgb"
        )


TALL = 1.5
"""A box so many times taller than wide votes for a page that lies on its side."""
ALONE = 3.0
"""On an upright page a box is read downwards if it is so many times taller than wide,
and as long as a word."""


def settle_directions(boxes: Sequence[TextBox]) -> list[TextBox]:
    """Boxes whose corners begin where the text does, in the order given.

    The votes of all boxes, each as strong as its longer side exceeds its shorter one,
    say whether the page lies on its side. On such a page every box is read downwards,
    also a digit, which is wider than tall there. On an upright page a digit is taller
    than wide and still upright: only a long narrow box is read downwards.

    Args:
        boxes: with corners in any order.
    """
    upright = [replace(box, corners=in_reading_order(box.corners)) for box in boxes]
    if not upright:
        return []
    sideways = lies_on_side(upright)
    usual = float(np.median([min(box.width, box.height) for box in upright]))
    return [
        box.turned(1) if _downwards(box, sideways, usual) else box for box in upright
    ]


def lies_on_side(boxes: Sequence[TextBox]) -> bool:
    """Whether most text of a page runs downwards or upwards."""
    votes = 0.0
    for box in boxes:
        if box.height > TALL * box.width:
            votes += box.height - box.width
        elif box.width > TALL * box.height:
            votes -= box.width - box.height
    return votes > 0


def page_angle(boxes: Sequence[TextBox]) -> float:
    """The direction of a page's text in radians: the median, by width of box.

    Angles are measured from that of the widest box, so that pi and -pi lie beside each
    other.
    """
    if not boxes:
        return 0.0
    widths = np.array([box.width for box in boxes])
    anchor = boxes[int(np.argmax(widths))].angle
    apart = np.array([difference(box.angle, anchor) for box in boxes])
    order = np.argsort(apart, kind="stable")
    middle = int(np.searchsorted(np.cumsum(widths[order]), widths.sum() / 2))
    return difference(anchor + float(apart[order[middle]]), 0.0)


def difference(angle: float, other: float) -> float:
    """The turn from one angle to another, in radians in [-pi, pi]."""
    return math.remainder(angle - other, 2 * math.pi)


def _downwards(box: TextBox, sideways: bool, usual: float) -> bool:
    if sideways:
        # The rare box that lies flat and long there is a line across the page, not a
        # digit.
        return box.width < ALONE * box.height or box.width < 2 * usual
    return box.height > ALONE * box.width and box.height > 2 * usual


LONG = 2.5
"""A box so many times wider than high has a direction that can be trusted."""
_LEAST_BOXES = 6
"""Fewer long boxes give one direction for the whole page."""
_ODD = 0.35
"""Boxes further from the page's direction than this, in radians, are stamps or text
along a margin."""
_STEPS = 16


@dataclass(frozen=True, eq=False)
class Straightening:
    """The map from pixels to a straight page.

    In the frame turned by `angle`, lines follow dy/dx = slope + bend_x x + bend_y y,
    and u, v of a point are its x and the height of its line at x = 0.
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
        """Points (n, 2) in pixels to u along and v across the lines, in pixels."""
        x, y = _turned(points - self.middle, -self.angle).T
        at, height = x.copy(), y.copy()
        step = -x / _STEPS
        for _ in range(_STEPS):
            # The midpoint rule: a step of a whole line's length bends too much for
            # Euler's.
            half = height + self._slope(at, height) * step / 2
            height = height + self._slope(at + step / 2, half) * step
            at = at + step
        return np.column_stack([x, height])

    def _slope(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.asarray(
            np.clip(self.slope + self.bend_x * x + self.bend_y * y, -_ODD, _ODD)
        )


def fit_straightening(boxes: Sequence[TextBox]) -> Straightening:
    """The straightening of a page from boxes that begin where their text does.

    Least squares over the long boxes, each weighing as much as it is wide, without
    those that stay far off.
    """
    angle = page_angle(boxes)
    if not boxes:
        return Straightening(angle, np.zeros(2), 0.0, 0.0, 0.0)
    centers = np.array([box.center for box in boxes])
    middle = (centers.min(axis=0) + centers.max(axis=0)) / 2
    long = [
        i
        for i, box in enumerate(boxes)
        if box.width > LONG * box.height and not stands_out(box, angle)
    ]
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
    """Slope, bend along and bend across, with a weak pull towards no bend."""
    spread = max(float(np.abs(places).max()), 1.0)
    columns = np.column_stack([np.ones(len(places)), places / spread])
    weighted = columns * widths[:, None]
    # Two boxes at one place must not decide about a bend.
    hold = np.diag([0.0, 0.01, 0.01]) * float((widths).sum())
    found = np.linalg.solve(columns.T @ weighted + hold, weighted.T @ slopes)
    return np.asarray(found / np.array([1.0, spread, spread]))


def _turned(points: np.ndarray, angle: float) -> np.ndarray:
    """Points turned about the origin, clockwise in the picture."""
    cos, sin = np.cos(angle), np.sin(angle)
    return np.asarray(points @ np.array([[cos, sin], [-sin, cos]]))


WORD_GAP = 0.7
"""Widest gap between the inks of two boxes of one line, in heights of the lower ink.
Between the detector's boxes, which reach beyond the ink (`TextBox.rim`), such a gap is
half as wide. Words of generated receipts are whole lines from 0.5 on, and their columns
begin at 0.8. On the one real receipt frames were drawn around words, which part amounts
for the detector, too; at 0.7 these are whole again."""
_SAME_ROW = 0.5
"""Boxes stand in one row when they share so much of the lower one's height."""
_LIKE_HEIGHT = 0.5
"""Boxes of one line differ in height at most by this factor."""
_STACKED = 0.5
"""Boxes that have so much of the narrower one's width in common lie above one another,
never in one row."""


@dataclass(frozen=True, eq=False)
class PlacedLine:
    """A line of a page."""

    box: TextBox
    """Around the whole line; its corners begin where the text does, its score is that
    of its parts by width."""
    row: int
    """Counted from the top, from 0: lines of one row stand side by side."""
    parts: tuple[TextBox, ...]
    """The detector's boxes, from left to right."""


def place_lines(
    boxes: Sequence[TextBox], *, word_gap: float = WORD_GAP, settle: bool = True
) -> list[PlacedLine]:
    """Merge boxes into lines, in reading order.

    Args:
        boxes: in any order.
        word_gap: boxes of one row are one line up to this gap between their inks, in
            heights of the lower ink; 0 or more. `math.inf` parts a row only where
            heights differ much.
        settle: find out first which way the boxes are read; False takes their corners
            as they are, as after `TextBox.turned`.

    Raises:
        ValueError: the gap is negative or no number.
    """
    if word_gap != math.inf:
        check_finite("word_gap", word_gap)
    if word_gap < 0:
        raise ValueError(f"word_gap must be 0 or more, got {word_gap}")
    boxes = settle_directions(boxes) if settle else list(boxes)
    rows = _rows(boxes, fit_straightening(boxes))
    return [
        PlacedLine(_around(parts), number, tuple(parts))
        for number, row in enumerate(rows)
        for parts in _words_joined(row, word_gap)
    ]


@dataclass(frozen=True, eq=False)
class _Place:
    """A box on the straightened page, and where its ink is: the box without its rim."""

    box: TextBox
    left: float
    right: float
    middle: float
    height: float
    """Of the ink."""
    alone: bool
    """It runs in another direction than the page."""

    @property
    def top(self) -> float:
        return self.middle - self.height / 2

    @property
    def bottom(self) -> float:
        return self.middle + self.height / 2


def _place(box: TextBox, straighten: Straightening, angle: float) -> _Place:
    top_left, top_right, bottom_right, bottom_left = box.corners
    ends = [top_left + bottom_left, top_right + bottom_right, 2 * box.center]
    flat = straighten(np.array(ends) / 2)
    left, right = sorted(flat[:2, 0].tolist())
    height = box.height / (1 + 2 * box.rim)
    # However thin its ink, a box keeps half of its width.
    rim = min(box.rim * height, (right - left) / 4)
    return _Place(
        box, left + rim, right - rim, float(flat[2, 1]), height, stands_out(box, angle)
    )


def _rows(boxes: Sequence[TextBox], straighten: Straightening) -> list[list[_Place]]:
    """Boxes by rows, from top to bottom; those of a row from left to right."""
    angle = page_angle(boxes)
    rows: list[list[_Place]] = []
    places = [_place(box, straighten, angle) for box in boxes]
    for place in sorted(places, key=lambda one: (one.middle, one.left)):
        best = max(rows, key=lambda row: _shared(row, place), default=None)
        if best is None or _shared(best, place) < _SAME_ROW:
            rows.append([place])
        else:
            best.append(place)
    rows.sort(key=lambda row: float(np.median([one.middle for one in row])))
    return [sorted(row, key=lambda one: one.left) for row in rows]


def _shared(row: Sequence[_Place], place: _Place) -> float:
    """The height that a box shares with a row, in heights of the lower one."""
    if place.alone or row[0].alone or any(_on_another(one, place) for one in row):
        return 0.0
    # The medians of a row cannot wander from line to line as a chain of neighbours
    # would.
    top = float(np.median([one.top for one in row]))
    bottom = float(np.median([one.bottom for one in row]))
    common = min(bottom, place.bottom) - max(top, place.top)
    return common / max(min(bottom - top, place.height), 1e-9)


def _on_another(one: _Place, other: _Place) -> bool:
    """Whether two boxes lie above one another, so that no row holds both."""
    common = min(one.right, other.right) - max(one.left, other.left)
    return common > _STACKED * min(one.right - one.left, other.right - other.left)


def _words_joined(row: Sequence[_Place], word_gap: float) -> list[list[TextBox]]:
    """The boxes of a row, those of one line together."""
    lines: list[list[_Place]] = []
    for place in row:
        before = lines[-1][-1] if lines else None
        if before is not None and _one_line(before, place, word_gap):
            lines[-1].append(place)
        else:
            lines.append([place])
    return [[place.box for place in line] for line in lines]


def _one_line(left: _Place, right: _Place, word_gap: float) -> bool:
    low, high = sorted((left.height, right.height))
    return right.left - left.right <= word_gap * low and low >= _LIKE_HEIGHT * high


def _around(parts: Sequence[TextBox]) -> TextBox:
    """One box around the parts of a line."""
    if len(parts) == 1:
        return parts[0]
    widths = np.array([max(box.width, 1e-9) for box in parts])
    # The mean of equal scores may exceed them by a rounding.
    score = min(1.0, float(widths @ [box.score for box in parts] / widths.sum()))
    first, last = parts[0].corners, parts[-1].corners
    along = (last[1] + last[2]) / 2 - (first[0] + first[3]) / 2
    along = along / max(float(np.hypot(*along)), 1e-12)
    axes = np.array([along, [-along[1], along[0]]])
    inside = np.concatenate([box.corners for box in parts]) @ axes.T
    (left, top), (right, bottom) = inside.min(axis=0), inside.max(axis=0)
    corners = rectangle(left, top, right, bottom) @ axes
    return TextBox(corners, score, max(box.rim for box in parts))
