"""Lines cut out of the photographs that the MC-OCR table names."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from coursepkg.projects.ocr.data.crops import crop_polygons
from coursepkg.projects.ocr.data.images import read_gray
from coursepkg.projects.ocr.data.reading import quarters, read_instance
from coursepkg.projects.ocr.data.table_row import Receipt, instance_name
from coursepkg.projects.ocr.line import TextLine
from coursepkg.wording import counted

Photograph = Callable[[Receipt], np.ndarray]


@dataclass(frozen=True)
class Unreadable:
    """A line of which there is a text but no picture; in a score it counts as read wrong."""

    name: str
    """File and instance."""
    text: str
    group: str
    reason: str
    """Why, in one line."""


def receipt_lines(
    receipts: Sequence[Receipt], images: str | Path | Photograph, *, margin: float = 0.0
) -> Iterator[TextLine | Unreadable]:
    """Every instance of some receipts, in their order, one photograph in memory at a time.

    A photograph that is missing or damaged, and an instance that is no single crop, yields for each of its texts an
    `Unreadable` that says why; nothing is skipped.

    Args:
        receipts: of a table.
        images: folder of the photographs, or what gives the photograph of a receipt, uint8 (height, width).
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


def _lines_of(receipt: Receipt, page: np.ndarray, margin: float) -> Iterator[TextLine | Unreadable]:
    # The table's sizes are those of the annotated photograph; a copy may have been scaled.
    scale = np.array([page.shape[1] / receipt.width, page.shape[0] / receipt.height])
    turned = abs(float(scale[0] / scale[1]) - 1.0) > 0.02
    for one, quarter in zip(receipt.instances, quarters(receipt), strict=True):
        name = instance_name(receipt.image, one.number)
        corners = read_instance(one, quarter).corners
        if corners is None:
            yield Unreadable(name, one.text, receipt.image, f"{name}: the text runs over several lines")
            continue
        if turned:
            said = f"{page.shape[1]} x {page.shape[0]} pixels, but the table says {receipt.width} x {receipt.height}"
            yield Unreadable(name, one.text, receipt.image, f"{receipt.image}: {said}")
            continue
        try:
            crop = crop_polygons(page, [corners * scale], quarter=quarter, margin=margin, name=name)
        except ValueError as reason:
            yield Unreadable(name, one.text, receipt.image, str(reason))
        else:
            yield TextLine(crop.image, one.text, receipt.image, name)


@dataclass
class Sorted:
    """Lines with a picture and lines without one."""

    lines: list[TextLine] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)

    def summary(self) -> str:
        """How many there are of both, and the first reasons."""
        text = f"{counted(len(self.lines), 'line')} read"
        if not self.unreadable:
            return text
        reasons = Counter(one.reason for one in self.unreadable)
        first = "; ".join(list(reasons)[:3]) + ("; ..." if len(reasons) > 3 else "")
        return f"{text}, {len(self.unreadable):,} not: {first}"


def sort_lines(found: Iterable[TextLine | Unreadable]) -> Sorted:
    """Put the lines that could be read apart from those that could not."""
    both = Sorted()
    for one in found:
        if isinstance(one, TextLine):
            both.lines.append(one)
        else:
            both.unreadable.append(one)
    return both
