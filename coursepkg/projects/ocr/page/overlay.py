"""A picture to check a reading by: the photograph with its boxes, the texts beside it.

Boxes are drawn in two tones, one of which stands out from any ground. What was read
with little confidence is orange.
"""

import math
from functools import lru_cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from coursepkg.files import whole_file
from coursepkg.projects.ocr.data.geometry import homography, projected, rectangle
from coursepkg.projects.ocr.page.read import Page, PageLine
from coursepkg.viz.image import font_file

MARKED_BELOW = 0.85
"""Lines of less confidence are orange."""
SURE_COLOUR, UNSURE_COLOUR = "#0072B2", "#C24A00"
"""Of boxes; readers with any kind of colour vision tell them apart."""
INK = "#1A1A1A"
TEXT_HEIGHT = 22
"""A small photograph is enlarged until its lines have this height, in pixels, in the
middle of them."""
LARGEST_SCALE = 3.0
LONGEST_SIDE = 2800
"""Of the photograph in the overlay, in pixels."""
GAP = 8
"""Between photograph and texts, in pixels."""
_LETTER_ROOM, _BASELINE = 1.32, 1.075
"""Height of a line and of its part above the baseline, over the size of its letters:
room for a hook on a circumflex on a capital, which reaches beyond what the font itself
calls a line."""


def draw_overlay(image: np.ndarray, page: Page) -> Image.Image:
    """The photograph with its boxes, and its texts beside or below it.

    Args:
        image: uint8 (height, width, 3), what the page was read from.
        page: what was read.

    Raises:
        ValueError: the page is of another size than the picture.
    """
    if image.shape[:2] != (page.height, page.width):
        raise ValueError(
            f"page must be of the picture's size, {image.shape[1]} x {image.shape[0]},"
            f" got {page.width} x {page.height}"
        )
    scale = _scale(page)
    size = max(1, round(page.width * scale)), max(1, round(page.height * scale))
    photo = Image.fromarray(image).resize(size, Image.Resampling.LANCZOS)
    texts = Image.new("RGB", size, "white")
    thick = max(1, round(TEXT_HEIGHT * min(scale, 1) / 10))
    for line in page.lines:
        corners = line.box.corners * scale
        _outline(photo, corners, line, thick)
        _write(texts, corners, line)
    beside = size[1] >= size[0]
    whole = (2 * size[0] + GAP, size[1]) if beside else (size[0], 2 * size[1] + GAP)
    found = Image.new("RGB", whole, "#808080")
    found.paste(photo, (0, 0))
    found.paste(texts, (size[0] + GAP, 0) if beside else (0, size[1] + GAP))
    return found


def write_overlay(path: Path, image: np.ndarray, page: Page) -> None:
    """Write the overlay whole or not at all: JPEG by its name, else PNG."""
    drawn = draw_overlay(image, page)
    with whole_file(path) as file:
        if path.suffix.lower() in (".jpg", ".jpeg"):
            drawn.save(file, "JPEG", quality=90)
        else:
            drawn.save(file, "PNG")


def _scale(page: Page) -> float:
    most = LONGEST_SIDE / max(page.width, page.height)
    if not page.lines:
        return min(1.0, most)
    usual = float(np.median([line.box.height for line in page.lines]))
    return min(max(1.0, min(TEXT_HEIGHT / max(usual, 1e-9), LARGEST_SCALE)), most)


def _outline(
    photo: Image.Image, corners: np.ndarray, line: PageLine, thick: int
) -> None:
    points = [tuple(corner) for corner in corners.tolist()]
    way, pen = [*points, *points[:2]], ImageDraw.Draw(photo)
    own = UNSURE_COLOUR if line.confidence < MARKED_BELOW else SURE_COLOUR
    for colour, width in (("white", thick + 2), (own, thick)):
        pen.line(way, fill=colour, width=width, joint="curve")


def _write(texts: Image.Image, corners: np.ndarray, line: PageLine) -> None:
    """A line in the place of its box; letters grow narrower to fit."""
    low = np.floor(np.clip(corners.min(axis=0), 0, texts.size)).astype(int)
    high = np.ceil(np.clip(corners.max(axis=0), 0, texts.size)).astype(int)
    width, height = (high - low).tolist()
    if not width or not height:
        return
    strip = _strip(line, math.dist(*corners[:2]), math.dist(corners[0], corners[3]))
    try:
        back = homography(corners - low, rectangle(0, 0, *strip.size))
    except ValueError:
        return
    mask = projected(strip, (width, height), back)
    colour = INK if line.confidence >= MARKED_BELOW else UNSURE_COLOUR
    texts.paste(colour, (int(low[0]), int(low[1])), mask)


def _strip(line: PageLine, width: float, height: float) -> Image.Image:
    """The letters of a line, white on black, as high as its box."""
    high = max(8, min(240, round(height)))
    font = _font(max(6, int(high / _LETTER_ROOM)))
    room = round(width * high / max(height, 1e-9))
    wide = max(math.ceil(font.getlength(line.text)), room, 1)
    strip = Image.new("L", (min(wide, 16_000), high), 0)
    pen = 0, round(high * _BASELINE / _LETTER_ROOM)
    ImageDraw.Draw(strip).text(pen, line.text, fill=255, font=font, anchor="ls")
    return strip


@lru_cache(maxsize=64)
def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(font_file()), size)
