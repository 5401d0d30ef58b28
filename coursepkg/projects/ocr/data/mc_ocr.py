"""The annotation table of MC-OCR 2021 (`mcocr_train_df.csv`), read as it really is.

Every fault is counted and named with its line, image and instance. The table does not
say that a photograph lies on its side, and some instances have several outlines while
their text belongs to one of them. Both can be told from the table alone.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coursepkg.app.report import examples_by_kind
from coursepkg.data.csv_rows import csv_rows
from coursepkg.files import file_sha256
from coursepkg.projects.ocr.data.geometry import (
    QUARTERS,
    Corners,
    area,
    as_corners,
    convex_hull,
    crop_polygons,
    four_corners,
    in_reading_order,
    sides,
)
from coursepkg.projects.ocr.data.images import read_gray
from coursepkg.projects.ocr.data.table_row import (
    MOST_CHARACTERS,
    Fault,
    Instance,
    Receipt,
    instance_name,
    read_row,
)
from coursepkg.projects.ocr.line import TextLine, Unreadable

ADVANCE = 0.4
"""Usual width of a character in heights of its outline: the median of the real table
(0.26 to 0.60 hold 90%)."""
UNUSUAL = (0.18, 0.85)
"""Widths of a character, in heights, beyond which an outline is named: 0.7% of the real
table."""
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
    """Float64 (4, 2): top left, top right, bottom right, bottom left as the text is
    read. None where the text runs over several lines, so that no single crop shows
    it."""
    kind: str
    """`one polygon`, `slivers dropped`, `side by side`, `one of several` or `several
    lines`."""


def read_instance(instance: Instance, quarter: int = 0) -> Reading:
    """Find the outline of an instance.

    Of several polygons those are taken whose width fits the text best, at `ADVANCE`
    heights a character: one of them, all of them where they stand side by side, or none
    where only a stack of lines holds so much text.

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
    return Reading(
        in_reading_order(four_corners(np.concatenate(pieces)), quarter), "side by side"
    )


def outline_faults(receipt: Receipt) -> list[Fault]:
    """The instances of a receipt whose outlines do not show their text alone.

    Texts on several lines, texts in one polygon of several, texts of far too many or
    too few letters for the width of their outline (`UNUSUAL`), and outlines that lie
    for the most part on another one (`OVERLAP`).
    """
    found: list[tuple[int, str, str]] = []
    boxes: list[tuple[int, Corners]] = []
    for one, quarter in zip(receipt.instances, quarters(receipt), strict=True):
        corners, kind = read_instance(one, quarter)
        if kind == "one of several":
            kind = "text in one polygon of several"
            found.append((one.number, kind, "the best fitting polygon is taken"))
        if corners is None:
            message = "the text runs over several lines; it is no single crop"
            found.append((one.number, "text on several lines", message))
            continue
        width, height = sides(corners)
        advance = width / max(height * len(one.text), 1e-9)
        if len(one.text) >= _LEAST_WORD and not UNUSUAL[0] <= advance <= UNUSUAL[1]:
            kind, message = "too wide", f"{advance:.2f} heights a letter, usual is"
            message += f" {ADVANCE}"
            if advance < ADVANCE:
                kind = "too narrow"
                message += "; the polygon may hold several lines"
            found.append((one.number, f"{kind} for its text", message))
        under = [number for number, box in boxes if _share(corners, box) > OVERLAP]
        if under:
            message = f"most of it lies on instance {under[0]}, or the reverse"
            found.append((one.number, "overlapping outlines", message))
        boxes.append((one.number, corners))
    return [
        Fault(kind, receipt.line, receipt.image, number, detail)
        for number, kind, detail in found
    ]


def quarters(receipt: Receipt) -> list[int]:
    """How each instance of a receipt lies, see `geometry.QUARTERS`.

    A photograph is on its side where its longer texts are taller than wide. A receipt
    is read from its seller and address to its total: where the seller stands on the
    left, lines follow one another to the right, so the text runs upwards; on the right,
    downwards; below the total, it is upside down. All instances of a photograph lie
    alike, short ones too.
    """
    if not receipt.instances:
        return []
    centres = [_extent(one)[0] for one in receipt.instances]
    shapes = [
        _extent(one)[1] for one in receipt.instances if len(one.text) >= _LEAST_LETTERS
    ]
    on_side = bool(shapes) and sum(high > wide for wide, high in shapes) * 2 > len(
        shapes
    )
    axis = 0 if on_side else 1
    heads, totals = (
        [
            c[axis]
            for c, one in zip(centres, receipt.instances, strict=True)
            if one.label in labels
        ]
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
    high = np.minimum(one.max(axis=0), other.max(axis=0))
    common = np.prod(np.maximum(high - low, 0.0))
    smaller = min(float(np.prod(np.ptp(box, axis=0))) for box in (one, other))
    return float(common / max(smaller, 1e-9))


def _misfit(boxes: Sequence[Corners], letters: int) -> float:
    """How far the ink of boxes is from that of so many letters: |log of the ratio|."""
    measures = [sides(box) for box in boxes]
    height = float(np.median([high for _, high in measures]))
    usual = ADVANCE * max(height, 1e-9) * letters
    return abs(math.log(max(sum(wide for wide, _ in measures), 1e-9) / usual))


def _on_one_line(boxes: Sequence[Corners]) -> bool:
    """Whether boxes in reading order stand beside the largest of them."""
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


COLUMNS = (
    *("img_id", "anno_polygons", "anno_texts", "anno_labels", "anno_num"),
    "anno_image_quality",
)
TABLE = "mcocr_train_df.csv"
_MOST_DIGITS = 6
"""A longer number of instances is no number; it is named as `wrong anno_num`."""


@dataclass(frozen=True)
class Table:
    """What a table holds, and what is wrong with it."""

    file: str
    """Name of the file."""
    sha256: str
    """Of its bytes."""
    n_rows: int
    n_annotated: int
    """Instances that the rows announce in `anno_num`, usable or not."""
    receipts: tuple[Receipt, ...]
    faults: tuple[Fault, ...]

    @property
    def instances(self) -> Iterator[tuple[Receipt, Instance]]:
        """Every usable instance with its receipt, in the order of the file."""
        return (
            (receipt, one) for receipt in self.receipts for one in receipt.instances
        )

    @cached_property
    def counts(self) -> dict[str, int]:
        """How often each kind of fault occurs, the most frequent first."""
        return dict(Counter(fault.kind for fault in self.faults).most_common())

    @property
    def texts(self) -> list[str]:
        """The text of every usable instance."""
        return [one.text for _, one in self.instances]

    @property
    def groups(self) -> list[str]:
        """The receipt of every usable instance."""
        return [receipt.image for receipt, _ in self.instances]

    @property
    def labels(self) -> list[str]:
        """The label of every usable instance."""
        return [one.label for _, one in self.instances]

    @property
    def sellers(self) -> dict[str, tuple[str, ...]]:
        """For each receipt the texts that name its seller."""
        return {
            receipt.image: tuple(
                one.text for one in receipt.instances if one.label == "SELLER"
            )
            for receipt in self.receipts
        }

    def report(self) -> str:
        """What was found, with the first examples of each fault, for readers."""
        labels = ", ".join(
            f"{label} {count:,}" for label, count in Counter(self.labels).most_common()
        )
        lying = ", ".join(f"{name} {count:,}" for name, count in self.turned.items())
        lines = [
            (
                f"{self.file}: {self.n_rows:,} rows; {len(self.receipts):,} receipts"
                f" with {len(self.texts):,} usable instances of {self.n_annotated:,}"
                " annotated"
            ),
            f"labels: {labels}",
            f"instances as they lie: {lying}",
        ]
        lines.append(f"faults: {len(self.faults):,}" if self.faults else "faults: none")
        return "\n".join(lines + examples_by_kind(self.faults))

    @cached_property
    def turned(self) -> dict[str, int]:
        """Instances by how they lie in their photograph."""
        found = Counter(
            quarter for receipt in self.receipts for quarter in quarters(receipt)
        )
        return {QUARTERS[quarter]: count for quarter, count in sorted(found.items())}

    def as_json(self) -> dict[str, Any]:
        """Everything that was found, of faults all."""
        return {
            "file": self.file,
            "sha256": self.sha256,
            "rows": self.n_rows,
            "receipts": len(self.receipts),
            "annotated": self.n_annotated,
            "instances": len(self.texts),
            "labels": dict(Counter(self.labels).most_common()),
            "turned": self.turned,
            "fault_counts": self.counts,
            "faults": [fault._asdict() for fault in self.faults],
        }


def read_table(path: str | Path, images: str | Path | None = None) -> Table:
    """Read the table.

    Args:
        path: the CSV file, or the folder that holds it under its usual name.
        images: folder of the photographs; a missing one is a fault. None looks for
            none.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no UTF-8, or no table with the columns of MC-OCR.
    """
    path = Path(path)
    path = path / TABLE if path.is_dir() else path
    receipts: list[Receipt] = []
    faults: list[Fault] = []
    n_rows = n_annotated = 0
    seen: dict[str, int] = {}
    # A cell that is too long to be parsed is a fault of its row, so the table is read
    # beyond that.
    longest = 10 * MOST_CHARACTERS
    for line, cells in csv_rows(path, COLUMNS, "the table of MC-OCR", longest=longest):
        row = {name: cells[name] for name in COLUMNS}
        n_rows += 1
        announced = row["anno_num"] or ""
        if announced.isdecimal() and len(announced) <= _MOST_DIGITS:
            n_annotated += int(announced)
        if None in row.values():
            told = "it has too few columns"
            faults.append(Fault("short row", line, row["img_id"] or "", -1, told))
            continue
        if any(cells.get(None, ())):
            told = "it has too many columns; put a text with a comma between quotation"
            told += " marks; the row is left out"
            faults.append(Fault("long row", line, row["img_id"] or "", -1, told))
            continue
        receipt, found = read_row(line, row)
        faults += found
        if receipt is None:
            continue
        if receipt.image in seen:
            told = (
                f"the image stands in line {seen[receipt.image]} already; the row is"
                " left out"
            )
            faults.append(Fault("repeated image", line, receipt.image, -1, told))
            continue
        seen[receipt.image] = line
        faults += outline_faults(receipt)
        if images is not None and not (Path(images) / receipt.image).is_file():
            told = f"not in {images}"
            faults.append(Fault("missing image", line, receipt.image, -1, told))
        receipts.append(receipt)
    found_in = path.name, file_sha256(path), n_rows, n_annotated
    return Table(*found_in, tuple(receipts), tuple(faults))


Photograph = Callable[[Receipt], np.ndarray]


def receipt_lines(
    receipts: Sequence[Receipt], images: str | Path | Photograph, *, margin: float = 0.0
) -> Iterator[TextLine | Unreadable]:
    """Every instance of some receipts in order, one photograph in memory at a time.

    A photograph that is missing or damaged, and an instance that is no single crop,
    yields for each of its texts an `Unreadable` that says why; nothing is skipped.

    Args:
        receipts: of a table.
        images: folder of the photographs, or what gives the photograph of a receipt,
            uint8 (height, width).
        margin: how much is added around each line, in its heights.
    """

    def from_folder(receipt: Receipt) -> np.ndarray:
        return read_gray(Path(str(images)) / receipt.image, receipt.image)

    photograph = images if callable(images) else from_folder
    for receipt in receipts:
        try:
            page = photograph(receipt)
        except (ValueError, OSError) as reason:
            for one in receipt.instances:
                name = instance_name(receipt.image, one.number)
                yield Unreadable(name, one.text, receipt.image, str(reason))
        else:
            yield from _lines_of(receipt, page, margin)


def _lines_of(
    receipt: Receipt, page: np.ndarray, margin: float
) -> Iterator[TextLine | Unreadable]:
    # The table's sizes are those of the annotated photograph; a copy may have been
    # scaled.
    scale = np.array([page.shape[1] / receipt.width, page.shape[0] / receipt.height])
    turned = abs(float(scale[0] / scale[1]) - 1.0) > 0.02
    for one, quarter in zip(receipt.instances, quarters(receipt), strict=True):
        name = instance_name(receipt.image, one.number)
        corners = read_instance(one, quarter).corners
        try:
            if corners is None:
                raise ValueError(f"{name}: the text runs over several lines")
            if turned:
                raise ValueError(
                    f"{receipt.image}: {page.shape[1]} x {page.shape[0]} pixels, but"
                    f" the table says {receipt.width} x {receipt.height}"
                )
            how: dict[str, Any] = {"quarter": quarter, "margin": margin, "name": name}
            crop = crop_polygons(page, [corners * scale], **how)
        except ValueError as reason:
            yield Unreadable(name, one.text, receipt.image, str(reason))
        else:
            yield TextLine(crop.image, one.text, receipt.image, name)
