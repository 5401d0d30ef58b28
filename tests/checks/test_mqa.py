"""The checks of the chapter on multi-query attention accept what is right and say what is wrong."""


def test_longest_context_right(assert_accepts):
    def right(budget, n_layers, n_kv_heads, head_dim, n_bytes):
        return budget // (2 * n_layers * n_kv_heads * head_dim * n_bytes)

    assert_accepts("mqa.longest_context", right)


def test_longest_context_without_values(assert_rejects):
    def keys_only(budget, n_layers, n_kv_heads, head_dim, n_bytes):
        return budget // (n_layers * n_kv_heads * head_dim * n_bytes)

    assert_rejects("mqa.longest_context", keys_only, "a key and a value")


def test_longest_context_with_a_fraction(assert_rejects):
    def fraction(budget, n_layers, n_kv_heads, head_dim, n_bytes):
        return budget / (2 * n_layers * n_kv_heads * head_dim * n_bytes)

    assert_rejects("mqa.longest_context", fraction, "whole tokens")


def test_shared_attention_right(assert_accepts):
    def right(q, k, v):
        return ((q @ k.unsqueeze(1).mT / q.shape[-1] ** 0.5).softmax(-1)) @ v.unsqueeze(1)

    assert_accepts("mqa.shared_attention", right)


def test_shared_attention_without_scale(assert_rejects):
    def unscaled(q, k, v):
        return (q @ k.unsqueeze(1).mT).softmax(-1) @ v.unsqueeze(1)

    assert_rejects("mqa.shared_attention", unscaled, "1/sqrt(D)")


def test_shared_attention_softmax_over_queries(assert_rejects):
    def over_queries(q, k, v):
        return (q @ k.unsqueeze(1).mT / q.shape[-1] ** 0.5).softmax(-2) @ v.unsqueeze(1)

    assert_rejects("mqa.shared_attention", over_queries, "softmax over the keys")


def test_shared_attention_wrong_shape(assert_rejects):
    def flat(q, k, v):
        return (q.flatten(1, 2) @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v

    assert_rejects("mqa.shared_attention", flat, "shape")


def test_pool_heads_right(assert_accepts):
    assert_accepts("mqa.pool_heads", lambda weight, d: weight.unflatten(0, (-1, d)).mean(0))


def test_pool_heads_mixed_order(assert_rejects):
    assert_rejects(
        "mqa.pool_heads", lambda weight, d: weight.unflatten(0, (d, -1)).mean(1), "head 0 come first"
    )


def test_pool_heads_first_head(assert_rejects):
    assert_rejects("mqa.pool_heads", lambda weight, d: weight[:d].clone(), "average over H")
