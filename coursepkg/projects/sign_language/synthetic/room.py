"""Where a drawn signer stands: room, light, and the camera, which may move."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.random import Generator
from PIL import Image, ImageDraw

from coursepkg.projects.sign_language.synthetic.signer import (
    Colour,
    Pen,
    Signer,
    shaded,
    vivid,
)

TILE = 768
"""Side of the fixed field of noise that frames cut their grain from: drawing it anew
would be the slowest step."""


@dataclass(frozen=True, eq=False)
class Camera:
    """A camera maps points in heads to shares of the picture.

    A point p becomes scale * turn(p) + centre + drift.
    """

    scale: float
    """Height of a head."""
    centre: tuple[float, float]
    """Where the middle of the shoulders is."""
    degrees: float
    """By which the camera is turned clockwise."""
    drift: np.ndarray
    """How the signer sways, (T, 2)."""

    def place(self, points: np.ndarray, size: int) -> np.ndarray:
        """Points (T, n, 2) in heads as pixels of a picture of that size."""
        angle = np.radians(self.degrees)
        turn = self.scale * np.array(
            [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
        )
        return np.asarray((points @ turn + self.centre + self.drift[:, None]) * size)


def draw_camera(signer: Signer, n_frames: int, rng: Generator) -> Camera:
    """Draw the camera of one clip.

    It is near where this signer always stands, but differs from clip to clip.
    """
    scale = signer.scale * rng.uniform(0.94, 1.06)
    shift = np.array(signer.camera) + rng.uniform(-0.03, 0.03, 2)
    degrees = rng.normal(0, 1.5)
    turns = rng.uniform(0, 2 * np.pi, 2) + np.linspace(0, 1, n_frames)[
        :, None
    ] * rng.uniform(2, 7, 2)
    drift = 0.006 * np.sin(turns) + rng.normal(0, 0.0012, (n_frames, 2))
    return Camera(scale, (0.5 + shift[0], 0.53 + shift[1]), float(degrees), drift)


@dataclass(frozen=True, eq=False)
class CameraMove:
    """How a camera moves in the course of a clip, in shares of the picture.

    A point p of the picture of a camera that stands still is seen at
    zoom * (p - 1/2) + 1/2 + shift.
    """

    zoom: np.ndarray
    """(T,)."""
    shift: np.ndarray
    """(T, 2)."""

    def moved(self, points: np.ndarray, size: int) -> np.ndarray:
        """Points (T, n, 2) in pixels of a picture of that size, as they are seen."""
        middle = size / 2
        zoomed = (points - middle) * self.zoom[:, None, None]
        return np.asarray(zoomed + middle + self.shift[:, None] * size)

    def seen(self, room: Image.Image, number: int, size: int) -> Image.Image:
        """What is seen of a room in one frame.

        Args:
            room: a picture `ROOM` times as wide and high as what is seen.
            number: of the frame.
            size: height and width of what is seen, in pixels.
        """
        factor = 1 / float(self.zoom[number])
        across, down = (
            room.width / 2 - factor * size * (0.5 + float(one))
            for one in self.shift[number]
        )
        matrix = (factor, 0.0, across, 0.0, factor, down)
        return room.transform(
            (size, size), Image.Transform.AFFINE, matrix, Image.Resampling.BILINEAR
        )


ROOM = 1.5
"""Width of a room before a moving camera, as a multiple of the picture's."""


def draw_camera_move(n_frames: int, rng: Generator) -> CameraMove:
    """A slow pan and zoom, and a hand that shakes.

    The pan leads by up to 0.07 of the picture to each side of the middle, the zoom from
    one factor in [0.9, 1.1] to another, and the shake has a deviation of 0.001 to 0.006
    of the picture, from frame to frame half as strong as the frame before.
    """
    u = np.linspace(0, 1, n_frames)[:, None]
    first, last = rng.uniform(-0.07, 0.07, (2, 2))
    shake = rng.normal(0, rng.uniform(0.001, 0.006), (n_frames, 2))
    for number in range(1, n_frames):
        shake[number] += 0.5 * shake[number - 1]
    begin, end = rng.uniform(0.9, 1.1, 2)
    zoom = begin + (end - begin) * u[:, 0]
    return CameraMove(zoom, first + (last - first) * u + shake)


@dataclass(frozen=True, eq=False)
class Light:
    """What the light and the sensor do to a frame."""

    gain: np.ndarray
    """Factor of every pixel and colour, float32 (height, width, 3)."""
    grain: float
    """Deviation of the noise, in gray levels of 255."""

    def shine(self, frame: np.ndarray, rng: Generator) -> np.ndarray:
        """The frame, uint8 (height, width, 3), as the camera stores it."""
        height, width, _ = frame.shape
        top, left = (
            rng.integers(0, TILE - height + 1),
            rng.integers(0, TILE - width + 1),
        )
        noise = noise_field()[
            top : top + height, left : left + width, None
        ] * np.float32(self.grain)
        lit = frame * self.gain
        lit += noise + np.float32(0.5)
        return np.clip(lit, 0, 255).astype(np.uint8)


@cache
def noise_field() -> np.ndarray:
    """Standard normal noise, the same in every process, float32 (TILE, TILE)."""
    return np.random.Generator(np.random.PCG64(0)).standard_normal(
        (TILE, TILE), np.float32
    )


def draw_light(size: int, rng: Generator) -> Light:
    """Bright or dim, warm or cold, from one side or from above."""
    level = rng.uniform(0.62, 1.12)
    warm, green = rng.normal(0, 0.06), rng.normal(0, 0.02)
    tint = np.array([1 + warm, 1 + green, 1 - warm])
    side, above = rng.uniform(-0.25, 0.25), rng.uniform(-0.1, 0.25)
    x, y = np.linspace(-1, 1, size)[None], np.linspace(-1, 1, size)[:, None]
    gain = level * (1 + side * x - above * y)[..., None] * tint
    return Light(gain.astype(np.float32), float(rng.uniform(1.0, 4.0)))


def draw_background(size: int, rng: Generator) -> Image.Image:
    """A wall and what is on it or before it, RGB (size, size)."""
    colour = vivid(rng)
    # Walls are paler than clothes.
    pale = rng.uniform(60, 235, 3).tolist()
    red, green, blue = (
        round(0.5 * one + 0.5 * other) for one, other in zip(colour, pale, strict=True)
    )
    wall = red, green, blue
    image = Image.new("RGB", (size, size), wall)
    kinds: list[Callable[[Pen, int, Colour, Generator], None]]
    kinds = [_plain, _plain, _curtain, _boards, _shelf, _window, _pictures, _corner]
    kinds[int(rng.integers(len(kinds)))](ImageDraw.Draw(image), size, wall, rng)
    return image


def _plain(draw: Pen, size: int, wall: Colour, rng: Generator) -> None:
    """Nothing but the wall, darker below."""
    for row in range(0, size, max(1, size // 64)):
        draw.rectangle(
            (0, row, size, size), fill=shaded(wall, 1.04 - 0.14 * row / size)
        )


def _curtain(draw: Pen, size: int, wall: Colour, rng: Generator) -> None:
    waves, phase = rng.uniform(4, 12), rng.uniform(0, 6)
    step = max(1, size // 112)
    for column in range(0, size, step):
        light = 0.92 + 0.12 * np.sin(phase + 2 * np.pi * waves * column / size)
        draw.rectangle((column, 0, column + step, size), fill=shaded(wall, light))


def _boards(draw: Pen, size: int, wall: Colour, rng: Generator) -> None:
    n_boards, upright = int(rng.integers(5, 14)), bool(rng.random() < 0.5)
    for line in np.linspace(0, size, n_boards).tolist():
        ends = (line, 0, line, size) if upright else (0, line, size, line)
        draw.line(ends, fill=shaded(wall, 0.78), width=max(1, size // 110))


def _shelf(draw: Pen, size: int, wall: Colour, rng: Generator) -> None:
    for board in (
        np.arange(rng.uniform(0.05, 0.2), 1.0, rng.uniform(0.22, 0.34)) * size
    ).tolist():
        draw.rectangle((0, board, size, board + size * 0.02), fill=shaded(wall, 0.55))
        left = 0.0
        while left < size:
            wide, high = rng.uniform(0.02, 0.07) * size, rng.uniform(0.08, 0.17) * size
            if rng.random() < 0.75:
                draw.rectangle(
                    (left, board - high, left + wide, board), fill=vivid(rng)
                )
            left += wide * 1.1


def _window(draw: Pen, size: int, wall: Colour, rng: Generator) -> None:
    left, top = rng.uniform(-0.1, 0.6) * size, rng.uniform(-0.1, 0.2) * size
    wide, high = rng.uniform(0.3, 0.5) * size, rng.uniform(0.4, 0.7) * size
    draw.rectangle(
        (left, top, left + wide, top + high),
        fill=(222, 232, 240),
        outline=shaded(wall, 0.6),
        width=size // 45,
    )
    draw.line(
        (left + wide / 2, top, left + wide / 2, top + high),
        fill=shaded(wall, 0.6),
        width=size // 60 + 1,
    )


def _pictures(draw: Pen, size: int, wall: Colour, rng: Generator) -> None:
    for _ in range(int(rng.integers(1, 5))):
        left, top, wide, high = (
            rng.uniform((-0.1, -0.05, 0.12, 0.12), (0.9, 0.6, 0.35, 0.3)) * size
        )
        draw.rectangle(
            (left, top, left + wide, top + high),
            fill=vivid(rng),
            outline=(60, 44, 34),
            width=size // 75 + 1,
        )


def _corner(draw: Pen, size: int, wall: Colour, rng: Generator) -> None:
    edge, slope, floor = (
        rng.uniform(0.1, 0.9) * size,
        rng.uniform(-0.1, 0.1) * size,
        rng.uniform(0.62, 0.95) * size,
    )
    draw.polygon(
        ((edge, 0), (size, 0), (size, size), (edge + slope, size)),
        fill=shaded(wall, 0.84),
    )
    draw.rectangle((0, floor, size, size), fill=shaded(vivid(rng), 0.8))
