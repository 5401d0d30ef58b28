"""Several readers on the same pages: bag-of-words F1, and what each costs.

A reader is anything that turns a picture into text: `coursepkg` is detector and
recogniser of this project, `rapidocr` that package's own pipeline, `tesseract` the
program of that name with its Vietnamese model.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coursepkg.metrics.scoring import Score, score
from coursepkg.projects.ocr.data.images import read_rgb
from coursepkg.projects.ocr.line import LineRecognizer
from coursepkg.projects.ocr.options import ReadOptions
from coursepkg.projects.ocr.page.words import (
    BagOfWords,
    describe_score,
    missed_words,
)
from coursepkg.validation import check_count


class PageText(NamedTuple):
    """What a reader makes of a page."""

    text: str
    boxes: Sequence[np.ndarray] = ()
    """Corners (4, 2) of what it read, in pixels: of lines or of words."""
    error: str = ""
    """Why it could not be read; such a page has no text."""


PageReader = Callable[[np.ndarray], PageText]
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
    boxes: tuple[Sequence[np.ndarray], ...]
    """Where it read it, page by page, see `PageText`."""
    errors: tuple[str, ...]
    """Why it could not read a page, page by page; empty where it could."""
    missed: tuple[str, ...]
    """Words that are printed and were not read."""
    wrong: tuple[str, ...]
    """Words that were read and are not printed."""

    def __str__(self) -> str:
        score = describe_score(self.score)
        return f"{self.reader}: {score}\n  {self.seconds:.2f} s a page"

    def as_json(self) -> dict[str, Any]:
        """All but the words themselves, which may be private."""
        return {
            "reader": self.reader,
            "f1": self.score.value,
            "signature": f"{self.score.name}|{self.score.signature}",
            "seconds": self.seconds,
            **self.score.details,
        }


def compare_pages(
    pages: Sequence[tuple[str | Path | np.ndarray, str]],
    readers: Mapping[str, PageReader] | Sequence[str] = ("coursepkg", "rapidocr"),
    *,
    rounds: int = 1,
    threads: int = 2,
) -> dict[str, PageScore]:
    """Read the same pages with several readers, taking turns page by page.

    Args:
        pages: pictures, or files of them, each with its transcription.
        readers: by name; or names from `READERS`, which are opened here and closed
            again.
        rounds: how often each page is read, for the time; the text is that of the first
            round.
        threads: of every network of a reader that is opened here, so that their times
            can be compared.

    Returns:
        the scores by the readers' names.

    Raises:
        ValueError: there is no page, a name is unknown, or a picture cannot be read.
        ImportError: a reader's package is missing.
    """
    check_count("rounds", rounds)
    check_count("threads", threads)
    if not pages:
        raise ValueError("pages must hold at least one page, got none")
    images = [
        page if isinstance(page, np.ndarray) else read_rgb(page) for page, _ in pages
    ]
    texts = [text for _, text in pages]
    if isinstance(readers, Mapping):
        return _compared(images, texts, readers, rounds)
    with ExitStack() as at_end:
        opened = {}
        for name in readers:
            opened[name], close = _open(name, threads)
            at_end.callback(close)
        return _compared(images, texts, opened, rounds)


def _compared(
    images: Sequence[np.ndarray],
    transcriptions: Sequence[str],
    readers: Mapping[str, PageReader],
    rounds: int,
) -> dict[str, PageScore]:
    for read in readers.values():
        read(images[0])
    found: dict[str, list[PageText]] = {name: [] for name in readers}
    seconds: dict[str, list[float]] = {name: [] for name in readers}
    for number in range(rounds):
        for image in images:
            for name, read in readers.items():
                start = time.perf_counter()
                page = read(image)
                seconds[name].append(time.perf_counter() - start)
                if not number:
                    found[name].append(page)
    medians = {name: float(np.median(seconds[name])) for name in readers}
    return {
        name: _scored(name, found[name], transcriptions, medians[name])
        for name in readers
    }


def _scored(
    name: str, pages: Sequence[PageText], transcriptions: Sequence[str], seconds: float
) -> PageScore:
    texts = [page.text for page in pages]
    words = [
        missed_words(text, printed)
        for text, printed in zip(texts, transcriptions, strict=True)
    ]
    return PageScore(
        name,
        score(BagOfWords(), texts, transcriptions, protocol=f"pages, {name}"),
        seconds,
        tuple(texts),
        tuple(page.boxes for page in pages),
        tuple(page.error for page in pages),
        tuple(word for missed, _ in words for word in missed),
        tuple(word for _, wrong in words for word in wrong),
    )


def open_coursepkg(
    threads: int = 2,
    *,
    recognizer: LineRecognizer | None = None,
    options: ReadOptions | None = None,
) -> tuple[PageReader, Callable[[], None]]:
    """The detector and recogniser of this project, and what closes them.

    Args:
        threads: of the detector, and of PyTorch in this process until the reader is
            closed.
        recognizer: None is the one that ships.
        options: how pages are read.
    """
    import torch

    from coursepkg.projects.ocr.detector.detector import open_detector
    from coursepkg.projects.ocr.detector.engines import DetectorSettings
    from coursepkg.projects.ocr.page.read import read_page
    from coursepkg.projects.ocr.predict import Recognizer

    reader = recognizer or Recognizer.load_default()
    detector = open_detector(DetectorSettings(threads=threads), cache=False)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)

    def read(image: np.ndarray) -> PageText:
        page = read_page(image, detector, reader, options)
        return PageText(page.text, [line.box.corners for line in page.lines])

    def close() -> None:
        torch.set_num_threads(before)
        detector.close()

    return read, close


def cost_of_pages(
    images: Sequence[np.ndarray],
    ways: Mapping[str, ReadOptions],
    *,
    rounds: int = 3,
    threads: int = 2,
) -> tuple[dict[str, float], int]:
    """Median seconds of a page after the start, and the most memory seen, in bytes.

    Resident memory is that of this process and of the detector's, so this one should
    do nothing else. PyTorch keeps the number of threads.

    Args:
        images: uint8 (height, width, 3).
        ways: how pages are read, by name.
        rounds: how often each page is read in each way.
        threads: of PyTorch and of the detector.

    Returns:
        the seconds by the names of the ways, and the memory.
    """
    import torch

    from coursepkg.projects.ocr.detector.detector import BoundedDetector
    from coursepkg.projects.ocr.detector.engines import DetectorSettings
    from coursepkg.projects.ocr.detector.process import memory_of
    from coursepkg.projects.ocr.page.read import read_page
    from coursepkg.projects.ocr.predict import Recognizer

    check_count("rounds", rounds)
    check_count("threads", threads)
    torch.set_num_threads(threads)
    reader, used = Recognizer.load_default(), 0
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    with BoundedDetector(DetectorSettings(threads=threads)) as detector:
        read_page(images[0], detector, reader)
        for _, image, way in product(range(rounds), images, ways):
            start = time.perf_counter()
            read_page(image, detector, reader, ways[way])
            seconds[way].append(time.perf_counter() - start)
            used = max(used, memory_of(os.getpid()) or 0)
        medians = {way: float(np.median(took)) for way, took in seconds.items()}
        return medians, used + detector.peak_memory


def open_rapidocr(threads: int = 2) -> tuple[PageReader, Callable[[], None]]:
    """rapidocr's pipeline with its own settings and the weights that it brings.

    Args:
        threads: of each of its networks.

    Raises:
        ImportError: rapidocr or onnxruntime is not installed.
    """
    from coursepkg.projects.ocr.baselines import open_rapid

    pipeline = open_rapid(threads)

    def read(image: np.ndarray) -> PageText:
        # Like OpenCV, it takes blue, green, red.
        found = pipeline(np.ascontiguousarray(image[..., ::-1]))
        if not found.txts:
            return PageText("")
        boxes = [np.asarray(four, np.float64) for four in found.boxes]
        return PageText("\n".join(found.txts), boxes)

    return read, lambda: None


def open_tesseract(
    threads: int = 2, *, segmentation: int = 4
) -> tuple[PageReader, Callable[[], None]]:
    """The program Tesseract with its Vietnamese model, see `baselines.Tesseract`.

    Args:
        threads: of OpenMP.
        segmentation: its `--psm`.

    Raises:
        OSError: it is not installed, or has no Vietnamese.
    """
    from coursepkg.projects.ocr.baselines import Tesseract

    program = Tesseract(segmentation, threads=threads)
    return (lambda image: PageText(*program.read(image))), lambda: None


READERS: dict[str, Callable[[int], tuple[PageReader, Callable[[], None]]]] = {
    "coursepkg": open_coursepkg,
    "rapidocr": open_rapidocr,
    "tesseract psm 3": partial(open_tesseract, segmentation=3),
    "tesseract psm 4": open_tesseract,
    "tesseract psm 6": partial(open_tesseract, segmentation=6),
    "tesseract psm 11": partial(open_tesseract, segmentation=11),
}
"""What can be named; each takes a number of threads and gives a reader and what closes
it."""


def _open(name: str, threads: int) -> tuple[PageReader, Callable[[], None]]:
    if name not in READERS:
        raise ValueError(f"readers must be among {', '.join(READERS)}, got {name!r}")
    return READERS[name](threads)
