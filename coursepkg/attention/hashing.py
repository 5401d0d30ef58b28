"""A counter-based random number: the same coordinates always give the same draw, in any order of visiting.

Implementations that walk over attention in different tiles (and walk again in the backward pass) must drop the
same entries and pick the same random blocks. A generator with a state cannot promise that; a hash of the
coordinates can. The mixing steps are those of SplitMix64 (Steele, Lea and Flood, 2014), in wrapping int64.
"""

import torch
from torch import Tensor

_GOLDEN = -7046029254386353131  # 0x9E3779B97F4A7C15 as a signed integer
_MIX_1 = -4658895280553007687  # 0xBF58476D1CE4E5B9
_MIX_2 = -7723592293110705685  # 0x94D049BB133111EB


def _shift(x: Tensor, bits: int) -> Tensor:
    """Logical right shift: torch shifts the sign bit in, so the upper bits are masked off."""
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
    state = _mix(torch.tensor(seed, dtype=torch.int64, device=coordinates[0].device) + _GOLDEN)
    for coordinate in coordinates:
        state = _mix(state + (coordinate.to(torch.int64) + 1) * _GOLDEN)
    return _shift(state, 11).to(torch.float64) * 2.0**-53
