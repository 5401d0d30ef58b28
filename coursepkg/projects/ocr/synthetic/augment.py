"""Real pictures of lines disturbed anew in every epoch, where there are too few of them to learn from.

Generated lines are disturbed already when they are drawn. A photograph has its own paper, light and noise, once; here
more of them is laid over it. The effects are those of `synthetic.effects`, weaker than for clean ink, since a real
picture was faded, blurred and compressed before. None of them moves a letter or changes the size of the picture, so a
crop keeps its fit.
"""

import numpy as np

from coursepkg.projects.ocr.synthetic.effects import EffectConfig, apply_effects

REAL = EffectConfig(
    contrast=0.3, texture=0.2, fade=0.1, specks=0.03, fold=0.05, shadow=0.3, blur=0.3, blur_strength=0.04,
    low_resolution=0.3, least_height=16, noise=0.4, noise_strength=12.0, jpeg=0.3, jpeg_quality=40,
)  # fmt: skip
"""How often and how strongly. Nothing is turned: that would change the size."""


def jitter(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A real picture of a line with other light, sharpness and noise: what `LineBatches` takes as its `augment`.

    Args:
        image: uint8 (height, width).
        rng: where chance comes from; the same state gives the same picture.

    Returns:
        uint8 (height, width) of the same size.
    """
    return apply_effects(image, REAL, rng)
