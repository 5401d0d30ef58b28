"""The checks of the chapter on grouped-query attention accept what is right and say what is wrong."""

import torch
from torch.nn.functional import scaled_dot_product_attention


def test_kv_heads_read_right(assert_accepts):
    assert_accepts("gqa.kv_heads_read", lambda H, G: [h // (H // G) for h in range(H)])


def test_kv_heads_read_modulo(assert_rejects):
    assert_rejects("gqa.kv_heads_read", lambda H, G: [h % G for h in range(H)], "not h mod G")


def test_kv_heads_read_by_number_of_groups(assert_rejects):
    assert_rejects("gqa.kv_heads_read", lambda H, G: [h // G for h in range(H)], "neighbouring")


def attend(q, k, v, causal):
    return scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True)


def test_grouped_attention_right(assert_accepts):
    assert_accepts("gqa.grouped_attention", attend)


def test_grouped_attention_wrong_order(assert_rejects):
    def tiled(q, k, v, causal):
        k, v = (x.repeat(1, q.shape[1] // k.shape[1], 1, 1) for x in (k, v))
        return scaled_dot_product_attention(q, k, v, is_causal=causal)

    assert_rejects("gqa.grouped_attention", tiled, "h // (H / G)")


def test_grouped_attention_sees_the_future(assert_rejects):
    assert_rejects("gqa.grouped_attention", lambda q, k, v, causal: attend(q, k, v, False), "keys after i")


def test_grouped_attention_folds_under_a_causal_mask(assert_rejects):
    def folded(q, k, v, causal):
        rows = q.reshape(q.shape[0], k.shape[1], -1, q.shape[-1])
        mask = torch.ones(rows.shape[2], k.shape[2], dtype=torch.bool).tril() if causal else None
        return scaled_dot_product_attention(rows, k, v, mask).view_as(q)

    assert_rejects("gqa.grouped_attention", folded, "keys after i")


def test_device_cache_right(assert_accepts):
    assert_accepts("gqa.device_cache", lambda n, L, G, D, P: 4 * L * max(1, G // P) * n * D)


def test_device_cache_splits_one_head(assert_rejects):
    assert_rejects(
        "gqa.device_cache", lambda n, L, G, D, P: 4 * L * G * n * D // P, "at least one whole head"
    )


def test_device_cache_without_splitting(assert_rejects):
    assert_rejects("gqa.device_cache", lambda n, L, G, D, P: 4 * L * G * n * D, "share of the heads")
