"""Changes of landmarks by chance, as other people and detectors would make them.

    hands       depth stretched or lost; turned in space by some 12 degrees and scaled
    arms        scaled, turned in the picture and moved
    detector    noise; a hand lost for a while; elbows, face or length lost
    mirror      left and right exchanged; off unless it is asked for

The embedding of enrolled words has learnt from made-up signs that are changed so, and a
recogniser of landmarks learns from clips that are. Time is warped elsewhere.
"""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from torch import Tensor

from coursepkg.app.recipe import Share, check_fields, within
from coursepkg.projects.sign_language.few_shot.embedding import PARTS


def augmented(
    rows: Tensor, generator: torch.Generator, angles: Tensor | None = None
) -> Tensor:
    """Numbers of signs changed by chance, each clip by itself.

    Args:
        rows: float32 (P, N, F).
        generator: where chance comes from.
        angles: by which arms are turned in the picture, in radians (P,); None draws
            them, some 5 degrees.

    Returns:
        float32 (P, N, F).
    """

    def uniform(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    def kept(share: float) -> Tensor:
        return (uniform(len(rows), 1, 1) < share).float()

    count, n_steps = rows.shape[:2]
    hands, seen, wrists, elbows, face, length = rows.split(PARTS, dim=2)
    hands = hands.unflatten(2, (2, 20, 3))
    depth = (0.1 + 1.2 * uniform(count, 1, 1, 1)) * (uniform(count, 1, 1, 1) > 0.25)
    hands = torch.cat([hands[..., :2], hands[..., 2:] * depth[..., None]], dim=-1)
    hands = turned_in_space(hands, 0.2 * normal(count, 2, 3))
    hands = hands * torch.exp(0.1 * normal(count, 1, 2, 1, 1))
    hands = hands + 0.02 * normal(*hands.shape) + 0.04 * normal(count, 1, 2, 20, 3)
    angle = 0.08 * normal(count) if angles is None else angles
    scale = torch.exp(0.12 * normal(count, 1, 1, 1))
    turn = torch.stack(
        [angle.cos(), -angle.sin(), angle.sin(), angle.cos()], dim=1
    ).unflatten(1, (2, 2))

    def placed(points: Tensor, noise: float) -> Tensor:
        flat = points.unflatten(2, (-1, 2)) * scale
        flat = torch.einsum("pij,pnkj->pnki", turn, flat)
        return (flat + noise * normal(count, 1, flat.shape[2], 2)).flatten(2)

    away = normal(count, 1, 2) * torch.tensor([0.1, 0.15])
    wrists = placed(wrists, 0.05) + away.repeat(1, 1, 2) + 0.03 * normal(*wrists.shape)
    begin = (2 * uniform(count, 1, 2) - 1) * n_steps
    place = torch.arange(n_steps)[None, :, None]
    lost = (place >= begin) & (place < begin + 0.25 * n_steps * uniform(count, 1, 2))
    there = 1 - lost.float()
    hands, seen = hands * there[..., None, None], seen * there * kept(0.85)
    elbows, face = placed(elbows, 0.08) * kept(0.75), placed(face, 0.05) * kept(0.75)
    length = (length + 0.3 * normal(count, 1, 1)) * kept(0.5)
    return torch.cat([hands.flatten(2), seen, wrists, elbows, face, length], dim=2)


def turned_in_space(hands: Tensor, angles: Tensor) -> Tensor:
    """Turn hands (P, N, 2, 20, 3) about all axes by angles (P, 2, 3) in radians."""
    for axis, (first, second) in enumerate(((1, 2), (0, 2), (0, 1))):
        cos, sin = (
            one(angles[..., axis])[:, None, :, None] for one in (torch.cos, torch.sin)
        )
        parts = list(hands.unbind(dim=-1))
        a, b = parts[first], parts[second]
        parts[first], parts[second] = cos * a - sin * b, sin * a + cos * b
        hands = torch.stack(parts, dim=-1)
    return hands


def mirrored(rows: Tensor) -> Tensor:
    """Numbers of signs (..., F) as `SignSteps.mirrored` would give them."""
    hands, seen, wrists, elbows, face, length = rows.split(PARTS, dim=-1)
    flat = torch.tensor([-1.0, 1.0])
    hands = hands.unflatten(-1, (2, 20, 3)).flip(-3) * torch.tensor([-1.0, 1.0, 1.0])
    arms = [(one.unflatten(-1, (2, 2)).flip(-2) * flat) for one in (wrists, elbows)]
    face = face.unflatten(-1, (3, 2))[..., (0, 2, 1), :] * flat
    parts = [hands.flatten(-3), seen.flip(-1), *(one.flatten(-2) for one in arms)]
    return torch.cat([*parts, face.flatten(-2), length], dim=-1)


@dataclass(frozen=True)
class LandmarkConfig:
    """How landmarks are changed.

    Raises:
        ValueError: a field is out of range.
    """

    rotation: Annotated[float, within(0, 45)] = 5.0
    """Most degrees by which arms are turned in the picture, in [0, 45]; 0 leaves
    landmarks as they are."""
    flip: Share = 0.0
    """How often left and right are exchanged, in [0, 1]."""

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class LandmarkAugmentation:
    """It changes the landmarks of each clip, as the `change_frames` of `ClipBatches`.

    A clip in which nobody is found stays as it is.
    """

    config: LandmarkConfig

    def __call__(self, frames: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The numbers of a clip, float32 (T, F), to others."""
        generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        rows, most = torch.from_numpy(frames)[None], math.radians(self.config.rotation)
        if rng.random() < self.config.flip:
            rows = mirrored(rows)
        if most and frames.any():
            angles = torch.tensor([rng.uniform(-most, most)], dtype=torch.float32)
            rows = augmented(rows, generator, angles)
        return rows[0].numpy()
