"""Inputs and an independent oracle shared by the attention tests."""

import torch

from coursepkg.attention.pattern import (
    causal,
    dilated_window,
    from_predicate,
    full,
    global_tokens,
    padding,
    per_head,
    random_blocks,
    sliding_window,
)

PATTERNS = {
    "none": None,
    "full": full(),
    "causal": causal(),
    "window": sliding_window(5),
    "causal window": causal() & sliding_window(4),
    "dilated": dilated_window(3, 2),
    "causal dilated": dilated_window(3, 2) & causal(),
    "global": sliding_window(3) | global_tokens(2),
    "bigbird": (sliding_window(2) | global_tokens(1) | random_blocks(1, 4)) & causal(),
    "padding": padding([5, 11]),
    "padded causal": padding([0, 9]) & causal(),
    "per head": per_head([causal(), full(), sliding_window(2), random_blocks(1, 3)]),
    "predicate": from_predicate(lambda b, h, i, j: (i + j + h) % 3 == 0, "thirds"),
}
"""Patterns for a batch of 2, 4 heads and 11 keys; `padded causal` has rows that see nothing."""

BAND_PATTERNS = ["none", "full", "causal", "window", "causal window"]


def make_qkv(
    *, batch=2, n_heads=4, n_kv_heads=2, n_queries=11, n_keys=11, head_dim=8, dtype=torch.float64, seed=0
):
    """Random q (B, H, T, D), k and v (B, G, S, D) that ask for gradients."""
    generator = torch.Generator().manual_seed(seed)

    def draw(heads, length):
        x = torch.randn(batch, heads, length, head_dim, generator=generator, dtype=torch.float64)
        return x.to(dtype).requires_grad_()

    return draw(n_heads, n_queries), draw(n_kv_heads, n_keys), draw(n_kv_heads, n_keys)


def oracle(q, k, v, pattern=None, *, scale=None, bias=None, keep=None, dropout_p=0.0):
    """Attention in float64 by a formula of its own: exp over visible pairs, divided by its sum, einsum over groups.

    It shares no line with the package: no softmax call, no repeat of keys, rows without keys by division guard.
    """
    q, k, v = (x.double() for x in (q, k, v))
    batch, n_heads, n_queries, head_dim = q.shape
    n_kv_heads, n_keys = k.shape[1], k.shape[2]
    grouped = q.reshape(batch, n_kv_heads, n_heads // n_kv_heads, n_queries, head_dim)
    scores = torch.einsum("bgrtd,bgsd->bgrts", grouped, k) * (head_dim**-0.5 if scale is None else scale)
    scores = scores.reshape(batch, n_heads, n_queries, n_keys)
    if bias is not None:
        scores = scores + bias.double()
    visible = torch.ones(1, 1, n_queries, n_keys, dtype=torch.bool)
    if pattern is not None:
        visible = pattern.mask(n_queries, n_keys, batch=batch, heads=n_heads)
    exponentials = (scores - scores.detach().amax(-1, keepdim=True)).exp() * visible.double()
    total = exponentials.sum(-1, keepdim=True)
    weights = exponentials / torch.where(total == 0, torch.ones_like(total), total)
    if keep is not None:
        weights = weights * keep / (1 - dropout_p)
    weights = weights.reshape(batch, n_kv_heads, -1, n_queries, n_keys)
    return torch.einsum("bgrts,bgsd->bgrtd", weights, v).reshape(batch, n_heads, n_queries, head_dim)


def gradients(output, inputs, seed=1):
    """Gradients of a fixed random projection of `output`."""
    generator = torch.Generator().manual_seed(seed)
    direction = torch.randn(output.shape, generator=generator, dtype=torch.float64).to(output.dtype)
    return torch.autograd.grad(output, inputs, direction)
