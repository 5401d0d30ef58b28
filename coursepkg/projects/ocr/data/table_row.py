"""One row of the MC-OCR table: a receipt with its instances, and its faults.

A row holds three lists that must be equally long: polygons (a Python literal), texts
and labels (joined by `|||`).
"""

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from coursepkg.projects.ocr.data.geometry import (
    area,
    as_corners,
    clip_polygon,
    convex_hull,
)
from coursepkg.projects.ocr.data.images import MOST_PIXELS
from coursepkg.text.vietnamese import compose, unicode_form

MOST_CORNERS = 1_000
"""Of a polygon; people mark a handful."""
FARTHEST = 1e6
"""A corner has no coordinate beyond it on either side, in pixels: no photograph is so
large."""
LEAST_AREA = 1.0
"""Square pixels; an outline of less shows nothing."""

Polygon = tuple[tuple[float, float], ...]
"""Corners (x, y) in pixels of the photograph, y downwards."""


def read_outlines(
    flats: object, size: tuple[int, int], faults: list[tuple[str, str]]
) -> tuple[Polygon, ...]:
    """The polygons that outline a text.

    Args:
        flats: what the table says under `segmentation`: a list of polygons, each x0,
            y0, x1, y1, ...
        size: width and height of the photograph in pixels.
        faults: gets what is wrong, as kind and detail.

    Returns:
        the polygons; none where no part of the photograph is outlined, and the fault
        says why.
    """
    if not isinstance(flats, list):
        message = "no list of polygons; the instance is left out"
        faults.append(("malformed polygon", message))
        return ()
    polygons = [_polygon(flat) for flat in flats]
    good = tuple(polygon for polygon in polygons if polygon is not None)
    if len(good) < len(polygons):
        n_bad = len(polygons) - len(good)
        message = (
            f"{n_bad} of {len(polygons)} are no 3 to {MOST_CORNERS:,} corners within"
            f" {FARTHEST:,.0f} pixels"
        )
        faults.append(("malformed polygon", message))
    if not good:
        faults.append(("no polygon", "it is left out"))
        return ()
    if all(_is_empty(polygon) for polygon in good):
        faults.append(("no area", "its outline is a line or a point; it is left out"))
        return ()
    inside = tuple(polygon for polygon in good if _shows(polygon, size))
    width, height = size
    if len(inside) < len(good):
        some = f"{len(good) - len(inside)} of {len(good)} are left out"
        message = f"no corner is left within {width} x {height}"
        message += f"; {some if inside else 'it is left out'}"
        faults.append(("wholly outside the image", message))
    if len(inside) > 1:
        faults.append(("several polygons", f"{len(inside)}"))
    if any(_leaves(polygon, size) for polygon in inside):
        message = f"a corner lies outside {width} x {height}; it is clipped"
        faults.append(("outside the image", message))
    return inside


def _polygon(flat: object) -> Polygon | None:
    """Flat numbers as corners; None unless there are three, none too far away."""
    if (
        not isinstance(flat, list)
        or len(flat) % 2
        or not 6 <= len(flat) <= 2 * MOST_CORNERS
    ):
        return None
    # The bound is compared before a number becomes a float: an integer may have
    # hundreds of digits.
    if not all(
        type(value) in (int, float) and abs(value) <= FARTHEST for value in flat
    ):
        return None
    return tuple(
        (float(x), float(y)) for x, y in zip(flat[::2], flat[1::2], strict=True)
    )


def _is_empty(polygon: Polygon) -> bool:
    return area(convex_hull(as_corners(polygon))) < LEAST_AREA


def _leaves(polygon: Polygon, size: tuple[int, int]) -> bool:
    width, height = size
    return any(not (0 <= x <= width and 0 <= y <= height) for x, y in polygon)


def _shows(polygon: Polygon, size: tuple[int, int]) -> bool:
    """Whether some of a polygon lies in the photograph, a sliver included."""
    if not _leaves(polygon, size):
        return True
    left, _ = clip_polygon(convex_hull(as_corners(polygon)), *size)
    return len(left) > 2 and area(left) >= LEAST_AREA


LABELS = ("SELLER", "ADDRESS", "TIMESTAMP", "TOTAL_COST")
CATEGORIES = {15: "SELLER", 16: "ADDRESS", 17: "TIMESTAMP", 18: "TOTAL_COST"}
JOINT = "|||"
MOST_CHARACTERS = 1_000_000
"""Longest cell that is parsed; the longest of the real table has 18,000 characters or
so."""


def instance_name(image: str, number: int) -> str:
    """What an annotated text is called: its photograph and number, from 0."""
    return f"{image}, instance {number}"


class Fault(NamedTuple):
    """Something wrong with the table, named so that it can be found."""

    kind: str
    line: int
    """Line of the file where the row begins, from 1; 0 in a file without rows."""
    image: str
    instance: int
    """Number of the instance in its row, from 0; -1 for the row as a whole."""
    detail: str

    def __str__(self) -> str:
        place = self.image
        if self.instance >= 0:
            place = instance_name(self.image, self.instance)
        line = f"line {self.line}, " if self.line else ""
        return f"{line}{place}: {self.kind}: {self.detail}"


@dataclass(frozen=True)
class Instance:
    """One annotated text on a receipt."""

    number: int
    """Its place in the row, from 0."""
    polygons: tuple[Polygon, ...]
    """One or more outlines; all but one are often slips of the mouse or a neighbouring
    column."""
    text: str
    """In Unicode form NFC, otherwise as it stands."""
    label: str
    """One of `LABELS`; empty for a line that is none of these."""


@dataclass(frozen=True)
class Receipt:
    """One photograph with its instances."""

    image: str
    """File name of the photograph; also the group of its lines."""
    line: int
    """Line of the table, from 1; 0 in a file without rows."""
    width: int
    height: int
    quality: float
    """Quality of the photograph by the data's authors, 0 to 1."""
    instances: tuple[Instance, ...]


def read_row(
    line: int, row: Mapping[str, str | None]
) -> tuple[Receipt | None, list[Fault]]:
    """A receipt out of a row, and its faults; None where nothing can be used."""
    image = (row["img_id"] or "").strip()
    faults: list[Fault] = []

    def report(kind: str, detail: str, instance: int = -1) -> None:
        faults.append(Fault(kind, line, image or "(no image)", instance, detail))

    if not image or "/" in image or "\\" in image:
        report("image name", f"{image!r} is no plain file name")
        return None, faults
    try:
        annotations = _literal(row["anno_polygons"] or "[]")
    except ValueError as reason:
        report("polygons not readable", str(reason))
        return None, faults
    texts, labels = (_parts(row[name]) for name in ("anno_texts", "anno_labels"))
    counts = {"polygons": len(annotations), "texts": len(texts), "labels": len(labels)}
    if not any(counts.values()):
        report("empty row", "the receipt has no annotated text")
        return None, faults
    if len(set(counts.values())) > 1:
        message = ", ".join(f"{count} {name}" for name, count in counts.items())
        report(
            "mismatched counts",
            f"{message}; which belongs to which cannot be told, the row is left out",
        )
        return None, faults
    if (row["anno_num"] or "").strip() != str(len(texts)):
        report(
            "wrong anno_num",
            f"it says {row['anno_num']!r}, but there are {len(texts)} instances",
        )
    size = image_size(annotations)
    if isinstance(size, str):
        report("image size", size)
        return None, faults
    instances = []
    for number, given in enumerate(zip(annotations, texts, labels, strict=True)):
        for item in _instance(number, *given, size):
            if isinstance(item, Instance):
                instances.append(item)
            else:
                report(*item, instance=number)
    quality = _number(row["anno_image_quality"])
    return Receipt(image, line, *size, quality, tuple(instances)), faults


def _parts(cell: str | None) -> list[str]:
    """The entries of a joined cell; an empty cell has none."""
    return cell.split(JOINT) if cell else []


def _literal(cell: str) -> list[Mapping[str, Any]]:
    """The list of annotations; `literal_eval` runs nothing."""
    if len(cell) > MOST_CHARACTERS:
        raise ValueError(f"{len(cell):,} characters, more than {MOST_CHARACTERS:,}")
    try:
        found = ast.literal_eval(cell)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as reason:
        raise ValueError(f"no Python literal ({type(reason).__name__})") from None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ValueError("no list of annotations")
    return found


def image_size(annotations: Sequence[Mapping[str, Any]]) -> tuple[int, int] | str:
    """Width and height of the photograph, or why its annotations do not tell them."""
    sizes = [(one.get("width"), one.get("height")) for one in annotations]
    width, height = sizes[0]
    if type(width) is not int or type(height) is not int or min(width, height) < 1:
        return "the first annotation does not say how large the photograph is"
    if any(size != sizes[0] for size in sizes):
        return "the annotations disagree about how large the photograph is"
    if width * height > MOST_PIXELS:
        return f"more than {MOST_PIXELS:,} pixels; no such picture is read or drawn"
    return width, height


def _instance(
    number: int, one: Mapping[str, Any], text: str, label: str, size: tuple[int, int]
) -> Iterator[Instance | tuple[str, str]]:
    """The instance, if it can be used, and its faults as kind and detail."""
    known = _label(label, one.get("category_id"))
    if known is None:
        yield "unknown label", f"{label!r}; it is left out"
        return
    if known != label:
        category = one.get("category_id")
        yield (
            "label typo",
            f"{label!r} is read as {known}, as its category {category} says",
        )
    if not text.strip():
        yield "empty text", "it is left out"
        return
    if (form := unicode_form(text)) not in ("NFC", "either"):
        yield "not NFC", f"the text {text[:40]!r} is {form}; it is composed"
    faults: list[tuple[str, str]] = []
    outlines = read_outlines(one.get("segmentation") or [], size, faults)
    yield from faults
    if outlines:
        yield Instance(number, outlines, compose(text), known)


def _label(label: str, category: object) -> str | None:
    if label in LABELS:
        return label
    return CATEGORIES.get(category) if isinstance(category, int) else None


def _number(cell: str | None) -> float:
    try:
        return float(cell or "nan")
    except ValueError:
        return math.nan
