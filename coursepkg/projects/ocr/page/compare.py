"""Several readers on the same pages: bag-of-words F1 of each against the transcriptions, and the time that it takes.

A reader is anything that turns a picture into text. `coursepkg` is the detector and the recogniser of this project;
`rapidocr` is rapidocr's own pipeline: the same kind of detector, its text direction classifier and its recogniser.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.arguments import check_count
from coursepkg.metrics.scoring import score
from coursepkg.metrics.signature import Score
from coursepkg.projects.ocr.data.images import read_rgb
from coursepkg.projects.ocr.page.options import ReadOptions
from coursepkg.projects.ocr.page.score import BagOfWords, describe_score, missed_words

PageReader = Callable[[np.ndarray], str]
"""A picture, uint8 (height, width, 3), to its text."""


@dataclass(frozen=True)
class PageScore:
    """One reader on all pages."""

    reader: str
    """Its name."""
    score: Score
    """Bag-of-words F1 with precision, recall and counts in its `details`."""
    seconds: float
    """Median time of a page, after one page that is not counted."""
    texts: tuple[str, ...]
    """What it read, page by page."""
    missed: tuple[str, ...]
    """Words that are printed and were not read."""
    wrong: tuple[str, ...]
    """Words that were read and are not printed."""

    def __str__(self) -> str:
        return f"{self.reader}: {describe_score(self.score)}\n  {self.seconds:.2f} s a page"

    def as_json(self) -> dict[str, Any]:
        """All but the words themselves, which may be private."""
        details = dict(self.score.details)
        return {"reader": self.reader, "f1": self.score.value, "seconds": self.seconds, **details}


def compare_pages(
    pages: Sequence[tuple[str | Path | np.ndarray, str]],
    readers: Mapping[str, PageReader] | Sequence[str] = ("coursepkg", "rapidocr"),
    *,
    rounds: int = 1,
) -> dict[str, PageScore]:
    """Read the same pages with several readers, taking turns page by page.

    Args:
        pages: pictures, or files of them, each with its transcription.
        readers: by name; or names from `READERS`, which are opened here and closed again.
        rounds: how often each page is read, for the time; the text is that of the first round.

    Returns:
        the scores by the readers' names.

    Raises:
        ValueError: there is no page, a name is unknown, or a picture cannot be read.
        ImportError: a reader's package is missing.
    """
    check_count("rounds", rounds)
    if not pages:
        raise ValueError("pages must hold at least one page, got none")
    images = [page if isinstance(page, np.ndarray) else read_rgb(page) for page, _ in pages]
    if isinstance(readers, Mapping):
        return _compared(images, [text for _, text in pages], readers, rounds)
    opened = {name: _open(name) for name in readers}
    try:
        chosen = {name: read for name, (read, _) in opened.items()}
        return _compared(images, [text for _, text in pages], chosen, rounds)
    finally:
        for _, close in opened.values():
            close()


def _compared(
    images: Sequence[np.ndarray],
    transcriptions: Sequence[str],
    readers: Mapping[str, PageReader],
    rounds: int,
) -> dict[str, PageScore]:
    for read in readers.values():
        read(images[0])
    texts: dict[str, list[str]] = {name: [] for name in readers}
    seconds: dict[str, list[float]] = {name: [] for name in readers}
    for number in range(rounds):
        for image in images:
            for name, read in readers.items():
                start = time.perf_counter()
                text = read(image)
                seconds[name].append(time.perf_counter() - start)
                if not number:
                    texts[name].append(text)
    return {
        name: _scored(name, texts[name], transcriptions, float(np.median(seconds[name]))) for name in readers
    }


def _scored(name: str, texts: Sequence[str], transcriptions: Sequence[str], seconds: float) -> PageScore:
    words = [missed_words(text, printed) for text, printed in zip(texts, transcriptions, strict=True)]
    return PageScore(
        name,
        score(BagOfWords(), texts, transcriptions, protocol=f"pages, {name}"),
        seconds,
        tuple(texts),
        tuple(word for missed, _ in words for word in missed),
        tuple(word for _, wrong in words for word in wrong),
    )


def open_coursepkg(
    model: Path | None = None, options: ReadOptions | None = None
) -> tuple[PageReader, Callable[[], None]]:
    """The detector and the recogniser of this project, and what closes them. Found boxes are not kept on disk.

    Args:
        model: folder of the recogniser; None is the one that ships.
        options: how pages are read.
    """
    from coursepkg.projects.ocr.detector.bounded import open_detector
    from coursepkg.projects.ocr.page.read import read_page
    from coursepkg.projects.ocr.predict import Recognizer

    recognizer = Recognizer.load_default() if model is None else Recognizer.load(model)
    detector = open_detector(cache=False)

    def read(image: np.ndarray) -> str:
        return read_page(image, detector, recognizer, options).text

    return read, detector.close


def open_rapidocr() -> tuple[PageReader, Callable[[], None]]:
    """rapidocr's pipeline with its own settings and the weights that it brings.

    Raises:
        ImportError: rapidocr is not installed.
    """
    try:
        rapidocr = import_module("rapidocr")
    except ImportError as reason:
        raise ImportError("the reader rapidocr needs its package: pip install 'coursepkg[ocr]'") from reason
    pipeline = rapidocr.RapidOCR(params={"Global.log_level": "error"})

    def read(image: np.ndarray) -> str:
        # Like OpenCV, it takes blue, green, red.
        found = pipeline(np.ascontiguousarray(image[..., ::-1]))
        return "\n".join(found.txts or ())

    return read, lambda: None


READERS: dict[str, Callable[[], tuple[PageReader, Callable[[], None]]]] = {
    "coursepkg": open_coursepkg,
    "rapidocr": open_rapidocr,
}
"""What can be named; each gives a reader and what closes it."""


def _open(name: str) -> tuple[PageReader, Callable[[], None]]:
    if name not in READERS:
        raise ValueError(f"readers must be among {', '.join(READERS)}, got {name!r}")
    return READERS[name]()
