"""Attention dropout that every implementation applies to the same entries.

Srivastava et al. (2014) zero each attention weight with probability p and scale the
rest by 1 / (1 - p). Which entries go is decided by a hash of (seed, batch, head, query,
key): the same coordinates give the same draw in any order of visiting, so a tiled
kernel, its backward pass and the plain formula all drop the same ones. A generator with
a state cannot promise that. `random_blocks` draws its blocks in the same way.

The mixing steps are those of SplitMix64 (Steele, Lea and Flood, 2014), in wrapping
int64.
"""

import torch
from torch import Tensor

_GOLDEN = -7046029254386353131  # 0x9E3779B97F4A7C15 as a signed integer
_MIX_1 = -4658895280553007687  # 0xBF58476D1CE4E5B9
_MIX_2 = -7723592293110705685  # 0x94D049BB133111EB


def _shift(x: Tensor, bits: int) -> Tensor:
    """Logical right shift: torch shifts the sign in, so upper bits are masked off."""
    return (x >> bits) & ((1 << (64 - bits)) - 1)


def _mix(x: Tensor) -> Tensor:
    x = (x ^ _shift(x, 30)) * _MIX_1
    x = (x ^ _shift(x, 27)) * _MIX_2
    return x ^ _shift(x, 31)


def uniform_hash(seed: int, *coordinates: Tensor) -> Tensor:
    """Uniform numbers in [0, 1), one for each combination of the broadcast coordinates.

    Args:
        seed: any integer.
        coordinates: integer tensors that broadcast against one another, int64.

    Returns:
        float64 tensor of the broadcast shape.
    """
    wrapped = (seed + 2**63) % 2**64 - 2**63
    start = torch.tensor(wrapped, dtype=torch.int64, device=coordinates[0].device)
    state = _mix(start + _GOLDEN)
    for coordinate in coordinates:
        state = _mix(state + (coordinate.to(torch.int64) + 1) * _GOLDEN)
    return _shift(state, 11).to(torch.float64) * 2.0**-53


def draw_seed() -> int:
    """A seed from torch's global generator, which `torch.manual_seed` governs."""
    return int(torch.randint(0, 2**62, ()).item())


def keep_mask(
    dropout_p: float, seed: int, b: Tensor, h: Tensor, i: Tensor, j: Tensor
) -> Tensor:
    """True where an attention weight is kept.

    Args:
        dropout_p: probability of dropping, in [0, 1).
        seed: the draw shared by one forward pass and its backward pass.
        b, h, i, j: batch, query head, query row (0 .. T-1) and key (0 .. S-1), int64,
            broadcastable.

    Returns:
        bool tensor of the broadcast shape, usually (B, H, T, S).
    """
    return uniform_hash(seed, b, h, i, j) >= dropout_p


def full_keep_mask(
    dropout_p: float, seed: int, shape: tuple[int, int, int, int], device: torch.device
) -> Tensor:
    """`keep_mask` for a whole weight tensor of shape (B, H, T, S)."""
    b, h, i, j = (torch.arange(size, device=device) for size in shape)
    return keep_mask(
        dropout_p, seed, b[:, None, None, None], h[:, None, None], i[:, None], j
    )
