"""PyTorch's own fused kernels, with this package's alignment and zero rows.

`scaled_dot_product_attention` aligns its causal flag top-left when T and S differ, this
package bottom-right; so the flag is used only where both agree. Grouped heads become
extra query rows where no mask stands in the way: keys are then read once for a group.

One case is not left to that kernel: bfloat16 on a CPU that multiplies it itself,
without a gradient. The fused kernel never stores the scores, and in bfloat16 it is
hardly faster than in float32. Where the scores of a few heads fit into the cache, two
batched products with a softmax between them run at the speed of the processor
(`coursepkg bench unfused-bfloat16` tells by how much). Scores and weights are rounded
to bfloat16, as in the reference.
"""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from coursepkg.attention.pattern import Pattern
from coursepkg.processor import multiplies_bfloat16

LEAST_QUERIES = 32
"""With fewer there is too little to multiply, and a decoding cache would be copied."""
LEAST_HEAD_DIM = 32
"""With narrower heads most of the work is the softmax; the fused kernel's is faster."""
MOST_SCORES = 2**21
"""Scores stored at once: 4 MiB, and as much for the weights. More gains nothing."""


def is_supported(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> bool:
    """Whether `attend` takes these and is faster; gradients need the fused kernel.

    Of bool masks it takes one row for all queries, (B or 1, H or 1, 1, S), or None.
    """
    if q.dtype != torch.bfloat16 or q.device.type != "cpu" or not multiplies_bfloat16():
        return False
    if torch.is_grad_enabled() and any(x.requires_grad for x in (q, k, v)):
        return False
    one_row = mask is None or (mask.dtype == torch.bool and mask.shape[2] == 1)
    n_queries, head_dim = q.shape[2:]
    is_worth_it = n_queries >= LEAST_QUERIES and head_dim >= LEAST_HEAD_DIM
    return (
        one_row
        and is_worth_it
        and q.shape[1] == k.shape[1]
        and n_queries * k.shape[2] <= MOST_SCORES
    )


def attend(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: float
) -> Tensor:
    """(B, H, T, D) of `is_supported` tensors whose mask shows a key to each head."""
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
        scores = torch.baddbmm(
            bias[rows], q[rows], k[rows].transpose(1, 2), alpha=scale
        )
        parts.append(torch.bmm(scores.softmax(dim=-1), v[rows]))
    return torch.cat(parts).unflatten(0, (batch, heads))


def run(
    q: Tensor, k: Tensor, v: Tensor, pattern: Pattern | None, **options: Any
) -> Tensor:
    """(B, H, T, D) for the options `scale` and `bias`; `attention` refuses dropout."""
    scale, bias = options["scale"], options["bias"]
    n_queries, n_keys = q.shape[2], k.shape[2]
    band = (None, None) if pattern is None else pattern.band
    sees_all = band == (None, None) or (band == (None, 0) and n_queries == 1)
    if sees_all and bias is None:
        return _fold_groups(q, k, v, scale)
    if band == (None, 0) and n_queries == n_keys and bias is None:
        return _run_kernel(q, k, v, is_causal=True, scale=scale)
    visible = torch.ones(1, 1, 1, n_keys, dtype=torch.bool, device=q.device)
    if pattern is not None:
        visible = pattern.mask(
            n_queries, n_keys, batch=q.shape[0], heads=q.shape[1], device=q.device
        )
        if visible.stride(2) == 0:
            # All queries see the same keys, as with padding: one row says it.
            visible = visible[:, :, :1]
    sees_nothing = ~visible.any(dim=-1, keepdim=True)  # (B or 1, H or 1, T or 1, 1)
    # A row without any key would be NaN: let it see everything, then clear it.
    visible = visible | sees_nothing
    mask = visible
    if bias is not None:
        mask = bias.masked_fill(~visible, float("-inf"))
        if q.dtype in (torch.float16, torch.bfloat16):
            # A softmax does not see by how much a row is shifted, but float16 ends at
            # 65,504.
            mask = mask - mask.detach().amax(dim=-1, keepdim=True)
        mask = mask.to(q.dtype)
    return _run_kernel(q, k, v, mask, scale=scale).masked_fill(sees_nothing, 0.0)


def _run_kernel(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    is_causal: bool = False,
    scale: float,
) -> Tensor:
    if not is_causal and is_supported(q, k, v, mask):
        return attend(q, k, v, mask, scale)
    grouped = q.shape[1] != k.shape[1]
    return scaled_dot_product_attention(
        q, k, v, mask, is_causal=is_causal, scale=scale, enable_gqa=grouped
    )


def _fold_groups(q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
    """Attention with the heads of a group as rows: (B, G, H/G * T, D), and back."""
    batch, n_heads, n_queries, head_dim = q.shape
    if n_heads == k.shape[1]:
        return _run_kernel(q, k, v, scale=scale)
    rows = q.reshape(batch, k.shape[1], -1, head_dim)
    return _run_kernel(rows, k, v, scale=scale).reshape(batch, -1, n_queries, head_dim)
