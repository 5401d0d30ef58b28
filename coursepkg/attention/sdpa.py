"""Attention through `torch.nn.functional.scaled_dot_product_attention`, PyTorch's own fused kernels.

PyTorch aligns its causal flag top-left when T and S differ; this package aligns bottom-right, so the flag is used
only where both agree. Grouped heads become extra query rows where no mask stands in the way: keys are then read
once for the whole group. One thing is not left to those kernels: bfloat16 on a CPU without a gradient, where
`unfused_bfloat16` is faster.
"""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from coursepkg.attention import unfused_bfloat16
from coursepkg.attention.pattern import Pattern


def run(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    pattern: Pattern | None,
    *,
    scale: float,
    bias: Tensor | None,
    dropout_p: float,
    dropout_seed: int,
) -> Tensor:
    """q (B, H, T, D), k and v (B, G, S, D) -> (B, H, T, D); dropout is refused before it comes here."""
    n_queries, n_keys = q.shape[2], k.shape[2]
    band = (None, None) if pattern is None else pattern.band
    sees_all = band == (None, None) or (band == (None, 0) and n_queries == 1)
    if sees_all and bias is None:
        return _fold_groups(q, k, v, scale)
    if band == (None, 0) and n_queries == n_keys and bias is None:
        return _run_kernel(q, k, v, is_causal=True, scale=scale)
    visible = torch.ones(1, 1, 1, n_keys, dtype=torch.bool, device=q.device)
    if pattern is not None:
        visible = pattern.mask(n_queries, n_keys, batch=q.shape[0], heads=q.shape[1], device=q.device)
        if visible.stride(2) == 0:
            visible = visible[:, :, :1]  # all queries see the same keys, as with padding: one row says it
    sees_nothing = ~visible.any(dim=-1, keepdim=True)  # (B or 1, H or 1, T or 1, 1)
    # A row without any key would be NaN: let it see everything, then clear it.
    visible = visible | sees_nothing
    mask = visible if bias is None else _as_score_bias(bias, visible, q)
    return _run_kernel(q, k, v, mask, scale=scale).masked_fill(sees_nothing, 0.0)


def _as_score_bias(bias: Tensor, visible: Tensor, q: Tensor) -> Tensor:
    return bias.to(q.dtype).masked_fill(~visible, float("-inf"))


def _run_kernel(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, *, is_causal: bool = False, scale: float
) -> Tensor:
    if not is_causal and unfused_bfloat16.suits(q, k, v, mask):
        return unfused_bfloat16.attend(q, k, v, mask, scale)
    grouped = q.shape[1] != k.shape[1]
    return scaled_dot_product_attention(q, k, v, mask, is_causal=is_causal, scale=scale, enable_gqa=grouped)


def _fold_groups(q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
    """The heads of a group as rows of one query: (B, H, T, D) -> (B, G, H/G * T, D), and back."""
    batch, _, n_queries, head_dim = q.shape
    rows = q.reshape(batch, k.shape[1], -1, head_dim)
    return _run_kernel(rows, k, v, scale=scale).reshape(batch, -1, n_queries, head_dim)
