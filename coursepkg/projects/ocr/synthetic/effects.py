"""What happens to a drawn line on its way through paper, printer, camera and file.

Every effect takes and gives a grayscale picture, float32 (height, width) in 0..255, and
draws from the generator it is handed. They come in the order of the world: paper,
bleed-through and folds; camera angle; light; lens; sensor; file.

`jitter` disturbs real pictures anew in every epoch, by weaker effects that move no
letter.
"""

import io
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache, partial

import numpy as np
from PIL import Image, ImageFilter

from coursepkg.projects.ocr.data.geometry import homography, projected, rectangle
from coursepkg.validation import check_finite

TILE = (256, 4096)
"""Size of the fixed field of noise that pictures cut their grain from: drawing it anew
would be the slowest step."""


@cache
def noise_field() -> np.ndarray:
    """Standard normal noise, the same in every process, float32 of the size `TILE`."""
    return np.random.Generator(np.random.PCG64(0)).standard_normal(TILE, np.float32)


def normal_noise(shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """A random piece of the field, or a new one for a larger picture."""
    if shape[0] > TILE[0] or shape[1] > TILE[1]:
        return rng.standard_normal(shape, np.float32)
    ends = (TILE[0] - shape[0] + 1, TILE[1] - shape[1] + 1, 4)
    top, left, turn = rng.integers(0, ends)
    piece = noise_field()[top : top + shape[0], left : left + shape[1]]
    return piece[:: 1 if turn & 1 else -1, :: 1 if turn & 2 else -1]


def smooth_noise(
    shape: tuple[int, int], scale: float, rng: np.random.Generator
) -> np.ndarray:
    """Noise whose blots are about `scale` pixels wide, with a deviation of about 1."""
    small = max(2, round(shape[0] / scale)), max(2, round(shape[1] / scale))
    coarse = Image.fromarray(np.ascontiguousarray(normal_noise(small, rng)))
    return np.asarray(coarse.resize(shape[::-1], Image.Resampling.BICUBIC))


def ink_and_paper(
    picture: np.ndarray, rng: np.random.Generator, *, most: float
) -> np.ndarray:
    """Gray ink on gray paper that differ by at least 1 - most of black to white."""
    span = 1 - most * rng.random() ** 1.5
    low = rng.random() * (1 - span) * 0.7
    return picture * np.float32(span) + np.float32(255 * low)


def fade(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Print that loses up to three quarters of its ink along the line."""
    width = picture.shape[1]
    n_knots = max(2, 2 + width // (6 * picture.shape[0]))
    kept = 1 - rng.uniform(0.1, 0.75) * rng.random(n_knots)
    along = np.interp(np.linspace(0, n_knots - 1, width), np.arange(n_knots), kept)
    return 255 - (255 - picture) * along.astype(np.float32)


def specks(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Dirt and holes of a scan: a few dots of a pixel or two."""
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


def fold(
    picture: np.ndarray, rng: np.random.Generator, *, line_height: float | None = None
) -> np.ndarray:
    """A crease: light on one side, dark on the other, a thin line between.

    It is as wide as a line is high: `line_height` pixels, or the height of the picture.
    """
    height, width = picture.shape
    line = height if line_height is None else line_height
    rows = np.arange(height, dtype=np.float32)[:, None]
    columns = np.arange(width, dtype=np.float32)[None]
    slope = rng.normal(0, 0.3)
    if rng.random() < 0.3:
        # Along the line instead of across it.
        across = rows - rng.uniform(0, height)
        distance = across + columns * np.float32(slope * line / width)
    else:
        along = columns - rng.uniform(0, width)
        distance = along + rows * np.float32(slope)
    reach = rng.uniform(0.2, 1.5) * line
    shade = np.sign(distance) * np.exp(-np.abs(distance) / reach) * rng.uniform(-35, 35)
    crack = np.exp(-((distance / max(1.0, line / 40)) ** 2)) * rng.uniform(-50, 70)
    return picture + (shade + crack).astype(np.float32)


def uneven_light(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A gradient of light, and often the soft edge of a shadow."""
    height, width = picture.shape
    x = np.linspace(-1, 1, width, dtype=np.float32)[None]
    y = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    side, tilt = rng.uniform(-0.25, 0.25), rng.uniform(-0.1, 0.1)
    light = 1 - rng.uniform(0, 0.3) + side * x + tilt * y
    if rng.random() < 0.5:
        edge = (x - rng.uniform(-1, 1)) * width / height + y * rng.normal(0, 0.7)
        depth = rng.uniform(0.1, 0.45)
        reach = np.clip(-edge * rng.uniform(0.8, 8), -50, 50)
        light = light * (1 - depth / (1 + np.exp(reach)))
    return picture * np.clip(light, 0.25, 1.3).astype(np.float32)


def _bytes(picture: np.ndarray) -> Image.Image:
    return Image.fromarray(np.clip(picture, 0, 255).astype(np.uint8))


def _floats(image: Image.Image) -> np.ndarray:
    return np.asarray(image, np.float32)


def warp(
    picture: np.ndarray, rng: np.random.Generator, *, degrees: float
) -> np.ndarray:
    """A small turn and the camera's angle; the picture grows to stay in view."""
    height, width = picture.shape
    # A long line turned by the same angle would be a tall picture: its ends rise by
    # half its height at most.
    angle = min(
        math.radians(abs(rng.normal(0, degrees / 2))),
        math.radians(degrees),
        0.5 * height / width,
    )
    angle *= rng.choice((-1, 1))
    corners = rectangle(0, 0, width, height)
    centred = corners - np.array([width / 2, height / 2])
    shake = rng.uniform(-1, 1, (4, 2)) * height * degrees / 100
    target = centred @ rotation(angle).T + shake
    target -= target.min(axis=0)
    wide, high = np.ceil(target.max(axis=0)).astype(int).tolist()
    some = picture[:: max(1, height // 8), :: max(1, width // 64)]
    ground = round(min(255.0, max(0.0, float(np.percentile(some, 90)))))
    back, between = homography(target, corners), Image.Resampling.BILINEAR
    return _floats(projected(_bytes(picture), (wide, high), back, between, ground))


def rotation(angle: float) -> np.ndarray:
    """The matrix (2, 2) that turns points, clockwise in a picture."""
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([[cos, -sin], [sin, cos]])


def blur(
    picture: np.ndarray, rng: np.random.Generator, *, strength: float
) -> np.ndarray:
    """Out of focus, or moved along one direction while the shutter was open."""
    deviation = rng.random() * strength * picture.shape[0]
    if rng.random() < 0.7:
        return _floats(_bytes(picture).filter(ImageFilter.GaussianBlur(deviation)))
    length, angle = 2 * deviation, rng.uniform(0, math.pi)
    steps = max(2, math.ceil(length) + 1)
    way = np.linspace(-length / 2, length / 2, steps)
    shifts = {(round(s * math.sin(angle)), round(s * math.cos(angle))) for s in way}
    # Sorted, for the order of a set is nobody's promise and sums of floats depend on
    # it.
    moved = [_shifted(picture, down, right) for down, right in sorted(shifts)]
    return np.asarray(sum(moved) / np.float32(len(moved)), np.float32)


def _shifted(picture: np.ndarray, down: int, right: int) -> np.ndarray:
    padded = np.pad(picture, ((abs(down),) * 2, (abs(right),) * 2), mode="edge")
    top, left = abs(down) - down, abs(right) - right
    return padded[top : top + picture.shape[0], left : left + picture.shape[1]]


def low_resolution(
    picture: np.ndarray, rng: np.random.Generator, *, least_height: int
) -> np.ndarray:
    """Fewer pixels, then enlarged again."""
    height, width = picture.shape
    if height <= least_height:
        return picture
    small = round(rng.uniform(least_height, height))
    if small >= height:
        return picture
    ways, size = Image.Resampling, (max(2, round(width * small / height)), small)
    down = _bytes(picture).resize(
        size, ways.BOX if rng.random() < 0.5 else ways.BILINEAR
    )
    up = ways.NEAREST if rng.random() < 0.1 else ways.BICUBIC
    return _floats(down.resize((width, height), up))


def noise(
    picture: np.ndarray, rng: np.random.Generator, *, strength: float
) -> np.ndarray:
    """Noise of a sensor."""
    deviation = np.float32(rng.random() ** 1.5 * strength)
    return picture + normal_noise((picture.shape[0], picture.shape[1]), rng) * deviation


def binarise(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Contrast raised against the surroundings until black and white are left.

    Programs that scan with a telephone do it so; one threshold for the whole line would
    turn a shadow black.
    """
    reach = picture.shape[0]
    # Letters fill no column to nine tenths.
    light = np.pad(np.percentile(picture, 90, axis=0), reach, mode="edge")
    around = np.lib.stride_tricks.sliding_window_view(light, 2 * reach + 1).mean(axis=1)
    even = picture * (255 / np.maximum(around, 1.0)).astype(np.float32)
    low, high = np.percentile(even, (2, 90))
    middle = low + (high - low) * rng.uniform(0.45, 0.65)
    steep = np.float32(rng.uniform(3, 12))
    return np.clip((even - np.float32(middle)) * steep + 128, 0, 255)


def invert(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Light letters on a dark ground."""
    return 255 - picture


def jpeg(picture: np.ndarray, rng: np.random.Generator, *, quality: int) -> np.ndarray:
    """Written as a JPEG file and read again."""
    file = io.BytesIO()
    _bytes(picture).save(file, "JPEG", quality=int(rng.integers(quality, 96)))
    return _floats(Image.open(file))


Effect = Callable[[np.ndarray, np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class EffectConfig:
    """How often each effect comes, in [0, 1], and how strong it is at most."""

    contrast: float = 0.0
    """Least difference between ink and paper is 1 - contrast of black to white, in [0,
    0.85]."""
    texture: float = 0.0
    """How often the paper has a grain."""
    fade: float = 0.0
    """How often the print fades along the line, as on old thermal paper."""
    specks: float = 0.0
    """How often specks of dirt lie on it, as on a scan."""
    bleed: float = 0.0
    """How often the other side of the paper shows through."""
    fold: float = 0.0
    """How often a crease crosses the line."""
    warp: float = 0.0
    """How often the line is turned and seen at an angle."""
    angle: float = 2.0
    """Most degrees of turning, in [0, 15]; the angle of the camera moves corners by up
    to as much of the height."""
    shadow: float = 0.0
    """How often a shadow or uneven light lies on it."""
    blur: float = 0.0
    """How often it is out of focus or moved."""
    blur_strength: float = 0.05
    """Largest deviation of the blur, in heights of the picture, in [0, 0.2]."""
    low_resolution: float = 0.0
    """How often it was taken from far away and enlarged."""
    least_height: int = 14
    """Height in pixels that such a picture had at least, from 6."""
    noise: float = 0.0
    """How often the sensor is noisy."""
    noise_strength: float = 18.0
    """Largest deviation of the noise, in gray levels of 255, in [0, 80]."""
    binarise: float = 0.0
    """How often contrast is pushed until hardly anything is gray."""
    jpeg: float = 0.0
    """How often the file is compressed."""
    jpeg_quality: int = 35
    """Lowest quality of JPEG, in 5..95."""
    invert: float = 0.0
    """How often light letters stand on a dark ground."""

    def __post_init__(self) -> None:
        ends = {
            "contrast": (0, 0.85),
            "angle": (0, 15.0),
            "blur_strength": (0, 0.2),
            "noise_strength": (0, 80.0),
            "least_height": (6, 10_000),
            "jpeg_quality": (5, 95),
        }
        for field in fields(self):
            name, value = field.name, getattr(self, field.name)
            low, high = ends.get(name, (0, 1))
            check_finite(name, value)
            if not low <= value <= high:
                raise ValueError(f"{name} must be in [{low}, {high}], got {value}")


PRESETS = {
    "clean": EffectConfig(),
    "screen": EffectConfig(
        contrast=0.3, fade=0.02, specks=0.06, low_resolution=0.3, least_height=16,
        blur=0.15, blur_strength=0.03, jpeg=0.3, jpeg_quality=50,
        noise=0.05, noise_strength=6.0, binarise=0.1, invert=0.08, warp=0.1, angle=0.5,
    ),
    "photo": EffectConfig(
        contrast=0.7, texture=0.5, fade=0.12, specks=0.03, bleed=0.1, fold=0.2,
        warp=0.7, angle=3.0, shadow=0.6, blur=0.6, blur_strength=0.06,
        low_resolution=0.4, least_height=13, noise=0.6, noise_strength=18.0,
        binarise=0.08, jpeg=0.6, jpeg_quality=30, invert=0.04,
    ),
}  # fmt: skip
"""`clean`: ink on white. `screen`: a page rendered or scanned. `photo`: a receipt held
before a telephone."""


def preset(name: str) -> EffectConfig:
    """The settings of a preset; a ValueError names those there are."""
    if name not in PRESETS:
        raise ValueError(
            f"effects: unknown preset {name!r}; choose from {', '.join(PRESETS)}"
        )
    return PRESETS[name]


def _chain(config: EffectConfig) -> tuple[tuple[float, Effect], ...]:
    least = config.least_height
    return (
        (config.fade, fade),
        (config.specks, specks),
        (float(config.contrast > 0), partial(ink_and_paper, most=config.contrast)),
        (config.texture, texture),
        (config.bleed, bleed_through),
        (config.fold, fold),
        (config.warp, partial(warp, degrees=config.angle)),
        (config.shadow, uneven_light),
        (config.blur, partial(blur, strength=config.blur_strength)),
        (config.low_resolution, partial(low_resolution, least_height=least)),
        (config.noise, partial(noise, strength=config.noise_strength)),
        (config.binarise, binarise),
        (config.invert, invert),
        (config.jpeg, partial(jpeg, quality=config.jpeg_quality)),
    )


def apply_effects(
    image: np.ndarray, config: EffectConfig, rng: np.random.Generator
) -> np.ndarray:
    """The picture after the effects that chance picks.

    Args:
        image: uint8 (height, width), dark letters on white.
        config: which effects come how often.
        rng: where chance comes from; the same state gives the same picture.

    Returns:
        uint8; of the same size, or a little larger where the line is turned.
    """
    chances = rng.random(14)
    picture = image.astype(np.float32)
    for chance, (share, effect) in zip(chances, _chain(config), strict=True):
        if chance < share:
            picture = effect(picture, rng)
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)


REAL = EffectConfig(
    contrast=0.3, texture=0.2, fade=0.1, specks=0.03, fold=0.05, shadow=0.3, blur=0.3,
    blur_strength=0.04, low_resolution=0.3, least_height=16, noise=0.4,
    noise_strength=12.0, jpeg=0.3, jpeg_quality=40,
)  # fmt: skip
"""How often and how strongly. Nothing is turned: that would change the size."""


def jitter(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A real picture with other light, sharpness and noise: an `augment`.

    Args:
        image: uint8 (height, width).
        rng: where chance comes from; the same state gives the same picture.

    Returns:
        uint8 (height, width) of the same size.
    """
    return apply_effects(image, REAL, rng)
