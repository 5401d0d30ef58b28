"""The checks of the chapter on RMSNorm, SwiGLU and pre-norm accept what is right and say what is wrong."""

import torch
from torch.nn import functional as F


def safe(x, weight, eps=1e-6):
    wide = x.float()
    return (wide / (wide.square().mean(-1, keepdim=True) + eps).sqrt() * weight).to(x.dtype)


def test_rms_norm_safe_right(assert_accepts):
    assert_accepts("modern_transformer.rms_norm_safe", safe)


def test_rms_norm_safe_overflows(assert_rejects):
    def narrow(x, weight, eps=1e-6):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight

    assert_rejects("modern_transformer.rms_norm_safe", narrow, "float16")


def test_rms_norm_safe_returns_another_dtype(assert_rejects):
    assert_rejects(
        "modern_transformer.rms_norm_safe", lambda x, w, eps: safe(x.float(), w.float(), eps), "dtype"
    )


def test_rms_norm_safe_subtracts_the_mean(assert_rejects):
    assert_rejects(
        "modern_transformer.rms_norm_safe",
        lambda x, w, eps: F.layer_norm(x, w.shape, w, None, eps),
        "no mean is subtracted",
    )


def test_rms_norm_safe_epsilon_outside_the_root(assert_rejects):
    assert_rejects(
        "modern_transformer.rms_norm_safe",
        lambda x, w, eps: x / (x.square().mean(-1, keepdim=True).sqrt() + eps) * w,
        "under the root",
    )


def test_rms_norm_safe_mean_over_everything(assert_rejects):
    assert_rejects(
        "modern_transformer.rms_norm_safe",
        lambda x, w, eps: x / (x.square().mean() + eps).sqrt() * w,
        "mean square",
    )


def test_gated_width_right(assert_accepts):
    assert_accepts("modern_transformer.gated_width", lambda d, m: -(-2 * d // (3 * m)) * m)


def test_gated_width_rounds_down(assert_rejects):
    assert_rejects(
        "modern_transformer.gated_width", lambda d, m: 2 * d // (3 * m) * m, "up to the next multiple"
    )


def test_gated_width_always_goes_up(assert_rejects):
    assert_rejects(
        "modern_transformer.gated_width", lambda d, m: (2 * d // (3 * m) + 1) * m, "is one already stays"
    )


def test_gated_width_is_no_int(assert_rejects):
    assert_rejects(
        "modern_transformer.gated_width", lambda d, m: float(-(-2 * d // (3 * m)) * m), "int is expected"
    )


def count(vocab_size, d_model, n_heads, n_kv_heads, n_layers, d_ff, *, norms=(2, 3), final=2, kv=None):
    kv_heads = n_kv_heads if kv is None else n_heads
    attention = 2 * d_model**2 + 2 * d_model * kv_heads * (d_model // n_heads)
    layers = 3 * attention + 2 * 3 * d_model * d_ff + sum(norms) * d_model
    return n_layers * layers + vocab_size * d_model + vocab_size + final * d_model


def test_modern_parameters_right(assert_accepts):
    assert_accepts("modern_transformer.modern_parameters", count)


def test_modern_parameters_forgets_the_groups(assert_rejects):
    assert_rejects(
        "modern_transformer.modern_parameters", lambda *sizes: count(*sizes, kv="all"), "n_kv_heads heads"
    )


def test_modern_parameters_forgets_the_final_norms(assert_rejects):
    assert_rejects(
        "modern_transformer.modern_parameters",
        lambda *sizes: count(*sizes, final=0),
        "each stack ends in a norm",
    )


def test_modern_parameters_forgets_a_norm_of_the_decoder(assert_rejects):
    assert_rejects(
        "modern_transformer.modern_parameters", lambda *sizes: count(*sizes, norms=(2, 2)), "three norms"
    )


def centred(embedding, weight, bias):
    return embedding - embedding.mean(1, keepdim=True), weight - weight.mean(0), bias - bias.mean()


def test_center_right(assert_accepts):
    assert_accepts("modern_transformer.center", centred)


def test_center_over_the_wrong_axis(assert_rejects):
    def wrong(embedding, weight, bias):
        return embedding - embedding.mean(0), weight - weight.mean(1, keepdim=True), bias - bias.mean()

    assert_rejects("modern_transformer.center", wrong, "last axis of the embedding")


def test_center_forgets_the_bias(assert_rejects):
    assert_rejects(
        "modern_transformer.center", lambda e, w, b: (*centred(e, w, b)[:2], b), "first of weight and bias"
    )


def test_center_by_zeros(assert_rejects):
    assert_rejects(
        "modern_transformer.center",
        lambda e, w, b: (centred(e, w, b)[0], w * 0, b * 0),
        "subtract means only",
    )


def test_center_returns_one_tensor(assert_rejects):
    assert_rejects(
        "modern_transformer.center", lambda e, w, b: centred(e, w, b)[0], "three tensors are expected"
    )
