"""Effects of camera and file on a line. Pictures are float32 (height, width) in 0..255."""

import io
import math

import numpy as np
from PIL import Image, ImageFilter

from coursepkg.projects.ocr.data.geometry import homography
from coursepkg.projects.ocr.synthetic.paper import normal_noise


def _bytes(picture: np.ndarray) -> Image.Image:
    return Image.fromarray(np.clip(picture, 0, 255).astype(np.uint8))


def _floats(image: Image.Image) -> np.ndarray:
    return np.asarray(image, np.float32)


def warp(picture: np.ndarray, rng: np.random.Generator, *, degrees: float) -> np.ndarray:
    """A small turn and the angle of the camera; the picture grows so that all of it stays in view."""
    height, width = picture.shape
    # A long line turned by the same angle would be a tall picture: its ends rise by half its height at most.
    angle = min(math.radians(abs(rng.normal(0, degrees / 2))), math.radians(degrees), 0.5 * height / width)
    angle *= rng.choice((-1, 1))
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], float)
    centre = np.array([width / 2, height / 2])
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    target = (corners - centre) @ turn.T + rng.uniform(-1, 1, (4, 2)) * height * degrees / 100
    target -= target.min(axis=0)
    size = np.ceil(target.max(axis=0)).astype(int)
    back = homography(target, corners)
    ground = float(np.percentile(picture[:: max(1, height // 8), :: max(1, width // 64)], 90))
    turned = _bytes(picture).transform(
        (int(size[0]), int(size[1])),
        Image.Transform.PERSPECTIVE,
        tuple(back.reshape(-1)[:8]),
        Image.Resampling.BILINEAR,
        fillcolor=round(min(255.0, max(0.0, ground))),
    )
    return _floats(turned)


def blur(picture: np.ndarray, rng: np.random.Generator, *, strength: float) -> np.ndarray:
    """Out of focus, or moved along one direction while the shutter was open."""
    deviation = rng.random() * strength * picture.shape[0]
    if rng.random() < 0.7:
        return _floats(_bytes(picture).filter(ImageFilter.GaussianBlur(deviation)))
    length, angle = 2 * deviation, rng.uniform(0, math.pi)
    steps = max(2, math.ceil(length) + 1)
    way = np.linspace(-length / 2, length / 2, steps)
    shifts = {(round(s * math.sin(angle)), round(s * math.cos(angle))) for s in way}
    # Sorted, for the order of a set is nobody's promise and sums of floats depend on it.
    moved = [_shifted(picture, down, right) for down, right in sorted(shifts)]
    return np.asarray(sum(moved) / np.float32(len(moved)), np.float32)


def _shifted(picture: np.ndarray, down: int, right: int) -> np.ndarray:
    padded = np.pad(picture, ((abs(down),) * 2, (abs(right),) * 2), mode="edge")
    top, left = abs(down) - down, abs(right) - right
    return padded[top : top + picture.shape[0], left : left + picture.shape[1]]


def low_resolution(picture: np.ndarray, rng: np.random.Generator, *, least_height: int) -> np.ndarray:
    """Fewer pixels, then enlarged again; a picture that is as low as that already stays."""
    height, width = picture.shape
    small = round(rng.uniform(least_height, height)) if height > least_height else height
    if small >= height:
        return picture
    size = max(2, round(width * small / height)), small
    down = _bytes(picture).resize(
        size, Image.Resampling.BOX if rng.random() < 0.5 else Image.Resampling.BILINEAR
    )
    up = Image.Resampling.NEAREST if rng.random() < 0.1 else Image.Resampling.BICUBIC
    return _floats(down.resize((width, height), up))


def noise(picture: np.ndarray, rng: np.random.Generator, *, strength: float) -> np.ndarray:
    """Noise of a sensor."""
    deviation = np.float32(rng.random() ** 1.5 * strength)
    return picture + normal_noise((picture.shape[0], picture.shape[1]), rng) * deviation


def binarise(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Contrast raised until little but black and white is left, held against the light of the surroundings.

    Programs that scan with a telephone do it so; one threshold for the whole line would turn a shadow black.
    """
    reach = picture.shape[0]
    light = np.pad(
        np.percentile(picture, 90, axis=0), reach, mode="edge"
    )  # letters fill no column to nine tenths
    around = np.lib.stride_tricks.sliding_window_view(light, 2 * reach + 1).mean(axis=1)
    even = picture * (255 / np.maximum(around, 1.0)).astype(np.float32)
    low, high = np.percentile(even, (2, 90))
    middle = low + (high - low) * rng.uniform(0.45, 0.65)
    return np.clip((even - np.float32(middle)) * np.float32(rng.uniform(3, 12)) + 128, 0, 255)


def invert(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Light letters on a dark ground."""
    return 255 - picture


def jpeg(picture: np.ndarray, rng: np.random.Generator, *, quality: int) -> np.ndarray:
    """Written as a JPEG file and read again."""
    file = io.BytesIO()
    _bytes(picture).save(file, "JPEG", quality=int(rng.integers(quality, 96)))
    return _floats(Image.open(file))
