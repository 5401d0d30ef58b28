"""The checks of the self-attention chapter accept what is right and say what is wrong."""

import torch

from coursepkg.attention import attention, causal, padding


def one_head(x, w_q, w_k, w_v):
    scores = (x @ w_q) @ (x @ w_k).T / w_q.shape[1] ** 0.5
    return scores.softmax(-1) @ (x @ w_v)


def test_one_head_right(assert_accepts):
    assert_accepts("self_attention.one_head", one_head)


def test_one_head_without_scale(assert_rejects):
    def unscaled(x, w_q, w_k, w_v):
        return ((x @ w_q) @ (x @ w_k).T).softmax(-1) @ (x @ w_v)

    assert_rejects("self_attention.one_head", unscaled, "not divided by sqrt(D)")


def test_one_head_divided_by_d(assert_rejects):
    def without_root(x, w_q, w_k, w_v):
        return ((x @ w_q) @ (x @ w_k).T / w_q.shape[1]).softmax(-1) @ (x @ w_v)

    assert_rejects("self_attention.one_head", without_root, "the root is missing")


def test_one_head_with_the_width_of_x(assert_rejects):
    def wide(x, w_q, w_k, w_v):
        return ((x @ w_q) @ (x @ w_k).T / x.shape[1] ** 0.5).softmax(-1) @ (x @ w_v)

    assert_rejects("self_attention.one_head", wide, "not of x")


def test_one_head_over_the_queries(assert_rejects):
    def columns(x, w_q, w_k, w_v):
        return ((x @ w_q) @ (x @ w_k).T / w_q.shape[1] ** 0.5).softmax(0) @ (x @ w_v)

    assert_rejects("self_attention.one_head", columns, "softmax over the keys")


def test_one_head_that_forgets_the_values(assert_rejects):
    def no_values(x, w_q, w_k, w_v):
        return one_head(x, w_q, w_k, w_k)

    assert_rejects("self_attention.one_head", no_values, "is expected")


def visible(n_queries, n_keys, lengths):
    i = torch.arange(n_queries)[:, None] + n_keys - n_queries
    j = torch.arange(n_keys)
    return (j <= i) & (j < lengths[:, None, None, None])


def test_visible_right(assert_accepts):
    assert_accepts("self_attention.visible", visible)


def test_visible_aligned_to_the_first_key(assert_rejects):
    def top_left(n_queries, n_keys, lengths):
        i, j = torch.arange(n_queries)[:, None], torch.arange(n_keys)
        return (j <= i) & (j < lengths[:, None, None, None])

    assert_rejects("self_attention.visible", top_left, "the last query stands beside the last key")


def test_visible_that_hides_itself(assert_rejects):
    def strictly_before(n_queries, n_keys, lengths):
        return visible(n_queries, n_keys, lengths) & (
            torch.arange(n_keys) < torch.arange(n_queries)[:, None] + n_keys - n_queries
        )

    assert_rejects("self_attention.visible", strictly_before, "hides a key")


def test_visible_padding(assert_rejects):
    def causal_only(n_queries, n_keys, lengths):
        return causal().mask(n_queries, n_keys).expand(len(lengths), 1, -1, -1)

    assert_rejects("self_attention.visible", causal_only, "shows padding")


def test_visible_future(assert_rejects):
    def padding_only(n_queries, n_keys, lengths):
        real = padding(lengths).mask(n_queries, n_keys, batch=len(lengths))
        return real.expand(-1, 1, n_queries, n_keys)

    assert_rejects("self_attention.visible", padding_only, "after the query's own position")


def multi_head(q, k, v, n_heads):
    heads = [x.unflatten(-1, (n_heads, -1)).transpose(1, 2) for x in (q, k, v)]
    return attention(*heads).transpose(1, 2).flatten(-2)


def test_multi_head_right(assert_accepts):
    assert_accepts("self_attention.multi_head", multi_head)


def test_multi_head_reshaped_without_transpose(assert_rejects):
    def scrambled(q, k, v, n_heads):
        batch, length, width = q.shape
        heads = [x.reshape(batch, n_heads, length, width // n_heads) for x in (q, k, v)]
        return attention(*heads).reshape(batch, length, width)

    assert_rejects("self_attention.multi_head", scrambled, "head h takes columns")


def test_multi_head_with_the_scale_of_the_model(assert_rejects):
    def wrong_scale(q, k, v, n_heads):
        heads = [x.unflatten(-1, (n_heads, -1)).transpose(1, 2) for x in (q, k, v)]
        return attention(*heads, scale=q.shape[-1] ** -0.5).transpose(1, 2).flatten(-2)

    assert_rejects("self_attention.multi_head", wrong_scale, "scale is that of one head")


def other_weights(weights, values):
    seen = torch.cat([values, torch.ones(len(values), 1, dtype=values.dtype)], dim=1)
    direction = torch.linalg.svd(seen.T).Vh[-1]
    steps = [-weights[s * direction < 0] / (s * direction[s * direction < 0]) for s in (1, -1)]
    return max(
        (weights + s * step.min() * direction for s, step in zip((1, -1), steps, strict=True)),
        key=lambda p: float((p - weights).abs().sum()),
    )


def test_other_weights_right(assert_accepts):
    assert_accepts("self_attention.other_weights", other_weights)


def test_other_weights_that_are_the_same(assert_rejects):
    assert_rejects("self_attention.other_weights", lambda weights, values: weights, "was moved")


def test_other_weights_with_another_output(assert_rejects):
    assert_rejects(
        "self_attention.other_weights", lambda weights, values: weights.flip(0), "the values do not see"
    )


def test_other_weights_that_are_negative(assert_rejects):
    def too_far(weights, values):
        return weights + 10 * (other_weights(weights, values) - weights)

    assert_rejects("self_attention.other_weights", too_far, "negative")


def test_other_weights_with_another_sum(assert_rejects):
    def unnormalised(weights, values):
        return other_weights(weights, values) * 1.5

    assert_rejects("self_attention.other_weights", unnormalised, "sum")
