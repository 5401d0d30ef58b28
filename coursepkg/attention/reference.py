"""Scaled dot-product attention, written out: what every implementation must match.

    scores  = q k^T * scale + bias
    weights = softmax of the visible scores of each row
    output  = weights v

Source: Vaswani et al., "Attention Is All You Need" (arXiv 1706.03762), section 3.2.1.
"""

from typing import Any

import torch
from torch import Tensor

from coursepkg.attention.dropout import full_keep_mask
from coursepkg.attention.pattern import Pattern


def attention_with_weights(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    pattern: Pattern | None = None,
    *,
    scale: float,
    bias: Tensor | None = None,
    dropout_p: float = 0.0,
    dropout_seed: int = 0,
) -> tuple[Tensor, Tensor]:
    """The formula, with every intermediate stored.

    Args:
        q: (B, H, T, D).
        k: (B, G, S, D), each kv head serving H / G query heads.
        v: (B, G, S, D).
        pattern: which query sees which key; None lets every query see every key.
        scale: factor on the dot products, usually 1 / sqrt(D).
        bias: broadcastable to (B, H, T, S), added to the scaled scores.
        dropout_p: probability that a weight is dropped.
        dropout_seed: decides which weights are dropped.

    Returns:
        output (B, H, T, D) and weights (B, H, T, S). A row that sees nothing is zero in
        both.
    """
    n_shared = q.shape[1] // k.shape[1]
    # (B, G, S, D) -> (B, H, S, D)
    k, v = (x.repeat_interleave(n_shared, dim=1) for x in (k, v))

    # (B, H, T, S); scaled first, as half precision overflows at 65,504.
    scores = (q * scale) @ k.transpose(-2, -1)
    scores = scores if bias is None else scores + bias
    weights = softmax_of_visible(scores, visible_pairs(pattern, scores))
    if dropout_p > 0:
        keep = full_keep_mask(dropout_p, dropout_seed, (*scores.shape,), scores.device)
        weights = weights * keep / (1 - dropout_p)
    return weights.to(v.dtype) @ v, weights


def visible_pairs(pattern: Pattern | None, scores: Tensor) -> Tensor | None:
    """The mask of `pattern` for scores (B, H, T, S), or None when all is visible."""
    if pattern is None:
        return None
    batch, heads, n_queries, n_keys = scores.shape
    return pattern.mask(
        n_queries, n_keys, batch=batch, heads=heads, device=scores.device
    )


def softmax_of_visible(scores: Tensor, visible: Tensor | None) -> Tensor:
    """Softmax over the last dimension in which hidden scores take no part.

    Hidden scores become the lowest finite number, so their exponential is exactly zero
    beside any visible score. The product with the mask then clears the rows in which
    nothing is visible, without a NaN in the gradient.
    """
    if scores.dtype in (torch.float16, torch.bfloat16):
        scores = scores.float()
    if visible is None:
        return scores.softmax(dim=-1)
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~visible, lowest).softmax(dim=-1) * visible


def run(
    q: Tensor, k: Tensor, v: Tensor, pattern: Pattern | None, **options: Any
) -> Tensor:
    """`attention_with_weights` without weights, as `attention` calls every `run`."""
    return attention_with_weights(q, k, v, pattern, **options)[0]
