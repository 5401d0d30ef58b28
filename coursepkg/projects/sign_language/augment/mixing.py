"""Mixup and CutMix of clips, in the pictures and in time, with targets that say how much of each clip is left.

| kind | what is mixed | share of the first clip |
| --- | --- | --- |
| mixup | all frames, blended alike | lam |
| mixup-time | all frames, blended from one clip into the other | mean of lam over time |
| cutmix-space | a box, in the same place of all frames | 1 - area of the box |
| cutmix-time | a run of frames | 1 - length of the run |

The targets follow pixels and frames, not meaning: a run of frames in which the hands rest takes a share of the word
with it that it never had. That is the price of all four.

Sources: mixup: Zhang et al. (arXiv 1710.09412), equation 1. CutMix: Yun et al. (arXiv 1905.04899), section 3.1; a run
of frames is its box along the axis of time.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from coursepkg.arguments import check_count, check_field, check_finite

KINDS = ("mixup", "mixup-time", "cutmix-space", "cutmix-time")


@dataclass(frozen=True)
class MixConfig:
    """How batches are mixed.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    kinds: tuple[str, ...] = ("mixup",)
    """Of `KINDS`; with several each batch draws one of them, all equally often."""
    rate: float = 1.0
    """Share of the batches that are mixed, in [0, 1]; the others stay whole."""
    alpha: float = 0.4
    """The share of the first clip is drawn from Beta(alpha, alpha), above 0: 1 is even, less keeps near 0 and 1."""

    def __post_init__(self) -> None:
        known = bool(self.kinds) and set(self.kinds) <= set(KINDS)
        check_field(self, "kinds", known, f"some of {', '.join(KINDS)}")
        for name in ("rate", "alpha"):
            check_finite(f"--{name}", getattr(self, name))
        check_field(self, "rate", 0 <= self.rate <= 1, "in [0, 1]")
        check_field(self, "alpha", self.alpha > 0, "above 0")


@dataclass(frozen=True)
class Weights:
    """How much of the first clip is left at every place; its partner has the rest."""

    places: Tensor
    """Float32 (B, T, 1, H, W) or what broadcasts to it, in [0, 1]."""
    partners: Tensor
    """Which clip of the batch each is mixed with, int64 (B,)."""


def draw_weights(
    kind: str, shape: tuple[int, int, int, int], alpha: float, rng: np.random.Generator
) -> Weights:
    """A draw for every clip of a batch.

    Args:
        kind: of `KINDS`.
        shape: clips, frames, height and width: (B, T, H, W).
        alpha: see `MixConfig`.
        rng: where chance comes from.

    Raises:
        ValueError: the kind is unknown.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    clips, frames, height, width = shape
    partners = torch.from_numpy(rng.permutation(clips))
    whole = (clips, 1, 1, height, width) if kind == "cutmix-space" else (clips, frames, 1, 1, 1)
    places = np.ones(whole, np.float32)
    for row, lam in zip(places, rng.beta(alpha, alpha, clips), strict=True):
        if kind == "mixup":
            row[:] = lam
        elif kind == "mixup-time":
            row[:] = _fading(frames, lam, rng)[:, None, None, None]
        elif kind == "cutmix-time":
            start, stop = _run(frames, 1 - lam, rng)
            row[start:stop] = 0
        else:
            top, bottom = _run(height, np.sqrt(1 - lam), rng)
            left, right = _run(width, np.sqrt(1 - lam), rng)
            row[:, :, top:bottom, left:right] = 0
    return Weights(torch.from_numpy(places), partners)


def apply_weights(
    frames: Tensor, mask: Tensor, targets: Tensor, weights: Weights
) -> tuple[Tensor, Tensor, Tensor]:
    """Mix the clips of a batch.

    Every frame is blended as the weights say. Only real frames count: where one of two clips has none, the other's
    picture is shown whole. The target is the share that each clip has in what is seen, on average over real frames.

    Args:
        frames: (B, T, 3, H, W).
        mask: bool (B, T), True where a frame is real.
        targets: float32 (B, V), each row adds up to 1.
        weights: drawn by `draw_weights`.

    Returns:
        frames, mask and targets of the same shapes.
    """
    own, others = mask[:, :, None, None, None], mask[weights.partners][:, :, None, None, None]
    # Where neither is real the first clip stays, as padding.
    places = torch.where(own & others, weights.places, torch.where(others & ~own, 0.0, 1.0))
    mixed = torch.lerp(frames[weights.partners], frames, places.to(frames.dtype))
    real = mask | mask[weights.partners]
    left = places.mean(dim=(2, 3, 4))  # (B, T)
    share = (left * real).sum(1) / real.sum(1).clamp_min(1)
    # A clip of padding alone keeps its target.
    share = torch.where(real.any(1), share, 1.0)[:, None]
    return mixed, real, share * targets + (1 - share) * targets[weights.partners]


class MixClips:
    """The step of `ClipBatches` that mixes the clips of a batch with one another.

    Args:
        config: how often and how strongly.
        n_classes: of the label list, V.
    """

    def __init__(self, config: MixConfig, n_classes: int) -> None:
        check_count("n_classes", n_classes)
        self.config, self.n_classes = config, n_classes

    def __call__(self, batch: Any, rng: np.random.Generator) -> Any:
        """A batch with soft targets, float32 (B, V), whether it was mixed or not.

        Args:
            batch: a dataclass with `frames` (B, T, 3, H, W), `mask` (B, T) and `targets`, class numbers (B,) or shares
                of the classes (B, V).
            rng: where chance comes from.
        """
        targets = soft_targets(batch.targets, self.n_classes)
        if rng.random() >= self.config.rate:
            return replace(batch, targets=targets)
        kind = self.config.kinds[int(rng.integers(len(self.config.kinds)))]
        clips, frames, _, height, width = batch.frames.shape
        weights = draw_weights(kind, (clips, frames, height, width), self.config.alpha, rng)
        mixed, mask, shares = apply_weights(batch.frames, batch.mask, targets, weights)
        return replace(batch, frames=mixed, mask=mask, targets=shares)


def soft_targets(targets: Tensor, n_classes: int) -> Tensor:
    """Class numbers (B,) as shares of the classes (B, V), float32; shares stay as they are.

    Raises:
        ValueError: a class number is not below `n_classes`, or there are other shares than classes.
    """
    if targets.dim() == 2:
        if targets.shape[1] != n_classes:
            raise ValueError(f"targets must have {n_classes} shares a clip, got {targets.shape[1]}")
        return targets.float()
    if targets.numel() and not 0 <= int(targets.min()) <= int(targets.max()) < n_classes:
        raise ValueError(f"targets must be in 0..{n_classes - 1}, got {targets.tolist()}")
    return torch.nn.functional.one_hot(targets, n_classes).float()


def _run(length: int, share: float, rng: np.random.Generator) -> tuple[int, int]:
    """A stretch of about this share of a length, anywhere in it."""
    size = round(share * length)
    start = int(rng.integers(length - size + 1))
    return start, start + size


def _fading(frames: int, lam: float, rng: np.random.Generator) -> np.ndarray:
    """Weights (T,) that fall or rise between 1 and 0 in half the time of a clip, so that about lam of it is left."""
    moments = (np.arange(frames) + 0.5) / frames
    falling = np.clip(0.5 + (lam - moments) / 0.5, 0, 1)
    return falling if rng.random() < 0.5 else falling[::-1]
