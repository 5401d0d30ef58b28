"""Crop, small rotation and colour of the pictures of a clip, drawn once and the same for all of its frames.

A crop that differs from frame to frame shakes the camera, and a colour that does makes the light flicker: both would
be motion that nobody made. Source 002 draws its factors once, too, but turns the contrast about the mean of each
frame, so that a frame with a bright hand changes otherwise than the next. Contrast here scales all frames alike.

Kornia does the work (`VideoSequential` with `same_on_frame`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from coursepkg.arguments import check_field, check_finite
from coursepkg.projects.sign_language.clip import check_frames


@dataclass(frozen=True)
class PictureConfig:
    """How strongly pictures are changed. 0 leaves a change out, a crop of 1 the crop.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    crop: float = 0.85
    """Smallest share of height and width that a crop keeps, in [0.1, 1]; it is enlarged to the old size."""
    rotation: float = 5.0
    """Most degrees of turning to either side, in [0, 45]."""
    brightness: float = 0.2
    """Black and white move by at most this share of the way between them, in [0, 1]."""
    contrast: float = 0.2
    """All values are scaled by a factor within 1 - contrast and 1 + contrast, in [0, 1]."""
    saturation: float = 0.2
    """Colours move from or towards gray by a factor within 1 - saturation and 1 + saturation, in [0, 1]."""
    flip: float = 0.0
    """How often left and right are exchanged, in [0, 1]. It turns a right-handed signer into a left-handed one, and
    some signs into others: `to the left` becomes `to the right`. Off unless an experiment says otherwise."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("crop", 0.1, 1),
            ("rotation", 0, 45),
            ("brightness", 0, 1),
            ("contrast", 0, 1),
            ("saturation", 0, 1),
            ("flip", 0, 1),
        ):
            check_finite(f"--{name}", getattr(self, name))
            check_field(self, name, low <= getattr(self, name) <= high, f"in [{low:g}, {high}]")

    @property
    def is_idle(self) -> bool:
        """Whether nothing is changed."""
        return self == PictureConfig(1.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class PictureAugmentation:
    """Changes the pictures of one clip after another.

    Args:
        config: how strongly.

    Raises:
        ImportError: kornia is not installed.
    """

    def __init__(self, config: PictureConfig) -> None:
        self.config = config
        self._kornia = None if config.is_idle else import_kornia()
        self._steps: dict[tuple[int, int], Any] = {}

    def __call__(self, frames: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The clip after one draw, the same for all of its frames.

        Args:
            frames: RGB, uint8 (T, height, width, 3).
            rng: where chance comes from; torch's own random numbers are neither used nor moved on.

        Returns:
            uint8, of the same shape.
        """
        check_frames(frames, "frames")
        if self._kornia is None:
            return frames
        # (T, height, width, 3) -> (1, T, 3, height, width)
        pictures = torch.from_numpy(np.ascontiguousarray(frames)).permute(0, 3, 1, 2)[None].float() / 255
        seed = int(rng.integers(2**63))
        with torch.random.fork_rng(devices=[]), torch.inference_mode():
            # Kornia draws on the CPU; `torch.manual_seed` would reset the GPUs as well, which are not forked.
            torch.default_generator.manual_seed(seed)
            changed = self._steps_for(frames.shape[1], frames.shape[2])(pictures)[0]
        levels = changed.clamp(0, 1).mul(255).round().to(torch.uint8)
        return levels.permute(0, 2, 3, 1).contiguous().numpy()

    def _steps_for(self, height: int, width: int) -> Any:
        if (height, width) not in self._steps:
            self._steps[height, width] = build_steps(self._kornia, self.config, height, width)
        return self._steps[height, width]


def build_steps(
    kornia: Any, config: PictureConfig, height: int, width: int, same_on_frame: bool = True
) -> Any:
    """Kornia's `VideoSequential` for clips of one size; it takes float32 (B, T, 3, height, width) in [0, 1].

    Args:
        kornia: the module `kornia.augmentation`.
        config: how strongly.
        height: of the pictures.
        width: of the pictures.
        same_on_frame: False draws for every frame anew, to show what that does.
    """
    steps = []
    if config.rotation:
        # The border is repeated: black corners would tell the angle.
        steps.append(kornia.RandomAffine(config.rotation, padding_mode="border", p=1.0))
    if config.crop < 1:
        area = (config.crop**2, 1.0)
        steps.append(
            kornia.RandomResizedCrop((height, width), scale=area, ratio=(width / height,) * 2, p=1.0)
        )
    if config.flip:
        steps.append(kornia.RandomHorizontalFlip(p=config.flip))
    if config.brightness:
        steps.append(kornia.RandomBrightness(_about_one(config.brightness), p=1.0))
    if config.contrast:
        steps.append(kornia.RandomContrast(_about_one(config.contrast), p=1.0))
    if config.saturation:
        steps.append(kornia.RandomSaturation(_about_one(config.saturation), p=1.0))
    return kornia.VideoSequential(*steps, data_format="BTCHW", same_on_frame=same_on_frame)


def import_kornia() -> Any:
    """The module `kornia.augmentation`, or an ImportError of one line."""
    try:
        import kornia.augmentation
    except ImportError as reason:
        raise ImportError("augmenting clips needs kornia: pip install 'coursepkg[video]'") from reason
    return kornia.augmentation


def _about_one(most: float) -> tuple[float, float]:
    return 1 - most, 1 + most
