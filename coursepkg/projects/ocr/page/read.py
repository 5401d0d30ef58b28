"""From a picture to its lines: find boxes, cut them out, read them, turn them upright.

A detector cannot tell a page from the same page upside down. The recogniser can: one
way up it reads with far more confidence. Letters say so, digits do not: 900.160 turned
over is 091.006. So a line has as many votes as it has letters that are no letters on
their heads, and none where most of it is digits:

    difference = sum over lines of votes * (confidence turned - confidence as it stands)

All lines of a page vote together. Then a single line, such as a stamp, may be turned
against its page: where it votes clearly, and reads well.
"""

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import numpy as np
from PIL import Image

from coursepkg.projects.ocr.data.geometry import crop_corners, rectangle
from coursepkg.projects.ocr.detector.lines import (
    Detector,
    PlacedLine,
    TextBox,
    check_rgb,
    place_lines,
)
from coursepkg.projects.ocr.line import LineReading, LineRecognizer
from coursepkg.projects.ocr.options import ReadOptions, reading_options

LEFT_OUT = ("score", "confidence", "empty", "crop")
"""Why a box gives no line: the detector was not sure of it, the recogniser was not, it
holds no letters, or it cannot be cut out."""


@dataclass(frozen=True, eq=False)
class PageLine:
    """One line of text."""

    box: TextBox
    """Where it stands in the upright picture; its corners begin where the text does."""
    row: int
    """Lines of one row stand side by side; rows are counted from the top, from 0."""
    text: str
    """What it says, in Unicode form NFC."""
    confidence: float
    """Geometric mean of the probabilities of its characters and of the end behind them,
    in [0, 1]."""


@dataclass(frozen=True, eq=False)
class Page:
    """One page in reading order; without text it has no lines, which is no error."""

    width: int
    """Of the upright picture, in pixels."""
    height: int
    """Of the upright picture, in pixels."""
    lines: tuple[PageLine, ...]
    """Row by row, each from left to right."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How many boxes gave no line, by the reasons of `LEFT_OUT`."""

    @property
    def text(self) -> str:
        """All of it: a row becomes a line of text, its parts joined by spaces."""
        rows = groupby(self.lines, key=lambda line: line.row)
        return "\n".join(" ".join(line.text for line in row) for _, row in rows)

    @property
    def words(self) -> list[str]:
        """What stands between white space, in Unicode form NFC."""
        return unicodedata.normalize("NFC", self.text).split()


DOUBTFUL = {"ctc": 0.9, "attention": 0.75, "joint": 0.75}
"""By who reads: text read with less confidence than this is also read turned over, a
line by itself, a page by the mean of its lines, each as strong as it is wide. CTC is
sure of what it sees, and of letters on their heads it sees some."""
CLEARLY = 0.1
"""What is turned over must be so much more confident, in the mean of its votes."""
ENOUGH = 2.0
"""The difference must be worth so many letters that are sure one way and impossible the
other."""
HEADLESS = frozenset("bdpqnuoxszlmwHINOSXZMW")
"""Letters that are letters on their heads, too."""

ReadCrops = Callable[[Sequence[np.ndarray]], list[LineReading]]
"""Pictures of lines, uint8 (height, width), to what they say."""


@dataclass(frozen=True, eq=False)
class ReadLine:
    """A line that is cut out and read."""

    place: PlacedLine
    crop: np.ndarray
    """uint8 (height, width)."""
    reading: LineReading

    @property
    def confidence(self) -> float:
        """Of the reading; 0 where nothing was read."""
        return self.reading.confidence


def right_way_up(
    lines: Sequence[ReadLine],
    read: ReadCrops,
    from_other_end: Callable[[], list[ReadLine]],
    *,
    doubtful: float,
) -> list[ReadLine]:
    """The lines of a page, read the way up they stand.

    Args:
        lines: as they were read.
        read: reads crops.
        from_other_end: reads the same page turned over: its rows then run backwards.
        doubtful: what is read with less confidence is also read turned over, in [0, 1];
            see `DOUBTFUL`.
    """
    kept = list(lines)
    below = doubtful if _mean_confidence(kept) >= doubtful else math.inf
    turned = _turned_readings(kept, read, below)
    if len(turned) == len(kept) and _reads_better(kept, turned):
        kept = from_other_end()
        turned = _turned_readings(kept, read, doubtful)
    for i, reading in turned.items():
        # Against its page a line must do more than read a little better: it must read
        # well.
        if reading.confidence >= doubtful and _reads_better([kept[i]], {0: reading}):
            place = replace(kept[i].place, box=kept[i].place.box.turned(2))
            kept[i] = ReadLine(place, _upside_down(kept[i].crop), reading)
    return kept


def votes(text: str) -> int:
    """How many letters say which way is up; 0 if most of a text is digits.

    Example:
        >>> votes("Tổng cộng"), votes("45.000đ"), votes("SOS")
        (6, 0, 0)
    """
    n_letters, n_digits = sum(map(str.isalpha, text)), sum(map(str.isdigit, text))
    if n_letters <= n_digits:
        return 0
    return sum(sign.isalpha() and sign not in HEADLESS for sign in text)


def _turned_readings(
    lines: Sequence[ReadLine], read: ReadCrops, below: float
) -> dict[int, LineReading]:
    """Upside-down readings, by number, of lines less sure than `below`."""
    chosen = [i for i, line in enumerate(lines) if line.confidence < below]
    readings = read([_upside_down(lines[i].crop) for i in chosen])
    return dict(zip(chosen, readings, strict=True))


def _reads_better(lines: Sequence[ReadLine], turned: dict[int, LineReading]) -> bool:
    """Whether lines together read clearly better turned over."""
    difference, n_votes = 0.0, 0
    for i, reading in turned.items():
        surer = max(reading, lines[i].reading, key=lambda one: one.confidence)
        weight = votes(surer.text)
        difference += weight * (reading.confidence - lines[i].confidence)
        n_votes += weight
    return difference >= max(ENOUGH, CLEARLY * n_votes)


def _mean_confidence(lines: Sequence[ReadLine]) -> float:
    """Of a page, by width of line; 1 where there is no line."""
    widths = [line.place.box.width for line in lines]
    if not sum(widths):
        return 1.0
    return float(np.average([line.confidence for line in lines], weights=widths))


def _upside_down(crop: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.rot90(crop, 2))


LARGEST = 2.0
"""No box is larger than so many pictures."""


def read_page(
    image: np.ndarray,
    detector: Detector,
    recognizer: LineRecognizer,
    options: ReadOptions | None = None,
    *,
    name: str = "page",
) -> Page:
    """Read a picture of a page.

    A crop is padded to a width that it chooses alone, so what else stands on the page
    does not change how it is read.

    Args:
        image: uint8 (height, width, 3), upright, as `data.images.read_rgb` gives it.
        detector: finds the text.
        recognizer: reads it.
        options: how.
        name: what messages call it.

    Returns:
        its lines in reading order; none where nothing was found.

    Raises:
        ValueError: the picture is not of this form, or the recogniser lacks what the
            options ask for; or what else the detector raises.
    """
    check_rgb(image, name)
    options = options or ReadOptions()
    gray = np.asarray(Image.fromarray(image).convert("L"))
    boxes = detector.detect(image, name)
    sure = [box for box in boxes if box.score >= options.min_score]
    places = place_lines(sure, word_gap=options.word_gap)
    once = replace(
        options, second_look=0.0
    )  # what stands on its head is turned before it is looked at again
    lines = _read_places(gray, places, recognizer, once)
    n_uncut = len(places) - len(lines)
    if options.upside_down:
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
    recognizer: LineRecognizer,
    options: ReadOptions | None = None,
    *,
    names: Sequence[str] | None = None,
) -> list[Page | str]:
    """Read pictures of one line each without a detector: a page for each.

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


def _single(
    width: int, height: int, reading: LineReading, options: ReadOptions
) -> Page | str:
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
    line = PageLine(
        TextBox(rectangle(0, 0, width, height), 1.0), 0, text, reading.confidence
    )
    return Page(width, height, (line,), left_out)


def _read_places(
    gray: np.ndarray,
    places: Sequence[PlacedLine],
    recognizer: LineRecognizer,
    options: ReadOptions,
) -> list[ReadLine]:
    """The lines that can be cut out, read."""
    cut = [(place, _cut(gray, place.box, options.margin)) for place in places]
    crops = [(place, crop) for place, crop in cut if crop is not None]
    readings = _read(recognizer, [crop for _, crop in crops], options)
    return [
        ReadLine(place, crop, reading)
        for (place, crop), reading in zip(crops, readings, strict=True)
    ]


def _cut(gray: np.ndarray, box: TextBox, margin: float) -> np.ndarray | None:
    """A line as the recogniser takes it; None where it cannot be cut out."""
    if box.width * box.height > LARGEST * gray.size:
        return None
    try:
        return crop_corners(gray, box.corners, margin=margin)
    except ValueError:
        return None


def _read(
    recognizer: LineRecognizer,
    crops: Sequence[np.ndarray],
    options: ReadOptions,
    *,
    keep_going: bool = False,
    names: Sequence[str] | None = None,
) -> list[LineReading]:
    return recognizer.read_lines(
        crops,
        **reading_options(options),
        batch_size=options.batch_size,
        keep_going=keep_going,
        names=names,
    )


def _looked_at_again(
    lines: Sequence[ReadLine], recognizer: LineRecognizer, options: ReadOptions
) -> list[ReadLine]:
    """The lines, those of little confidence read anew, with a second look."""
    below = recognizer.reading_settings(**reading_options(options))["second_look"]
    unsure = [i for i, line in enumerate(lines) if line.reading.is_doubtful(below)]
    found = list(lines)
    always = replace(options, second_look=1.0)
    anew = _read(recognizer, [lines[i].crop for i in unsure], always) if unsure else []
    for i, reading in zip(unsure, anew, strict=True):
        found[i] = replace(lines[i], reading=reading)
    return found


def _right_way_up(
    gray: np.ndarray,
    lines: Sequence[ReadLine],
    recognizer: LineRecognizer,
    options: ReadOptions,
) -> list[ReadLine]:
    def read(crops: Sequence[np.ndarray]) -> list[LineReading]:
        return _read(recognizer, crops, options)

    def from_other_end() -> list[ReadLine]:
        boxes = [box.turned(2) for line in lines for box in line.place.parts]
        places = place_lines(boxes, word_gap=options.word_gap, settle=False)
        return _read_places(gray, places, recognizer, options)

    settings = recognizer.reading_settings(**reading_options(options))
    doubtful = DOUBTFUL[settings["reader"]]
    return right_way_up(lines, read, from_other_end, doubtful=doubtful)


def _page_line(line: ReadLine) -> PageLine:
    return PageLine(
        line.place.box, line.place.row, line.reading.text.strip(), line.confidence
    )
