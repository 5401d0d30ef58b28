"""Outlines that a figure is put together from. Points are in the picture's axes: x to the right, y down, in heads."""

from dataclasses import dataclass

import numpy as np

from coursepkg.projects.sign_language.synthetic.signer import Colour


@dataclass(frozen=True, eq=False)
class Part:
    """A filled outline through all frames of a clip; later parts cover earlier ones."""

    colour: Colour
    points: np.ndarray
    """(T, n, 2)."""


def still(colour: Colour, points: object, n_frames: int) -> Part:
    """A part that stands still: its points (n, 2) for every frame."""
    outline = np.asarray(points, float)
    return Part(colour, np.broadcast_to(outline, (n_frames, *outline.shape)))


def ellipse(
    centre: tuple[float, float], radii: tuple[float, float], begin: float = 0.0, end: float = 360.0
) -> np.ndarray:
    """An ellipse, or the piece of it between two angles clockwise from the right, as (n, 2)."""
    angles = np.radians(np.linspace(begin, end, 25))
    return np.stack([centre[0] + radii[0] * np.cos(angles), centre[1] + radii[1] * np.sin(angles)], axis=-1)


def box(left: float, top: float, right: float, bottom: float) -> np.ndarray:
    """A rectangle as (4, 2)."""
    return np.array([[left, top], [right, top], [right, bottom], [left, bottom]])


def capsule(
    begin: np.ndarray, end: np.ndarray, first: np.ndarray | float, last: np.ndarray | float
) -> np.ndarray:
    """A limb with round ends.

    Args:
        begin: one end, (..., 2).
        end: the other, (..., 2).
        first: half its width at the begin; a number, or one that spreads over the leading axes.
        last: half its width at the end.

    Returns:
        outlines (..., 12, 2).
    """
    way = end - begin
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    along = np.where(length > 1e-6, way / np.maximum(length, 1e-6), np.array([0.0, 1.0]))
    across = np.stack([-along[..., 1], along[..., 0]], axis=-1)
    angles = np.linspace(0, np.pi, 6)[:, None]
    rim = along[..., None, :] * np.sin(angles) + across[..., None, :] * np.cos(angles)
    first, last = np.asarray(first)[..., None, None], np.asarray(last)[..., None, None]
    return np.concatenate([end[..., None, :] + last * rim, begin[..., None, :] - first * rim], axis=-2)


def rotated(points: np.ndarray, degrees: np.ndarray, about: tuple[float, float]) -> np.ndarray:
    """Points (T, n, 2) turned clockwise about one point, by an angle for every frame (T,)."""
    angle = np.radians(degrees)[:, None]
    x, y = points[..., 0] - about[0], points[..., 1] - about[1]
    return np.stack(
        [about[0] + x * np.cos(angle) - y * np.sin(angle), about[1] + x * np.sin(angle) + y * np.cos(angle)],
        axis=-1,
    )
