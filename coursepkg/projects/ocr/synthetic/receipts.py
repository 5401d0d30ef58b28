"""Whole receipts, written as MC-OCR 2021 does: photographs and a table with polygons, texts and labels.

The quirks of the real table come with them, at rates that are stated here and measured there.
"""

import csv
import io
import random
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from coursepkg.arguments import check_count, check_share
from coursepkg.files import whole_file
from coursepkg.projects.ocr.data.mc_ocr import COLUMNS, TABLE
from coursepkg.projects.ocr.data.table_row import CATEGORIES, JOINT
from coursepkg.projects.ocr.synthetic.fonts import Face, matplotlib_faces
from coursepkg.projects.ocr.synthetic.receipt_layout import PrintedLine, Sheet, lay_out
from coursepkg.projects.ocr.synthetic.receipt_photo import SIZES, outline, photograph

_CATEGORY = {label: number for number, label in CATEGORIES.items()}


@dataclass(frozen=True)
class ReceiptConfig:
    """How often the quirks of the real table come, each in [0, 1]."""

    several_polygons: float = 0.02
    """Share of instances with a second outline, a sliver left by the mouse; 115 of 6,585 in the real table."""
    fifth_corner: float = 0.25
    """Share of instances whose outline has a corner too many, close to the first."""
    turned: float = 0.04
    """Share of receipts that lie on their side, half of them each way."""
    empty: float = 0.002
    """Share of rows without any annotation; 2 of 1,155 in the real table."""

    def __post_init__(self) -> None:
        for field in fields(self):
            check_share(field.name, getattr(self, field.name))


@dataclass(frozen=True, eq=False)
class ReceiptPhoto:
    """A photograph of a receipt with its row of the table and all of its lines."""

    image: np.ndarray
    """uint8 RGB (height, width, 3)."""
    row: dict[str, Any]
    """The columns of MC-OCR's table."""
    lines: tuple[PrintedLine, ...]
    """Every text on the paper, annotated or not."""
    outlines: np.ndarray
    """(lines, 4, 2): the true corners of each line in the photograph, in the reader's order."""


def make_receipt(
    seed: int, number: int, *, faces: Sequence[Face] | None = None, config: ReceiptConfig | None = None
) -> ReceiptPhoto:
    """Receipt `number` of a seed: a function of the two, whatever was made before.

    Args:
        seed: from 0.
        number: from 0.
        faces: to print with; by default those of matplotlib.
        config: rates of the quirks.
    """
    check_count("seed", seed, 0)
    check_count("number", number, 0)
    config = config or ReceiptConfig()
    dice, rng, sheet = _begun(seed, number, faces)
    width, height = dice.choice(SIZES)
    quarter = dice.choice((1, 3)) if dice.random() < config.turned else 0
    image, matrix = photograph(sheet.image, (height, width), rng, quarter=quarter)
    outlines = np.stack([outline(matrix, line.box) for line in sheet.lines])
    annotated = (
        [] if dice.random() < config.empty else [i for i, line in enumerate(sheet.lines) if line.label]
    )
    entries = [
        _annotation(outlines[i], sheet.lines[i].label, (width, height), config, dice) for i in annotated
    ]
    row = dict(
        zip(
            COLUMNS,
            (
                f"synthetic_{seed}_{number:05}.jpg",
                repr(entries),
                JOINT.join(sheet.lines[i].text for i in annotated),
                JOINT.join(sheet.lines[i].label for i in annotated),
                len(annotated),
                round(dice.uniform(0.3, 0.9), 6),
            ),
            strict=True,
        )
    )
    return ReceiptPhoto(image, row, sheet.lines, outlines)


def receipt_texts(seed: int, number: int, *, faces: Sequence[Face] | None = None) -> list[str]:
    """What the lines of `make_receipt` say, without photographing it."""
    return [" ".join(line.text.split()) for line in _begun(seed, number, faces)[2].lines]


def _begun(
    seed: int, number: int, faces: Sequence[Face] | None
) -> tuple[random.Random, np.random.Generator, Sheet]:
    """The dice of a receipt after its paper was printed, those of its photograph, and the paper."""
    dice = random.Random(f"receipt:{seed}:{number}")
    rng = np.random.Generator(np.random.PCG64(dice.getrandbits(64)))
    return dice, rng, lay_out(dice, faces or matplotlib_faces())


def _annotation(
    corners: np.ndarray, label: str, size: tuple[int, int], config: ReceiptConfig, dice: random.Random
) -> dict[str, Any]:
    """One entry of `anno_polygons`; the hand of an annotator shakes by a pixel."""
    points = [[round(value + dice.uniform(-0.8, 0.8), 1) for value in corner] for corner in corners.tolist()]
    low, high = corners.min(axis=0), corners.max(axis=0)
    outlines = [_flat(points)]
    if dice.random() < config.fifth_corner:
        outlines = [_flat([*points, [points[0][0] - 0.7, points[0][1] + 1.4]])]
    if dice.random() < config.several_polygons:
        x, y = points[0]
        outlines.insert(0, _flat([[x, y], [x, y + 1.4], [x - 4.4, y + 1.4]]))
    wide, tall = (high - low).tolist()
    return {
        "category_id": _CATEGORY[label],
        "segmentation": outlines,
        "area": round(wide * tall),
        "bbox": [round(low[0]), round(low[1]), round(wide), round(tall)],
        "width": size[0],
        "height": size[1],
    }


def _flat(points: list[list[float]]) -> list[float]:
    return [round(value, 1) for point in points for value in point]


def write_receipts(
    folder: str | Path,
    count: int,
    seed: int = 0,
    *,
    faces: Sequence[Face] | None = None,
    config: ReceiptConfig | None = None,
) -> Path:
    """Writes receipts 0 to count - 1 of a seed: `images/` and the table, which comes last.

    Returns:
        The path of the table.

    Raises:
        OSError: a file cannot be written; the message names it.
    """
    check_count("count", count)
    folder = Path(folder)
    (folder / "images").mkdir(parents=True, exist_ok=True)
    rows = []
    for number in range(count):
        receipt = make_receipt(seed, number, faces=faces, config=config)
        write_jpeg(folder / "images" / receipt.row["img_id"], receipt.image)
        rows.append(receipt.row)
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with whole_file(folder / TABLE) as file:
        file.write(text.getvalue().encode())
    return folder / TABLE


def write_jpeg(path: Path, image: np.ndarray) -> None:
    """Writes a picture as a JPEG file of high quality, whole or not at all."""
    with whole_file(path) as file:
        Image.fromarray(image).save(file, "JPEG", quality=88)
