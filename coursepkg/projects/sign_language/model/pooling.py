"""From the vectors of the frames to one vector of the clip, with what each frame weighs in it.

    last        v = x_T                     the last real frame alone
    mean        v = 1/T sum_t x_t
    attention   v = sum_t a_t x_t           a = softmax_t(w2 . tanh(W1 x_t))

In a clip of a sign the hands are down again at the end, so the last frame is the one that says least. An LSTM must
carry the sign through that rest; a mean cannot leave it out; attention can.

Source: the Olympiad tutorials (source 002, second tutorial, section VI.3); the scores are those of additive attention
with a learnt query, Bahdanau et al. (arXiv 1409.0473), section A.1.2.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from coursepkg.training.losses import to_float32


class Pooled(NamedTuple):
    """One vector a clip."""

    vector: Tensor
    """(B, E)."""
    weights: Tensor
    """(B, T), what each frame weighs: at least 0, 0 at padding, sum 1."""


class LastFrame(nn.Module):
    """The vector of the last real frame."""

    def forward(self, x: Tensor, mask: Tensor) -> Pooled:
        """x (B, T, E); mask bool (B, T), True at a real frame."""
        last = mask.sum(dim=1) - 1
        # Neither `one_hot` nor `len`: both would fix a size while the network is traced.
        clips, frames = (torch.arange(n, device=x.device) for n in x.shape[:2])
        weights = (frames == last[:, None]).to(x.dtype)
        return Pooled(x[clips, last], weights)


class MeanPooling(nn.Module):
    """The mean over the real frames."""

    def forward(self, x: Tensor, mask: Tensor) -> Pooled:
        """x (B, T, E); mask bool (B, T), True at a real frame."""
        weights = mask.to(x.dtype) / mask.sum(dim=1, keepdim=True)
        return Pooled(_weighted(x, weights), weights)


class AttentionPooling(nn.Module):
    """A mean whose weights come from the frames themselves.

    Args:
        d_model: width of a frame's vector (E); the hidden layer has a quarter of it.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(d_model, max(1, d_model // 4))
        self.score = nn.Linear(self.hidden.out_features, 1)

    def forward(self, x: Tensor, mask: Tensor) -> Pooled:
        """x (B, T, E); mask bool (B, T), True at a real frame."""
        scores = to_float32(self.score(torch.tanh(self.hidden(x)))[..., 0])  # (B, T)
        weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=1).to(x.dtype)
        return Pooled(_weighted(x, weights), weights)


def make_pooling(kind: str, d_model: int) -> LastFrame | MeanPooling | AttentionPooling:
    """`last`, `mean` or `attention`."""
    if kind == "last":
        return LastFrame()
    return MeanPooling() if kind == "mean" else AttentionPooling(d_model)


def _weighted(x: Tensor, weights: Tensor) -> Tensor:
    """x (B, T, E) and weights (B, T) -> (B, E)."""
    return torch.einsum("bt,bte->be", weights, x)
