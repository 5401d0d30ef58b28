"""Pages made of drawn lines, a detector that knows or sees where they are, and two recognisers to read them.

`Matcher` reads for real what it knows: a crop is compared with its lines pixel by pixel, so a crop that is cut out
wrongly, turned or mirrored reads badly. `random_recognizer` is a network of random weights, for where texts are not
asked for.
"""

import dataclasses
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from coursepkg.projects.ocr.data.batches import character_vocabulary
from coursepkg.projects.ocr.detector.lines import TextBox
from coursepkg.projects.ocr.line import Alternative, LineReading
from coursepkg.projects.ocr.predict import VOCABULARY, Recognizer
from coursepkg.projects.ocr.recipe import PRESETS, Recipe
from coursepkg.training.saved_model import save_model
from tests.projects.ocr.drawn import SMALL, draw, network

ROWS = (
    ("QUÁN PHỞ BÀ NĂM",),
    ("Ngày 15/08/2020", "HD 0012"),
    ("Phở bò tái", "45.000"),
    ("Trà sữa trân châu", "120.500"),
    ("Tổng cộng", "165.500"),
)
TEXT = "\n".join(" ".join(row) for row in ROWS)
LINES = [text for row in ROWS for text in row]
TINY = dataclasses.replace(PRESETS["tiny"], **SMALL)


def drawn_page(rows: Sequence[Sequence[str]] = ROWS, width: int = 640) -> tuple[np.ndarray, list[np.ndarray]]:
    """A white page uint8 (height, width, 3) with each row's texts spread over it, and the corners of its texts."""
    page = np.full((40 + 60 * len(rows), width), 255, np.uint8)
    corners = []
    for number, row in enumerate(rows):
        for place, text in enumerate(row):
            line = draw(text)
            top, left = 30 + 60 * number, 20 + (width - 40) * place // len(row)
            page[top : top + line.shape[0], left : left + line.shape[1]] = line
            right, bottom = left + line.shape[1], top + line.shape[0]
            corners.append(np.array([[left, top], [right, top], [right, bottom], [left, bottom]], np.float64))
    return np.stack([page] * 3, axis=-1), corners


class KnownBoxes:
    """A detector that was told where the text is."""

    def __init__(self, corners: Sequence[np.ndarray], scores: Sequence[float] | None = None) -> None:
        self.boxes = [
            TextBox(one, score) for one, score in zip(corners, scores or [0.9] * len(corners), strict=True)
        ]
        self.fingerprint = "known boxes"
        self.closed = False

    def detect(self, image: np.ndarray, name: str = "picture") -> list[TextBox]:
        # Detectors promise no order.
        return self.boxes[::-1]

    def close(self) -> None:
        self.closed = True


class InkDetector(KnownBoxes):
    """A detector that sees ink on white: a box around what stands between white rows, and between wide white gaps."""

    def __init__(self, gap: int = 30) -> None:
        super().__init__([])
        self.fingerprint, self.gap, self.seen = "ink", gap, 0

    def detect(self, image: np.ndarray, name: str = "picture") -> list[TextBox]:
        self.seen += 1
        ink = image.min(axis=2) < 128
        return [
            TextBox(np.array([[left, top], [right, top], [right, bottom], [left, bottom]], np.float64), 0.9)
            for top, bottom in _runs(ink.any(axis=1), 8)
            for left, right in _runs(ink[top:bottom].any(axis=0), self.gap)
        ]


def _runs(flags: np.ndarray, gap: int) -> list[tuple[int, int]]:
    places = np.flatnonzero(flags)
    if not places.size:
        return []
    cuts = np.flatnonzero(np.diff(places) > gap)
    starts, ends = places[np.r_[0, cuts + 1]], places[np.r_[cuts, len(places) - 1]]
    return [(int(start), int(end) + 1) for start, end in zip(starts, ends, strict=True)]


class Matcher(Recognizer):
    """Reads a crop as the known line that it looks most alike, as confidently as the two agree."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.known = [(text, _features(draw(text))) for text in texts]
        self.n_read = 0
        self.recipe, self.dtype = Recipe(), torch.float32

    def read_lines(self, pictures: Sequence[np.ndarray], **options: object) -> list[LineReading]:  # type: ignore[override]
        self.n_read += len(pictures)
        return [self._read(_features(picture)) for picture in pictures]

    def _read(self, seen: np.ndarray) -> LineReading:
        alike = [(max(0.0, float(seen @ features)) ** 2, text) for text, features in self.known]
        confidence, text = max(alike)
        return LineReading((Alternative(text, confidence, confidence),))


def _features(image: np.ndarray) -> np.ndarray:
    rows, columns = (np.flatnonzero((image < 128).any(axis=axis)) for axis in (1, 0))
    if rows.size:
        # However wide the detector's margins are.
        image = image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    pixels = np.asarray(Image.fromarray(image).resize((240, 16), Image.Resampling.BILINEAR), np.float64)
    pixels = (pixels - pixels.mean()).reshape(-1)
    return pixels / max(float(np.linalg.norm(pixels)), 1e-9)


@cache
def random_recognizer() -> Recognizer:
    """A network whose weights are random and always the same; it writes nonsense."""
    vocabulary = character_vocabulary(LINES)
    return Recognizer(network(len(vocabulary), max_len=TINY.max_len).float(), vocabulary, TINY)


def model_folder(folder: Path) -> Path:
    """The random recogniser as training stores one."""
    recognizer = random_recognizer()
    folder.mkdir(parents=True)
    recognizer.vocabulary.save(folder / VOCABULARY)
    save_model(
        folder / "model",
        recognizer.model,
        recipe=TINY.described(),
        vocabulary=recognizer.vocabulary.fingerprint,
    )
    return folder
