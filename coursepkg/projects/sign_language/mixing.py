"""Mixup and CutMix of clips, and all changes of training clips that a recipe asks for.

| kind | what is mixed | share of the first clip |
| --- | --- | --- |
| mixup | all frames, blended alike | lam |
| mixup-time | all frames, blended from one clip into the other | mean of lam |
| cutmix-space | a box, in the same place of all frames | 1 - area of the box |
| cutmix-time | a run of frames | 1 - length of the run |

The targets follow pixels and frames, not meaning: a run of frames in which the hands
rest takes a share of the word with it that it never had. That is the price of all four.

Sources: mixup: Zhang et al. (arXiv 1710.09412), equation 1. CutMix: Yun et al. (arXiv
1905.04899), section 3.1; a run of frames is its box along the axis of time.
"""

from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

import numpy as np
import torch
from torch import Tensor

from coursepkg.app.recipe import Positive, Share, check_fields, within
from coursepkg.projects.sign_language.augmentation import (
    DrawWarp,
    PictureAugmentation,
    PictureConfig,
    WarpConfig,
)
from coursepkg.projects.sign_language.data.batches import ChangeFrames
from coursepkg.projects.sign_language.landmarks.augmentation import (
    LandmarkAugmentation,
    LandmarkConfig,
)
from coursepkg.validation import check_choice, check_count, check_field

KINDS = ("mixup", "mixup-time", "cutmix-space", "cutmix-time")


@dataclass(frozen=True)
class MixConfig:
    """How batches are mixed.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    kinds: tuple[str, ...] = ("mixup",)
    """Of `KINDS`; with several each batch draws one of them, all equally often."""
    rate: Share = 1.0
    """Share of the batches that are mixed, in [0, 1]; the others stay whole."""
    alpha: Positive = 0.4
    """The share of the first clip is drawn from Beta(alpha, alpha), above 0: 1 is even,
    less keeps near 0 and 1."""

    def __post_init__(self) -> None:
        known = bool(self.kinds) and set(self.kinds) <= set(KINDS)
        check_field(self, "kinds", known, f"some of {', '.join(KINDS)}")
        check_fields(self)


@dataclass(frozen=True)
class Weights:
    """How much of the first clip is left at every place; its partner has the rest."""

    places: Tensor
    """Float32 (B, T, 1, H, W) or what broadcasts to it, in [0, 1]; of landmarks H and W
    are 1."""
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
    check_choice("kind", kind, KINDS)
    clips, frames, height, width = shape
    partners = torch.from_numpy(rng.permutation(clips))
    whole = (
        (clips, 1, 1, height, width)
        if kind == "cutmix-space"
        else (clips, frames, 1, 1, 1)
    )
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

    Every frame is blended as the weights say. Only real frames count: where one of two
    clips has none, the other's picture is shown whole. The target is the share that
    each clip has in what is seen, on average over real frames.

    Args:
        frames: (B, T, 3, H, W), or landmarks (B, T, F).
        mask: bool (B, T), True where a frame is real.
        targets: float32 (B, V), each row adds up to 1.
        weights: drawn by `draw_weights`.

    Returns:
        frames, mask and targets of the same shapes.
    """
    own, others = (
        mask[:, :, None, None, None],
        mask[weights.partners][:, :, None, None, None],
    )
    # Where neither is real the first clip stays, as padding.
    places = torch.where(
        own & others, weights.places, torch.where(others & ~own, 0.0, 1.0)
    )
    shares = places.to(frames.dtype)
    if frames.dim() == 3:
        shares = shares[..., 0, 0]
    mixed = torch.lerp(frames[weights.partners], frames, shares)
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
            batch: a dataclass with `frames` (B, T, 3, H, W), `mask` (B, T) and
                `targets`, class numbers (B,) or shares of the classes (B, V).
            rng: where chance comes from.
        """
        targets = soft_targets(batch.targets, self.n_classes)
        if rng.random() >= self.config.rate:
            return replace(batch, targets=targets)
        kind = self.config.kinds[int(rng.integers(len(self.config.kinds)))]
        clips, frames = batch.frames.shape[:2]
        height, width = batch.frames.shape[3:] or (1, 1)
        weights = draw_weights(
            kind, (clips, frames, height, width), self.config.alpha, rng
        )
        mixed, mask, shares = apply_weights(batch.frames, batch.mask, targets, weights)
        return replace(batch, frames=mixed, mask=mask, targets=shares)


def soft_targets(targets: Tensor, n_classes: int) -> Tensor:
    """Return class numbers (B,) or shares (B, V) as float32 class shares (B, V).

    Raises:
        ValueError: a class number is not below `n_classes`, or there are other shares
            than classes.
    """
    if targets.dim() == 2:
        if targets.shape[1] != n_classes:
            raise ValueError(
                f"targets must have {n_classes} shares a clip, got {targets.shape[1]}"
            )
        return targets.float()
    if (
        targets.numel()
        and not 0 <= int(targets.min()) <= int(targets.max()) < n_classes
    ):
        raise ValueError(
            f"targets must be in 0..{n_classes - 1}, got {targets.tolist()}"
        )
    return torch.nn.functional.one_hot(targets, n_classes).float()


def _run(length: int, share: float, rng: np.random.Generator) -> tuple[int, int]:
    """A stretch of about this share of a length, anywhere in it."""
    size = round(share * length)
    start = int(rng.integers(length - size + 1))
    return start, start + size


def _fading(frames: int, lam: float, rng: np.random.Generator) -> np.ndarray:
    """Return weights (T,) of mean about lam that fall or rise between 1 and 0.

    The change takes half the time of the clip.
    """
    moments = (np.arange(frames) + 0.5) / frames
    falling = np.clip(0.5 + (lam - moments) / 0.5, 0, 1)
    return falling if rng.random() < 0.5 else falling[::-1]


@dataclass(frozen=True)
class AugmentSettings:
    """How strongly training clips are changed.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    warp: Annotated[float, within(0, 0.9)] = 0.3
    """Strength of the uneven warp of time, in [0, 0.9]; 0 leaves time as it is."""
    crop: float = 0.85
    """Smallest share of height and width that a crop keeps, in [0.1, 1]; 1 crops
    nothing."""
    colour: Share = 0.2
    """Largest change of brightness, contrast and saturation, in [0, 1]."""
    rotation: float = 5.0
    """Most degrees of turning, in [0, 45]."""
    flip: float = 0.0
    """How often left and right are exchanged, in [0, 1]."""
    mix: str = "none"
    """`none` or one of `mixing.KINDS`."""
    mix_alpha: Positive = 0.4
    """See `MixConfig.alpha`."""

    def __post_init__(self) -> None:
        check_fields(self)
        said = f"one of none, {', '.join(KINDS)}"
        check_field(self, "mix", self.mix in ("none", *KINDS), said)
        pictures_of(self)  # which checks the others

    @classmethod
    def of(cls, recipe: Any) -> "AugmentSettings":
        """Those of a recipe, which has fields of these names beside others."""
        return cls(**{field.name: getattr(recipe, field.name) for field in fields(cls)})


def stronger(settings: AugmentSettings) -> AugmentSettings:
    """Return stronger settings for copies of rare words that a cleaning plan keeps.

    Colour doubles up to 0.5, rotation doubles up to 15 degrees, and a crop may keep
    a little less, down to 0.75.

    A crop below three quarters loses hands at the edge, and the word with them. What
    the settings leave out stays out.
    """
    return replace(
        settings,
        crop=min(settings.crop, max(0.75, 1.5 * settings.crop - 0.5)),
        colour=max(settings.colour, min(0.5, 2 * settings.colour)),
        rotation=max(settings.rotation, min(15.0, 2 * settings.rotation)),
    )


def batch_steps(
    settings: AugmentSettings, n_classes: int, *, of_landmarks: bool = False
) -> dict[str, Any]:
    """Return the four changes for `ClipBatches` by name; an unused change is None.

    Args:
        settings: how strongly.
        n_classes: of the label list, V.
        of_landmarks: whether the clips are landmarks; rotation and flip alone hold for
            these.

    Raises:
        ValueError: landmarks cannot be mixed so.
        ImportError: pictures are to be changed and kornia is not installed.
    """
    if of_landmarks and settings.mix == "cutmix-space":
        raise ValueError(
            "--mix cutmix-space cuts boxes out of pictures, and --backbone landmarks"
            " reads none; choose another --mix"
        )
    usual, strong = (
        _change(one, of_landmarks) for one in (settings, stronger(settings))
    )
    mixed = settings.mix != "none"
    return {
        "draw_places": DrawWarp(WarpConfig(settings.warp)) if settings.warp else None,
        "change_frames": usual,
        "change_strong": strong,
        "mix_clips": (
            MixClips(MixConfig((settings.mix,), alpha=settings.mix_alpha), n_classes)
            if mixed
            else None
        ),
    }


def _change(settings: AugmentSettings, of_landmarks: bool) -> ChangeFrames | None:
    """What changes the frames of a clip; None where nothing does."""
    if of_landmarks:
        config = LandmarkConfig(settings.rotation, settings.flip)
        changes = config.rotation or config.flip
        return LandmarkAugmentation(config) if changes else None
    pictures = pictures_of(settings)
    return None if pictures.is_idle else PictureAugmentation(pictures)


def pictures_of(settings: AugmentSettings) -> PictureConfig:
    """The part of the settings that is about pictures."""
    return PictureConfig(
        crop=settings.crop,
        rotation=settings.rotation,
        brightness=settings.colour,
        contrast=settings.colour,
        saturation=settings.colour,
        flip=settings.flip,
    )


NO_CHANGE = AugmentSettings(warp=0.0, crop=1.0, colour=0.0, rotation=0.0)
"""Leaves clips as they are: for validation, and as the first row of an ablation."""
SOURCE_002 = AugmentSettings(warp=0.1, rotation=0.0)
"""Strengths of the Olympiad tutorials, section V.2: crops of 0.85 to 1, colours of 20%,
speeds of 0.9 to 1.1 as an uneven warp."""
