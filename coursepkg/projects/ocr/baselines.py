"""Other readers of lines on the same pictures: what a comparison of error rates needs.

`RapidReader` is rapidocr with its PP-OCRv6 recogniser. Every reader gets the same
pictures and is scored in the same way: NFC, CER over all lines, seconds a line.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from coursepkg.files import file_sha256
from coursepkg.projects.ocr.data.images import check_size, read_gray
from coursepkg.projects.ocr.evaluation import Evaluation, evaluate
from coursepkg.projects.ocr.line import Alternative, LineReading, TextLine
from coursepkg.projects.ocr.predict import Picture
from coursepkg.requirements import missing_packages
from coursepkg.validation import check_count

NEEDS = ("rapidocr", "onnxruntime")
INSTALL = "pip install 'coursepkg[ocr]'"
WEIGHTS = "PP-OCRv6_rec_small.onnx"


@runtime_checkable
class LineReader(Protocol):
    """What reads lines: a `Recognizer`, or a rival."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of what decides its readings."""

    def read_lines(
        self, pictures: Sequence[Picture], *, batch_size: int = 64
    ) -> list[LineReading]:
        """One reading a picture, in order."""


def what_is_missing() -> str | None:
    """Why rapidocr cannot run here, and what to do; None where it can."""
    missing = missing_packages(NEEDS)
    return f"reading with rapidocr needs {missing}: {INSTALL}" if missing else None


def open_rapid(threads: int) -> Any:
    """rapidocr with its own settings and the weights that it brings.

    Args:
        threads: of ONNX Runtime, for each of its networks; by itself rapidocr takes
            every core.

    Raises:
        ImportError: rapidocr or onnxruntime is not installed.
    """
    check_count("threads", threads)
    if missing := what_is_missing():
        raise ImportError(missing)
    runtime = "EngineConfig.onnxruntime"
    settings = {
        "Global.log_level": "error",
        f"{runtime}.intra_op_num_threads": threads,
        f"{runtime}.inter_op_num_threads": 1,
    }
    return import_module("rapidocr").RapidOCR(params=settings)


class RapidReader:
    """The recogniser of rapidocr, PP-OCRv6 small, as rapidocr itself runs it.

    Its own scaling, batches by width, decoding and defaults are kept; only detection
    and turning are left out, since a line is handed over.

    Args:
        threads: of ONNX Runtime.

    Raises:
        ImportError: rapidocr or onnxruntime is not installed.
    """

    def __init__(self, *, threads: int = 1) -> None:
        self._engine = open_rapid(threads)
        self._weights = (
            Path(str(import_module("rapidocr").__file__)).parent / "models" / WEIGHTS
        )

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the weights."""
        return file_sha256(self._weights)

    def read_lines(
        self, pictures: Sequence[Picture], *, batch_size: int = 64
    ) -> list[LineReading]:
        """Read pictures of one line each, in order, in rapidocr's own batches.

        Args:
            pictures: files, or grayscale pixels uint8 (height, width).
            batch_size: pictures in memory at once.

        Raises:
            ValueError: a picture cannot be read.
        """
        check_count("batch_size", batch_size)
        found: list[LineReading] = []
        for first in range(0, len(pictures), batch_size):
            colours = [_in_colours(one) for one in pictures[first : first + batch_size]]
            result = self._engine.recognize_txt(colours)
            found += [
                _reading(text, float(sure))
                for text, sure in zip(result.txts, result.scores, strict=True)
            ]
        return found


def compare(
    readers: Mapping[str, LineReader], lines: Sequence[TextLine]
) -> dict[str, Evaluation]:
    """Scores of several readers on the same lines, by name, in NFC.

    Intervals are by the lines' groups.

    Raises:
        ValueError: there is no line.
    """
    return {
        name: evaluate_reader(reader, lines, protocol=name)
        for name, reader in readers.items()
    }


def evaluate_reader(
    reader: LineReader, lines: Sequence[TextLine], protocol: str = ""
) -> Evaluation:
    """What a reader scores on some lines; intervals are by the lines' groups.

    Raises:
        ValueError: there is no line.
    """
    readings = reader.read_lines([line.image for line in lines])
    predictions = [one.text for one in readings]
    texts, groups = [line.text for line in lines], [line.group for line in lines]
    return evaluate(predictions, texts, protocol=protocol, groups=groups)


def _in_colours(picture: Picture) -> np.ndarray:
    """Gray pixels as rapidocr takes them: uint8 (height, width, 3)."""
    image = picture if isinstance(picture, np.ndarray) else read_gray(picture)
    check_size(image, "picture" if isinstance(picture, np.ndarray) else str(picture))
    return np.ascontiguousarray(np.repeat(image[..., None], 3, axis=-1))


def _reading(text: str, confidence: float) -> LineReading:
    return LineReading((Alternative(text, confidence, confidence),) if text else ())
