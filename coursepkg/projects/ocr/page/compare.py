"""Several readers on the same pages: bag-of-words F1 and the time of each.

A reader is anything that turns a picture into text: `coursepkg` is detector and
recogniser of this project, `rapidocr` that package's own pipeline. The score compares
words as multisets, in no order, since a receipt may be read in columns or rows.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.metrics.ngrams import check_unicode, count_rows, n_matches, ngrams
from coursepkg.metrics.scoring import Score, score
from coursepkg.projects.ocr.data.images import read_rgb
from coursepkg.projects.ocr.options import ReadOptions
from coursepkg.validation import check_count


@dataclass(frozen=True)
class BagOfWords:
    """Bag-of-words F1 of pages, a fraction; counts of all pages are summed first.

    Example:
        >>> score(BagOfWords(), ["22.000 Tổng"], ["Tổng 22.000 đ"]).value
        0.8

    Raises:
        ValueError: unicode is unknown.
    """

    name = "bag-of-words F1"

    unicode: str = "NFC"
    """`NFC`, or `raw` to compare code points as they stand."""

    def __post_init__(self) -> None:
        check_unicode(self.unicode)

    def settings(self) -> dict[str, str]:
        """Fields of the signature."""
        return {"case": "mixed", "tok": "none", "unicode": self.unicode}

    def statistics(
        self, hypotheses: Sequence[str], references: Sequence[str]
    ) -> np.ndarray:
        """Pages and transcriptions -> (pages, 3): matches, words read and printed."""
        return count_rows(_count, hypotheses, references, self.unicode, several=False)

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 3) -> F1 (n,); 1 where nothing is printed or read."""
        matches, below = totals[..., 0], totals[..., 1] + totals[..., 2]
        return np.where(below > 0, 2 * matches / np.maximum(below, 1), 1.0)

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Precision, recall and the three counts."""
        matches, n_read, n_printed = totals.astype(int).tolist()
        return {
            "precision": matches / n_read if n_read else 0.0,
            "recall": matches / n_printed if n_printed else 0.0,
            "matches": matches,
            "read": n_read,
            "printed": n_printed,
        }


def _count(read: str, printed: Sequence[str]) -> list[int]:
    bags = [ngrams(text.split(), 1) for text in (read, *printed)]
    return [n_matches(*bags), *(bag.total() for bag in bags)]


def describe_score(score: Score) -> str:
    """A score of `BagOfWords` as two lines: signature, and precision and recall."""
    one = score.details
    return (
        f"{score}\n  precision {one['precision']:.4f}, recall {one['recall']:.4f}:"
        f" {one['matches']} words right of {one['read']} read and {one['printed']}"
        " printed"
    )


def missed_words(read: str, printed: str) -> tuple[list[str], list[str]]:
    """Printed words that were not read, and read words that are not printed."""
    words, wanted = read.split(), printed.split()
    return _beyond(wanted, words), _beyond(words, wanted)


def _beyond(words: Sequence[str], others: Sequence[str]) -> list[str]:
    """The words left when each of the others has taken away one like it."""
    left = Counter(others)
    found = []
    for word in words:
        if left[word]:
            left[word] -= 1
        else:
            found.append(word)
    return found


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
        score = describe_score(self.score)
        return f"{self.reader}: {score}\n  {self.seconds:.2f} s a page"

    def as_json(self) -> dict[str, Any]:
        """All but the words themselves, which may be private."""
        found = {"reader": self.reader, "f1": self.score.value, "seconds": self.seconds}
        return found | dict(self.score.details)


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
    medians = {name: float(np.median(seconds[name])) for name in readers}
    return {
        name: _scored(name, texts[name], transcriptions, medians[name])
        for name in readers
    }


def _scored(
    name: str, texts: Sequence[str], transcriptions: Sequence[str], seconds: float
) -> PageScore:
    words = [
        missed_words(text, printed)
        for text, printed in zip(texts, transcriptions, strict=True)
    ]
    return PageScore(
        name,
        score(BagOfWords(), texts, transcriptions, protocol=f"pages, {name}"),
        seconds,
        tuple(texts),
        tuple(word for missed, _ in words for word in missed),
        tuple(word for _, wrong in words for word in wrong),
    )


def open_coursepkg(
    threads: int = 2, *, model: Path | None = None, options: ReadOptions | None = None
) -> tuple[PageReader, Callable[[], None]]:
    """The detector and recogniser of this project, and what closes them.

    Args:
        threads: of the detector, and of PyTorch in this process until the reader is
            closed.
        model: folder of the recogniser; None is the one that ships.
        options: how pages are read.
    """
    import torch

    from coursepkg.projects.ocr.detector.detector import open_detector
    from coursepkg.projects.ocr.detector.engines import DetectorSettings
    from coursepkg.projects.ocr.page.read import read_page
    from coursepkg.projects.ocr.predict import Recognizer

    recognizer = Recognizer.load_default() if model is None else Recognizer.load(model)
    detector = open_detector(DetectorSettings(threads=threads), cache=False)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)

    def read(image: np.ndarray) -> str:
        return read_page(image, detector, recognizer, options).text

    def close() -> None:
        torch.set_num_threads(before)
        detector.close()

    return read, close


def open_rapidocr(threads: int = 2) -> tuple[PageReader, Callable[[], None]]:
    """rapidocr's pipeline with its own settings and the weights that it brings.

    Args:
        threads: of each of its networks.

    Raises:
        ImportError: rapidocr or onnxruntime is not installed.
    """
    from coursepkg.projects.ocr.baselines import open_rapid

    pipeline = open_rapid(threads)

    def read(image: np.ndarray) -> str:
        # Like OpenCV, it takes blue, green, red.
        found = pipeline(np.ascontiguousarray(image[..., ::-1]))
        return "\n".join(found.txts or ())

    return read, lambda: None


READERS: dict[str, Callable[[int], tuple[PageReader, Callable[[], None]]]] = {
    "coursepkg": open_coursepkg,
    "rapidocr": open_rapidocr,
}
"""What can be named; each takes a number of threads and gives a reader and what closes
it."""


def _open(name: str, threads: int) -> tuple[PageReader, Callable[[], None]]:
    if name not in READERS:
        raise ValueError(f"readers must be among {', '.join(READERS)}, got {name!r}")
    return READERS[name](threads)
