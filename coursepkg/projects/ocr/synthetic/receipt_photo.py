"""A printed receipt before a camera: paper, light, background and perspective, with the outline of every line."""

import math

import numpy as np
from PIL import Image

from coursepkg.projects.ocr.data.geometry import homography, map_points
from coursepkg.projects.ocr.synthetic import optics, paper

SIZES = ((768, 1024), (576, 1024), (960, 1280), (720, 1280), (1024, 768))
"""Width and height of photographs, as telephones and messengers make them."""


def box_corners(box: tuple[int, int, int, int], margin: int = 2) -> np.ndarray:
    """The corners (4, 2) of a box left, top, right, bottom, clockwise from the upper left, a little widened."""
    left, top, right, bottom = box[0] - margin, box[1] - margin, box[2] + margin, box[3] + margin
    return np.array([[left, top], [right, top], [right, bottom], [left, bottom]], float)


def background(size: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """What the receipt lies on: blots or boards, float32 RGB (height, width, 3)."""
    height, width = size
    colour = (rng.uniform(35, 190) + rng.normal(0, 18, 3)).astype(np.float32)
    grain = paper.smooth_noise(size, rng.uniform(3, 60), rng) * np.float32(rng.uniform(3, 18))
    if rng.random() < 0.5:
        x, y = np.arange(width, dtype=np.float32)[None], np.arange(height, dtype=np.float32)[:, None]
        angle = rng.uniform(0, math.pi)
        waves = np.sin((x * math.cos(angle) + y * math.sin(angle)) / rng.uniform(8, 40))
        grain = grain + np.where(waves > 0.9, -40, 0).astype(np.float32)
    return colour + grain[..., None]


def place_on_photo(
    sheet: tuple[int, int], size: tuple[int, int], rng: np.random.Generator, *, quarter: int = 0
) -> np.ndarray:
    """The perspective map (3, 3) from the paper to the photograph.

    Args:
        sheet: height and width of the paper.
        size: height and width of the photograph.
        rng: where chance comes from.
        quarter: how often the receipt is turned by 90 degrees clockwise.
    """
    height, width = sheet
    room = size if quarter % 2 == 0 else size[::-1]
    scale = min(room[0] / height, room[1] / width) * rng.uniform(0.8, 0.95)
    angle = rng.normal(0, 0.04) + quarter * math.pi / 2
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], float)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    target = (corners - [width / 2, height / 2]) * scale @ turn.T
    target += rng.normal(0, 0.012, (4, 2)) * scale * height + np.array(size[::-1]) / 2
    return homography(corners, target)


def worn_paper(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The paper with grain, pale ink and folds, float32."""
    picture = paper.ink_and_paper(image.astype(np.float32), rng, most=0.45)
    picture = paper.texture(picture, rng)
    for _ in range(rng.integers(0, 4)):
        picture = paper.fold(picture, rng, line_height=30.0)
    return picture


def photograph(
    image: np.ndarray, size: tuple[int, int], rng: np.random.Generator, *, quarter: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """A photograph of the paper.

    Args:
        image: uint8 (height, width), the printed paper.
        size: height and width of the photograph.
        rng: where chance comes from.
        quarter: how often the receipt is turned by 90 degrees clockwise.

    Returns:
        uint8 RGB (height, width, 3), and the map (3, 3) that takes points of the paper to the photograph.
    """
    matrix = place_on_photo((image.shape[0], image.shape[1]), size, rng, quarter=quarter)
    inverse = np.linalg.inv(matrix)
    inverse = inverse / inverse[2, 2]
    worn = Image.fromarray(np.clip(worn_paper(image, rng), 0, 255).astype(np.uint8))
    coefficients = tuple(inverse.reshape(-1)[:8])
    flat, where = (
        np.asarray(
            one.transform(size[::-1], Image.Transform.PERSPECTIVE, coefficients, Image.Resampling.BICUBIC),
            np.float32,
        )
        for one in (worn, Image.new("L", worn.size, 255))
    )
    cover = where[..., None] / 255
    tint = np.float32(1) - rng.uniform(0, 0.16, 3).astype(np.float32) * np.array([0.1, 0.4, 1], np.float32)
    scene = background(size, rng) * (1 - cover) + flat[..., None] * tint * cover
    return _camera(scene, rng), matrix


def _camera(scene: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    light = paper.uneven_light(np.ones(scene.shape[:2], np.float32), rng)
    noise = paper.normal_noise((scene.shape[0], scene.shape[1]), rng) * np.float32(rng.uniform(0, 8))
    scene = scene * light[..., None] + noise[..., None]
    if rng.random() < 0.5:
        strength = rng.uniform(0, 1.6) / scene.shape[0]
        state = rng.bit_generator.state
        channels = []
        for channel in range(3):
            # All colours are blurred alike.
            rng.bit_generator.state = state
            channels.append(optics.blur(np.ascontiguousarray(scene[..., channel]), rng, strength=strength))
        scene = np.stack(channels, axis=-1)
    return np.clip(np.rint(scene), 0, 255).astype(np.uint8)


def outline(matrix: np.ndarray, box: tuple[int, int, int, int]) -> np.ndarray:
    """Where a box of the paper is in the photograph: (4, 2), in the reader's order from the upper left."""
    return map_points(matrix, box_corners(box))
