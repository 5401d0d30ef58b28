"""The checks of the self-attention chapter accept what is right and say what is wrong."""

import torch

from coursepkg.attention import attention, causal, padding
from tests.checks.solutions import solution_tests


def one_head(x, w_q, w_k, w_v):
    scores = (x @ w_q) @ (x @ w_k).T / w_q.shape[1] ** 0.5
    return scores.softmax(-1) @ (x @ w_v)


def unscaled(x, w_q, w_k, w_v):
    return ((x @ w_q) @ (x @ w_k).T).softmax(-1) @ (x @ w_v)


def without_root(x, w_q, w_k, w_v):
    return ((x @ w_q) @ (x @ w_k).T / w_q.shape[1]).softmax(-1) @ (x @ w_v)


def wide(x, w_q, w_k, w_v):
    return ((x @ w_q) @ (x @ w_k).T / x.shape[1] ** 0.5).softmax(-1) @ (x @ w_v)


def columns(x, w_q, w_k, w_v):
    return ((x @ w_q) @ (x @ w_k).T / w_q.shape[1] ** 0.5).softmax(0) @ (x @ w_v)


def no_values(x, w_q, w_k, w_v):
    return one_head(x, w_q, w_k, w_k)


def visible(n_queries, n_keys, lengths):
    i = torch.arange(n_queries)[:, None] + n_keys - n_queries
    j = torch.arange(n_keys)
    return (j <= i) & (j < lengths[:, None, None, None])


def top_left(n_queries, n_keys, lengths):
    i, j = torch.arange(n_queries)[:, None], torch.arange(n_keys)
    return (j <= i) & (j < lengths[:, None, None, None])


def strictly_before(n_queries, n_keys, lengths):
    return visible(n_queries, n_keys, lengths) & (
        torch.arange(n_keys) < torch.arange(n_queries)[:, None] + n_keys - n_queries
    )


def causal_only(n_queries, n_keys, lengths):
    return causal().mask(n_queries, n_keys).expand(len(lengths), 1, -1, -1)


def padding_only(n_queries, n_keys, lengths):
    real = padding(lengths).mask(n_queries, n_keys, batch=len(lengths))
    return real.expand(-1, 1, n_queries, n_keys)


def multi_head(q, k, v, n_heads):
    heads = [x.unflatten(-1, (n_heads, -1)).transpose(1, 2) for x in (q, k, v)]
    return attention(*heads).transpose(1, 2).flatten(-2)


def scrambled(q, k, v, n_heads):
    batch, length, width = q.shape
    heads = [x.reshape(batch, n_heads, length, width // n_heads) for x in (q, k, v)]
    return attention(*heads).reshape(batch, length, width)


def wrong_scale(q, k, v, n_heads):
    heads = [x.unflatten(-1, (n_heads, -1)).transpose(1, 2) for x in (q, k, v)]
    return attention(*heads, scale=q.shape[-1] ** -0.5).transpose(1, 2).flatten(-2)


def other_weights(weights, values):
    seen = torch.cat([values, torch.ones(len(values), 1, dtype=values.dtype)], dim=1)
    direction = torch.linalg.svd(seen.T).Vh[-1]
    steps = [-weights[s * direction < 0] / (s * direction[s * direction < 0]) for s in (1, -1)]
    return max(
        (weights + s * step.min() * direction for s, step in zip((1, -1), steps, strict=True)),
        key=lambda p: float((p - weights).abs().sum()),
    )


def too_far(weights, values):
    return weights + 10 * (other_weights(weights, values) - weights)


def unnormalised(weights, values):
    return other_weights(weights, values) * 1.5


RIGHT = {
    "one_head": one_head,
    "visible": visible,
    "multi_head": multi_head,
    "other_weights": other_weights,
    "gradient_plot": "30 tokens",
    "one_head in single precision": lambda *a: one_head(*(x.float() for x in a)),
}

WRONG = {
    "one_head without scale": (unscaled, "not divided by sqrt(D)"),
    "one_head divided by d": (without_root, "the root is missing"),
    "one_head with the width of x": (wide, "not of x"),
    "one_head over the queries": (columns, "softmax over the keys"),
    "one_head that forgets the values": (no_values, "is expected"),
    "visible aligned to the first key": (top_left, "the last query stands beside the last key"),
    "visible that hides itself": (strictly_before, "hides a key"),
    "visible padding": (causal_only, "shows padding"),
    "visible future": (padding_only, "after the query's own position"),
    "multi_head reshaped without transpose": (scrambled, "head h takes columns"),
    "multi_head with the scale of the model": (wrong_scale, "scale is that of one head"),
    "other_weights that are the same": (lambda weights, values: weights, "was moved"),
    "other_weights with another output": (lambda weights, values: weights.flip(0), "the values do not see"),
    "other_weights that are negative": (too_far, "negative"),
    "other_weights with another sum": (unnormalised, "sum"),
    "gradient_plot one label above": ("24 tokens", "at 10^-6"),
    "gradient_plot one label below": ("38 tokens", "at 10^-10"),
    "gradient_plot at the end": ("63 tokens", "at 10^-16"),
    "gradient_plot without a unit": ("30", "without a unit"),
}

test_right, test_wrong = solution_tests("self_attention", RIGHT, WRONG)
