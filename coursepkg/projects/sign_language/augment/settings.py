"""The changes of training clips that a recipe asks for, as the steps that `ClipBatches` takes."""

from dataclasses import dataclass, fields, replace
from typing import Any

from coursepkg.arguments import check_field, check_finite
from coursepkg.projects.sign_language.augment.mixing import KINDS, MixClips, MixConfig
from coursepkg.projects.sign_language.augment.pictures import PictureAugmentation, PictureConfig
from coursepkg.projects.sign_language.augment.time_warp import DrawWarp, WarpConfig


@dataclass(frozen=True)
class AugmentSettings:
    """How strongly training clips are changed.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    warp: float = 0.3
    """Strength of the uneven warp of time, in [0, 0.9]; 0 leaves time as it is."""
    crop: float = 0.85
    """Smallest share of height and width that a crop keeps, in [0.1, 1]; 1 crops nothing."""
    colour: float = 0.2
    """Largest change of brightness, contrast and saturation, in [0, 1]."""
    rotation: float = 5.0
    """Most degrees of turning, in [0, 45]."""
    flip: float = 0.0
    """How often left and right are exchanged, in [0, 1]."""
    mix: str = "none"
    """`none` or one of `mixing.KINDS`."""
    mix_alpha: float = 0.4
    """See `MixConfig.alpha`."""

    def __post_init__(self) -> None:
        for name in ("warp", "colour", "mix_alpha"):
            check_finite(f"--{name.replace('_', '-')}", getattr(self, name))
        check_field(self, "warp", 0 <= self.warp <= 0.9, "in [0, 0.9]")
        check_field(self, "colour", 0 <= self.colour <= 1, "in [0, 1]")
        check_field(self, "mix", self.mix in ("none", *KINDS), f"one of none, {', '.join(KINDS)}")
        check_field(self, "mix_alpha", self.mix_alpha > 0, "above 0")
        pictures_of(self)  # which checks the others

    @classmethod
    def of(cls, recipe: Any) -> "AugmentSettings":
        """Those of a recipe, which has fields of these names beside others."""
        return cls(**{field.name: getattr(recipe, field.name) for field in fields(cls)})


def stronger(settings: AugmentSettings) -> AugmentSettings:
    """For copies of rare words that a cleaning plan lets stay: twice the colour and the turning, a little more crop.

    A crop below three quarters loses hands at the edge, and the word with them. What the settings leave out stays out.
    """
    return replace(
        settings,
        crop=min(settings.crop, max(0.75, 1.5 * settings.crop - 0.5)),
        colour=max(settings.colour, min(0.5, 2 * settings.colour)),
        rotation=max(settings.rotation, min(15.0, 2 * settings.rotation)),
    )


def batch_steps(settings: AugmentSettings, n_classes: int) -> dict[str, Any]:
    """What `ClipBatches` takes for its four changes by their names; None for what is not asked for.

    Args:
        settings: how strongly.
        n_classes: of the label list, V.

    Raises:
        ImportError: pictures are to be changed and kornia is not installed.
    """
    usual, strong = pictures_of(settings), pictures_of(stronger(settings))
    mixed = settings.mix != "none"
    return {
        "draw_places": DrawWarp(WarpConfig(settings.warp)) if settings.warp else None,
        "change_frames": None if usual.is_idle else PictureAugmentation(usual),
        "change_strong": None if strong.is_idle else PictureAugmentation(strong),
        "mix_clips": MixClips(MixConfig((settings.mix,), alpha=settings.mix_alpha), n_classes)
        if mixed
        else None,
    }


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
"""Strengths of source 002, section V.2: crops of 0.85 to 1, colours of 20%, speeds of 0.9 to 1.1 as an uneven warp."""
