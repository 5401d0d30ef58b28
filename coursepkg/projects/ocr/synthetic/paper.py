"""Effects of paper, ink and light on a line. Pictures are float32 (height, width) in 0..255."""

from functools import cache

import numpy as np
from PIL import Image, ImageFilter

TILE = (256, 4096)
"""Size of the fixed field of noise that pictures cut their grain from: drawing it anew would be the slowest step."""


@cache
def noise_field() -> np.ndarray:
    """Standard normal noise, the same in every process, float32 of the size `TILE`."""
    return np.random.Generator(np.random.PCG64(0)).standard_normal(TILE, np.float32)


def normal_noise(shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """A piece of the field at random, mirrored or not; drawn anew where the picture is larger than the field."""
    if shape[0] > TILE[0] or shape[1] > TILE[1]:
        return rng.standard_normal(shape, np.float32)
    top, left, turn = rng.integers(0, (TILE[0] - shape[0] + 1, TILE[1] - shape[1] + 1, 4))
    piece = noise_field()[top : top + shape[0], left : left + shape[1]]
    return piece[:: 1 if turn & 1 else -1, :: 1 if turn & 2 else -1]


def smooth_noise(shape: tuple[int, int], scale: float, rng: np.random.Generator) -> np.ndarray:
    """Noise whose blots are about `scale` pixels wide, with a deviation of about 1."""
    small = max(2, round(shape[0] / scale)), max(2, round(shape[1] / scale))
    coarse = Image.fromarray(np.ascontiguousarray(normal_noise(small, rng)))
    return np.asarray(coarse.resize(shape[::-1], Image.Resampling.BICUBIC))


def ink_and_paper(picture: np.ndarray, rng: np.random.Generator, *, most: float) -> np.ndarray:
    """Gray ink on gray paper; the two differ by at least 1 - most of the way from black to white."""
    span = 1 - most * rng.random() ** 1.5
    low = rng.random() * (1 - span) * 0.7
    return picture * np.float32(span) + np.float32(255 * low)


def fade(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Print that loses its ink along the line, down to a quarter of it, and is whole again a little later."""
    width = picture.shape[1]
    n_knots = max(2, 2 + width // (6 * picture.shape[0]))
    kept = 1 - rng.uniform(0.1, 0.75) * rng.random(n_knots)
    along = np.interp(np.linspace(0, n_knots - 1, width), np.arange(n_knots), kept)
    return 255 - (255 - picture) * along.astype(np.float32)


def specks(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Dirt and holes of a scan: a few dots of a pixel or two, smaller than the dot of a letter."""
    height, width = picture.shape
    dirty = picture.copy()
    size = 1 + (height >= 40)
    for _ in range(int(rng.integers(1, 4 + width // 40))):
        y, x = int(rng.integers(0, height)), int(rng.integers(0, width))
        dirty[y : y + size, x : x + size] = rng.choice((0.0, 60.0, 255.0))
    return dirty


def texture(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A grain of the paper and, more weakly, of the ink."""
    grain = smooth_noise((picture.shape[0], picture.shape[1]), rng.uniform(1.5, 6), rng)
    return picture + grain * np.float32(rng.uniform(2, 9))


def bleed_through(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The print of the other side, mirrored, pale and blurred."""
    back = Image.fromarray(np.clip(picture, 0, 255).astype(np.uint8)[:, ::-1])
    back = back.filter(ImageFilter.GaussianBlur(1 + picture.shape[0] / 40))
    shift = rng.integers(-picture.shape[0] // 2, picture.shape[0] // 2 + 1, 2)
    ghost = np.roll(np.asarray(back, np.float32), tuple(shift), (0, 1))
    return picture - (np.max(ghost) - ghost) * np.float32(rng.uniform(0.08, 0.25))


def fold(picture: np.ndarray, rng: np.random.Generator, *, line_height: float | None = None) -> np.ndarray:
    """A crease: light on its one side, dark on the other, a thin line where the paper broke.

    It is as wide as a line is high: `line_height` pixels, or the height of the picture.
    """
    height, width = picture.shape
    line = height if line_height is None else line_height
    slope = rng.normal(0, 0.3)
    if rng.random() < 0.3:
        # Along the line instead of across it.
        across = np.arange(height, dtype=np.float32)[:, None] - rng.uniform(0, height)
        distance = across + np.arange(width, dtype=np.float32)[None] * np.float32(slope * line / width)
    else:
        along = np.arange(width, dtype=np.float32)[None] - rng.uniform(0, width)
        distance = along + np.arange(height, dtype=np.float32)[:, None] * np.float32(slope)
    reach = rng.uniform(0.2, 1.5) * line
    shade = np.sign(distance) * np.exp(-np.abs(distance) / reach) * rng.uniform(-35, 35)
    crack = np.exp(-((distance / max(1.0, line / 40)) ** 2)) * rng.uniform(-50, 70)
    return picture + (shade + crack).astype(np.float32)


def uneven_light(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A gradient of light, and often the soft edge of a shadow."""
    height, width = picture.shape
    x = np.linspace(-1, 1, width, dtype=np.float32)[None]
    y = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    side, tilt, dark = rng.uniform(-0.25, 0.25), rng.uniform(-0.1, 0.1), rng.uniform(0, 0.3)
    light = 1 - dark + side * x + tilt * y
    if rng.random() < 0.5:
        edge = (x - rng.uniform(-1, 1)) * width / height + y * rng.normal(0, 0.7)
        light = light * (
            1 - rng.uniform(0.1, 0.45) / (1 + np.exp(np.clip(-edge * rng.uniform(0.8, 8), -50, 50)))
        )
    return picture * np.clip(light, 0.25, 1.3).astype(np.float32)
