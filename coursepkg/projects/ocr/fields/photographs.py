"""Fields end to end: generated receipts photographed, read, and known in truth.

They are drawn in the font families that the shipped recogniser has not seen
(`synthetic.fonts.HELD_OUT`), as far as they are installed, and read by detector and
recogniser as `coursepkg ocr predict` reads a photograph.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coursepkg.projects.ocr.corpus import FULL, line_faces
from coursepkg.projects.ocr.data.table_row import LABELS
from coursepkg.projects.ocr.detector.detector import open_detector
from coursepkg.projects.ocr.detector.engines import DetectorSettings
from coursepkg.projects.ocr.line import LineRecognizer
from coursepkg.projects.ocr.page.read import PageLine, read_page
from coursepkg.projects.ocr.synthetic.fonts import Face, split_faces
from coursepkg.projects.ocr.synthetic.receipt_config import ReceiptConfig
from coursepkg.projects.ocr.synthetic.receipts import make_receipt
from coursepkg.projects.ocr.synthetic.sheet import PrintedLine
from coursepkg.validation import check_count

SEED = 11
"""Of the photographs that are scored."""


@dataclass(frozen=True, eq=False)
class ReadReceipt:
    """What was read of a receipt, and what its fields say in truth."""

    lines: tuple[PageLine, ...]
    """In reading order."""
    true_texts: tuple[str, ...]
    """The text of each field in the order of `LABELS`; empty without one."""


def held_out_faces() -> tuple[Face, ...]:
    """The installed faces that the shipped recogniser has not seen."""
    return split_faces(line_faces(FULL))[1]


def read_photographs(
    count: int,
    recognizer: LineRecognizer,
    *,
    seed: int = SEED,
    config: ReceiptConfig | None = None,
) -> Iterator[ReadReceipt]:
    """Photographs of generated receipts, read one after another.

    Args:
        count: how many.
        recognizer: reads the lines.
        seed: from 0.
        config: rates of other layouts, print and wear; None has the usual ones.

    Raises:
        ImportError: the detector's packages are missing.
    """
    check_count("count", count)
    faces = held_out_faces()
    detector = open_detector(DetectorSettings(), cache=False)
    try:
        for number in range(count):
            photo = make_receipt(seed, number, faces=faces, config=config)
            page = read_page(photo.image, detector, recognizer)
            yield ReadReceipt(page.lines, _true_texts(photo.lines))
    finally:
        detector.close()


def _true_texts(lines: Sequence[PrintedLine]) -> tuple[str, ...]:
    texts = [(line.label, " ".join(line.text.split())) for line in lines]
    return tuple(
        " ".join(text for own, text in texts if own == label and text)
        for label in LABELS
    )
