"""Attention dropout that every implementation applies to the same entries.

Srivastava et al. (2014) zero each attention weight with probability p and scale the rest by 1 / (1 - p). Which
entries go is decided by a hash of (seed, batch, head, query, key), so a tiled kernel, its backward pass and the
plain formula all drop the same ones.
"""

import torch
from torch import Tensor

from coursepkg.attention.hashing import uniform_hash


def draw_seed() -> int:
    """A seed from torch's global generator, so that `torch.manual_seed` governs attention dropout too."""
    return int(torch.randint(0, 2**62, ()).item())


def keep_mask(dropout_p: float, seed: int, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
    """True where an attention weight is kept.

    Args:
        dropout_p: probability of dropping, in [0, 1).
        seed: the draw shared by one forward pass and its backward pass.
        b, h, i, j: batch, query head, query row (0 .. T-1) and key (0 .. S-1), int64, broadcastable.

    Returns:
        bool tensor of the broadcast shape, usually (B, H, T, S).
    """
    return uniform_hash(seed, b, h, i, j) >= dropout_p


def full_keep_mask(
    dropout_p: float, seed: int, shape: tuple[int, int, int, int], device: torch.device
) -> Tensor:
    """`keep_mask` for a whole weight tensor of shape (B, H, T, S)."""
    b, h, i, j = (torch.arange(size, device=device) for size in shape)
    return keep_mask(dropout_p, seed, b[:, None, None, None], h[:, None, None], i[:, None], j)
