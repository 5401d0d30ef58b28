"""One line of text as ink on white: face, size, spacing, weight, leaders, neighbours and a crop that is never exact.

The picture holds the whole text; what a camera does to it comes later (`effects`).
"""

import random
from collections.abc import Sequence

import numpy as np
from PIL import Image

from coursepkg.projects.ocr.synthetic.fonts import check_covers
from coursepkg.projects.ocr.synthetic.glyphs import Ink, LineStyle, place, stamp


def draw_line(
    text: str, style: LineStyle, seed: int | str = 0, around: Sequence[str] = ("", "")
) -> np.ndarray:
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
    placed, words = place(text, style, dice)
    x0, y0 = min(x for _, x, _ in placed), min(y for _, _, y in placed)
    x1 = max(x + ink.shape[1] for ink, x, _ in placed)
    y1 = max(y + ink.shape[0] for ink, _, y in placed)
    left, above, right, below = style.margins
    left, right = left + 2 * (style.rule == "table"), right + style.size * 3 * (style.rule == "dotted")
    # Room around the crop, so that a negative margin cuts and a neighbour can stand outside.
    room = 2 * style.size
    canvas = np.zeros((y1 - y0 + 2 * room, x1 - x0 + 2 * room + max(0, right)), np.uint8)
    stamp(canvas, placed, room - x0, room - y0)
    if style.neighbours > 0:
        _draw_neighbours(canvas, around, style, dice, (room - x0, room - y0, y1 - y0))
    box = (room - left, room - above, room + x1 - x0 + right, room + y1 - y0 + below)
    _draw_rule(canvas, style, words, (room - x0, room - y0), box, dice)
    ink = canvas[max(0, box[1]) : max(box[3], box[1] + 4), max(0, box[0]) : max(box[2], box[0] + 4)]
    return 255 - _finish(ink, style, dice)


def _draw_neighbours(
    canvas: Ink, around: Sequence[str], style: LineStyle, dice: random.Random, at: tuple[int, int, int]
) -> None:
    x, y, height = at
    # Lines set as close as their ink allows show their hooks and descenders in one another's crops.
    pitch = round(height + style.size * (0.35 - 0.45 * style.neighbours))
    for text, step in zip(around, (-pitch, pitch), strict=True):
        usable = "".join(c for c in text if c in style.face.characters)
        if usable.strip():
            placed, _ = place(usable, style, dice)
            stamp(canvas, placed, x, y + step)


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
    if style.pitch:
        ink = _pins(ink, style.pitch)
    if style.dots:
        noise = np.random.default_rng(dice.getrandbits(32))
        gone = noise.random(ink.shape, np.float32) < style.dots
        gone |= (noise.random((ink.shape[0], 1)) < style.dots / 2) & (
            noise.random(ink.shape, np.float32) < 0.7
        )
        ink = np.where(gone, ink // 3, ink)
    if style.stretch != 1:
        size = max(4, round(ink.shape[1] * style.stretch)), ink.shape[0]
        ink = np.asarray(Image.fromarray(ink).resize(size, Image.Resampling.BILINEAR))
    return np.ascontiguousarray(ink)


def _pins(ink: Ink, pitch: int) -> Ink:
    """The ink as pins strike it: a round dot wherever at least a third of a pin's square is ink."""
    height, width = (-(-side // pitch) for side in ink.shape)
    squares = np.zeros((height * pitch, width * pitch), np.float32)
    squares[: ink.shape[0], : ink.shape[1]] = ink
    struck = squares.reshape(height, pitch, width, pitch).mean(axis=(1, 3)) >= 255 / 3
    across = np.arange(pitch, dtype=np.float32) - (pitch - 1) / 2
    dot = np.clip(0.5 * pitch + 0.3 - np.hypot(across[:, None], across[None]), 0, 1) * 255
    return np.kron(struck, dot).astype(np.uint8)[: ink.shape[0], : ink.shape[1]]


def _heavier(ink: Ink) -> Ink:
    """Each pixel takes the most ink of itself and, by halves, of the four beside it."""
    wide = ink.copy()
    for axis in (0, 1):
        for step in (1, -1):
            moved = np.roll(ink, step, axis) // 2
            np.maximum(wide, moved, out=wide)
    return wide
