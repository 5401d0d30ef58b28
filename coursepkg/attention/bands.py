"""The patterns that are bands of the score matrix: full, causal and sliding window.

A band is given by how far back (left) and how far ahead (right) a query sees, which is all a kernel needs to know.
"""

import torch
from torch import Tensor

from coursepkg.attention.pattern import Band, Pattern, Span


def band_pattern(name: str, band: Band) -> Pattern:
    """The pattern -right <= i - j <= left; a tile's extreme distances decide for the whole tile."""
    left, right = band

    def inside(low: Tensor, high: Tensor, shape_of: Tensor) -> Tensor:
        keep = torch.ones_like(shape_of, dtype=torch.bool)
        keep = keep if left is None else keep & (high <= left)
        return keep if right is None else keep & (low >= -right)

    def tile(b: Tensor, h: Tensor, i: Tensor, j: Tensor, n_keys: int) -> Tensor:
        distance = i - j
        return inside(distance, distance, distance)

    def bounds(b: Tensor, h: Tensor, i: Span, j: Span, n_keys: int) -> tuple[Tensor, Tensor]:
        nearest, farthest = i.first - j.last, i.last - j.first
        return inside(farthest, nearest, nearest), inside(nearest, farthest, nearest)

    return Pattern(name, tile, bounds, band)


def check_positive(name: str, value: int, least: int = 1) -> None:
    """Raise a ValueError that names the argument unless it is an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")


def full() -> Pattern:
    """Every query sees every key."""
    return band_pattern("full()", (None, None))


def causal() -> Pattern:
    """Query i sees keys j <= i: nothing from the future."""
    return band_pattern("causal()", (None, 0))


def sliding_window(window: int) -> Pattern:
    """Query i sees keys with |i - j| < window, on both sides; `& causal()` keeps the past side.

    Source: Longformer (arXiv 2004.05150), section 3.1; Mistral 7B (arXiv 2310.06825) uses the causal form.
    """
    check_positive("window", window)
    return band_pattern(f"sliding_window({window})", (window - 1, window - 1))
