"""The checks of the chapter on grouped-query attention accept what is right and say what is wrong."""

import torch
from torch.nn.functional import scaled_dot_product_attention

from tests.checks.solutions import solution_tests


def attend(q, k, v, causal):
    return scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True)


def tiled(q, k, v, causal):
    k, v = (x.repeat(1, q.shape[1] // k.shape[1], 1, 1) for x in (k, v))
    return scaled_dot_product_attention(q, k, v, is_causal=causal)


def folded(q, k, v, causal):
    rows = q.reshape(q.shape[0], k.shape[1], -1, q.shape[-1])
    mask = torch.ones(rows.shape[2], k.shape[2], dtype=torch.bool).tril() if causal else None
    return scaled_dot_product_attention(rows, k, v, mask).view_as(q)


RIGHT = {
    "kv_heads_read": lambda H, G: [h // (H // G) for h in range(H)],
    "grouped_attention": attend,
    "device_cache": lambda n, L, G, D, P: 4 * L * max(1, G // P) * n * D,
}

WRONG = {
    "kv_heads_read modulo": (lambda H, G: [h % G for h in range(H)], "not h mod G"),
    "kv_heads_read by number of groups": (lambda H, G: [h // G for h in range(H)], "neighbouring"),
    "grouped_attention wrong order": (tiled, "h // (H / G)"),
    "grouped_attention sees the future": (lambda q, k, v, causal: attend(q, k, v, False), "keys after i"),
    "grouped_attention folds under a causal mask": (folded, "keys after i"),
    "device_cache splits one head": (lambda n, L, G, D, P: 4 * L * G * n * D // P, "at least one whole head"),
    "device_cache without splitting": (lambda n, L, G, D, P: 4 * L * G * n * D, "share of the heads"),
}

test_right, test_wrong = solution_tests("gqa", RIGHT, WRONG)
