"""From a picture to its lines: find the boxes, cut them out straight, read them, and see which way up they are."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from PIL import Image

from coursepkg.projects.ocr.data.crops import crop_corners
from coursepkg.projects.ocr.detector.box import Detector, TextBox, check_rgb
from coursepkg.projects.ocr.detector.lines import PlacedLine, place_lines
from coursepkg.projects.ocr.line_reading import LineReading
from coursepkg.projects.ocr.page.options import ReadOptions
from coursepkg.projects.ocr.page.page import Page, PageLine
from coursepkg.projects.ocr.page.upright import DOUBTFUL, ReadLine, right_way_up
from coursepkg.projects.ocr.predict import Recognizer

LARGEST = 2.0
"""No box is larger than so many pictures."""


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
    once = replace(options, second_look=0.0)  # what stands on its head is turned before it is looked at again
    lines = _read_places(gray, places, recognizer, once)
    n_uncut = len(places) - len(lines)
    if options.both_ways:
        lines = _right_way_up(gray, lines, recognizer, once)
    lines = _looked_at_again(lines, recognizer, options)
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
    images: Sequence[np.ndarray],
    recognizer: Recognizer,
    options: ReadOptions | None = None,
    *,
    names: Sequence[str] | None = None,
) -> list[Page | str]:
    """Read pictures that show one line each, without a detector: a page of one line for each, in order.

    Args:
        images: uint8 (height, width, 3).
        recognizer: reads them.
        options: how; the detector's have no meaning here.
        names: what messages call them; None counts them from 1.

    Returns:
        for each picture its page, or in one line why there is none.
    """
    options = options or ReadOptions()
    grays = [np.asarray(Image.fromarray(image).convert("L")) for image in images]
    readings = _read(recognizer, grays, options, keep_going=True, names=names)
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
) -> list[ReadLine]:
    """The lines that can be cut out, read."""
    cut = [(place, _cut(gray, place.box, options.margin)) for place in places]
    crops = [(place, crop) for place, crop in cut if crop is not None]
    readings = _read(recognizer, [crop for _, crop in crops], options)
    return [ReadLine(place, crop, reading) for (place, crop), reading in zip(crops, readings, strict=True)]


def _cut(gray: np.ndarray, box: TextBox, margin: float) -> np.ndarray | None:
    """A line as the recogniser takes it; None where the box is a line without area or far larger than the picture."""
    if box.width * box.height > LARGEST * gray.size:
        return None
    try:
        return crop_corners(gray, box.corners, margin=margin)
    except ValueError:
        return None


def _read(
    recognizer: Recognizer,
    crops: Sequence[np.ndarray],
    options: ReadOptions,
    *,
    keep_going: bool = False,
    names: Sequence[str] | None = None,
) -> list[LineReading]:
    return recognizer.read_lines(
        crops, **options.way, batch_size=options.batch_size, keep_going=keep_going, names=names
    )


def _looked_at_again(
    lines: Sequence[ReadLine], recognizer: Recognizer, options: ReadOptions
) -> list[ReadLine]:
    """The lines, those of little confidence read anew, with a second look."""
    below = recognizer.second_look_below(**options.way)
    unsure = [i for i, line in enumerate(lines) if line.reading.is_doubtful(below)]
    found = list(lines)
    always = replace(options, second_look=1.0)
    anew = _read(recognizer, [lines[i].crop for i in unsure], always) if unsure else []
    for i, reading in zip(unsure, anew, strict=True):
        found[i] = replace(lines[i], reading=reading)
    return found


def _right_way_up(
    gray: np.ndarray, lines: Sequence[ReadLine], recognizer: Recognizer, options: ReadOptions
) -> list[ReadLine]:
    def read(crops: Sequence[np.ndarray]) -> list[LineReading]:
        return _read(recognizer, crops, options)

    def from_other_end() -> list[ReadLine]:
        boxes = [box.turned(2) for line in lines for box in line.place.parts]
        places = place_lines(boxes, word_gap=options.word_gap, settle=False)
        return _read_places(gray, places, recognizer, options)

    doubtful = DOUBTFUL[options.reader or recognizer.recipe.reader]
    return right_way_up(lines, read, from_other_end, doubtful=doubtful)


def _page_line(line: ReadLine) -> PageLine:
    return PageLine(line.place.box, line.place.row, line.reading.text.strip(), line.confidence)
