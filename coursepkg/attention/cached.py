"""Attention to cached keys that several rows share: what `MultiHeadAttention.attend` computes, without its checks."""

from typing import cast

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from coursepkg.attention.multihead import MultiHeadAttention
from coursepkg.attention.patterns import Pattern, from_predicate


def attend_cached(
    layer: MultiHeadAttention,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    visible: Tensor | None = None,
    score_bias: Tensor | None = None,
) -> Tensor:
    """Attention of N rows to the keys of B sentences; the rows of one sentence are further queries to its keys.

    It is made for the steps of a decoder. With one new token a row, attention takes microseconds, and so do the
    checks of `attention()` and the drawing of a pattern's mask: a model with small layers spent a fifth of its step on
    them. Here nothing is checked and the mask comes ready-made, so the caller answers for both. Where PyTorch's fused
    kernel would not do (another `impl`, dropout that acts, autocast), `layer.attend` computes the same.

    Args:
        layer: module whose projections made q, k and v.
        q: (N, H, T, D), the N / B rows of a sentence side by side.
        k: (B, G, S, D).
        v: (B, G, S, D).
        visible: bool (B, 1, 1 or N / B * T, S), True where a query sees a key, of which it sees at least one; None
            shows everything.
        score_bias: (1, H, N / B * T, S), added to the scaled scores.

    Returns:
        (N, T, E).
    """
    n_rows, n_heads, n_tokens, head_dim = q.shape
    if n_rows != len(k):
        q = q.unflatten(0, (len(k), -1)).transpose(1, 2).flatten(2, 3)  # (B, H, N / B * T, D)
    if _is_plain(layer, q):
        # The heads of a group, too, become rows: (B, G, H / G * N / B * T, D).
        grouped = q.reshape(len(k), k.shape[1], -1, head_dim)
        mask = _fold_mask(visible, score_bias, n_heads // k.shape[1], k.shape[1], q.dtype)
        heads = scaled_dot_product_attention(grouped, k, v, mask, scale=layer.scale).reshape(q.shape)
        attended = layer.o_proj(heads.transpose(1, 2).flatten(-2))  # (B, N / B * T, E)
    else:
        pattern = None if visible is None else _as_pattern(visible.expand(-1, -1, q.shape[2], -1))
        attended = cast(Tensor, layer.attend(q, k, v, pattern=pattern, score_bias=score_bias))
    return attended.reshape(n_rows, n_tokens, -1)


def _is_plain(layer: MultiHeadAttention, q: Tensor) -> bool:
    drops = layer.training and layer.dropout_p > 0
    return layer.impl in ("auto", "sdpa") and not drops and not torch.is_autocast_enabled(q.device.type)


def _fold_mask(
    visible: Tensor | None, score_bias: Tensor | None, n_shared: int, n_kv_heads: int, dtype: torch.dtype
) -> Tensor | None:
    """Both as one mask for queries whose grouped heads are rows."""
    if score_bias is None:
        one_for_all = visible is None or visible.shape[2] == 1
        return visible if visible is None or one_for_all else visible.repeat(1, 1, n_shared, 1)
    bias = score_bias.to(dtype)
    if visible is not None:
        bias = bias.masked_fill(~visible, float("-inf"))  # (B, H, N / B * T, S)
    return bias.reshape(len(bias), n_kv_heads, -1, bias.shape[-1])


def _as_pattern(visible: Tensor) -> Pattern:
    """visible (B, 1, T, S) as a pattern, whose query index is aligned with the last key."""
    first = visible.shape[3] - visible.shape[2]
    return from_predicate(lambda b, h, i, j: visible[b, 0, i - first, j], "visible")
