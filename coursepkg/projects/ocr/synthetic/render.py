"""One line of text as ink on white: face, size, spacing, weight, leaders, neighbours and a crop that is never exact.

The picture holds the whole text; what a camera does to it comes later (`effects`).
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PIL import Image, ImageFont

from coursepkg.projects.ocr.synthetic.fonts import Face, check_covers

Ink = np.ndarray


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
    tracking: int = 0
    """Added between letters; negative brings them closer."""
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

    def __post_init__(self) -> None:
        if not 8 <= self.size <= 200:
            raise ValueError(f"size must be in 8..200 pixels, got {self.size}")
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}, got {self.rule!r}")
        if not 0.3 <= self.stretch <= 3:
            raise ValueError(f"stretch must be in [0.3, 3], got {self.stretch}")


RULES = ("none", "underline", "dotted", "table", "boxes")


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
    return ink, left, top, font.getlength(character)


def _place(text: str, style: LineStyle, dice: random.Random) -> tuple[list[tuple[Ink, int, int]], list[tuple[int, int]]]:
    """Letters as (ink, x, y) from the pen's start on the baseline, and the extent of each word."""
    placed, words, pen, number = [], [], 0.0, 0
    begin = 0.0
    for character in text:
        if character == " ":
            words.append((round(begin), round(pen)))
            number += 1
        face = style.second_face if style.second_face and number >= style.second_from else style.face
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


def draw_line(text: str, style: LineStyle, seed: int | str = 0, around: Sequence[str] = ("", "")) -> np.ndarray:
    """The line in black on white.

    Args:
        text: what the line says; every character must be in the face.
        style: how it is written.
        seed: of what is left to chance within a style.
        around: texts of the lines above and below, seen where `style.neighbours` is above 0.

    Returns:
        uint8 (height, width).

    Raises:
        ValueError: the text is empty or blank, or a face lacks one of its characters.
    """
    if not text.strip():
        raise ValueError(f"text: got {text!r}, needs at least one character that is no space")
    for face in (style.face, style.second_face):
        if face is not None:
            check_covers(face, text)
    dice = random.Random(f"{seed}")
    placed, words = _place(text, style, dice)
    x0, y0 = min(x for _, x, _ in placed), min(y for _, _, y in placed)
    x1 = max(x + ink.shape[1] for ink, x, _ in placed)
    y1 = max(y + ink.shape[0] for ink, _, y in placed)
    left, above, right, below = style.margins
    left, right = left + 2 * (style.rule == "table"), right + style.size * 3 * (style.rule == "dotted")
    # Room around the crop, so that a negative margin cuts and a neighbour can stand outside.
    room = 2 * style.size
    canvas = np.zeros((y1 - y0 + 2 * room, x1 - x0 + 2 * room + max(0, right)), np.uint8)
    _stamp(canvas, placed, room - x0, room - y0)
    if style.neighbours > 0:
        _draw_neighbours(canvas, around, style, dice, (room - x0, room - y0, y1 - y0))
    box = (room - left, room - above, room + x1 - x0 + right, room + y1 - y0 + below)
    _draw_rule(canvas, style, words, (room - x0, room - y0), box, dice)
    ink = canvas[max(0, box[1]) : max(box[3], box[1] + 4), max(0, box[0]) : max(box[2], box[0] + 4)]
    return 255 - _finish(ink, style, dice)


def _stamp(canvas: Ink, placed: list[tuple[Ink, int, int]], x: int, y: int) -> None:
    height, width = canvas.shape
    for ink, left, top in placed:
        top, left = top + y, left + x
        rows, columns = slice(max(0, -top), height - top), slice(max(0, -left), width - left)
        part = ink[rows, columns] if top < height and left < width else ink[:0]
        if part.size:
            place = canvas[max(0, top) : max(0, top) + part.shape[0], max(0, left) : max(0, left) + part.shape[1]]
            np.maximum(place, part, out=place)


def _draw_neighbours(
    canvas: Ink, around: Sequence[str], style: LineStyle, dice: random.Random, at: tuple[int, int, int]
) -> None:
    x, y, height = at
    # Lines set as close as their ink allows show their hooks and descenders in one another's crops.
    pitch = round(height + style.size * (0.35 - 0.45 * style.neighbours))
    for text, step in zip(around, (-pitch, pitch), strict=True):
        usable = "".join(c for c in text if c in style.face.characters)
        if usable.strip():
            placed, _ = _place(usable, style, dice)
            _stamp(canvas, placed, x, y + step)


def _draw_rule(
    canvas: Ink,
    style: LineStyle,
    words: list[tuple[int, int]],
    pen: tuple[int, int],
    box: tuple[int, int, int, int],
    dice: random.Random,
) -> None:
    thick = max(1, style.size // 16)
    x, baseline = pen
    if style.rule == "underline":
        y = baseline + max(2, style.size // 8)
        canvas[y : y + thick, x + words[0][0] : x + words[-1][1]] = 255
    elif style.rule == "dotted":
        y, step = baseline - thick, dice.randint(3, 3 + style.size // 4)
        for dot in range(x + words[-1][1] + style.size // 3, box[2], step):
            canvas[y : y + thick + 1, dot : dot + thick + 1] = 255
    elif style.rule == "table":
        sides = dice.randint(1, 15)
        for bit, rows, columns in (
            (1, slice(None), slice(box[0], box[0] + thick)),
            (2, slice(None), slice(box[2] - thick, box[2])),
            (4, slice(box[1], box[1] + thick), slice(None)),
            (8, slice(box[3] - thick, box[3]), slice(None)),
        ):
            if sides & bit:
                canvas[rows, columns] = 255
    elif style.rule == "boxes":
        ink, top, bottom = dice.randint(110, 220), max(0, box[1] + 1), box[3] - 2
        for begin, end in words:
            left, right = x + begin - 2, x + end + 1
            for rows, columns in (
                (slice(top, top + thick), slice(left, right)),
                (slice(bottom, bottom + thick), slice(left, right)),
                (slice(top, bottom), slice(left, left + thick)),
                (slice(top, bottom), slice(right, right + thick)),
            ):
                np.maximum(canvas[rows, columns], ink, out=canvas[rows, columns])


def _finish(ink: Ink, style: LineStyle, dice: random.Random) -> Ink:
    if style.weight:
        ink = _heavier(ink) if style.weight > 0 else 255 - _heavier(255 - ink)
    if style.dots:
        noise = np.random.default_rng(dice.getrandbits(32))
        gone = noise.random(ink.shape, np.float32) < style.dots
        gone |= (noise.random((ink.shape[0], 1)) < style.dots / 2) & (noise.random(ink.shape, np.float32) < 0.7)
        ink = np.where(gone, ink // 3, ink)
    if style.stretch != 1:
        size = max(4, round(ink.shape[1] * style.stretch)), ink.shape[0]
        ink = np.asarray(Image.fromarray(ink).resize(size, Image.Resampling.BILINEAR))
    return np.ascontiguousarray(ink)


def _heavier(ink: Ink) -> Ink:
    """Each pixel takes the most ink of itself and, by halves, of the four beside it."""
    wide = ink.copy()
    for axis in (0, 1):
        for step in (1, -1):
            moved = np.roll(ink, step, axis) // 2
            np.maximum(wide, moved, out=wide)
    return wide
