"""Boxes of words made into lines, and lines put into reading order: rows from top to bottom, each from left to right.

Two boxes of one row become one line where the gap between them is that of a space between words. The name of the
goods on the left and its price on the right stay two lines of one row: a recogniser reads either well, but a long
white gap between them is nothing it was trained on, and a table keeps its columns.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coursepkg.arguments import check_finite
from coursepkg.projects.ocr.detector.box import TextBox
from coursepkg.projects.ocr.detector.direction import page_angle, settle_directions
from coursepkg.projects.ocr.detector.straighten import Straightening, fit_straightening, stands_out

WORD_GAP = 0.7
"""Widest gap between the inks of two boxes of one line, in heights of the lower ink. Between the detector's boxes,
which reach beyond the ink (`TextBox.rim`), such a gap is half as wide. Words of generated receipts are whole lines from
0.5 on, and their columns begin at 0.8. On the one real receipt frames were drawn around words, which part amounts for
the detector, too; at 0.7 these are whole again."""
_SAME_ROW = 0.5
"""Boxes stand in one row when they share so much of the lower one's height."""
_LIKE_HEIGHT = 0.5
"""Boxes of one line differ in height at most by this factor."""
_STACKED = 0.5
"""Boxes that have so much of the narrower one's width in common lie above one another, never in one row."""


@dataclass(frozen=True, eq=False)
class PlacedLine:
    """A line of a page."""

    box: TextBox
    """Around the whole line; its corners begin where the text does, its score is that of its parts by width."""
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
        word_gap: boxes of one row are one line up to this gap between their inks, in heights of the lower ink; 0 or
            more. With `math.inf` every row is one line.
        settle: find out first which way the boxes are read; False takes their corners as they are, as after
            `TextBox.turned`.

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
    ends = np.array([top_left + bottom_left, top_right + bottom_right, 2 * box.center]) / 2
    flat = straighten(ends)
    left, right = sorted(flat[:2, 0].tolist())
    height = box.height / (1 + 2 * box.rim)
    # However thin its ink, a box keeps half of its width.
    rim = min(box.rim * height, (right - left) / 4)
    return _Place(box, left + rim, right - rim, float(flat[2, 1]), height, stands_out(box, angle))


def _rows(boxes: Sequence[TextBox], straighten: Straightening) -> list[list[_Place]]:
    """Boxes by rows, from top to bottom; those of a row from left to right."""
    angle = page_angle(boxes)
    rows: list[list[_Place]] = []
    places = sorted((_place(box, straighten, angle) for box in boxes), key=lambda one: (one.middle, one.left))
    for place in places:
        best = max(rows, key=lambda row: _shared(row, place), default=None)
        if best is None or _shared(best, place) < _SAME_ROW:
            rows.append([place])
        else:
            best.append(place)
    rows.sort(key=lambda row: float(np.median([one.middle for one in row])))
    return [sorted(row, key=lambda one: one.left) for row in rows]


def _shared(row: Sequence[_Place], place: _Place) -> float:
    """How much of its height a box shares with a row, in heights of the lower; 0 where it cannot belong to it."""
    if place.alone or row[0].alone or any(_on_another(one, place) for one in row):
        return 0.0
    # The medians of a row cannot wander from line to line as a chain of neighbours would.
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
    """One box around the parts of a line, along the line from the first to the last of them."""
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
    corners = np.array([[left, top], [right, top], [right, bottom], [left, bottom]]) @ axes
    return TextBox(corners, score, max(box.rim for box in parts))
