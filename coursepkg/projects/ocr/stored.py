"""Measurements that come with the package: numbers, and what a network says of a generated receipt; no real data.

    book/_data/ocr/NAME.json              a measurement, with its conditions
    book/_data/ocr/boxes.json             boxes that PP-OCRv6's detector found in the receipts of seed 0
    book/_data/ocr/probability_map.png    what PP-OCRv6's detector says of each pixel of receipt 0 of seed 0

`scripts/measure_ocr_detector.py` makes detector.json, the boxes and the map. In an installed copy the folder lies in
this package, as `stored_results`.
"""

from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.projects.ocr.data.images import read_gray
from coursepkg.projects.ocr.detector.box import TextBox
from coursepkg.projects.ocr.detector.settings import DetectorSettings
from coursepkg.stored import read_measurement, stored_results

MAP = "probability_map.png"


def stored_folder() -> Path | None:
    """Where the stored measurements are, or None where the package came without them."""
    return stored_results("ocr", __file__)


def stored_document(name: str, folder: Path | None = None) -> dict[str, Any] | None:
    """A stored measurement, or None where there is none of this name.

    Args:
        name: of its file, without the ending.
        folder: where to look, if not in `stored_folder()`.

    Raises:
        ValueError: the file is damaged, or does not say where it was measured.
    """
    return read_measurement(folder or stored_folder(), name)


def stored_map(folder: Path | None = None) -> np.ndarray | None:
    """Probabilities of text by pixel, float32 (height, width) in [0, 1], or None where none are stored.

    Args:
        folder: where to look, if not in `stored_folder()`.

    Raises:
        ValueError: the picture is damaged.
    """
    folder = folder or stored_folder()
    path = folder / MAP if folder else None
    if path is None or not path.is_file():
        return None
    return read_gray(path).astype(np.float32) / np.float32(255)


def stored_boxes(folder: Path | None = None) -> list[list[TextBox]] | None:
    """What the detector found in receipts 0, 1, 2 ... of seed 0, or None where no boxes are stored.

    Args:
        folder: where to look, if not in `stored_folder()`.

    Raises:
        ValueError: the file is damaged.
    """
    document = stored_document("boxes", folder)
    if document is None:
        return None
    rim = DetectorSettings(**document.get("settings", {})).rim
    return [[_box(text, rim) for text in page] for page in document["boxes"]]


def _box(text: str, rim: float) -> TextBox:
    """A box from its corners x y and its score, nine numbers."""
    *corners, score = map(float, text.split())
    return TextBox(np.reshape(corners, (-1, 2)), score, rim)
