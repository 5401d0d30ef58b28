"""Small networks and clips that the tests of this project share."""

import torch
from torch import Tensor

from coursepkg.projects.sign_language.model.classifier import ClipClassifier
from coursepkg.projects.sign_language.recipe import ModelConfig

SMALL = {
    "n_classes": 5,
    "size": 16,
    "n_frames": 6,
    "channels": (4, 6),
    "n_blocks": (0, 1),
    "n_convolutions": 1,
    "kernel_size": 3,
    "n_layers": 1,
    "d_model": 8,
    "n_heads": 2,
    "d_ff": 12,
    "dropout": 0.0,
}
"""A network of the package's own backbone."""
LIBRARY = {
    "resnet-18": {"channels": (8, 12), "n_blocks": (1, 2)},
    "resnet-50": {"channels": (8, 16), "n_blocks": (1, 1)},
    "convnext-tiny": {"channels": (8, 12), "n_blocks": (1, 2)},
    "vit-base": {"channels": (64,), "n_blocks": (2,)},
    "swin-tiny": {"channels": (32, 64), "n_blocks": (2, 2)},
}
"""Sizes for the library's backbones at which they are quick; those of every family but two ResNets."""


def config(**changes: object) -> ModelConfig:
    return ModelConfig(**(SMALL | changes))


def library_config(backbone: str, **changes: object) -> ModelConfig:
    return config(**({"backbone": backbone, "size": 32, **LIBRARY[backbone]} | changes))


def network(seed: int = 0, **changes: object) -> ClipClassifier:
    torch.manual_seed(seed)
    return ClipClassifier(config(**changes)).double().eval()


def clips(lengths: list[int], n_frames: int = 6, size: int = 16, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Noise, and the mask of clips with so many real frames."""
    generator = torch.Generator().manual_seed(seed)
    shape = (len(lengths), n_frames, 3, size, size)
    mask = torch.arange(n_frames) < torch.tensor(lengths)[:, None]
    return torch.randn(shape, generator=generator, dtype=torch.float64), mask
