"""The backbones by name: which network they are, how large, and where their ImageNet weights are.

A backbone turns one frame into one vector. Only `small` is written here; the others are those of the transformers
library, so that weights trained on ImageNet fit as they are.

Sources: ResNet, He et al. (arXiv 1512.03385), table 1; ConvNeXt, Liu et al. (arXiv 2201.03545), section 3;
ViT, Dosovitskiy et al. (arXiv 2010.11929), table 1; Swin, Liu et al. (arXiv 2103.14030), section 3.3.
"""

from dataclasses import dataclass

HEAD_WIDTH = {"vit": 64, "swin": 32}
"""Dimension of an attention head in these backbones."""
PATCH = {"vit": 16, "swin": 4}
"""Side in pixels of the squares that they cut a frame into."""
SWIN_WINDOW = 7
"""Side of a Swin window, in patches."""


@dataclass(frozen=True)
class Architecture:
    """One line of `ARCHITECTURES`."""

    family: str
    """small, resnet, convnext, vit or swin."""
    channels: tuple[int, ...]
    """Width of each stage; a ViT has one stage."""
    n_blocks: tuple[int, ...]
    """Blocks of each stage."""
    weights: str = ""
    """Name of weights trained on ImageNet, on the Hugging Face Hub; empty for the network of this package."""
    layer_type: str = ""
    """Of a ResNet: basic, two 3 x 3 convolutions, or bottleneck."""


ARCHITECTURES = {
    "small": Architecture("small", (16, 32, 64, 128), (0, 0, 1, 1)),
    "resnet-18": Architecture("resnet", (64, 128, 256, 512), (2, 2, 2, 2), "microsoft/resnet-18", "basic"),
    "resnet-34": Architecture("resnet", (64, 128, 256, 512), (3, 4, 6, 3), "microsoft/resnet-34", "basic"),
    "resnet-50": Architecture(
        "resnet", (256, 512, 1024, 2048), (3, 4, 6, 3), "microsoft/resnet-50", "bottleneck"
    ),
    "convnext-tiny": Architecture(
        "convnext", (96, 192, 384, 768), (3, 3, 9, 3), "facebook/convnext-tiny-224"
    ),
    "vit-base": Architecture("vit", (768,), (12,), "google/vit-base-patch16-224"),
    "swin-tiny": Architecture(
        "swin", (96, 192, 384, 768), (2, 2, 6, 2), "microsoft/swin-tiny-patch4-window7-224"
    ),
}
"""By the name that `--backbone` takes."""


def architecture_of(backbone: str) -> Architecture:
    """The backbone of this name.

    Raises:
        ValueError: there is none; the known ones are named.
    """
    if backbone not in ARCHITECTURES:
        raise ValueError(f"backbone must be one of {', '.join(ARCHITECTURES)}, got {backbone!r}")
    return ARCHITECTURES[backbone]
