"""Columns of a feature map that belong to the picture, and those that are padding behind it.

A line is padded on its right. A convolution would carry what it makes of the padding back into the line, so that the
same line would read differently in another batch. Here padding is set to zero before every convolution, which is
what the convolution itself puts beyond a picture's edge: a padded line then gives exactly the numbers of an unpadded
one.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def strided(widths: Tensor | None, stride: int) -> Tensor | None:
    """Columns (B,) that a convolution of this stride leaves of `widths` (B,): the padded half of the kernel rounds up.

    A kernel of odd size k with padding (k - 1) / 2 gives floor((w - 1) / stride) + 1 columns. None stays None.
    """
    if widths is None:
        return None
    return torch.div(widths - 1, stride, rounding_mode="floor") + 1


class Padding(NamedTuple):
    """The columns of a batch behind its shortest picture, where another picture goes on."""

    first: int
    """The first of them."""
    is_real: Tensor
    """bool (B, columns from there on), False at padding."""


def find_padding(widths: Tensor | None, n_columns: int) -> Padding | None:
    """Padding in a batch of n_columns; None where no line has any, as `widths` of None says beforehand."""
    if widths is None:
        return None
    first = int(widths.min())
    if first >= n_columns:
        return None
    return Padding(first, torch.arange(first, n_columns, device=widths.device) < widths[:, None])


def clear_padding(x: Tensor, padding: Padding | None) -> Tensor:
    """x (B, C, H, W) with zeros in the columns that are padding; x itself is changed unless it requires a gradient."""
    if padding is None:
        return x
    keep = padding.is_real[:, None, None].to(x.dtype)
    if x.requires_grad:
        return x * F.pad(keep, (padding.first, 0), value=1.0)
    x[..., padding.first :].mul_(keep)
    return x


def put_channels_last(part: nn.Module) -> None:
    """Lay the channels of its kernels side by side in memory, which is what a CPU's convolutions want."""
    for parameter in part.parameters():
        if parameter.dim() == 4:
            parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)


def check_images(images: Tensor, widths: Tensor, height: int, max_width: int) -> None:
    """Raises a ValueError unless images (B, 1, height, W) and widths (B,) are what a model reads."""
    if images.dim() != 4 or images.shape[1:3] != (1, height) or not images.is_floating_point():
        raise ValueError(
            f"images must be floating point (B, 1, {height}, W), got {images.dtype} {tuple(images.shape)}"
        )
    if widths.shape != images.shape[:1] or widths.is_floating_point():
        raise ValueError(
            f"widths must be one integer a picture ({len(images)},), got {widths.dtype} {tuple(widths.shape)}"
        )
    if not len(widths):
        raise ValueError("images must hold at least one picture, got none")
    low, high = (int(end) for end in widths.aminmax())
    if low < 1 or high > images.shape[3]:
        raise ValueError(
            f"widths must lie in 1..{images.shape[3]}, the width of the batch, got {low}..{high}"
        )
    if images.shape[3] > max_width:
        raise ValueError(
            f"images must be at most max_width = {max_width} pixels wide, got {images.shape[3]}; narrow them first"
        )
