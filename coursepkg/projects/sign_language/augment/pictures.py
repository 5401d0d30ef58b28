"""Crop, small rotation and colour of the pictures of a clip, drawn once and the same for all of its frames.

A crop that differs from frame to frame shakes the camera, and a colour that does makes the light flicker: both would
be motion that nobody made. Source 002 draws its factors once, too, but turns the contrast about the mean of each
frame, so that a frame with a bright hand changes otherwise than the next. Here it turns about the mean of the clip.

Kornia does the work: `VideoSequential` with `same_on_frame` for crop, rotation and flip, and for the colours
`ColorJitter` on the clip as one tall picture, so that the mean that it turns about is the clip's.
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
    """All values are scaled by a factor within 1 - brightness and 1 + brightness, in [0, 1]."""
    contrast: float = 0.2
    """Values move from or towards the mean of the clip by a factor within 1 - contrast and 1 + contrast, in [0, 1]."""
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
        self._colour = None if self._kornia is None else build_colour(self._kornia, config)
        self._geometry: dict[tuple[int, int], Any] = {}

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
            changed = self._change(pictures)
        levels = changed.clamp(0, 1).mul(255).round().to(torch.uint8)
        return levels.permute(0, 2, 3, 1).contiguous().numpy()

    def _change(self, pictures: torch.Tensor) -> torch.Tensor:
        """(1, T, 3, height, width) to (T, 3, height, width)."""
        _, n_frames, _, height, width = pictures.shape
        if (height, width) not in self._geometry:
            self._geometry[height, width] = build_geometry(self._kornia, self.config, height, width)
        geometry = self._geometry[height, width]
        frames = pictures[0] if geometry is None else geometry(pictures)[0]
        if self._colour is None:
            return frames
        # (T, 3, height, width) -> (1, 3, T * height, width)
        tall = frames.transpose(0, 1).reshape(1, 3, n_frames * height, width)
        return self._colour(tall)[0].reshape(3, n_frames, height, width).transpose(0, 1)


def build_geometry(
    kornia: Any, config: PictureConfig, height: int, width: int, *, same_on_frame: bool = True
) -> Any:
    """Rotation, crop and flip as Kornia's `VideoSequential`; None where the config asks for none of them.

    Args:
        kornia: the module `kornia.augmentation`.
        config: how strongly.
        height: of the pictures, float32 (B, T, 3, height, width) in [0, 1].
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
    return kornia.VideoSequential(*steps, data_format="BTCHW", same_on_frame=same_on_frame) if steps else None


def build_colour(kornia: Any, config: PictureConfig) -> Any:
    """Brightness, contrast and saturation of pictures (B, 3, height, width) in [0, 1]; None where none is asked for.

    Contrast turns about the mean of the picture that it is given.
    """
    if not (config.brightness or config.contrast or config.saturation):
        return None
    return kornia.ColorJitter(config.brightness, config.contrast, config.saturation, 0.0, p=1.0)


def import_kornia() -> Any:
    """The module `kornia.augmentation`, or an ImportError of one line."""
    try:
        import kornia.augmentation
    except ImportError as reason:
        raise ImportError("augmenting clips needs kornia: pip install 'coursepkg[video]'") from reason
    return kornia.augmentation
