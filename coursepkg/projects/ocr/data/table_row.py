"""One row of the MC-OCR table: a receipt with its annotated instances, and what is wrong with them.

A row holds three lists that must be equally long: polygons (a Python literal), texts and labels (joined by `|||`).
"""

import ast
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from coursepkg.projects.ocr.data.bounds import MOST_PIXELS
from coursepkg.projects.ocr.data.outlines import Polygon, read_outlines
from coursepkg.text.vietnamese import compose, unicode_form

LABELS = ("SELLER", "ADDRESS", "TIMESTAMP", "TOTAL_COST")
CATEGORIES = {15: "SELLER", 16: "ADDRESS", 17: "TIMESTAMP", 18: "TOTAL_COST"}
JOINT = "|||"
MOST_CHARACTERS = 1_000_000
"""Longest cell that is parsed; the longest of the real table has 18,000 characters or so."""


def instance_name(image: str, number: int) -> str:
    """What messages and lines call an annotated text: its photograph and its number in the row, from 0."""
    return f"{image}, instance {number}"


class Fault(NamedTuple):
    """Something wrong with the table, named so that it can be found."""

    kind: str
    line: int
    """Line of the file where the row begins, from 1."""
    image: str
    instance: int
    """Number of the instance in its row, from 0; -1 for the row as a whole."""
    detail: str

    def __str__(self) -> str:
        place = self.image if self.instance < 0 else instance_name(self.image, self.instance)
        return f"line {self.line}, {place}: {self.kind}: {self.detail}"


def listed_faults(faults: Sequence[Fault], shown: int = 5) -> list[str]:
    """Lines for readers: how often each kind of fault occurs, the most frequent first, each with its first examples."""
    lines: list[str] = []
    for kind, count in Counter(fault.kind for fault in faults).most_common():
        lines.append(f"  {kind}: {count:,}")
        lines += [f"    {fault}" for fault in [one for one in faults if one.kind == kind][:shown]]
        lines += [f"    ... and {count - shown:,} more"] if count > shown else []
    return lines


@dataclass(frozen=True)
class Instance:
    """One annotated text on a receipt."""

    number: int
    """Its place in the row, from 0."""
    polygons: tuple[Polygon, ...]
    """One or more outlines; all but one are often slips of the mouse or a neighbouring column."""
    text: str
    """In Unicode form NFC, otherwise as it stands."""
    label: str
    """One of `LABELS`."""


@dataclass(frozen=True)
class Receipt:
    """One photograph with its instances."""

    image: str
    """File name of the photograph; also the group of its lines."""
    line: int
    """Line of the table, from 1."""
    width: int
    height: int
    quality: float
    """Quality of the photograph by the data's authors, 0 to 1."""
    instances: tuple[Instance, ...]


def read_row(line: int, row: Mapping[str, str | None]) -> tuple[Receipt | None, list[Fault]]:
    """A receipt out of a row, with the faults found on the way; None where nothing of it can be used."""
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
        said = ", ".join(f"{count} {name}" for name, count in counts.items())
        report("mismatched counts", f"{said}; which belongs to which cannot be told, the row is left out")
        return None, faults
    if (row["anno_num"] or "").strip() != str(len(texts)):
        report("wrong anno_num", f"it says {row['anno_num']!r}, but there are {len(texts)} instances")
    size = _size(annotations)
    if isinstance(size, str):
        report("image size", size)
        return None, faults
    instances = []
    for number, (one, text, label) in enumerate(zip(annotations, texts, labels, strict=True)):
        found = list(_instance(number, one, text, label, size))
        for item in found:
            if isinstance(item, Instance):
                instances.append(item)
            else:
                report(*item, instance=number)
    return Receipt(image, line, *size, _number(row["anno_image_quality"]), tuple(instances)), faults


def _parts(cell: str | None) -> list[str]:
    """The entries of a joined cell; an empty cell has none."""
    return cell.split(JOINT) if cell else []


def _literal(cell: str) -> list[Mapping[str, Any]]:
    """The list of annotations. `literal_eval` builds numbers, strings and containers only and runs nothing."""
    if len(cell) > MOST_CHARACTERS:
        raise ValueError(f"{len(cell):,} characters, more than {MOST_CHARACTERS:,}")
    try:
        found = ast.literal_eval(cell)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as reason:
        raise ValueError(f"no Python literal ({type(reason).__name__})") from None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ValueError("no list of annotations")
    return found


def _size(annotations: list[Mapping[str, Any]]) -> tuple[int, int] | str:
    """Width and height of the photograph, or why they are not known."""
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
        yield "label typo", f"{label!r} is read as {known}, as its category {one.get('category_id')} says"
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
