"""Faces of fonts: which characters each has, which are held out, and their ink.

A face that lacks a letter draws an empty box, and the recogniser would learn that the
box reads "ẵ". So the table of characters of every face (`cmap`) is read, and a text
goes only to faces that cover it. More families than matplotlib's come from
$COURSEPKG_FONTS.

A family is held out for testing by its name, so that a face never changes sides between
machines; families drawn after one another stand on one side. Letters are drawn once for
each face and size and kept.
"""

import random
import re
import string
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

import numpy as np
from PIL import ImageFont

from coursepkg.text.vietnamese import LETTERS

HELD_OUT = frozenset({
    "Andika", "Carlito", "Charis SIL", "DejaVu Serif", "Droid Serif", "EB Garamond",
    "JetBrains Mono", "Lato", "Manrope", "Noto Serif",
})  # fmt: skip
"""Families that no training picture is drawn with; families that are not named here are
for training."""
MEASURED = HELD_OUT - {"Droid Serif"}
"""Held-out families that matplotlib and scripts/install_fonts.sh bring: a measurement
has all of them. Droid Serif is held out where a system happens to have it."""
NOT_DRAWN = re.compile(
    r"Display|Math|Symbol|Emoji|Last"
    r" Resort|STIX|Icon|Keyboard|Initials|CJK|[Cc]aps\b|Dunhill|Unslanted|Quotation|^cm"
    r"|Sample|D050000L"
)
"""Families made for formulas, symbols (D050000L is URW's Dingbats), titles or another
script; small capitals, which draw "a" as "A"; and samples, which draw signs of their
own for characters that they lack."""
STYLES_NOT_DRAWN = re.compile(r"^08\b|Hairline|Thin")
"""Words in the name of a face: strokes that are thinner than a pixel at these sizes;
and EB Garamond 08, whose italic draws Đ as D and ẵ as ã, although its table of
characters has all of them."""
LATIN_NOTO = frozenset({"Noto Sans", "Noto Serif", "Noto Mono", "Noto Sans Mono"})
"""The Noto families for Latin script. Each of the others has its own script; its Latin
letters are those of these."""


def is_held_out(family: str) -> bool:
    """Whether the family, or the name that it begins with, is in `HELD_OUT`."""
    return any(family == name or family.startswith(f"{name} ") for name in HELD_OUT)


def is_drawable(family: str, style: str = "Regular") -> bool:
    """Whether lines of text may be drawn in this face."""
    if family.startswith("Noto ") and family not in LATIN_NOTO:
        return False
    return not NOT_DRAWN.search(family) and not STYLES_NOT_DRAWN.search(style)


REQUIRED = frozenset(LETTERS + string.digits + string.punctuation + " ")
"""What a complete face has: 134 letters with marks, those of ASCII, digits, and the
punctuation of ASCII."""
ENDINGS = (".ttf", ".otf")


@dataclass(frozen=True)
class Face:
    """One face of a family, as a file."""

    family: str
    """Name of the family, such as `DejaVu Sans`: what is held out for testing as a
    whole."""
    style: str
    """Name of the face in its family, such as `Bold Oblique`."""
    path: str
    """The font file."""
    characters: frozenset[str]
    """Every character that it has a glyph for."""

    @cached_property
    def is_complete(self) -> bool:
        """Whether it writes all of `REQUIRED`."""
        return self.characters >= REQUIRED

    @property
    def held_out(self) -> bool:
        """Whether its family is kept for testing."""
        return is_held_out(self.family)

    def missing(self, text: str) -> str:
        """The characters of the text that it cannot draw, each once, in their order."""
        return "".join(dict.fromkeys(c for c in text if c not in self.characters))


def read_face(path: str | Path) -> Face:
    """Reads names and characters of a font file through FreeType.

    A character that leads to the first glyph, the box for what is missing, does not
    count.

    Raises:
        ValueError: the file is no font that can be read, or has no table of characters.
    """
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(str(path))
        table = font.get_charmap()
    except (OSError, RuntimeError) as reason:
        raise ValueError(
            f"{path}: not a font that can be read ({reason}); give a .ttf or .otf file"
        ) from reason
    characters = frozenset(chr(code) for code, glyph in table.items() if glyph)
    if not characters or not font.family_name:
        raise ValueError(
            f"{path}: the font has no table of Unicode characters or no name; leave"
            " it out"
        )
    return Face(font.family_name, font.style_name, str(path), characters)


def matplotlib_folder() -> Path:
    """The folder of the fonts that come with matplotlib."""
    import matplotlib

    return Path(matplotlib.get_data_path()) / "fonts" / "ttf"


@cache
def _faces_in(folder: str) -> tuple[Face, ...]:
    found = []
    for path in sorted(Path(folder).expanduser().rglob("*")):
        if path.suffix.lower() in ENDINGS and path.is_file():
            try:
                found.append(read_face(path))
            except ValueError as reason:
                warnings.warn(f"font left out: {reason}", stacklevel=2)
    return tuple(found)


def faces_in(folders: Iterable[str | Path]) -> tuple[Face, ...]:
    """The faces under these folders that lines can be drawn with, each once.

    Left out are faces without ASCII (symbols, other scripts) and families made for
    display only.
    """
    by_name: dict[tuple[str, str], Face] = {}
    ascii_signs = set(string.ascii_letters + string.digits)
    for folder in folders:
        for face in _faces_in(str(folder)):
            name = face.family, face.style
            if face.characters >= ascii_signs and is_drawable(*name):
                by_name.setdefault(name, face)
    return tuple(by_name[name] for name in sorted(by_name))


def matplotlib_faces() -> tuple[Face, ...]:
    """The DejaVu faces of matplotlib: the same on every machine."""
    return faces_in([matplotlib_folder()])


def split_faces(faces: Sequence[Face]) -> tuple[tuple[Face, ...], tuple[Face, ...]]:
    """Faces to train with, and faces of the families that are held out for testing."""
    train = tuple(face for face in faces if not face.held_out)
    return train, tuple(face for face in faces if face.held_out)


def complete_faces(faces: Sequence[Face]) -> tuple[Face, ...]:
    """Those of the faces that write all of Vietnamese.

    Raises:
        ValueError: there is none.
    """
    found = tuple(face for face in faces if face.is_complete)
    if not found:
        raise ValueError(
            f"faces: none of the {len(faces)} given writes all of Vietnamese; add"
            " DejaVu Sans"
        )
    return found


def check_covers(face: Face, text: str) -> None:
    """Raises a ValueError if the face lacks a character of the text."""
    lacking = face.missing(text)
    if lacking:
        raise ValueError(
            f"text {text!r}: {face.family} {face.style} has no glyph for {lacking!r};"
            " choose a face that covers it"
        )


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
    """Number of the first word that is in the first face again, as behind a bracket in
    italics; 0: there is none."""
    tracking: int | float = 0
    """Added between letters; negative brings them closer. Letters stand on whole
    pixels, so a fraction moves some."""
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
    """A line beside the text: `none`, `underline`, `dotted` (leaders after the text),
    `table` (borders of a cell), `boxes` (a frame around each word, as in annotated
    pictures)."""
    neighbours: float = 0.0
    """How much of the lines above and below reaches into the margins, from 0 to 1."""
    dots: float = 0.0
    """Share of the ink that a worn thermal head leaves out, from 0 to 1, in rows and
    points."""
    pitch: int = 0
    """Distance of the pins of a dot-matrix printer, in 2..8; 0 prints whole strokes."""
    square_pins: bool = False
    """Whether a pin prints its whole square, as a pixel of a bitmap font."""
    dead_columns: float = 0.0
    """Share of the columns where elements of a thermal head are dead and leave white,
    from 0 to 1."""

    def __post_init__(self) -> None:
        if not 8 <= self.size <= 200:
            raise ValueError(f"size must be in 8..200 pixels, got {self.size}")
        if self.rule not in RULES:
            raise ValueError(
                f"rule must be one of {', '.join(RULES)}, got {self.rule!r}"
            )
        if self.pitch and not 2 <= self.pitch <= 8:
            raise ValueError(f"pitch must be 0 or in 2..8 pixels, got {self.pitch}")
        if not 0.3 <= self.stretch <= 3:
            raise ValueError(f"stretch must be in [0.3, 3], got {self.stretch}")


@lru_cache(maxsize=512)
def load_font(path: str, size: int) -> ImageFont.FreeTypeFont:
    """The face of a file at a size, kept for the next line."""
    # Composed letters need no shaping, and the basic layout is the same in every build
    # of Pillow.
    return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=16384)
def _glyph(path: str, size: int, character: str) -> tuple[Ink, int, int, float]:
    """Ink of a letter, its upper left corner from the pen, and its advance."""
    font = load_font(path, size)
    mask, (left, top) = font.getmask2(character, mode="L", anchor="ls")
    ink = np.frombuffer(bytes(mask), np.uint8).reshape(mask.size[1], mask.size[0])
    # The engine leaves an empty edge beside some letters, and a crop is to begin at the
    # ink.
    x0, y0, x1, y1 = mask.getbbox() or (0, 0, 0, 0)
    ink, left, top = ink[y0:y1, x0:x1], left + x0, top + y0
    return ink, left, top, font.getlength(character)


def place(
    text: str, style: LineStyle, dice: random.Random
) -> tuple[list[tuple[Ink, int, int]], list[tuple[int, int]]]:
    """Letters as (ink, x, y) from the pen's start, and each word's extent."""
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
    """Puts letters on the canvas, the pen's start at (x, y), cut at its edges."""
    height, width = canvas.shape
    for ink, left, top in placed:
        top, left = top + y, left + x
        rows = slice(max(0, -top), height - top)
        columns = slice(max(0, -left), width - left)
        part = ink[rows, columns] if top < height and left < width else ink[:0]
        if part.size:
            below, behind = canvas[max(0, top) :], max(0, left)
            place = below[: part.shape[0], behind : behind + part.shape[1]]
            np.maximum(place, part, out=place)


def write(
    canvas: Ink, text: str, style: LineStyle, pen: tuple[int, int]
) -> tuple[int, int, int, int]:
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
