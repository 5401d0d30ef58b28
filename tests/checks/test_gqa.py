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


def most_groups(n_heads, head_dim, n_layers, n_tokens, n_devices, budget, *, share=max, among=None):
    fits = [
        G
        for G in among or [G for G in range(1, n_heads + 1) if n_heads % G == 0]
        if (G % n_devices == 0 or n_devices % G == 0)
        and 4 * n_layers * max(1, G // n_devices) * n_tokens * head_dim <= budget
    ]
    return share(fits)


RIGHT = {
    "kv_heads_read": lambda H, G: [h // (H // G) for h in range(H)],
    "grouped_attention": attend,
    "device_cache": lambda n, L, G, D, P: 4 * L * max(1, G // P) * n * D,
    "choose_groups": most_groups,
}

WRONG = {
    "kv_heads_read modulo": (lambda H, G: [h % G for h in range(H)], "not h mod G"),
    "kv_heads_read by number of groups": (lambda H, G: [h // G for h in range(H)], "neighbouring"),
    "grouped_attention wrong order": (tiled, "h // (H / G)"),
    "grouped_attention sees the future": (lambda q, k, v, causal: attend(q, k, v, False), "keys after i"),
    "grouped_attention folds under a causal mask": (folded, "keys after i"),
    "device_cache splits one head": (lambda n, L, G, D, P: 4 * L * G * n * D // P, "at least one whole head"),
    "device_cache without splitting": (lambda n, L, G, D, P: 4 * L * G * n * D, "share of the heads"),
    "choose_groups the fewest": (lambda *a: most_groups(*a, share=min), "fits too and keeps more heads"),
    "choose_groups on one device": (lambda *a: most_groups(*a[:4], 1, a[5]), "fits too and keeps more heads"),
    "choose_groups over the budget": (lambda *a: a[0], "419,430,400 are allowed"),
    "choose_groups that do not divide": (
        lambda *a: most_groups(*a, among=range(1, 20)),
        "does not divide H",
    ),
    "choose_groups of keys only": (lambda *a: most_groups(*a[:5], 2 * a[5]), "are allowed"),
    "choose_groups unlike the devices": (
        lambda *a: 7 if a[0] == 28 else most_groups(*a),
        "neither G nor the number of devices",
    ),
}

test_right, test_wrong = solution_tests("gqa", RIGHT, WRONG)
