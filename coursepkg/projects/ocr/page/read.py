"""From a picture to its lines: find the boxes, cut them out straight, read them, and see which way up they are.

A detector finds where text stands, and cannot tell a page from the same page upside down. The recogniser can: it reads
one way up with far more confidence. So lines that it is not sure of are read both ways.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from coursepkg.projects.ocr.data.crops import crop_corners
from coursepkg.projects.ocr.detector.box import Detector, TextBox, check_rgb
from coursepkg.projects.ocr.detector.lines import PlacedLine, place_lines
from coursepkg.projects.ocr.page.options import ReadOptions
from coursepkg.projects.ocr.page.page import Page, PageLine
from coursepkg.projects.ocr.predict import LineReading, Recognizer

DOUBTFUL = 0.75
"""Text read with less confidence than this is also read turned over: a line by itself, a page by the mean of its
lines, each as strong as it is wide."""
CLEARLY = 0.1
"""What is turned over must be so much more confident: a 0 or a dash reads well both ways."""

LARGEST = 2.0
"""No box is larger than so many pictures."""


@dataclass(frozen=True, eq=False)
class _Line:
    """A line that is cut out and read."""

    place: PlacedLine
    crop: np.ndarray
    reading: LineReading

    @property
    def confidence(self) -> float:
        return self.reading.confidence


def read_page(
    image: np.ndarray,
    detector: Detector,
    recognizer: Recognizer,
    options: ReadOptions | None = None,
    *,
    name: str = "page",
) -> Page:
    """Read a picture of a page.

    A crop is padded to a width that it chooses alone, so what else stands on the page does not change how it is read.

    Args:
        image: uint8 (height, width, 3), upright, as `data.images.read_rgb` gives it.
        detector: finds the text.
        recognizer: reads it.
        options: how.
        name: what messages call it.

    Returns:
        its lines in reading order; none where nothing was found.

    Raises:
        ValueError: the picture is not of this form, or the recogniser lacks what the options ask for; or what else
            the detector raises.
    """
    check_rgb(image, name)
    options = options or ReadOptions()
    gray = np.asarray(Image.fromarray(image).convert("L"))
    boxes = detector.detect(image, name)
    sure = [box for box in boxes if box.score >= options.min_score]
    places = place_lines(sure, word_gap=options.word_gap)
    lines = _read_places(gray, places, recognizer, options)
    n_uncut = len(places) - len(lines)
    if options.both_ways:
        lines = _page_turned_over(gray, lines, recognizer, options)
        lines = _lines_turned_over(lines, recognizer, options)
    written = [line for line in lines if line.reading.text.strip()]
    kept = [line for line in written if line.confidence >= options.min_confidence]
    left_out = {
        "score": len(boxes) - len(sure),
        "confidence": len(written) - len(kept),
        "empty": len(lines) - len(written),
        "crop": n_uncut,
    }
    found = tuple(_page_line(line) for line in kept)
    return Page(image.shape[1], image.shape[0], found, left_out)


def read_single_lines(
    images: Sequence[np.ndarray], recognizer: Recognizer, options: ReadOptions | None = None
) -> list[Page | str]:
    """Read pictures that show one line each, without a detector: a page of one line for each, in order.

    Args:
        images: uint8 (height, width, 3).
        recognizer: reads them.
        options: how; the detector's have no meaning here.

    Returns:
        for each picture its page, or in one line why there is none.
    """
    options = options or ReadOptions()
    grays = [np.asarray(Image.fromarray(image).convert("L")) for image in images]
    readings = recognizer.read_lines(
        grays,
        reader=options.reader,
        beam_size=options.beam_size,
        batch_size=options.batch_size,
        keep_going=True,
    )
    return [
        _single(gray.shape[1], gray.shape[0], reading, options)
        for gray, reading in zip(grays, readings, strict=True)
    ]


def _single(width: int, height: int, reading: LineReading, options: ReadOptions) -> Page | str:
    if reading.error is not None:
        return reading.error
    text = reading.text.strip()
    left_out = {
        "score": 0,
        "confidence": int(bool(text) and reading.confidence < options.min_confidence),
        "empty": int(not text),
        "crop": 0,
    }
    if any(left_out.values()):
        return Page(width, height, (), left_out)
    whole = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float64)
    line = PageLine(TextBox(whole, 1.0), 0, text, reading.confidence)
    return Page(width, height, (line,), left_out)


def _read_places(
    gray: np.ndarray, places: Sequence[PlacedLine], recognizer: Recognizer, options: ReadOptions
) -> list[_Line]:
    """The lines that can be cut out, read."""
    cut = [(place, _cut(gray, place.box, options.margin)) for place in places]
    crops = [(place, crop) for place, crop in cut if crop is not None]
    readings = _read(recognizer, [crop for _, crop in crops], options)
    return [_Line(place, crop, reading) for (place, crop), reading in zip(crops, readings, strict=True)]


def _cut(gray: np.ndarray, box: TextBox, margin: float) -> np.ndarray | None:
    """A line as the recogniser takes it; None where the box is a line without area or far larger than the picture."""
    if box.width * box.height > LARGEST * gray.size:
        return None
    try:
        return crop_corners(gray, box.corners, margin=margin)
    except ValueError:
        return None


def _read(recognizer: Recognizer, crops: Sequence[np.ndarray], options: ReadOptions) -> list[LineReading]:
    return recognizer.read_lines(
        crops, reader=options.reader, beam_size=options.beam_size, batch_size=options.batch_size
    )


def _page_turned_over(
    gray: np.ndarray, lines: Sequence[_Line], recognizer: Recognizer, options: ReadOptions
) -> list[_Line]:
    """A doubtful page read from its other end where that is clearly more confident; its rows then run backwards."""
    before = _mean_confidence(lines)
    if not lines or before >= DOUBTFUL:
        return list(lines)
    boxes = [box.turned(2) for line in lines for box in line.place.parts]
    places = place_lines(boxes, word_gap=options.word_gap, settle=False)
    turned = _read_places(gray, places, recognizer, options)
    return turned if _mean_confidence(turned) > before + CLEARLY else list(lines)


def _lines_turned_over(lines: Sequence[_Line], recognizer: Recognizer, options: ReadOptions) -> list[_Line]:
    """Doubtful lines, each upside down where that reads clearly better, such as a stamp or text along a margin."""
    doubtful = [i for i, line in enumerate(lines) if line.confidence < DOUBTFUL]
    crops = [np.ascontiguousarray(np.rot90(lines[i].crop, 2)) for i in doubtful]
    found = list(lines)
    for i, crop, reading in zip(doubtful, crops, _read(recognizer, crops, options), strict=True):
        if reading.confidence > lines[i].confidence + CLEARLY:
            place = replace(lines[i].place, box=lines[i].place.box.turned(2))
            found[i] = _Line(place, crop, reading)
    return found


def _mean_confidence(lines: Sequence[_Line]) -> float:
    widths = [line.place.box.width for line in lines]
    total = sum(widths)
    return sum(w * line.confidence for w, line in zip(widths, lines, strict=True)) / total if total else 0.0


def _page_line(line: _Line) -> PageLine:
    return PageLine(line.place.box, line.place.row, line.reading.text.strip(), line.confidence)
