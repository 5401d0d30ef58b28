"""Pictures as a network takes them: float32, channels first, in the statistics of ImageNet.

    x = (pixel / 255 - mean) / std

Source: the constants of the pretrained networks, computed on ImageNet; source 002, section V.1.
"""

import numpy as np
import torch
from torch import Tensor

from coursepkg.data.imagenet import MEAN, STD


def normalise(frames: np.ndarray | Tensor) -> Tensor:
    """Frames for a network.

    Args:
        frames: RGB, uint8 (..., height, width, 3).

    Returns:
        float32 (..., 3, height, width).

    Raises:
        ValueError: the frames are of another kind.
    """
    pixels = (
        torch.from_numpy(np.require(frames, requirements=["C", "W"]))
        if isinstance(frames, np.ndarray)
        else frames
    )
    if pixels.dtype != torch.uint8 or pixels.dim() < 3 or pixels.shape[-1] != 3:
        raise ValueError(
            f"frames must be RGB pictures, uint8 (..., height, width, 3), got {pixels.dtype} {tuple(pixels.shape)}"
        )
    mean, std = _constants(pixels.device)
    # Channels first while there is one byte a value, not four.
    upright = pixels.movedim(-1, -3).contiguous()
    return upright.to(torch.float32).sub_(255 * mean).div_(255 * std)


def to_unit(frames: Tensor) -> Tensor:
    """Normalised frames (..., 3, height, width) as float32 in [0, 1]."""
    mean, std = _constants(frames.device)
    return frames * std + mean


def to_pixels(frames: Tensor) -> np.ndarray:
    """Normalised frames (..., 3, height, width) as RGB pictures to look at, uint8 (..., height, width, 3)."""
    pixels = to_unit(frames.detach().cpu().to(torch.float32)).mul(255).round().clamp(0, 255)
    return pixels.to(torch.uint8).movedim(-3, -1).contiguous().numpy()


def _constants(device: torch.device) -> tuple[Tensor, Tensor]:
    return (torch.tensor(MEAN, device=device).view(3, 1, 1), torch.tensor(STD, device=device).view(3, 1, 1))
