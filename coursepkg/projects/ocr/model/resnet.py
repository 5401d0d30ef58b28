"""A ResNet of the transformers library as the CNN: the backbone of the text recognition notes (source 001).

    picture  H x W  ->  stem H/4 x W/4  ->  stages at H/4, H/8, H/8, H/8

An ImageNet ResNet shrinks by 32; the notes keep H/8, so the last two stages walk in steps of one. Strides are no
weights: pretrained ones fit as they are.

Source: He et al., "Deep Residual Learning for Image Recognition" (arXiv 1512.03385), table 1.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.data.imagenet import MEAN, STD
from coursepkg.projects.ocr.model.columns import clear_padding, find_padding, strided
from coursepkg.projects.ocr.model.config import ModelConfig

STEM_CHANNELS = 64


class ResNetBackbone(nn.Module):
    """Pictures to feature maps of `d_model` channels by a bottleneck ResNet and a 1 x 1 convolution.

    Args:
        config: its `channels` and `n_blocks` make the ResNet; (256, 512, 1024, 2048) and (3, 4, 6, 3) are ResNet-50.

    Raises:
        ImportError: transformers is not installed.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.network: Any = _library().ResNetModel(_resnet_config(config))
        for stage in self.network.encoder.stages[2:]:
            for module in stage.layers[0].modules():
                if isinstance(module, nn.Conv2d):
                    module.stride = (1, 1)
        self.reduce = nn.Conv2d(config.channels[-1], config.d_model, 1)
        for name, values in (("mean", MEAN), ("deviation", STD)):
            self.register_buffer(name, torch.tensor(values)[:, None, None], persistent=False)
        self.out_channels, self.out_height, self.width_stride = config.d_model, config.height // 8, 8

    def forward(self, images: Tensor, widths: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Read pictures.

        Args:
            images: (B, 1, H, W) in [-1, 1], paper is 1.
            widths: true columns (B,); what stands behind them changes nothing. None: no picture has padding.

        Returns:
            features (B, E, H / 8, W / 8) and their true columns (B,).
        """
        colours = ((images + 1.0) / 2.0 - self.mean) / self.deviation  # (B, 3, H, W)
        x, widths = self._stem(clear_padding(colours, find_padding(widths, images.shape[3])), widths)
        for stage in self.network.encoder.stages:
            for layer in stage.layers:
                x, widths = _bottleneck(layer, x, widths)
        return F.relu(self.reduce(x)), widths

    def _stem(self, x: Tensor, widths: Tensor | None) -> tuple[Tensor, Tensor | None]:
        embedder, widths = self.network.embedder, strided(widths, 2)
        x = embedder.embedder(x)
        # Behind a ReLU nothing is below the zeros of padding, so that they win no maximum that matters.
        x = embedder.pooler(clear_padding(x, find_padding(widths, x.shape[3])))
        widths = strided(widths, 2)
        return clear_padding(x, find_padding(widths, x.shape[3])), widths


def load_pretrained(backbone: ResNetBackbone, name: str) -> None:
    """Give a backbone the weights of a ResNet on the Hugging Face Hub or in a folder, such as microsoft/resnet-50.

    Raises:
        ValueError: it has other sizes.
        OSError: it cannot be read or fetched.
    """
    found = _library().ResNetModel.from_pretrained(name)
    ours = backbone.network.config
    for field in ("layer_type", "embedding_size", "hidden_sizes", "depths"):
        if getattr(found.config, field) != getattr(ours, field):
            raise ValueError(
                f"--pretrained {name} has {field} {getattr(found.config, field)}, the recipe asks for "
                f"{getattr(ours, field)}; choose another ResNet, or change --channels and --n-blocks"
            )
    backbone.network.load_state_dict(found.state_dict())


def _bottleneck(layer: Any, x: Tensor, widths: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """One layer of the library's, with padding cleared where its 3 x 3 convolution would look at it."""
    narrow, middle, wide = layer.layer
    inner = middle(clear_padding(narrow(x), find_padding(widths, x.shape[3])))
    widths = strided(widths, middle.convolution.stride[1])
    return layer.activation(wide(inner) + layer.shortcut(x)), widths


def _resnet_config(config: ModelConfig) -> Any:
    return _library().ResNetConfig(
        embedding_size=STEM_CHANNELS,
        hidden_sizes=list(config.channels),
        depths=list(config.n_blocks),
        layer_type="bottleneck",
        hidden_act="relu",
    )


def _library() -> Any:
    try:
        import transformers
    except ImportError as reason:
        raise ImportError("--backbone resnet needs transformers: pip install 'coursepkg[t5]'") from reason
    return transformers
