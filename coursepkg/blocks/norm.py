"""Normalisation of the features of one position: LayerNorm and RMSNorm.

Both look at one vector of E numbers at a time. Neither the other positions nor the other sequences of the batch take
part, so padding and batching change nothing, and training and prediction compute the same.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class LayerNorm(nn.Module):
    """Shift and scale the features of each position to mean 0 and variance 1, then to a learned scale and shift.

        y = (x - mean) / sqrt(variance + eps) * weight + bias      mean and variance over the E features

    Args:
        d_model: number of features (E).
        eps: added to the variance, so that a constant vector does not divide by zero.
        bias: whether there is a learned shift.

    Source: Ba, Kiros and Hinton, "Layer Normalization" (arXiv 1607.06450), section 3.
    """

    def __init__(self, d_model: int, eps: float = 1e-5, bias: bool = True) -> None:
        super().__init__()
        _check(d_model, eps)
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model)) if bias else None

    def forward(self, x: Float[Tensor, "*B E"]) -> Float[Tensor, "*B E"]:
        """Normalise the last dimension of x; half precision is computed in float32."""
        wide = _widened(x)
        variance, mean = torch.var_mean(wide, dim=-1, correction=0, keepdim=True)
        normal = ((wide - mean) * torch.rsqrt(variance + self.eps)).to(x.dtype)
        return normal * self.weight if self.bias is None else torch.addcmul(self.bias, normal, self.weight)


class RMSNorm(nn.Module):
    """Scale the features of each position to a mean square of 1, then to a learned scale.

        y = x / sqrt(mean(x^2) + eps) * weight      mean over the E features

    LayerNorm without its mean and without its shift: one reduction instead of two.

    Args:
        d_model: number of features (E).
        eps: added to the mean square.

    Source: Zhang and Sennrich, "Root Mean Square Layer Normalization" (arXiv 1910.07467), section 3.
    """

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        _check(d_model, eps)
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Float[Tensor, "*B E"]) -> Float[Tensor, "*B E"]:
        """Normalise the last dimension of x; half precision is computed in float32."""
        wide = _widened(x)
        mean_square = wide.square().mean(dim=-1, keepdim=True)
        return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.weight


def _widened(x: Tensor) -> Tensor:
    """Squares overflow in float16 and lose digits in bfloat16, so both are computed in float32."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


def _check(d_model: int, eps: float) -> None:
    if d_model < 1:
        raise ValueError(f"d_model must be a positive integer, got {d_model}")
    if not 0 < eps < 1:
        raise ValueError(f"eps must be above 0 and below 1, got {eps}")
