"""What happens to a drawn line on its way through paper, printer, camera and file.

Every effect takes and gives a grayscale picture as float32 in 0..255 and draws from the generator it is handed. They
come in the order of the world: paper, bleed-through and folds; camera angle; light; lens; sensor; file.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial

import numpy as np

from coursepkg.arguments import check_finite
from coursepkg.projects.ocr.synthetic import optics, paper

Effect = Callable[[np.ndarray, np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class EffectConfig:
    """How often each effect comes, in [0, 1], and how strong it is at most; each picture draws its own strength."""

    contrast: float = 0.0
    """Least difference between ink and paper is 1 - contrast of black to white, in [0, 0.85]."""
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
    """Most degrees of turning, in [0, 15]; the angle of the camera moves corners by up to as much of the height."""
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
        most = {"contrast": 0.85, "angle": 15.0, "blur_strength": 0.2, "noise_strength": 80.0}
        for field in fields(self):
            value = getattr(self, field.name)
            low, high = {"least_height": (6, 10_000), "jpeg_quality": (5, 95)}.get(
                field.name, (0, most.get(field.name, 1))
            )
            check_finite(field.name, value)
            if not low <= value <= high:
                raise ValueError(f"{field.name} must be in [{low}, {high}], got {value}")


PRESETS = {
    "clean": EffectConfig(),
    "screen": EffectConfig(
        contrast=0.3, fade=0.02, specks=0.06, low_resolution=0.3, least_height=16, blur=0.15, blur_strength=0.03,
        jpeg=0.3, jpeg_quality=50, noise=0.05, noise_strength=6.0, binarise=0.1, invert=0.08, warp=0.1, angle=0.5,
    ),
    "photo": EffectConfig(
        contrast=0.7, texture=0.5, fade=0.12, specks=0.03, bleed=0.1, fold=0.2, warp=0.7, angle=3.0, shadow=0.6,
        blur=0.6, blur_strength=0.06, low_resolution=0.4, least_height=13, noise=0.6, noise_strength=18.0,
        binarise=0.08, jpeg=0.6, jpeg_quality=30, invert=0.04,
    ),
}  # fmt: skip
"""`clean`: ink on white. `screen`: a page rendered or scanned. `photo`: a receipt held before a telephone."""


def preset(name: str) -> EffectConfig:
    """The settings of a preset; a ValueError names those there are."""
    if name not in PRESETS:
        raise ValueError(f"effects: unknown preset {name!r}; choose from {', '.join(PRESETS)}")
    return PRESETS[name]


def _chain(config: EffectConfig) -> tuple[tuple[float, Effect], ...]:
    return (
        (config.fade, paper.fade),
        (config.specks, paper.specks),
        (float(config.contrast > 0), partial(paper.ink_and_paper, most=config.contrast)),
        (config.texture, paper.texture),
        (config.bleed, paper.bleed_through),
        (config.fold, paper.fold),
        (config.warp, partial(optics.warp, degrees=config.angle)),
        (config.shadow, paper.uneven_light),
        (config.blur, partial(optics.blur, strength=config.blur_strength)),
        (config.low_resolution, partial(optics.low_resolution, least_height=config.least_height)),
        (config.noise, partial(optics.noise, strength=config.noise_strength)),
        (config.binarise, optics.binarise),
        (config.invert, optics.invert),
        (config.jpeg, partial(optics.jpeg, quality=config.jpeg_quality)),
    )


def apply_effects(image: np.ndarray, config: EffectConfig, rng: np.random.Generator) -> np.ndarray:
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
