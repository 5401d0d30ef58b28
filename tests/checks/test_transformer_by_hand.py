"""The checks of the chapter on the Transformer by hand accept what is right and say what is wrong."""

import math

import torch.nn.functional as F

from tests.checks.solutions import solution_tests


def batch(x, gamma, beta):
    deviation = x - x.mean((0, 1))
    return gamma * deviation / (x.var((0, 1), correction=0) + 1e-5).sqrt() + beta


def unbiased(x, gamma, beta):
    return gamma * (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt() + beta


def bare(x, gamma, beta):
    return gamma * (x - x.mean(-1, keepdim=True)) / x.std(-1, correction=0, keepdim=True) + beta


def outside(x, gamma, beta):
    return gamma * (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + 1e-5) + beta


def gradient(s, u):
    p = s.softmax(-1)
    return p * (u - (p * u).sum(-1, keepdim=True))


def elementwise(s, u):
    p = s.softmax(-1)
    return p * (1 - p) * u


def wrong_axis(s, u):
    p = s.softmax(-1)
    return p * (u - (p * u).sum(0, keepdim=True))


def attend(q, k, v, n_heads, root=None):
    q, k, v = (x.unflatten(-1, (n_heads, -1)).transpose(0, 1) for x in (q, k, v))
    weights = (q @ k.mT / math.sqrt(root or q.shape[-1])).softmax(-1)
    return (weights @ v).transpose(0, 1).flatten(-2)


def cross(y, m, w_q, w_k, w_v, w_o, n_heads):
    return attend(y @ w_q, m @ w_k, m @ w_v, n_heads) @ w_o


def unprojected(y, m, w_q, w_k, w_v, w_o, n_heads):
    return attend(y @ w_q, m, m, n_heads) @ w_o


def wide(y, m, w_q, w_k, w_v, w_o, n_heads):
    return attend(y @ w_q, m @ w_k, m @ w_v, n_heads, root=y.shape[-1]) @ w_o


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


RIGHT = {
    "layer_norm": lambda x, gamma, beta: F.layer_norm(x, x.shape[-1:], gamma, beta),
    "softmax_gradient": gradient,
    "cross_attention": cross,
    "encoder_layer_2017 encoder layer right": layer,
    "encoder_work": "22.5 GFLOP",
    "encoder_work in another unit": "0.02255 TFLOP",
    "gradient_ratio": "27,000 times",
    "gradient_ratio read coarsely": "20000 times",
}

WRONG = {
    "layer_norm over the batch": (batch, "features of one position"),
    "layer_norm divides by one less": (unbiased, "divides by E"),
    "layer_norm without epsilon": (bare, "NaN"),
    "softmax_gradient without the sum": (lambda s, u: s.softmax(-1) * u, "p_j (u_j - sum"),
    "softmax_gradient of a sigmoid": (elementwise, "p_j (u_j - sum"),
    "softmax_gradient sums over the queries": (wrong_axis, "a number a row"),
    "cross_attention leaves keys and values as they are": (unprojected, "projected from m"),
    "cross_attention takes the root of the width": (wide, "its own dimension"),
    "cross_attention swaps query and key side": (
        lambda y, m, *rest: cross(m, y, *rest),
        "(3, 8) is expected",
    ),
    "encoder_layer_2017 encoder layer with the norm first": (
        lambda x, p, n_heads: layer(x, p, n_heads, pre_norm=True),
        "then normalise the sum",
    ),
    "encoder_layer_2017 encoder layer without the maximum": (
        lambda x, p, n_heads: layer(x, p, n_heads, relu=False),
        "max(0, .)",
    ),
    "encoder_layer_2017 encoder layer without residuals": (
        lambda x, p, n_heads: layer(x, p, n_heads, residual=False),
        "add its output to its input",
    ),
    "encoder_work of one layer": ("3.76 GFLOP", "the encoder has six"),
    "encoder_work without scores": ("19.3 GFLOP", "scores and weighted sums are missing"),
    "encoder_work of products alone": ("11.3 GFLOP", "a product and a sum"),
    "encoder_work without a unit": ("22.5", "without a unit"),
    "gradient_ratio on a linear axis": ("5 times", "the axis is logarithmic"),
    "gradient_ratio one label too far": ("200000 times", "between 1e-6 and 1e-5"),
    "gradient_ratio upside down": ("0.00004 times", "the larger number by the smaller one"),
    "layer_norm with epsilon outside the root": (outside, "under the root"),
}

test_right, test_wrong = solution_tests("transformer_by_hand", RIGHT, WRONG)
