"""What is read from a page: lines with their boxes, texts and confidences, in reading order."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby

from coursepkg.projects.ocr.detector.box import TextBox

LEFT_OUT = ("score", "confidence", "empty", "crop")
"""Why a box gives no line: the detector was not sure of it, the recogniser was not, it holds no letters, or it cannot
be cut out."""


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
    """Geometric mean of the probabilities of its characters and of the end behind them, in [0, 1]."""


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
