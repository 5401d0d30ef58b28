"""Attention in bfloat16 on a processor that multiplies it itself: two batched products with a softmax between them.

PyTorch's fused kernel is made for memory: it never stores the scores. In bfloat16 on a CPU it is no faster than in
float32. Where the scores of a few heads fit into the cache, storing them costs little, and the products run at the full
speed of the processor: 1.3 to 1.7 times as fast for 64 to 512 positions (AMD EPYC with AVX-512 BF16, heads of 32 and
64). Scores and weights are rounded to bfloat16, as in the reference.
"""

import torch
from torch import Tensor

from coursepkg.processor import multiplies_bfloat16

LEAST_HEAD_DIM = 32
"""With narrower heads the softmax is most of the work, and the fused kernel's is faster."""
MOST_SCORES = 2**21
"""Scores that are stored at once, 4 MiB of them; with more the fused kernel was as fast or faster."""


def suits(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> bool:
    """Whether `run` takes these and is the faster way; what needs a gradient is left to the fused kernel.

    Args:
        q: (B, H, T, D).
        k: (B, G, S, D).
        v: (B, G, S, D).
        mask: bool, True where a query sees a key, or None; `run` takes one row (B or 1, H or 1, 1, S) for all queries.
    """
    is_half = q.dtype == torch.bfloat16 and q.device.type == "cpu"
    is_plain = q.shape[1] == k.shape[1] and (
        mask is None or (mask.dtype == torch.bool and mask.shape[2] == 1)
    )
    fits = q.shape[3] >= LEAST_HEAD_DIM and q.shape[2] * k.shape[2] <= MOST_SCORES
    learns = torch.is_grad_enabled() and any(x.requires_grad for x in (q, k, v))
    return is_half and is_plain and fits and not learns and multiplies_bfloat16()


def run(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """q (B, H, T, D), k and v (B, H, S, D), a mask as in `suits` with a visible key for each head -> (B, H, T, D)."""
    batch, heads, n_queries, head_dim = q.shape
    n_keys = k.shape[2]
    q, k, v = (x.flatten(0, 1) for x in (q, k, v))  # (B * H, T or S, D)
    hidden = q.new_zeros(batch * heads, 1, 1)
    if mask is not None:
        hidden = torch.zeros_like(mask, dtype=q.dtype).masked_fill_(~mask, float("-inf"))
        hidden = hidden.expand(batch, heads, 1, n_keys).flatten(0, 1)
    outputs = q.new_empty(batch * heads, n_queries, head_dim)
    at_once = MOST_SCORES // (n_queries * n_keys)
    for first in range(0, batch * heads, at_once):
        rows = slice(first, first + at_once)
        scores = torch.baddbmm(hidden[rows], q[rows], k[rows].transpose(1, 2), alpha=scale)
        torch.bmm(scores.softmax(dim=-1), v[rows], out=outputs[rows])
    return outputs.view(batch, heads, n_queries, head_dim)
