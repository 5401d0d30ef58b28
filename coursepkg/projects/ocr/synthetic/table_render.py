"""Pictures for a table whose photographs are not to be had: its own texts, drawn into its own polygons.

What comes out has the layout, the words and the skew of the real receipts, and neither their paper nor their print. A
score on such pictures says so.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from coursepkg.projects.ocr.data.crops import perspective
from coursepkg.projects.ocr.data.geometry import homography, sides
from coursepkg.projects.ocr.data.reading import quarters, read_instance
from coursepkg.projects.ocr.data.table_row import Instance, Receipt, instance_name
from coursepkg.projects.ocr.synthetic import optics, paper
from coursepkg.projects.ocr.synthetic.fonts import Face, complete_faces, matplotlib_faces
from coursepkg.projects.ocr.synthetic.glyphs import LineStyle
from coursepkg.projects.ocr.synthetic.render import draw_line


@dataclass(frozen=True)
class NotDrawn:
    """An instance that could not be drawn."""

    image: str
    instance: int
    """Its number in the row, from 0; -1 for the receipt as a whole."""
    reason: str

    def __str__(self) -> str:
        return f"{instance_name(self.image, self.instance)}: {self.reason}"


def render_receipt(
    receipt: Receipt, seed: int = 0, faces: Sequence[Face] | None = None
) -> tuple[np.ndarray, list[NotDrawn]]:
    """One receipt of a table: a function of seed, file name and texts alone.

    Args:
        receipt: as `coursepkg.projects.ocr.data.table_row` reads it.
        seed: from 0.
        faces: to print with, one a receipt; by default the complete ones of matplotlib.

    Returns:
        uint8 (height, width) of the size that the table says, and the instances that are not in it.

    Raises:
        ValueError: no face is complete.
    """
    dice = random.Random(f"table:{seed}:{receipt.image}")
    rng = np.random.Generator(np.random.PCG64(dice.getrandbits(64)))
    face = dice.choice(complete_faces(matplotlib_faces() if faces is None else faces))
    ink = np.zeros((receipt.height, receipt.width), np.float32)
    left_out = []
    for one, quarter in zip(receipt.instances, quarters(receipt), strict=True):
        try:
            drawn = _drawn(one, quarter, face, ink.shape)
        except ValueError as reason:
            left_out.append(NotDrawn(receipt.image, one.number, str(reason)))
        else:
            np.maximum(ink, drawn, out=ink)
    picture = paper.ink_and_paper(255 - ink, rng, most=0.55)
    picture = paper.texture(picture, rng)
    for _ in range(rng.integers(0, 3)):
        picture = paper.fold(picture, rng, line_height=30.0)
    picture = paper.uneven_light(picture, rng)
    picture = optics.blur(picture, rng, strength=1.2 / receipt.height)
    picture = optics.noise(picture, rng, strength=10.0)
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8), left_out


def _drawn(one: Instance, quarter: int, face: Face, shape: tuple[int, ...]) -> np.ndarray:
    """Ink of one instance in the picture, float32 (height, width)."""
    corners = read_instance(one, quarter).corners
    if corners is None:
        raise ValueError("the text runs over several lines, and the table does not say where each begins")
    missing = face.missing(one.text)
    if missing:
        raise ValueError(f"no glyph for {missing!r} in {face.family} {face.style}")
    # Drawn a little larger than it will stand, so that the projection has something to choose from.
    _, high = sides(corners)
    size = min(200, max(16, round(high * 1.2)))
    flat = draw_line(one.text, LineStyle(face=face, size=size, margins=(2, 2, 2, 2)))
    perspective(corners, flat.shape[1], flat.shape[0])
    box = np.array([[0, 0], [flat.shape[1], 0], [flat.shape[1], flat.shape[0]], [0, flat.shape[0]]], float)
    back = homography(corners, box)
    placed = Image.fromarray(255 - flat).transform(
        (shape[1], shape[0]),
        Image.Transform.PERSPECTIVE,
        tuple(back.reshape(-1)[:8]),
        Image.Resampling.BICUBIC,
    )
    return np.asarray(placed, np.float32)
