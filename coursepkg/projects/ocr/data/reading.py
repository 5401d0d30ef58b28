"""How an annotated text is to be read: which of its polygons it stands in, and how far it is turned.

The table of MC-OCR does not say that a photograph lies on its side or stands on its head, and some instances have
several outlines while their text belongs to one of them. Both can be told from the table alone.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from coursepkg.projects.ocr.data.geometry import (
    Corners,
    area,
    as_corners,
    convex_hull,
    four_corners,
    in_reading_order,
    sides,
)
from coursepkg.projects.ocr.data.table_row import Fault, Instance, Receipt

ADVANCE = 0.4
"""Usual width of a character in heights of its outline: the median of the real table (0.26 to 0.60 hold 90%)."""
UNUSUAL = (0.18, 0.85)
"""Widths of a character, in heights, beyond which an outline is named: 0.7% of the real table."""
OVERLAP = 0.7
"""Outlines that share so much of the smaller one's box are named."""
SLIVER = 0.05
"""A polygon of less area than this share of the largest one is a slip of the mouse."""
_LEAST_LETTERS = 3
"""Shorter texts may be taller than wide although they are upright."""
_LEAST_WORD = 5
"""Shorter texts may have any width."""


class Reading(NamedTuple):
    """The outline of one line of text."""

    corners: Corners | None
    """Float64 (4, 2): top left, top right, bottom right, bottom left as the text is read. None where the text runs
    over several lines, so that no single crop shows it."""
    kind: str
    """`one polygon`, `slivers dropped`, `side by side`, `one of several` or `several lines`."""


def read_instance(instance: Instance, quarter: int = 0) -> Reading:
    """Find the outline of an instance.

    Of several polygons those are taken whose width fits the text best, at `ADVANCE` heights a character: one of
    them, all of them where they stand side by side, or none where only a stack of lines holds so much text.

    Args:
        instance: with one polygon or more.
        quarter: how it lies, see `geometry.QUARTERS`.
    """
    polygons = [as_corners(polygon) for polygon in instance.polygons]
    largest = max(map(area, polygons))
    pieces = [polygon for polygon in polygons if area(polygon) >= SLIVER * largest]
    if len(pieces) == 1:
        kind = "one polygon" if len(polygons) == 1 else "slivers dropped"
        return Reading(in_reading_order(four_corners(pieces[0]), quarter), kind)
    boxes = [in_reading_order(four_corners(piece), quarter) for piece in pieces]
    letters = max(1, len(instance.text))
    misfit = [_misfit([box], letters) for box in boxes]
    whole = _misfit(boxes, letters)
    if whole > min(misfit):
        return Reading(boxes[int(np.argmin(misfit))], "one of several")
    if not _on_one_line(boxes):
        return Reading(None, "several lines")
    return Reading(in_reading_order(four_corners(np.concatenate(pieces)), quarter), "side by side")


def outline_faults(receipt: Receipt) -> list[Fault]:
    """The instances of a receipt whose outlines do not show their text alone.

    Texts on several lines, texts in one polygon of several, texts of far too many or too few letters for the width of
    their outline (`UNUSUAL`), and outlines that lie for the most part on another one (`OVERLAP`).
    """
    found: list[tuple[int, str, str]] = []
    boxes: list[tuple[int, Corners]] = []
    for one, quarter in zip(receipt.instances, quarters(receipt), strict=True):
        corners, kind = read_instance(one, quarter)
        if kind == "one of several":
            found.append((one.number, "text in one polygon of several", "the best fitting polygon is taken"))
        if corners is None:
            said = "the text runs over several lines; it is no single crop"
            found.append((one.number, "text on several lines", said))
            continue
        width, height = sides(corners)
        advance = width / max(height * len(one.text), 1e-9)
        if len(one.text) >= _LEAST_WORD and not UNUSUAL[0] <= advance <= UNUSUAL[1]:
            kind = "too narrow for its text" if advance < ADVANCE else "too wide for its text"
            said = f"{advance:.2f} heights a letter, usual is {ADVANCE}; the polygon may hold several lines"
            found.append((one.number, kind, said if advance < ADVANCE else said.partition(";")[0]))
        under = next((number for number, other in boxes if _share(corners, other) > OVERLAP), None)
        if under is not None:
            found.append(
                (one.number, "overlapping outlines", f"most of it lies on instance {under}, or the reverse")
            )
        boxes.append((one.number, corners))
    return [Fault(kind, receipt.line, receipt.image, number, detail) for number, kind, detail in found]


def quarters(receipt: Receipt) -> list[int]:
    """How each instance of a receipt lies, see `geometry.QUARTERS`.

    A photograph is on its side where its longer texts are taller than wide. A receipt is read from its seller and
    address to its total: where the seller stands on the left, lines follow one another to the right, so the text
    runs upwards; on the right, downwards; below the total, it is upside down. All instances of a photograph lie
    alike, short ones too.
    """
    if not receipt.instances:
        return []
    centres = [_extent(one)[0] for one in receipt.instances]
    shapes = [_extent(one)[1] for one in receipt.instances if len(one.text) >= _LEAST_LETTERS]
    on_side = bool(shapes) and sum(high > wide for wide, high in shapes) * 2 > len(shapes)
    axis = 0 if on_side else 1
    heads, totals = (
        [c[axis] for c, one in zip(centres, receipt.instances, strict=True) if one.label in labels]
        for labels in (("SELLER", "ADDRESS"), ("TOTAL_COST",))
    )
    # The date is left out: some shops print it on top and some at the end.
    backwards = bool(heads) and bool(totals) and min(heads) > max(totals)
    quarter = (1 if backwards else 3) if on_side else (2 if backwards else 0)
    return [quarter] * len(receipt.instances)


def _extent(instance: Instance) -> tuple[Corners, tuple[float, float]]:
    """Centre, and width and height, of the box around an instance."""
    points = np.concatenate([as_corners(polygon) for polygon in instance.polygons])
    low, high = points.min(axis=0), points.max(axis=0)
    width, height = (high - low).tolist()
    return (low + high) / 2, (width, height)


def _share(one: Corners, other: Corners) -> float:
    """How much of the smaller of two upright boxes around corners lies on the other."""
    low = np.maximum(one.min(axis=0), other.min(axis=0))
    common = np.prod(np.maximum(np.minimum(one.max(axis=0), other.max(axis=0)) - low, 0.0))
    return float(common / max(min(float(np.prod(np.ptp(box, axis=0))) for box in (one, other)), 1e-9))


def _misfit(boxes: Sequence[Corners], letters: int) -> float:
    """How far the ink of some boxes is from what a text of so many letters takes: |log of the ratio|."""
    measures = [sides(box) for box in boxes]
    height = float(np.median([high for _, high in measures]))
    return abs(math.log(sum(wide for wide, _ in measures) / (ADVANCE * max(height, 1e-9) * letters)))


def _on_one_line(boxes: Sequence[Corners]) -> bool:
    """Whether boxes, each in reading order, stand beside the largest of them and not above or below it."""
    first = max(boxes, key=lambda box: area(convex_hull(box)))
    top_left, top_right, _, bottom_left = first
    down = (bottom_left - top_left) / max(math.dist(bottom_left, top_left), 1e-9)
    along = (top_right - top_left) / max(math.dist(top_right, top_left), 1e-9)
    _, height = sides(first)
    for box in boxes:
        offset = box.mean(axis=0) - first.mean(axis=0)
        slope_allowance = 0.1 * abs(float(offset @ along))
        if abs(float(offset @ down)) > 0.6 * height + slope_allowance:
            return False
    return True
