"""How a line is written, and its letters as ink on a canvas.

Letters are drawn once for each face and size and kept, since a font engine takes longer for a letter than numpy takes
for putting its picture in place.
"""

import random
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PIL import ImageFont

from coursepkg.projects.ocr.synthetic.fonts import Face

Ink = np.ndarray
"""uint8 (height, width): 0 is none, 255 full."""
RULES = ("none", "underline", "dotted", "table", "boxes")


@dataclass(frozen=True)
class LineStyle:
    """How one line is written; all lengths in pixels."""

    face: Face
    """The face of the letters."""
    size: int
    """Size of the face, from 8 to 200."""
    second_face: Face | None = None
    """A face for the words from `second_from` on, as where italics begin in a line."""
    second_from: int = 0
    """Number of the first word in the second face."""
    second_until: int = 0
    """Number of the first word that is in the first face again, as behind a bracket in italics; 0: there is none."""
    tracking: int | float = 0
    """Added between letters; negative brings them closer. Letters stand on whole pixels, so a fraction moves some."""
    word_space: float = 1.0
    """Width of a space, in widths of the face's own: 2 as in justified text."""
    jitter: float = 0.0
    """Standard deviation of each letter's height above the baseline."""
    stretch: float = 1.0
    """Width of the line over the width of the face: 0.7 is narrow."""
    weight: int = 0
    """Ink added to (1) or taken from (-1) the edges of strokes."""
    margins: tuple[int, int, int, int] = (3, 3, 3, 3)
    """White to the left, above, to the right, below the ink; negative cuts into it."""
    rule: str = "none"
    """A line beside the text: `none`, `underline`, `dotted` (leaders after the text), `table` (borders of a cell),
    `boxes` (a frame around each word, as in annotated pictures)."""
    neighbours: float = 0.0
    """How much of the lines above and below reaches into the margins, from 0 to 1."""
    dots: float = 0.0
    """Share of the ink that a worn thermal head leaves out, from 0 to 1, in rows and points."""
    pitch: int = 0
    """Distance of the pins of a dot-matrix printer, in 2..8; 0 prints whole strokes."""

    def __post_init__(self) -> None:
        if not 8 <= self.size <= 200:
            raise ValueError(f"size must be in 8..200 pixels, got {self.size}")
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}, got {self.rule!r}")
        if self.pitch and not 2 <= self.pitch <= 8:
            raise ValueError(f"pitch must be 0 or in 2..8 pixels, got {self.pitch}")
        if not 0.3 <= self.stretch <= 3:
            raise ValueError(f"stretch must be in [0.3, 3], got {self.stretch}")


@lru_cache(maxsize=512)
def load_font(path: str, size: int) -> ImageFont.FreeTypeFont:
    """The face of a file at a size, kept for the next line."""
    # Composed letters need no shaping, and the basic layout is the same in every build of Pillow.
    return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=16384)
def _glyph(path: str, size: int, character: str) -> tuple[Ink, int, int, float]:
    """Ink of a letter, where its upper left corner stands from the pen on the baseline, and its advance."""
    font = load_font(path, size)
    mask, (left, top) = font.getmask2(character, mode="L", anchor="ls")
    ink = np.frombuffer(bytes(mask), np.uint8).reshape(mask.size[1], mask.size[0])
    # The engine leaves an empty edge beside some letters, and a crop is to begin at the ink.
    x0, y0, x1, y1 = mask.getbbox() or (0, 0, 0, 0)
    ink, left, top = ink[y0:y1, x0:x1], left + x0, top + y0
    return ink, left, top, font.getlength(character)


def place(
    text: str, style: LineStyle, dice: random.Random
) -> tuple[list[tuple[Ink, int, int]], list[tuple[int, int]]]:
    """Letters as (ink, x, y) from the pen's start on the baseline, and the extent of each word."""
    placed, words, pen, number = [], [], 0.0, 0
    begin = 0.0
    for character in text:
        if character == " ":
            words.append((round(begin), round(pen)))
            number += 1
        is_second = number >= style.second_from and not 0 < style.second_until <= number
        face = style.second_face if style.second_face and is_second else style.face
        ink, left, top, advance = _glyph(face.path, style.size, character)
        if character == " ":
            pen += max(1.0, advance * style.word_space + style.tracking)
            begin = pen
            continue
        lift = round(dice.gauss(0, style.jitter)) if style.jitter else 0
        if ink.size:
            placed.append((ink, round(pen) + left, top + lift))
        pen += advance + style.tracking
    words.append((round(begin), round(pen)))
    return placed, words


def stamp(canvas: Ink, placed: list[tuple[Ink, int, int]], x: int, y: int) -> None:
    """Puts letters on the canvas, the pen's start at (x, y); what falls outside is cut off."""
    height, width = canvas.shape
    for ink, left, top in placed:
        top, left = top + y, left + x
        rows, columns = slice(max(0, -top), height - top), slice(max(0, -left), width - left)
        part = ink[rows, columns] if top < height and left < width else ink[:0]
        if part.size:
            place = canvas[
                max(0, top) : max(0, top) + part.shape[0], max(0, left) : max(0, left) + part.shape[1]
            ]
            np.maximum(place, part, out=place)


def write(canvas: Ink, text: str, style: LineStyle, pen: tuple[int, int]) -> tuple[int, int, int, int]:
    """Writes a text on a canvas from a pen position (x, y) on its baseline.

    Returns:
        The box of its ink: left, top, right, bottom.
    """
    placed, _ = place(text, style, random.Random(0))
    stamp(canvas, placed, *pen)
    left, top = min(x for _, x, _ in placed), min(y for _, _, y in placed)
    right = max(x + ink.shape[1] for ink, x, _ in placed)
    bottom = max(y + ink.shape[0] for ink, _, y in placed)
    return pen[0] + left, pen[1] + top, pen[0] + right, pen[1] + bottom


def width_of(text: str, style: LineStyle) -> int:
    """How far the pen moves over a text, in pixels."""
    _, words = place(text, style, random.Random(0))
    return words[-1][1]
