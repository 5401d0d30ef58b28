"""Fields by the true texts of a table: the extraction measured without any reading.

A table in the form of MC-OCR gives the texts and outlines of the lines that carry a
field, with their labels, and none of the other lines of its receipts. Extraction gets
texts and outlines without labels, ordered by place, and must say which line is what. So
it is an easier task than on whole receipts: no goods and no thanks stand in the way.
Whole generated receipts, with every line, are the second set.

A receipt's true text of a field are the lines of its label in reading order, joined by
spaces, as the challenge joins them.
"""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from coursepkg.metrics.scoring import Comparison
from coursepkg.projects.ocr.corpora import picture_folder
from coursepkg.projects.ocr.data.geometry import as_corners, four_corners, rectangle
from coursepkg.projects.ocr.data.label_studio import find_export, read_export
from coursepkg.projects.ocr.data.labelled import has_labels
from coursepkg.projects.ocr.data.mc_ocr import (
    TABLE,
    Table,
    quarters,
    read_instance,
    read_table,
)
from coursepkg.projects.ocr.data.splits import SHARES, Split, split_lines
from coursepkg.projects.ocr.data.table_row import LABELS, Instance, Receipt
from coursepkg.projects.ocr.detector.lines import TextBox, place_lines
from coursepkg.projects.ocr.fields.labelled import FIELDS_CSV, has_fields
from coursepkg.projects.ocr.fields.rules import Fields
from coursepkg.projects.ocr.fields.scores import (
    N_RESAMPLES,
    FieldScores,
    JoinedFields,
    compare_fields,
    evaluate_fields,
    join_fields,
)
from coursepkg.projects.ocr.fields.values import parse_amount, parse_timestamp
from coursepkg.projects.ocr.page.read import PageLine
from coursepkg.projects.ocr.synthetic.fonts import matplotlib_faces
from coursepkg.projects.ocr.synthetic.receipt_config import ReceiptConfig
from coursepkg.projects.ocr.synthetic.sheet import lay_out
from coursepkg.validation import check_count, counted


@dataclass(frozen=True, eq=False)
class LabelledReceipt:
    """The lines of a receipt in reading order, and what each of them is."""

    name: str
    """File name of its photograph, or its number."""
    lines: tuple[PageLine, ...]
    labels: tuple[str, ...]
    """One of `LABELS` for each line, empty for a line that is no field."""

    @property
    def true_texts(self) -> tuple[str, ...]:
        """The text of each field in the order of `LABELS`; empty without one."""
        return tuple(
            " ".join(
                line.text
                for line, own in zip(self.lines, self.labels, strict=True)
                if own == label
            )
            for label in LABELS
        )


@runtime_checkable
class FieldReceipt(Protocol):
    """A receipt that can be scored."""

    @property
    def lines(self) -> tuple[PageLine, ...]:
        """In reading order."""

    @property
    def true_texts(self) -> tuple[str, ...]:
        """The text of each field in the order of `LABELS`; empty without one."""


LEAST_RECEIPTS = 3
"""One to learn from, one to choose by, one to score."""


def read_field_table(folder: Path, *, to_train: bool = False) -> Table:
    """Read labelled receipts: a table in the form of MC-OCR, or a Label Studio export.

    Photographs are not needed: texts, outlines and labels say all.

    Args:
        folder: where it lies.
        to_train: whether to learn from it; else messages name `FIELDS_CSV`, too, by
            which photographs are scored.

    Raises:
        ValueError: the folder holds neither, or no label of a field, or fewer receipts
            than `LEAST_RECEIPTS`; or a file cannot be read.
    """
    if (folder / TABLE).is_file():
        table = read_table(folder)
    elif (export := find_export(folder)) is not None:
        table = read_export(export, picture_folder(folder))
    else:
        raise ValueError(f"--data {folder}: {_why_no_table(folder, to_train)}")
    if not any(table.labels):
        names = f"{', '.join(LABELS[:-1])} or {LABELS[-1]}"
        raise ValueError(
            f"{folder / table.file}: no line in it is labelled {names}; label fields so"
        )
    if len(table.receipts) < LEAST_RECEIPTS:
        raise ValueError(
            f"{folder / table.file}: {counted(len(table.receipts), 'receipt')} in it;"
            f" label {LEAST_RECEIPTS} at least, to learn from, choose by and score"
        )
    return table


def _why_no_table(folder: Path, to_train: bool) -> str:
    export = "single JSON export of Label Studio"
    if to_train and has_fields(folder):
        return (
            f"{FIELDS_CSV} holds no lines, so it can only score, by evaluate-fields; to"
            f" train, name a folder with {TABLE} or a {export}"
        )
    lines = "pictures of single lines do not say where on a receipt they stand"
    why = f" ({lines})" if has_labels(folder) else ""
    if to_train:
        return f"no {TABLE} and no {export} in it{why}; add one of them"
    return f"no {TABLE}, no {export} and no {FIELDS_CSV} in it{why}; add one of them"


def labelled_receipts(table: Table) -> list[LabelledReceipt]:
    """Every receipt of a table, lines in reading order.

    The way up is the table's own (`mc_ocr.quarters`), as a recogniser would find it.
    """
    return [_of_receipt(receipt) for receipt in table.receipts]


def _of_receipt(receipt: Receipt) -> LabelledReceipt:
    boxes = [
        TextBox(_outline(one, quarter), 1.0)
        for one, quarter in zip(receipt.instances, quarters(receipt), strict=True)
    ]
    texts = [(one.text.strip(), one.label) for one in receipt.instances]
    return _ordered(receipt.image, boxes, texts)


def _outline(instance: Instance, quarter: int) -> np.ndarray:
    """The corners of a line; around all of its outlines where it is no single one."""
    corners = read_instance(instance, quarter).corners
    if corners is not None:
        return corners
    points = np.concatenate([as_corners(one) for one in instance.polygons])
    return np.roll(four_corners(points), -quarter, axis=0)


def _ordered(
    name: str, boxes: Sequence[TextBox], texts: Sequence[tuple[str, str]]
) -> LabelledReceipt:
    """Lines put into rows by their places alone, each box a line of its own."""
    numbers = {id(box): number for number, box in enumerate(boxes)}
    lines, labels = [], []
    for row in place_lines(boxes, word_gap=math.inf, settle=False):
        for box in row.parts:
            text, label = texts[numbers[id(box)]]
            lines.append(PageLine(box, row.row, text, 1.0))
            labels.append(label)
    return LabelledReceipt(name, tuple(lines), tuple(labels))


def generated_fields(
    count: int, seed: int = 0, config: ReceiptConfig | None = None
) -> Iterator[LabelledReceipt]:
    """Whole generated receipts as they are printed, every line with its true text.

    Args:
        count: how many.
        seed: from 0.
        config: how often layout, sums and print are other than usual.
    """
    check_count("count", count)
    faces = matplotlib_faces()
    for number in range(count):
        sheet = lay_out(random.Random(f"fields:{seed}:{number}"), faces, config)
        there = [one for one in sheet.lines if one.text.strip()]
        boxes = [TextBox(rectangle(*one.box), 1.0) for one in there]
        texts = [(one.text.strip(), one.label) for one in there]
        yield _ordered(f"generated {seed} {number}", boxes, texts)


def split_receipts(table: Table, protocol: str, *, seed: int = 0) -> Split:
    """Part the receipts of a table: `receipt` as their lines, `seller` by shop.

    By receipt each has the part that its lines have where a recogniser learns from
    them; one without a line is for training.

    Args:
        table: to part.
        protocol: one of `data.splits.PROTOCOLS`.
        seed: another seed gives another split.

    Raises:
        ValueError: the protocol is unknown, or the table has no receipt.
    """
    images = [receipt.image for receipt in table.receipts]
    if protocol != "receipt":
        return split_lines(images, protocol, sellers=table.sellers, seed=seed)
    groups = table.groups
    parts = split_lines(groups, protocol, seed=seed).parts
    part_of = {groups[i]: name for name, lines in parts.items() for i in lines}
    of_receipts = [part_of.get(image, "train") for image in images]
    return Split(
        protocol,
        *(
            tuple(i for i, own in enumerate(of_receipts) if own == name)
            for name in SHARES
        ),
    )


def score_fields(
    found: Sequence[Fields],
    receipts: Sequence[FieldReceipt],
    *,
    protocol: str = "",
    n_resamples: int = N_RESAMPLES,
) -> FieldScores:
    """Score what was extracted from receipts whose fields are known.

    Args:
        found: fields, one a receipt.
        receipts: with their true texts.
        protocol: data, split and part in a few words, for the signature.
        n_resamples: bootstrap resamples; 0 leaves the intervals out.

    Raises:
        ValueError: the numbers differ, or there is no receipt.
    """
    return evaluate_fields(
        _found_texts(found),
        _true_texts(receipts),
        protocol=protocol,
        n_resamples=n_resamples,
    )


def compare_found(
    first: Sequence[Fields],
    second: Sequence[Fields],
    receipts: Sequence[FieldReceipt],
    *,
    protocol: str = "",
) -> list[Comparison]:
    """Two ways of extraction on the same receipts, see `scores.compare_fields`.

    Args:
        first: fields that the first way found, one a receipt.
        second: fields that the second way found.
        receipts: with their true texts.
        protocol: data, split and part in a few words, for the signature.
    """
    ours = _found_texts(first), _found_texts(second)
    return compare_fields(*ours, _true_texts(receipts), protocol=protocol)


def _found_texts(found: Sequence[Fields]) -> JoinedFields:
    fields = [(one.seller, one.address, one.timestamp, one.total) for one in found]
    return JoinedFields(
        [join_fields([field.text for field in four]) for four in fields],
        [_joined_values(four[2].value, four[3].value) for four in fields],
    )


def _true_texts(receipts: Sequence[FieldReceipt]) -> JoinedFields:
    texts = [one.true_texts for one in receipts]
    return JoinedFields(
        [join_fields(four) for four in texts],
        [
            _joined_values(parse_timestamp(when).value, parse_amount(total).value)
            for _, _, when, total in texts
        ],
    )


def _joined_values(when: object, total: object) -> str:
    """Typed values in the form of joined texts; seller and address stay empty."""
    typed = ("" if value is None else str(value) for value in (when, total))
    return join_fields(("", "", *typed))
