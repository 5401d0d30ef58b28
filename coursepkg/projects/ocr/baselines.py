"""Other readers of the same pictures: what a comparison of error rates needs.

`RapidReader` is rapidocr with its PP-OCRv6 recogniser, the only one that its package
carries: its Latin recogniser would have to be downloaded. Every reader of lines gets
the same pictures and is scored in the same way: NFC, CER over all lines, seconds a
line. `Tesseract` reads pages, and lines as pages of one line.
"""

import csv
import io
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from PIL import Image

from coursepkg.files import file_sha256
from coursepkg.projects.ocr.data.geometry import rectangle
from coursepkg.projects.ocr.data.images import check_size, read_gray
from coursepkg.projects.ocr.detector.process import POLL_SECONDS, memory_of
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


TESSERACT = "tesseract"
LANGUAGE = "vie"
GET_TESSERACT = (
    "install it with its Vietnamese model, on Debian and Ubuntu by apt install"
    " tesseract-ocr tesseract-ocr-vie"
)


class Tesseract:
    """The program Tesseract with its Vietnamese model, by its command line.

    Its engine is the LSTM, `--oem 1`. All else is its own choice: its binarisation, and
    the resolution that it estimates. Source: tesseract(1) and "Improving the quality of
    the output" in its documentation, which says to choose the page segmentation by the
    kind of page.

    Args:
        segmentation: `--psm`: 3 is automatic, 4 a single column of text of variable
            sizes, 6 a uniform block, 7 a single line, 11 sparse text in no order.
        threads: of OpenMP.

    Raises:
        FileNotFoundError: it is not installed, or has no Vietnamese.
    """

    def __init__(self, segmentation: int = 4, *, threads: int = 1) -> None:
        check_count("threads", threads)
        self.segmentation, self.threads = segmentation, threads
        self.peak_memory = 0
        """Most resident bytes of a run, as far as they were seen; 0 where the system
        does not tell."""
        if shutil.which(TESSERACT) is None:
            raise FileNotFoundError(f"there is no program {TESSERACT}; {GET_TESSERACT}")
        listed = self._run("--list-langs").decode(errors="replace")
        if LANGUAGE not in listed.split():
            raise FileNotFoundError(
                f"{TESSERACT} has no language {LANGUAGE}; {GET_TESSERACT}"
            )
        told = re.search('"(.+)"', listed.splitlines()[0])
        model = Path(told[1] if told else "", f"{LANGUAGE}.traineddata")
        self.fingerprint = file_sha256(model) if model.is_file() else ""
        """SHA-256 of the model; empty where the program does not say where it is."""
        self.peak_memory = 0

    def __str__(self) -> str:
        """Version, model and settings, which a score must name."""
        model = f"{LANGUAGE}.traineddata {self.fingerprint[:12]}".strip()
        return f"{self.version}, {model}, --oem 1 --psm {self.segmentation}"

    @property
    def version(self) -> str:
        """As it tells it, such as `tesseract 5.3.0`."""
        return self._run("--version").decode(errors="replace").splitlines()[0].strip()

    def read(self, image: np.ndarray) -> tuple[str, list[np.ndarray]]:
        """The text of a page, line by line, and the corners (4, 2) of its words.

        Args:
            image: uint8 (height, width, 3).

        Raises:
            OSError: the program failed.
        """
        file = io.BytesIO()
        Image.fromarray(image).save(file, "PNG")
        chosen = ("--oem", "1", "--psm", str(self.segmentation))
        options = ("-l", LANGUAGE, *chosen, "tsv")
        table = self._run("stdin", "stdout", *options, given=file.getvalue())
        rows = csv.DictReader(
            table.decode().split("\n"), delimiter="\t", quoting=csv.QUOTE_NONE
        )
        lines: dict[tuple[str, ...], list[str]] = {}
        boxes = []
        for row in rows:
            # Only rows of words hold text; what was taken for one may be blank.
            if not (row["text"] or "").strip():
                continue
            number = tuple(row[f"{part}_num"] for part in ("block", "par", "line"))
            lines.setdefault(number, []).append(row["text"])
            left, top, width, height = (
                float(row[side]) for side in ("left", "top", "width", "height")
            )
            boxes.append(rectangle(left, top, left + width, top + height))
        return "\n".join(" ".join(words) for words in lines.values()), boxes

    def _run(self, *arguments: str, given: bytes = b"") -> bytes:
        environment = os.environ | {"OMP_THREAD_LIMIT": str(self.threads)}
        # A file, since `communicate` drops what a pipe has not taken by its timeout.
        with tempfile.TemporaryFile() as source:
            source.write(given)
            source.seek(0)
            process = subprocess.Popen(
                [TESSERACT, *arguments],
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
            )
        while True:
            try:
                output, errors = process.communicate(timeout=POLL_SECONDS)
                break
            except subprocess.TimeoutExpired:
                used = memory_of(process.pid) or 0
                self.peak_memory = max(self.peak_memory, used)
            except BaseException:
                process.kill()
                process.wait()
                raise
        if process.returncode:
            said = errors.decode(errors="replace").strip().splitlines()
            last = f": {said[-1]}" if said else ""
            raise OSError(f"{TESSERACT} ended with code {process.returncode}{last}")
        return output


BORDER = 10
"""Pixels of paper around a line: Tesseract's documentation warns of pictures without a
border, and adds so many."""


class TesseractLines:
    """Tesseract on pictures of single lines, `--psm 7`, each with a border.

    Args:
        threads: of OpenMP.

    Raises:
        FileNotFoundError: as `Tesseract`.
    """

    def __init__(self, *, threads: int = 1) -> None:
        self.program = Tesseract(7, threads=threads)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the model."""
        return self.program.fingerprint

    def read_lines(
        self, pictures: Sequence[Picture], *, batch_size: int = 64
    ) -> list[LineReading]:
        """Read pictures of one line each, in order, a run of the program for each.

        Args:
            pictures: files, or grayscale pixels uint8 (height, width).
            batch_size: has no meaning here.

        Raises:
            ValueError: a picture cannot be read.
            OSError: the program failed.
        """
        found = []
        for picture in pictures:
            line = _in_colours(picture)
            paper = int(np.median(line))
            sides = ((BORDER, BORDER), (BORDER, BORDER), (0, 0))
            text, _ = self.program.read(np.pad(line, sides, constant_values=paper))
            found.append(_reading(" ".join(text.split()), 1.0))
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
