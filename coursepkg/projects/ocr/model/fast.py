"""The same network made ready for reading on a CPU: batch normalisation folded away, matrices and kernels packed.

    norm(conv(x)) = scale * (W x) + shift = (scale * W) x + shift       per output channel

The numbers are the same up to rounding; see `coursepkg.blocks.packed` for packing. Where the processor multiplies
bfloat16 itself, CNN and encoder may also compute in that: in less time, and with 8 bits of a number instead of 24.
Their tables of positions are rounded with them.
"""

import copy
from typing import get_args

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from coursepkg.blocks.packed import can_pack, pack_where_possible
from coursepkg.blocks.residual import ConvNormReLU
from coursepkg.processor import multiplies_bfloat16
from coursepkg.projects.ocr.model.columns import put_channels_last
from coursepkg.projects.ocr.model.recognizer import LineTransformer
from coursepkg.projects.ocr.recipe import ReadingPrecision

ENCODING = ("backbone", "sequence", "encoder")
"""Parts between the picture and what the decoder and the CTC head look at."""


def encoding_type(model: nn.Module, precision: str) -> torch.dtype:
    """What a fast copy encodes in: float32 for `32-true`; for `auto` bfloat16 where the CPU multiplies it itself.

    On a GPU, and in a PyTorch without oneDNN, `auto` is float32, too.

    Raises:
        ValueError: the precision is neither.
    """
    if precision not in get_args(ReadingPrecision):
        raise ValueError(f"precision must be 32-true or auto, got {precision!r}")
    is_half = precision == "auto" and can_pack(model) and multiplies_bfloat16()
    return torch.bfloat16 if is_half else torch.float32


def fast_copy(model: LineTransformer, dtype: torch.dtype = torch.float32) -> LineTransformer:
    """A copy in evaluation mode for reading. Changes of the model's weights after this do not reach it.

    Args:
        model: on the CPU for packed layers; elsewhere they stay as they are.
        dtype: what CNN and encoder compute in, see `encoding_type`. Decoder and CTC head stay as they are.
    """
    folded = folded_copy(model)
    fast = pack_where_possible(folded)
    if dtype == torch.bfloat16:
        for name in ENCODING:
            setattr(fast, name, pack_where_possible(getattr(folded, name).to(torch.bfloat16)))
    return fast


def folded_copy(model: LineTransformer) -> LineTransformer:
    """A copy in evaluation mode whose batch normalisation is folded into the convolutions; nothing is packed."""
    folded = copy.deepcopy(model).eval()
    for module in folded.modules():
        if isinstance(module, ConvNormReLU) and isinstance(module.norm, nn.BatchNorm2d):
            module.conv, module.norm = fuse_conv_bn_eval(module.conv, module.norm), nn.Identity()
    put_channels_last(folded.backbone)
    return folded
