"""The checks of the chapter on multi-query attention accept what is right and say what is wrong."""

from tests.checks.solutions import solution_tests


def longest_context_right(budget, n_layers, n_kv_heads, head_dim, n_bytes):
    return budget // (2 * n_layers * n_kv_heads * head_dim * n_bytes)


def keys_only(budget, n_layers, n_kv_heads, head_dim, n_bytes):
    return budget // (n_layers * n_kv_heads * head_dim * n_bytes)


def fraction(budget, n_layers, n_kv_heads, head_dim, n_bytes):
    return budget / (2 * n_layers * n_kv_heads * head_dim * n_bytes)


def shared_attention_right(q, k, v):
    return ((q @ k.unsqueeze(1).mT / q.shape[-1] ** 0.5).softmax(-1)) @ v.unsqueeze(1)


def unscaled(q, k, v):
    return (q @ k.unsqueeze(1).mT).softmax(-1) @ v.unsqueeze(1)


def over_queries(q, k, v):
    return (q @ k.unsqueeze(1).mT / q.shape[-1] ** 0.5).softmax(-2) @ v.unsqueeze(1)


def flat(q, k, v):
    return (q.flatten(1, 2) @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v


RIGHT = {
    "longest_context": longest_context_right,
    "shared_attention": shared_attention_right,
    "pool_heads": lambda weight, d: weight.unflatten(0, (-1, d)).mean(0),
    "cache_by_hand": "160 MiB",
    "cache_by_hand in bytes": "167,772,160 bytes",
}

WRONG = {
    "longest_context without values": (keys_only, "a key and a value"),
    "longest_context with a fraction": (fraction, "whole tokens"),
    "shared_attention without scale": (unscaled, "1/sqrt(D)"),
    "shared_attention softmax over queries": (over_queries, "softmax over the keys"),
    "shared_attention wrong shape": (flat, "shape"),
    "pool_heads mixed order": (lambda weight, d: weight.unflatten(0, (d, -1)).mean(1), "head 0 come first"),
    "pool_heads first head": (lambda weight, d: weight[:d].clone(), "average over H"),
    "cache_by_hand of all query heads": ("7.5 GiB", "48 query heads share one"),
    "cache_by_hand of keys only": ("80 MiB", "keys and values"),
    "cache_by_hand of one layer": ("4 MiB", "one layer"),
    "cache_by_hand in single precision": ("320 MiB", "2 bytes, not 4"),
}

test_right, test_wrong = solution_tests("mqa", RIGHT, WRONG)
