"""Draw a skeleton on a picture: arms and fingers as lines."""

from functools import cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from coursepkg.viz.image import font_file

ARMS = ((11, 12), (11, 13), (13, 15), (12, 14), (14, 16), (11, 23), (12, 24), (23, 24))
"""Landmarks of the body that a line joins."""
FINGERS = tuple(
    (0 if i == 0 else 4 * finger + i, 4 * finger + i + 1)
    for finger in range(5)
    for i in range(4)
)
"""The same of a hand: from the wrist to the tip of each finger."""
PALM = ((5, 9), (9, 13), (13, 17))
BODY_COLOUR, HAND_COLOURS = (230, 230, 230), ((255, 140, 0), (0, 170, 255))
"""RGB; left hand and right hand."""


def draw_skeleton(
    pixels: np.ndarray,
    body: np.ndarray | None = None,
    hands: np.ndarray | None = None,
    *,
    caption: str = "",
    is_mirrored: bool = False,
) -> np.ndarray:
    """A picture with a skeleton on it.

    Args:
        pixels: RGB, uint8 (height, width, 3).
        body: landmarks in pixels (33, 3), NaN or None where nobody was found.
        hands: left and right hand (2, 21, 3), NaN or None where none was found.
        caption: is written at the lower edge.
        is_mirrored: turn the picture as a mirror does; the caption stays readable.

    Returns:
        a new picture of the same size.
    """
    image = Image.fromarray(pixels)
    pen, width = ImageDraw.Draw(image), max(2, round(pixels.shape[0] / 200))
    if body is not None:
        _draw_lines(pen, body, ARMS, BODY_COLOUR, width)
    for hand, colour in zip(() if hands is None else hands, HAND_COLOURS, strict=False):
        _draw_lines(pen, hand, (*FINGERS, *PALM), colour, width)
    if is_mirrored:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    if caption:
        size = max(12, image.height // 14)
        where = (size // 2, image.height - size // 2)
        ImageDraw.Draw(image).text(
            where,
            caption,
            fill="white",
            font=_font(size),
            anchor="lb",
            stroke_width=2,
            stroke_fill="black",
        )
    return np.asarray(image)


def _draw_lines(
    pen: ImageDraw.ImageDraw,
    points: np.ndarray,
    pairs: tuple[tuple[int, int], ...],
    colour: tuple[int, int, int],
    width: int,
) -> None:
    for first, second in pairs:
        ends = points[[first, second], :2]
        if np.isfinite(ends).all():
            pen.line([*map(tuple, ends.tolist())], fill=colour, width=width)


@cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(font_file()), size)
