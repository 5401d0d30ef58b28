"""The checks of the chapter on RMSNorm, SwiGLU and pre-norm accept what is right and say what is wrong."""

import numpy as np
import torch
from torch.nn import functional as F

from tests.checks.solutions import solution_tests


def safe(x, weight, eps=1e-6):
    wide = x.float()
    return (wide / (wide.square().mean(-1, keepdim=True) + eps).sqrt() * weight).to(x.dtype)


def narrow(x, weight, eps=1e-6):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def count(vocab_size, d_model, n_heads, n_kv_heads, n_layers, d_ff, *, norms=(2, 3), final=2, kv=None):
    kv_heads = n_kv_heads if kv is None else n_heads
    attention = 2 * d_model**2 + 2 * d_model * kv_heads * (d_model // n_heads)
    layers = 3 * attention + 2 * 3 * d_model * d_ff + sum(norms) * d_model
    return n_layers * layers + vocab_size * d_model + vocab_size + final * d_model


def centred(embedding, weight, bias):
    return embedding - embedding.mean(1, keepdim=True), weight - weight.mean(0), bias - bias.mean()


def wrong(embedding, weight, bias):
    return embedding - embedding.mean(0), weight - weight.mean(1, keepdim=True), bias - bias.mean()


def block(x, attend, p, eps, *, outside=False, replaced=False, exchanged=False):
    def norm(x, weight):
        square = x.square().mean(-1, keepdim=True)
        return x / (square.sqrt() + eps if outside else (square + eps).sqrt()) * weight

    normed = norm(x, p["norm_1"])
    x = (normed if replaced else x) + attend(normed)
    y = norm(x, p["norm_2"])
    gate, content = (y @ p[name] for name in (("up", "gate") if exchanged else ("gate", "up")))
    return x + (F.silu(gate) * content) @ p["down"]


def with_mistakes(**mistakes):
    return lambda x, attend, p, eps: block(x, attend, p, eps, **mistakes)


RIGHT = {
    "rms_norm_safe": safe,
    "gated_width": lambda d, m: -(-2 * d // (3 * m)) * m,
    "modern_parameters": count,
    "center": centred,
    "modern_block": block,
    "widest_network": {"n_kv_heads": 2, "d_ff": 1744},
    "gated_width of NumPy": lambda d, m: np.int64(-(-2 * d // (3 * m)) * m),
    "modern_block in double precision": lambda *a: block(*a).double(),
    "widest_network found with NumPy": {"n_kv_heads": np.int64(2), "d_ff": np.int64(1744)},
}

WRONG = {
    "rms_norm_safe overflows": (narrow, "float16"),
    "rms_norm_safe returns another dtype": (lambda x, w, eps: safe(x.float(), w.float(), eps), "dtype"),
    "rms_norm_safe subtracts the mean": (
        lambda x, w, eps: F.layer_norm(x, w.shape, w, None, eps),
        "no mean is subtracted",
    ),
    "rms_norm_safe epsilon outside the root": (
        lambda x, w, eps: x / (x.square().mean(-1, keepdim=True).sqrt() + eps) * w,
        "under the root",
    ),
    "rms_norm_safe mean over everything": (
        lambda x, w, eps: x / (x.square().mean() + eps).sqrt() * w,
        "mean square",
    ),
    "gated_width rounds down": (lambda d, m: 2 * d // (3 * m) * m, "up to the next multiple"),
    "gated_width always goes up": (lambda d, m: (2 * d // (3 * m) + 1) * m, "is one already stays"),
    "gated_width is no int": (lambda d, m: float(-(-2 * d // (3 * m)) * m), "int is expected"),
    "modern_parameters forgets the groups": (lambda *sizes: count(*sizes, kv="all"), "n_kv_heads heads"),
    "modern_parameters forgets the final norms": (
        lambda *sizes: count(*sizes, final=0),
        "each stack ends in a norm",
    ),
    "modern_parameters forgets a norm of the decoder": (
        lambda *sizes: count(*sizes, norms=(2, 2)),
        "three norms",
    ),
    "center over the wrong axis": (wrong, "last axis of the embedding"),
    "center forgets the bias": (lambda e, w, b: (*centred(e, w, b)[:2], b), "first of weight and bias"),
    "center by zeros": (lambda e, w, b: (centred(e, w, b)[0], w * 0, b * 0), "subtract means only"),
    "center returns one tensor": (lambda e, w, b: centred(e, w, b)[0], "three tensors are expected"),
    "modern_block with eps outside": (with_mistakes(outside=True), "eps stands outside the root"),
    "modern_block with a replaced stream": (with_mistakes(replaced=True), "not to the stream itself"),
    "modern_block with the content gated": (with_mistakes(exchanged=True), "not around the gate"),
    "modern_block as it was": (
        with_mistakes(outside=True, replaced=True, exchanged=True),
        "still wrong: eps stands outside the root in RMSNorm; the residual",
    ),
    "modern_block half mended": (
        with_mistakes(replaced=True, exchanged=True),
        "stream itself; the SiLU",
    ),
    "widest_network with all heads": ({"n_kv_heads": 8, "d_ff": 1360}, "at most a quarter"),
    "widest_network with one head": ({"n_kv_heads": 1, "d_ff": 1808}, "without a key-value head"),
    "widest_network that keeps the width": ({"n_kv_heads": 2, "d_ff": 2048}, "too many"),
    "widest_network of two thirds": ({"n_kv_heads": 2, "d_ff": 1368}, "weights unused"),
    "widest_network rounded to one": ({"n_kv_heads": 2, "d_ff": 1749}, "no multiple of 8"),
}

test_right, test_wrong = solution_tests("modern_transformer", RIGHT, WRONG)
