"""The annotation table of MC-OCR 2021 (`mcocr_train_df.csv`), read as it really is.

Every fault is counted and named with its line, its image and its instance; what cannot be used is left out and said
so. The table alone is enough to read it: photographs are looked for where a folder of them is given.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from coursepkg.data.csv_rows import csv_rows
from coursepkg.files import file_sha256
from coursepkg.projects.ocr.data.geometry import QUARTERS
from coursepkg.projects.ocr.data.reading import outline_faults, quarters
from coursepkg.projects.ocr.data.table_row import (
    MOST_CHARACTERS,
    Fault,
    Instance,
    Receipt,
    listed_faults,
    read_row,
)

COLUMNS = ("img_id", "anno_polygons", "anno_texts", "anno_labels", "anno_num", "anno_image_quality")
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
        return ((receipt, one) for receipt in self.receipts for one in receipt.instances)

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
            receipt.image: tuple(one.text for one in receipt.instances if one.label == "SELLER")
            for receipt in self.receipts
        }

    def report(self) -> str:
        """What was found, with the first examples of each fault, for readers."""
        labels = ", ".join(f"{label} {count:,}" for label, count in Counter(self.labels).most_common())
        lying = ", ".join(f"{name} {count:,}" for name, count in self.turned.items())
        lines = [
            f"{self.file}: {self.n_rows:,} rows; {len(self.receipts):,} receipts with {len(self.texts):,} usable "
            f"instances of {self.n_annotated:,} annotated",
            f"labels: {labels}",
            f"instances as they lie: {lying}",
        ]
        lines.append(f"faults: {len(self.faults):,}" if self.faults else "faults: none")
        return "\n".join(lines + listed_faults(self.faults))

    @cached_property
    def turned(self) -> dict[str, int]:
        """Instances by how they lie in their photograph."""
        found = Counter(quarter for receipt in self.receipts for quarter in quarters(receipt))
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
        images: folder of the photographs; a missing one is a fault. None looks for none.

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
    # A cell that is too long to be parsed is a fault of its row, so the table is read beyond that.
    for line, cells in csv_rows(path, COLUMNS, "the table of MC-OCR", longest=10 * MOST_CHARACTERS):
        row = {name: cells[name] for name in COLUMNS}
        n_rows += 1
        announced = row["anno_num"] or ""
        n_annotated += int(announced) if announced.isdecimal() and len(announced) <= _MOST_DIGITS else 0
        if None in row.values():
            faults.append(Fault("short row", line, row["img_id"] or "", -1, "it has too few columns"))
            continue
        receipt, found = read_row(line, row)
        faults += found
        if receipt is None:
            continue
        if receipt.image in seen:
            told = f"the image stands in line {seen[receipt.image]} already; the row is left out"
            faults.append(Fault("repeated image", line, receipt.image, -1, told))
            continue
        seen[receipt.image] = line
        faults += outline_faults(receipt)
        if images is not None and not (Path(images) / receipt.image).is_file():
            faults.append(Fault("missing image", line, receipt.image, -1, f"not in {images}"))
        receipts.append(receipt)
    return Table(path.name, file_sha256(path), n_rows, n_annotated, tuple(receipts), tuple(faults))
