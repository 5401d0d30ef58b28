"""The checks of the chapter on the improved model for signs accept what is right and say what is wrong."""

from itertools import pairwise

import torch
import torch.nn.functional as F


def pool(x, scores, mask):
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=1)
    return torch.einsum("bt,bte->be", weights, x), weights


def test_attention_pool_right(assert_accepts):
    assert_accepts("sign_model.attention_pool", pool)


def test_attention_pool_without_the_mask(assert_rejects):
    assert_rejects(
        "sign_model.attention_pool",
        lambda x, scores, mask: pool(x, scores, torch.ones_like(mask)),
        "become -inf before the softmax",
    )


def test_attention_pool_masked_after_the_softmax(assert_rejects):
    def late(x, scores, mask):
        weights = scores.softmax(dim=1) * mask
        return torch.einsum("bt,bte->be", weights, x), weights

    assert_rejects("sign_model.attention_pool", late, "the weights of clips with [4, 2, 1]")


def test_attention_pool_with_scores_set_to_zero(assert_rejects):
    def zeros(x, scores, mask):
        weights = (scores * mask).softmax(dim=1)
        return torch.einsum("bt,bte->be", weights, x), weights

    assert_rejects("sign_model.attention_pool", zeros, "[4, 2, 1]")


def test_attention_pool_over_the_clips(assert_rejects):
    def across(x, scores, mask):
        weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=0)
        return torch.einsum("bt,bte->be", weights, x), weights

    assert_rejects("sign_model.attention_pool", across, "dim=1")


def test_attention_pool_that_overflows(assert_rejects):
    def bare(x, scores, mask):
        exponentials = scores.exp() ** 4 * mask
        weights = exponentials / exponentials.sum(dim=1, keepdim=True)
        return torch.einsum("bt,bte->be", weights, x), weights

    assert_rejects("sign_model.attention_pool", bare, "the weights")


def test_attention_pool_with_the_mean(assert_rejects):
    def mean(x, scores, mask):
        weights = pool(x, scores, mask)[1]
        return (weights[..., None] * x).mean(dim=1), weights

    assert_rejects("sign_model.attention_pool", mean, "the vectors of clips")


def test_attention_pool_of_one_tensor(assert_rejects):
    assert_rejects(
        "sign_model.attention_pool",
        lambda *given: pool(*given)[0],
        "the pooled vectors and the weights",
    )


def conv(x, kernels, *, flip=False):
    kernels = kernels.flip(1, 2) if flip else kernels
    return F.conv2d(x, kernels[:, None], padding=kernels.shape[-1] // 2, groups=len(kernels))


def test_depthwise_right(assert_accepts):
    assert_accepts("sign_model.depthwise", conv)


def test_depthwise_by_shifts(assert_accepts):
    def shifted(x, kernels):
        side = kernels.shape[-1]
        wide = F.pad(x, [side // 2] * 4)
        height, width = x.shape[2:]
        total = torch.zeros_like(x)
        for u in range(side):
            for v in range(side):
                part = wide[:, :, u : u + height, v : v + width]
                total += kernels[:, u, v][:, None, None] * part
        return total

    assert_accepts("sign_model.depthwise", shifted)


def test_depthwise_flipped(assert_rejects):
    assert_rejects("sign_model.depthwise", lambda x, k: conv(x, k, flip=True), "is not flipped")


def test_depthwise_that_mixes_channels(assert_rejects):
    def ordinary(x, kernels):
        return F.conv2d(x, kernels[None].expand(len(kernels), -1, -1, -1), padding=kernels.shape[-1] // 2)

    assert_rejects("sign_model.depthwise", ordinary, "no other channel")


def test_depthwise_without_padding(assert_rejects):
    assert_rejects("sign_model.depthwise", lambda x, k: F.conv2d(x, k[:, None], groups=len(k)), "has shape")


def parameters(widths, blocks, *, scale=1, old_norm=True):
    total = 51 * widths[0]
    for width, n in zip(widths, blocks, strict=True):
        total += n * (8 * width**2 + (57 + scale) * width)
    for before, after in pairwise(widths):
        total += 2 * (before if old_norm else after) + 4 * before * after + after
    return total + 2 * widths[-1]


def test_convnext_parameters_right(assert_accepts):
    assert_accepts("sign_model.convnext_parameters", parameters)


def test_convnext_parameters_without_layer_scale(assert_rejects):
    assert_rejects(
        "sign_model.convnext_parameters", lambda w, b: parameters(w, b, scale=0), "8 C^2 + 58 C a block"
    )


def test_convnext_parameters_with_the_new_norm(assert_rejects):
    assert_rejects(
        "sign_model.convnext_parameters", lambda w, b: parameters(w, b, old_norm=False), "of the OLD width"
    )


def test_convnext_parameters_with_a_head(assert_rejects):
    assert_rejects(
        "sign_model.convnext_parameters", lambda w, b: parameters(w, b) + 769_000, "(96, 192, 384, 768)"
    )


def rates(n_parts, rate, backbone_rate, layer_decay, frozen):
    found = [rate * backbone_rate * layer_decay ** (n_parts - 1 - k) for k in range(n_parts)]
    return [0.0] * frozen + found[frozen:]


def test_part_rates_right(assert_accepts):
    assert_accepts("sign_model.part_rates", rates)


def test_part_rates_the_wrong_way_round(assert_rejects):
    def reversed_rates(n_parts, rate, backbone_rate, layer_decay, frozen):
        found = [rate * backbone_rate * layer_decay**k for k in range(n_parts)]
        return [0.0] * frozen + found[frozen:]

    assert_rejects("sign_model.part_rates", reversed_rates, "the stem being part 0")


def test_part_rates_that_freeze_the_last_parts(assert_rejects):
    def late(n_parts, rate, backbone_rate, layer_decay, frozen):
        found = rates(n_parts, rate, backbone_rate, layer_decay, 0)
        return found[: n_parts - frozen] + [0.0] * frozen

    assert_rejects("sign_model.part_rates", late, "2 frozen")


def test_part_rates_one_decay_too_many(assert_rejects):
    def more(n_parts, rate, backbone_rate, layer_decay, frozen):
        return rates(n_parts, rate, backbone_rate * layer_decay, layer_decay, frozen)

    assert_rejects("sign_model.part_rates", more, "backbone_rate 0.5")
