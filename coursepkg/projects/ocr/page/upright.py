"""Which way up a page and its lines stand, told by reading them both ways.

A detector cannot tell a page from the same page upside down. The recogniser can: one way up it reads with far more
confidence. Letters say so, digits do not: 900.160 turned over is 091.006. So a line has as many votes as it has letters
that are no letters on their heads, and none where most of it is digits.

    difference = sum over lines of votes * (confidence turned over - confidence as it stands)

All lines of a page stand the same way up, so they vote together. Then a single line, such as a stamp, may be turned
against its page: where it votes clearly, and reads well.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coursepkg.projects.ocr.detector.lines import PlacedLine
from coursepkg.projects.ocr.line_reading import LineReading

DOUBTFUL = {"ctc": 0.9, "attention": 0.75, "joint": 0.75}
"""By who reads: text read with less confidence than this is also read turned over, a line by itself, a page by the mean
of its lines, each as strong as it is wide. CTC is sure of what it sees, and of letters on their heads it sees some."""
CLEARLY = 0.1
"""What is turned over must be so much more confident, in the mean of its votes."""
ENOUGH = 2.0
"""The difference must be worth so many letters that are sure one way and impossible the other."""
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
        doubtful: what is read with less confidence is also read turned over, in [0, 1]; see `DOUBTFUL`.
    """
    kept = list(lines)
    turned = _turned_readings(kept, read, doubtful if _mean_confidence(kept) >= doubtful else math.inf)
    if len(turned) == len(kept) and _reads_better(kept, turned):
        kept = from_other_end()
        turned = _turned_readings(kept, read, doubtful)
    for i, reading in turned.items():
        # Against its page a line must do more than read a little better: it must read well.
        if reading.confidence >= doubtful and _reads_better([kept[i]], {0: reading}):
            place = replace(kept[i].place, box=kept[i].place.box.turned(2))
            kept[i] = ReadLine(place, _upside_down(kept[i].crop), reading)
    return kept


def votes(text: str) -> int:
    """How much a text can say about up and down: its letters that are none on their heads; 0 if most of it is digits.

    Example:
        >>> votes("Tổng cộng"), votes("45.000đ"), votes("SOS")
        (6, 0, 0)
    """
    n_letters, n_digits = sum(map(str.isalpha, text)), sum(map(str.isdigit, text))
    return sum(sign.isalpha() and sign not in HEADLESS for sign in text) if n_letters > n_digits else 0


def _turned_readings(lines: Sequence[ReadLine], read: ReadCrops, below: float) -> dict[int, LineReading]:
    """What lines say upside down, by their numbers: those less sure than `below` as they stand."""
    chosen = [i for i, line in enumerate(lines) if line.confidence < below]
    return dict(zip(chosen, read([_upside_down(lines[i].crop) for i in chosen]), strict=True))


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
    """Of a page, each line as strong as it is wide; 1 where there is none, and nothing to doubt."""
    widths = [line.place.box.width for line in lines]
    if not sum(widths):
        return 1.0
    return float(np.average([line.confidence for line in lines], weights=widths))


def _upside_down(crop: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.rot90(crop, 2))
