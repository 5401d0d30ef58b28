"""What worn receipts and strangers' photographs show, on top of `effects`.

Lengths are in pixels of the paper, 8 a millimetre, or in those of the photograph. No
effect moves a letter by more than a pixel or hides one, so outlines and texts stay
true.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from PIL import Image, ImageDraw

from coursepkg.projects.ocr.synthetic.effects import rotation, smooth_noise
from coursepkg.projects.ocr.synthetic.receipt_config import ReceiptConfig, happens

LEAST_LINE = 9
"""Height in pixels that half of the lines of a photograph have at least, as far as the
photograph before had it."""


def missing_dots(ink: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Thermal print with dots that stayed pale and elements of the head that are dead.

    The head burns a row of 8 dots a millimetre (203 dpi) at once, so a dead element
    leaves a white column along the whole receipt.

    Args:
        ink: uint8 (height, width), 255 where there is ink, a pixel a dot.
        rng: where chance comes from.
    """
    height, width = ink.shape
    rows = smooth_noise((height, 2), rng.uniform(30, 120), rng)[:, :1]
    pale = rng.uniform(0.05, 0.25) * (1 + 0.6 * np.tanh(rows))
    # Where the paper did not lie on the head, two thirds of the dots are pale.
    off = smooth_noise((height, width), rng.uniform(8, 40), rng) > 1.2
    pale = np.where(off, 0.67, pale)
    worn = np.where(rng.random(ink.shape, np.float32) < pale, ink // 4, ink)
    dead = rng.random(width) < rng.uniform(0, 0.02)
    worn[:, dead | np.roll(dead, 1)] = 0
    return worn


def crumple(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Paper that was crumpled: flat facets, each lit by its tilt, with creases between.

    The facets are the Voronoi cells of random points, 2 to 5 cm apart.

    Args:
        picture: float32 (height, width), 0 black to 255 white.
        rng: where chance comes from.

    Returns:
        float32 (height, width); light and shade can lead out of 0..255.
    """
    height, width = picture.shape
    step = 4
    rows, columns = -(-height // step), -(-width // step)
    apart = rng.uniform(160, 400)
    n_facets = max(6, round(height * width / apart**2))
    middles = rng.random((n_facets, 2)) * (height, width)
    y, x = np.mgrid[:rows, :columns] * step
    down = y[None] - middles[:, 0, None, None]
    right = x[None] - middles[:, 1, None, None]
    distance = np.hypot(down, right)
    facet = distance.argmin(axis=0)
    nearest = np.partition(distance, 1, axis=0)[:2]
    tilt = rng.normal(0, 14 / apart, (2, n_facets))[:, facet]
    own = facet[None]
    shade = rng.normal(0, 9, n_facets)[facet]
    shade += tilt[0] * np.take_along_axis(down, own, 0)[0]
    shade += tilt[1] * np.take_along_axis(right, own, 0)[0]
    shade += (
        np.exp(-((nearest[1] - nearest[0]) / 6)) * rng.normal(0, 26, n_facets)[facet]
    )
    smooth = Image.fromarray(shade.astype(np.float32)).resize(
        (columns * step, rows * step), Image.Resampling.BILINEAR
    )
    moved = rng.integers(-1, 2, (2, n_facets))[:, facet]
    moved = moved.repeat(step, axis=1).repeat(step, axis=2)[:, :height, :width]
    from_y = np.clip(np.arange(height)[:, None] + moved[0], 0, height - 1)
    from_x = np.clip(np.arange(width)[None] + moved[1], 0, width - 1)
    return picture[from_y, from_x] + np.asarray(smooth)[:height, :width]


def fold_evenly(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Paper that was folded into two to four equal parts, often once along its middle.

    Beside a crease one side is lit and the other dark; on it the print is rubbed off.

    Args:
        picture: float32 (height, width), 0 black to 255 white.
        rng: where chance comes from.

    Returns:
        A new picture, float32 (height, width); light and shade can lead out of 0..255.
    """
    folded = picture.copy()
    n_parts = int(rng.integers(2, 5))
    for part in range(1, n_parts):
        _crease(folded, part / n_parts, rng)
    if rng.random() < 0.4:
        _crease(folded.T, 0.5, rng)
    return folded


def _crease(picture: np.ndarray, share: float, rng: np.random.Generator) -> None:
    """Adds a crease along a row, in place.

    Args:
        picture: float32 (height, width), 0 black to 255 white; it is changed, and whole
            numbers could not take what is added.
        share: of its height, where the row is.
        rng: where chance comes from.
    """
    height, width = picture.shape
    slope = rng.normal(0, 0.01) * np.arange(-width / 2, width / 2)
    rows = np.arange(height)[:, None]
    distance = rows - height * share - rng.normal(0, 4) - slope[None]
    light = rng.choice((-1, 1)) * rng.uniform(10, 28)
    picture += np.sign(distance) * np.exp(-np.abs(distance) / 70) * light
    rubbed = np.exp(-((distance / rng.uniform(1, 2.5)) ** 2)) * rng.uniform(0.4, 0.8)
    picture += rubbed * (np.percentile(picture, 90) - picture)


def surface(size: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Checked cloth, wood, or the edge of a table: float32 RGB (height, width, 3)."""
    y, x = np.mgrid[: size[0], : size[1]].astype(np.float32)
    x, y = np.tensordot(rotation(rng.uniform(0, math.pi)), np.stack([x, y]), 1)
    first, second = rng.uniform(40, 200, (2, 1)) + rng.normal(0, 10, (2, 3))
    kind = rng.integers(0, 3)
    if kind == 0:
        wide = rng.uniform(14, 60)
        share = ((x // wide) % 2 + (y // wide) % 2) / 2
    elif kind == 1:
        rings = smooth_noise(size, rng.uniform(80, 250), rng) * rng.uniform(1, 4)
        share = 0.5 + 0.5 * np.sin(y / rng.uniform(6, 20) + rings)
        first = np.array([150, 105, 65]) * rng.uniform(0.5, 1.4)
        second = first * rng.uniform(0.7, 0.9)
    else:
        share = (x > rng.uniform(x.min(), x.max())).astype(np.float32)
    ground = first + (second - first) * share[..., None]
    return (ground + smooth_noise(size, 2.0, rng)[..., None] * 4).astype(np.float32)


def add_finger(
    scene: np.ndarray,
    paper: np.ndarray,
    texts: Sequence[np.ndarray],
    rng: np.random.Generator,
) -> np.ndarray:
    """The photograph with a finger over an edge of the paper, where no text is.

    It is 18 mm wide, as a thumb is, on paper of 80 mm. Where each of twelve places
    would hide text there is none.

    Args:
        scene: float32 RGB (height, width, 3).
        paper: (4, 2), the corners of the paper in it.
        texts: (4, 2) each, the corners of what must stay to be seen.
        rng: where chance comes from.
    """
    height, width = scene.shape[:2]
    written = Image.new("L", (width, height))
    for corners in texts:
        ImageDraw.Draw(written).polygon([tuple(one) for one in corners.tolist()], 255)
    ink = np.asarray(written) > 0
    broad = float(np.linalg.norm(paper[1] - paper[0]))
    radius = broad * 18 / 80 / 2
    y, x = np.mgrid[:height, :width].astype(np.float32)
    for _ in range(12):
        side = int(rng.integers(0, 4))
        start, end = paper[side], paper[(side + 1) % 4]
        along = (end - start) / np.linalg.norm(end - start)
        angle = rng.normal(0, 0.35)
        inwards = rotation(angle) @ np.array([-along[1], along[0]])
        edge = start + (end - start) * rng.uniform(0.1, 0.9)
        tip = edge + inwards * (rng.uniform(0.03, 0.2) * broad - radius)
        # Beside the line that the finger comes along, and from its tip back.
        across = (x - tip[0]) * -inwards[1] + (y - tip[1]) * inwards[0]
        ahead = (x - tip[0]) * inwards[0] + (y - tip[1]) * inwards[1]
        distance = np.hypot(across, np.maximum(ahead, 0)) / radius
        if not (ink & (distance < 1.25)).any():
            return _painted(scene, distance, across / radius, ahead / radius, rng)
    return scene


def _painted(
    scene: np.ndarray,
    distance: np.ndarray,
    across: np.ndarray,
    ahead: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """The scene with skin, a nail and a shadow over it.

    Args:
        scene: float32 RGB (height, width, 3), 0 to 255.
        distance: (height, width), of each pixel from the finger, in its radii: below 1
            is skin, up to 1.25 its shadow.
        across: (height, width), in radii, sideways from the middle of the tip.
        ahead: (height, width), in radii, from there towards its end.
        rng: where chance comes from.

    Returns:
        A new float32 RGB (height, width, 3).
    """
    dark, light = np.array([[95, 62, 45], [236, 194, 168]])
    skin = dark + (light - dark) * rng.random()
    round_off = 1.05 - 0.4 * np.minimum(distance, 1) ** 2
    nail = np.hypot(across / 0.55, (ahead - 0.15) / 0.6) < 1
    colour = skin * (round_off + 0.12 * nail)[..., None]
    cover = np.clip((1 - distance) * 12, 0, 1)[..., None]
    shadow = 1 - 0.35 * np.clip(1.25 - distance, 0, 0.25)[..., None] / 0.25
    return np.asarray(scene * shadow * (1 - cover) + colour * cover, np.float32)


def fewer_pixels(
    photo: np.ndarray, line_height: float, rng: np.random.Generator
) -> np.ndarray:
    """Down to half the width and height and up again; lines keep `LEAST_LINE` pixels.

    Args:
        photo: uint8 RGB (height, width, 3).
        line_height: of a usual line, in pixels.
        rng: where chance comes from.
    """
    least = max(0.5, LEAST_LINE / line_height)
    if least >= 1:
        return photo
    height, width = photo.shape[:2]
    share = rng.uniform(least, least + (1 - least) / 2)
    image = Image.fromarray(photo)
    small = image.resize((round(width * share), round(height * share)))
    return np.asarray(small.resize((width, height), Image.Resampling.BILINEAR))


@dataclass(frozen=True, eq=False)
class Wear:
    """What happens to one receipt and its photograph; nothing by default."""

    kinds: frozenset[str] = frozenset()
    """Names of rates of `ReceiptConfig`."""
    rng: np.random.Generator = field(
        default_factory=lambda: np.random.Generator(np.random.PCG64(0))
    )

    @classmethod
    def drawn(cls, config: ReceiptConfig, name: str) -> "Wear":
        """What chance picks for a receipt, by its name and the rates."""
        dice = random.Random(name)
        rates = ("crumpled", "folded", "background", "finger", "low_resolution")
        kinds = [one for one in rates if happens(dice, getattr(config, one))]
        rng = np.random.Generator(np.random.PCG64(dice.getrandbits(64)))
        return cls(frozenset(kinds), rng)

    def on_paper(self, picture: np.ndarray) -> np.ndarray:
        """The printed paper, float32 (height, width), crumpled or folded."""
        if "folded" in self.kinds:
            picture = fold_evenly(picture, self.rng)
        if "crumpled" in self.kinds:
            picture = crumple(picture, self.rng)
        return picture

    def under_paper(self, ground: np.ndarray) -> np.ndarray:
        """What the receipt lies on, float32 RGB (height, width, 3)."""
        if "background" in self.kinds:
            return surface((ground.shape[0], ground.shape[1]), self.rng)
        return ground

    def over_paper(
        self, scene: np.ndarray, paper: np.ndarray, texts: Sequence[np.ndarray]
    ) -> np.ndarray:
        """The scene before the camera, see `add_finger`."""
        if "finger" in self.kinds:
            return add_finger(scene, paper, texts, self.rng)
        return scene

    def in_file(self, photo: np.ndarray, texts: Sequence[np.ndarray]) -> np.ndarray:
        """The photograph as it is sent, uint8 RGB (height, width, 3)."""
        if "low_resolution" in self.kinds and len(texts):
            heights = [np.linalg.norm(one[3] - one[0]) for one in texts]
            return fewer_pixels(photo, float(np.median(heights)), self.rng)
        return photo
