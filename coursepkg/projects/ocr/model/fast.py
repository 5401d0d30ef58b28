"""The same network made ready for reading on a CPU: batch normalisation folded away, matrices packed.

    norm(conv(x)) = scale * (W x) + shift = (scale * W) x + shift       per output channel

The numbers are the same up to rounding; see `coursepkg.blocks.packed` for the matrices.
"""

import copy

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from coursepkg.blocks.packed import pack_where_possible
from coursepkg.projects.ocr.model.backbone import ConvNorm
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
    # Channels side by side in memory are what the CPU's convolutions want.
    for parameter in folded.backbone.parameters():
        if parameter.dim() == 4:
            parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)
    return folded
