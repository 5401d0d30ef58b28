"""The checks of the chapter on the Transformer by hand accept what is right and say what is wrong."""

import math

import torch.nn.functional as F


def test_layer_norm_right(assert_accepts):
    assert_accepts(
        "transformer_by_hand.layer_norm", lambda x, gamma, beta: F.layer_norm(x, x.shape[-1:], gamma, beta)
    )


def test_layer_norm_over_the_batch(assert_rejects):
    def batch(x, gamma, beta):
        deviation = x - x.mean((0, 1))
        return gamma * deviation / (x.var((0, 1), correction=0) + 1e-5).sqrt() + beta

    assert_rejects("transformer_by_hand.layer_norm", batch, "features of one position")


def test_layer_norm_divides_by_one_less(assert_rejects):
    def unbiased(x, gamma, beta):
        return gamma * (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt() + beta

    assert_rejects("transformer_by_hand.layer_norm", unbiased, "divides by E")


def test_layer_norm_without_epsilon(assert_rejects):
    def bare(x, gamma, beta):
        return gamma * (x - x.mean(-1, keepdim=True)) / x.std(-1, correction=0, keepdim=True) + beta

    assert_rejects("transformer_by_hand.layer_norm", bare, "NaN")


def gradient(s, u):
    p = s.softmax(-1)
    return p * (u - (p * u).sum(-1, keepdim=True))


def test_softmax_gradient_right(assert_accepts):
    assert_accepts("transformer_by_hand.softmax_gradient", gradient)


def test_softmax_gradient_without_the_sum(assert_rejects):
    assert_rejects("transformer_by_hand.softmax_gradient", lambda s, u: s.softmax(-1) * u, "p_j (u_j - sum")


def test_softmax_gradient_of_a_sigmoid(assert_rejects):
    def elementwise(s, u):
        p = s.softmax(-1)
        return p * (1 - p) * u

    assert_rejects("transformer_by_hand.softmax_gradient", elementwise, "p_j (u_j - sum")


def test_softmax_gradient_sums_over_the_queries(assert_rejects):
    def wrong_axis(s, u):
        p = s.softmax(-1)
        return p * (u - (p * u).sum(0, keepdim=True))

    assert_rejects("transformer_by_hand.softmax_gradient", wrong_axis, "a number a row")


def attend(q, k, v, n_heads, root=None):
    q, k, v = (x.unflatten(-1, (n_heads, -1)).transpose(0, 1) for x in (q, k, v))
    weights = (q @ k.mT / math.sqrt(root or q.shape[-1])).softmax(-1)
    return (weights @ v).transpose(0, 1).flatten(-2)


def cross(y, m, w_q, w_k, w_v, w_o, n_heads):
    return attend(y @ w_q, m @ w_k, m @ w_v, n_heads) @ w_o


def test_cross_attention_right(assert_accepts):
    assert_accepts("transformer_by_hand.cross_attention", cross)


def test_cross_attention_leaves_keys_and_values_as_they_are(assert_rejects):
    def unprojected(y, m, w_q, w_k, w_v, w_o, n_heads):
        return attend(y @ w_q, m, m, n_heads) @ w_o

    assert_rejects("transformer_by_hand.cross_attention", unprojected, "projected from m")


def test_cross_attention_takes_the_root_of_the_width(assert_rejects):
    def wide(y, m, w_q, w_k, w_v, w_o, n_heads):
        return attend(y @ w_q, m @ w_k, m @ w_v, n_heads, root=y.shape[-1]) @ w_o

    assert_rejects("transformer_by_hand.cross_attention", wide, "its own dimension")


def test_cross_attention_swaps_query_and_key_side(assert_rejects):
    assert_rejects(
        "transformer_by_hand.cross_attention", lambda y, m, *rest: cross(m, y, *rest), "(3, 8) is expected"
    )


def layer(x, p, n_heads, *, pre_norm=False, relu=True, residual=True):
    def norm(x, number):
        return F.layer_norm(x, x.shape[-1:], p[f"gamma_{number}"], p[f"beta_{number}"])

    def attention(x):
        return attend(x @ p["w_q"], x @ p["w_k"], x @ p["w_v"], n_heads) @ p["w_o"]

    def network(y):
        inner = y @ p["w_1"] + p["b_1"]
        return (inner.relu() if relu else inner) @ p["w_2"] + p["b_2"]

    if pre_norm:
        y = x + attention(norm(x, 1))
        return y + network(norm(y, 2))
    y = norm(residual * x + attention(x), 1)
    return norm(residual * y + network(y), 2)


def test_encoder_layer_right(assert_accepts):
    assert_accepts("transformer_by_hand.encoder_layer_2017", layer)


def test_encoder_layer_with_the_norm_first(assert_rejects):
    assert_rejects(
        "transformer_by_hand.encoder_layer_2017",
        lambda x, p, n_heads: layer(x, p, n_heads, pre_norm=True),
        "then normalise the sum",
    )


def test_encoder_layer_without_the_maximum(assert_rejects):
    assert_rejects(
        "transformer_by_hand.encoder_layer_2017",
        lambda x, p, n_heads: layer(x, p, n_heads, relu=False),
        "max(0, .)",
    )


def test_encoder_layer_without_residuals(assert_rejects):
    assert_rejects(
        "transformer_by_hand.encoder_layer_2017",
        lambda x, p, n_heads: layer(x, p, n_heads, residual=False),
        "add its output to its input",
    )
