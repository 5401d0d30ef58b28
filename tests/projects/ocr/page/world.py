"""A folder to work in, `coursepkg ocr predict` with a detector that sees ink, and a page to read."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from tests.projects.ocr.page.pages import ROWS, InkDetector, drawn_page
from tests.said import Said


class World(NamedTuple):
    folder: Path
    detector: InkDetector
    predict: Callable[..., Said]


def save(path: Path, rows: object = ROWS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(drawn_page(rows)[0]).save(path)  # type: ignore[arg-type]
    return path
