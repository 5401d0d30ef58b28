"""Attention in bfloat16 on a CPU that multiplies it itself: two batched products with a softmax between them.

PyTorch's fused kernel is made for memory: it never stores the scores. In bfloat16 on a CPU it is hardly faster than in
float32. Where the scores of a few heads fit into the cache, storing them costs little, and the two products run at the
speed of the processor; `coursepkg bench unfused-bfloat16` tells by how much. Scores and weights are rounded to
bfloat16, as in the reference.
"""

import torch
from torch import Tensor

from coursepkg.processor import multiplies_bfloat16

LEAST_QUERIES = 32
"""With fewer queries there is too little to multiply, as in a step of decoding, whose cache would be copied besides."""
LEAST_HEAD_DIM = 32
"""With narrower heads the softmax is most of the work, and the fused kernel's is faster."""
MOST_SCORES = 2**21
"""Scores that are stored at once: 4 MiB, and as much again for the weights. With more the gain is gone."""


def suits(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> bool:
    """Whether `attend` takes these and is the faster way; what needs a gradient is left to the fused kernel.

    Args:
        q: (B, H, T, D).
        k: (B, G, S, D).
        v: (B, G, S, D).
        mask: bool, True where a query sees a key, or None; `attend` takes one row (B or 1, H or 1, 1, S) for all
            queries.
    """
    if q.dtype != torch.bfloat16 or q.device.type != "cpu" or not multiplies_bfloat16():
        return False
    if torch.is_grad_enabled() and any(x.requires_grad for x in (q, k, v)):
        return False
    one_row = mask is None or (mask.dtype == torch.bool and mask.shape[2] == 1)
    n_queries, head_dim = q.shape[2:]
    is_worth_it = n_queries >= LEAST_QUERIES and head_dim >= LEAST_HEAD_DIM
    return one_row and is_worth_it and q.shape[1] == k.shape[1] and n_queries * k.shape[2] <= MOST_SCORES


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """q (B, H, T, D), k and v (B, H, S, D), a mask as in `suits` with a visible key for each head -> (B, H, T, D)."""
    batch, heads, n_queries, _ = q.shape
    n_keys = k.shape[2]
    q, k, v = (x.flatten(0, 1) for x in (q, k, v))  # (B * H, T or S, D)
    bias = q.new_zeros(batch * heads, 1, 1)
    if mask is not None:
        bias = torch.zeros_like(mask, dtype=q.dtype).masked_fill(~mask, float("-inf"))
        bias = bias.expand(batch, heads, 1, n_keys).flatten(0, 1)
    parts = []
    at_once = MOST_SCORES // (n_queries * n_keys)
    for first in range(0, batch * heads, at_once):
        rows = slice(first, first + at_once)
        scores = torch.baddbmm(bias[rows], q[rows], k[rows].transpose(1, 2), alpha=scale)
        parts.append(torch.bmm(scores.softmax(dim=-1), v[rows]))
    return torch.cat(parts).unflatten(0, (batch, heads))
