"""Small tables in the form of MC-OCR, and line pictures to go with them."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.projects.ocr.data.table_row import CATEGORIES
from coursepkg.projects.ocr.line import TextLine

COLUMNS = ("img_id", "anno_polygons", "anno_texts", "anno_labels", "anno_num", "anno_image_quality")
_CATEGORY = {label: number for number, label in CATEGORIES.items()}


def box(left: float, top: float, right: float, bottom: float) -> list[float]:
    """An upright rectangle as x0, y0, x1, y1, ..."""
    return [left, top, right, top, right, bottom, left, bottom]


def annotation(
    *polygons: list[float], category: int = 15, size: tuple[int, int] = (300, 400)
) -> dict[str, Any]:
    return {
        "category_id": category,
        "segmentation": list(polygons),
        "area": 0,
        "bbox": [0, 0, 0, 0],
        "width": size[0],
        "height": size[1],
    }


def row(image: str, instances: Sequence[tuple[Any, str, str]], **changes: str) -> dict[str, str]:
    """A row of instances (polygons, text, label)."""
    annotations = [
        annotation(*polygons, category=_CATEGORY.get(label, 18)) for polygons, _, label in instances
    ]
    return {
        "img_id": image,
        "anno_polygons": str(annotations),
        "anno_texts": "|||".join(text for _, text, _ in instances),
        "anno_labels": "|||".join(label for _, _, label in instances),
        "anno_num": str(len(instances)),
        "anno_image_quality": "0.5",
    } | changes


def write_table(path: Path, rows: Sequence[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return path


def receipt(image: str, seller: str = "Quán Phở", total: str = "45.000") -> dict[str, str]:
    """An upright receipt with a seller, an address and a total."""
    return row(
        image,
        [
            ([box(20, 20, 120, 45)], seller, "SELLER"),
            ([box(20, 60, 200, 80)], "12 Đường Láng", "ADDRESS"),
            ([box(20, 300, 90, 320)], total, "TOTAL_COST"),
        ],
    )


def lines(count: int = 12, *, seed: int = 0, height: int = 24) -> list[TextLine]:
    """Noise of several widths, each line with a text and one of a few groups."""
    draw = np.random.default_rng(seed)
    return [
        TextLine(
            draw.integers(0, 256, (height, int(draw.integers(20, 180))), dtype=np.uint8),
            f"Dòng số {i}",
            f"receipt {i // 3}",
            f"receipt {i // 3}, instance {i % 3}",
        )
        for i in range(count)
    ]
