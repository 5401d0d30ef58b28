"""Normalisation of the features of one position: LayerNorm and RMSNorm.

Both look at one vector of E numbers at a time. Neither the other positions nor the
other sequences of the batch take part, so padding and batching change nothing, and
training and prediction compute the same.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.validation import check_counts


def layer_norm(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """LayerNorm written out: the specification of `LayerNorm`.

        y = (x - mean) / sqrt(variance + eps) * weight + bias

    Mean and variance are over the E features; the variance divides by E, not by E - 1.

    Args:
        x: (..., E).
        weight: learned scale (E,).
        bias: learned shift (E,), or None.
        eps: added to the variance, so that a constant vector does not divide by zero.

    Source: Ba, Kiros and Hinton, "Layer Normalization" (arXiv 1607.06450), section 3.
    """
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    y = centred * torch.rsqrt(variance + eps) * weight
    return y if bias is None else y + bias


class LayerNorm(nn.Module):
    """`layer_norm` with learned scale and shift, by PyTorch's fused kernel.

    The kernel reads x once where the formula's lines read and write it seven times; on
    a CPU that is about ten times as fast, forward and backward together.

    Args:
        d_model: number of features (E).
        eps: added to the variance.
        bias: whether there is a learned shift.

    Raises:
        ValueError: d_model or eps is out of range.
    """

    def __init__(self, d_model: int, eps: float = 1e-5, bias: bool = True) -> None:
        super().__init__()
        _check(d_model, eps)
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model)) if bias else None

    def forward(self, x: Float[Tensor, "*B E"]) -> Float[Tensor, "*B E"]:
        """Normalise the last dimension of x."""
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


class RMSNorm(nn.Module):
    """Scale each position's features to a mean square of 1, then to a learned scale.

        y = x / sqrt(mean(x^2) + eps) * weight      mean over the E features

    LayerNorm without its mean and without its shift: one reduction instead of two.

    Args:
        d_model: number of features (E).
        eps: added to the mean square.

    Raises:
        ValueError: d_model or eps is out of range.

    Source: Zhang and Sennrich, "Root Mean Square Layer Normalization" (arXiv
    1910.07467), section 3.
    """

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        _check(d_model, eps)
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Float[Tensor, "*B E"]) -> Float[Tensor, "*B E"]:
        """Normalise the last dimension of x; half precision is computed in float32."""
        # Squares overflow in float16 and lose digits in bfloat16.
        wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        mean_square = wide.square().mean(dim=-1, keepdim=True)
        return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.weight


def to_float32(x: Tensor) -> Tensor:
    """Half precision as float32, anything else as it is."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _check(d_model: int, eps: float) -> None:
    check_counts(d_model=d_model)
    if not 0 < eps < 1:
        raise ValueError(f"eps must be above 0 and below 1, got {eps}")
