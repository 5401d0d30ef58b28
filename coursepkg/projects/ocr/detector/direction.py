"""Which way the text of a page is read, as far as its boxes alone can tell: across, or along a side of the picture.

A box says nothing about up and down: text that runs downwards and text that runs upwards have the same outline, and so
have a page and its upside-down copy. What reads the lines can tell (`TextBox.turned`), a detector cannot.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from coursepkg.projects.ocr.data.geometry import in_reading_order
from coursepkg.projects.ocr.detector.box import TextBox

TALL = 1.5
"""A box so many times taller than wide votes for a page that lies on its side."""
ALONE = 3.0
"""On an upright page a box is read downwards if it is so many times taller than wide, and as long as a word."""


def settle_directions(boxes: Sequence[TextBox]) -> list[TextBox]:
    """Boxes whose corners begin where the text does, in the order given.

    The votes of all boxes, each as strong as its longer side exceeds its shorter one, say whether the page lies on
    its side. On such a page every box is read downwards, also a digit, which is wider than tall there. On an upright
    page a digit is taller than wide and still upright: only a long narrow box is read downwards.

    Args:
        boxes: with corners in any order.
    """
    upright = [replace(box, corners=in_reading_order(box.corners)) for box in boxes]
    if not upright:
        return []
    sideways = lies_on_side(upright)
    usual = float(np.median([min(box.width, box.height) for box in upright]))
    return [box.turned(1) if _downwards(box, sideways, usual) else box for box in upright]


def lies_on_side(boxes: Sequence[TextBox]) -> bool:
    """Whether most text of a page runs downwards or upwards, by boxes whose first side is the upper one."""
    votes = 0.0
    for box in boxes:
        if box.height > TALL * box.width:
            votes += box.height - box.width
        elif box.width > TALL * box.height:
            votes -= box.width - box.height
    return votes > 0


def page_angle(boxes: Sequence[TextBox]) -> float:
    """The direction in which most text of a page is read, in radians: the median of its boxes, by their widths.

    Angles are measured from that of the widest box, so that pi and -pi lie beside each other.
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
        # The rare box that lies flat and long there is a line across the page, not a digit.
        return box.width < ALONE * box.height or box.width < 2 * usual
    return box.height > ALONE * box.width and box.height > 2 * usual
