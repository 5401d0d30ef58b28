"""The same network made ready for reading on a CPU: batch normalisation folded away, matrices packed.

    norm(conv(x)) = scale * (W x) + shift = (scale * W) x + shift       per output channel

The numbers are the same up to rounding; see `coursepkg.blocks.packed` for the matrices.
"""

import copy

from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from coursepkg.blocks.packed import pack_where_possible
from coursepkg.blocks.residual import ConvNorm
from coursepkg.projects.ocr.model.columns import put_channels_last
from coursepkg.projects.ocr.model.recognizer import LineTransformer


def fast_copy(model: LineTransformer) -> LineTransformer:
    """A copy in evaluation mode for reading. Changes of the model's weights after this do not reach it."""
    return pack_where_possible(folded_copy(model))


def folded_copy(model: LineTransformer) -> LineTransformer:
    """A copy in evaluation mode whose batch normalisation is folded into the convolutions; nothing is packed."""
    folded = copy.deepcopy(model).eval()
    for module in folded.modules():
        if isinstance(module, ConvNorm) and isinstance(module.norm, nn.BatchNorm2d):
            module.conv, module.norm = fuse_conv_bn_eval(module.conv, module.norm), nn.Identity()
    put_channels_last(folded.backbone)
    return folded
