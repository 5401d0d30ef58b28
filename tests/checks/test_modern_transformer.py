"""The checks of the chapter on modern parts accept what is right and say what is wrong."""

import torch


def right_rms(x, weight, eps):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def test_rms_norm_right(assert_accepts):
    assert_accepts("modern_transformer.rms_norm", right_rms)


def test_rms_norm_centered(assert_rejects):
    assert_rejects(
        "modern_transformer.rms_norm",
        lambda x, w, eps: right_rms(x - x.mean(-1, keepdim=True), w, eps),
        "no mean is subtracted",
    )


def test_rms_norm_with_a_sum(assert_rejects):
    assert_rejects(
        "modern_transformer.rms_norm",
        lambda x, w, eps: x / (x.square().sum(-1, keepdim=True) + eps).sqrt() * w,
        "the mean of squares",
    )


def test_rms_norm_with_eps_outside(assert_rejects):
    assert_rejects(
        "modern_transformer.rms_norm",
        lambda x, w, eps: x / (x.square().mean(-1, keepdim=True).sqrt() + eps) * w,
        "eps added to it",
    )


def test_gated_width_right(assert_accepts):
    assert_accepts("modern_transformer.gated_width", lambda F, m: -(-2 * F // (3 * m)) * m)


def test_gated_width_rounded_twice(assert_rejects):
    assert_rejects("modern_transformer.gated_width", lambda F, m: -(-(2 * F // 3) // m) * m, "round up once")


def test_gated_width_of_equal_width(assert_rejects):
    assert_rejects("modern_transformer.gated_width", lambda F, m: -(-F // m) * m, "three matrices")


def test_fold_norm_right(assert_accepts):
    assert_accepts("modern_transformer.fold_norm", lambda W, b, gamma, beta: (W * gamma, b + W @ beta))


def test_fold_norm_without_shift(assert_rejects):
    assert_rejects("modern_transformer.fold_norm", lambda W, b, gamma, beta: (W * gamma, b), "becomes a bias")


def test_fold_norm_uses_the_folded_weight_for_the_shift(assert_rejects):
    assert_rejects(
        "modern_transformer.fold_norm",
        lambda W, b, gamma, beta: (W * gamma, b + (W * gamma) @ beta),
        "becomes a bias",
    )


def test_fold_norm_returns_one_tensor(assert_rejects):
    assert_rejects("modern_transformer.fold_norm", lambda W, b, gamma, beta: W * gamma, "weight, bias")


def right_center(embedding, weight, bias):
    return embedding - embedding.mean(1, keepdim=True), weight - weight.mean(0), bias - bias.mean()


def test_center_right(assert_accepts):
    assert_accepts("modern_transformer.center", right_center)


def test_center_over_the_wrong_axis(assert_rejects):
    def wrong(embedding, weight, bias):
        return embedding - embedding.mean(0), weight - weight.mean(1, keepdim=True), bias - bias.mean()

    assert_rejects("modern_transformer.center", wrong, "last axis of the embedding")


def test_center_forgets_the_bias(assert_rejects):
    def forgets(embedding, weight, bias):
        return (*right_center(embedding, weight, bias)[:2], bias)

    assert_rejects("modern_transformer.center", forgets, "first of weight and bias")


def test_center_by_zeros(assert_rejects):
    def erased(embedding, weight, bias):
        return right_center(embedding, weight, bias)[0], weight * 0, bias * 0

    assert_rejects("modern_transformer.center", erased, "subtract means only")
