"""Measurements that come with the package; no real data are among them."""

from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.app.published_results import PublishedResults
from coursepkg.projects.ocr.data.images import read_gray
from coursepkg.projects.ocr.detector.engines import DetectorSettings
from coursepkg.projects.ocr.detector.lines import TextBox

RESULTS = PublishedResults("ocr", "projects/ocr")
"""The stored measurements."""
MAP = "probability_map.png"


def published_folder() -> Path | None:
    """Where the stored measurements are; None where the package has none."""
    return RESULTS.folder()


def published_document(name: str, folder: Path | None = None) -> dict[str, Any] | None:
    """A stored measurement, or None where there is none of this name.

    Args:
        name: of its file, without the ending.
        folder: where to look, if not in `published_folder()`.

    Raises:
        ValueError: the file is damaged, or does not say where it was measured.
    """
    return RESULTS.document(name, folder)


def published_fields() -> dict[str, dict[str, Any]]:
    """Stored scores of extracted fields by the names of their files.

    Raises:
        ValueError: a file is damaged, or does not say where it was measured.
    """
    folder = published_folder()
    names = [path.stem for path in (folder / "fields").glob("*.json")] if folder else []
    found = {name: published_document(f"fields/{name}") for name in sorted(names)}
    return {name: one for name, one in found.items() if one is not None}


def published_map(folder: Path | None = None) -> np.ndarray | None:
    """Probabilities of text by pixel, float32 (height, width), or None.

    Args:
        folder: where to look, if not in `published_folder()`.

    Raises:
        ValueError: the picture is damaged.
    """
    folder = folder or published_folder()
    path = folder / MAP if folder else None
    if path is None or not path.is_file():
        return None
    return read_gray(path).astype(np.float32) / np.float32(255)


def published_boxes(folder: Path | None = None) -> list[list[TextBox]] | None:
    """What the detector found in receipts 0, 1, 2 ... of seed 0, or None.

    Args:
        folder: where to look, if not in `published_folder()`.

    Raises:
        ValueError: the file is damaged.
    """
    document = published_document("boxes", folder)
    if document is None:
        return None
    rim = DetectorSettings(**document.get("settings", {})).rim
    return [[_box(text, rim) for text in page] for page in document["boxes"]]


def _box(text: str, rim: float) -> TextBox:
    """A box from its corners x y and its score, nine numbers."""
    *corners, score = map(float, text.split())
    return TextBox(np.reshape(corners, (-1, 2)), score, rim)
