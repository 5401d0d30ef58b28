"""The checks of the chapter on the improved model for signs accept what is right and say what is wrong."""

from itertools import pairwise

import torch
import torch.nn.functional as F

from tests.checks.solutions import solution_tests


def pool(x, scores, mask):
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=1)
    return torch.einsum("bt,bte->be", weights, x), weights


def attention_pool_masked_after_the_softmax(x, scores, mask):
    weights = scores.softmax(dim=1) * mask
    return torch.einsum("bt,bte->be", weights, x), weights


def zeros(x, scores, mask):
    weights = (scores * mask).softmax(dim=1)
    return torch.einsum("bt,bte->be", weights, x), weights


def across(x, scores, mask):
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=0)
    return torch.einsum("bt,bte->be", weights, x), weights


def bare(x, scores, mask):
    exponentials = scores.exp() ** 4 * mask
    weights = exponentials / exponentials.sum(dim=1, keepdim=True)
    return torch.einsum("bt,bte->be", weights, x), weights


def mean(x, scores, mask):
    weights = pool(x, scores, mask)[1]
    return (weights[..., None] * x).mean(dim=1), weights


def conv(x, kernels, *, flip=False):
    kernels = kernels.flip(1, 2) if flip else kernels
    return F.conv2d(x, kernels[:, None], padding=kernels.shape[-1] // 2, groups=len(kernels))


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


def in_float32(x, kernels):
    return shifted(x.float(), kernels.float())


def ordinary(x, kernels):
    return F.conv2d(x, kernels[None].expand(len(kernels), -1, -1, -1), padding=kernels.shape[-1] // 2)


def parameters(widths, blocks, *, scale=1, old_norm=True):
    total = 51 * widths[0]
    for width, n in zip(widths, blocks, strict=True):
        total += n * (8 * width**2 + (57 + scale) * width)
    for before, after in pairwise(widths):
        total += 2 * (before if old_norm else after) + 4 * before * after + after
    return total + 2 * widths[-1]


def rates(n_parts, rate, backbone_rate, layer_decay, frozen):
    found = [rate * backbone_rate * layer_decay ** (n_parts - 1 - k) for k in range(n_parts)]
    return [0.0] * frozen + found[frozen:]


def reversed_rates(n_parts, rate, backbone_rate, layer_decay, frozen):
    found = [rate * backbone_rate * layer_decay**k for k in range(n_parts)]
    return [0.0] * frozen + found[frozen:]


def part_rates_that_freeze_the_last_parts(n_parts, rate, backbone_rate, layer_decay, frozen):
    found = rates(n_parts, rate, backbone_rate, layer_decay, 0)
    return found[: n_parts - frozen] + [0.0] * frozen


def more(n_parts, rate, backbone_rate, layer_decay, frozen):
    return rates(n_parts, rate, backbone_rate * layer_decay, layer_decay, frozen)


RIGHT = {
    "attention_pool": pool,
    "depthwise": conv,
    "depthwise by shifts": shifted,
    "depthwise in float32": in_float32,
    "convnext_parameters": parameters,
    "part_rates": rates,
    "part_rates in float32": lambda *given: torch.tensor(rates(*given)),
    "times_answered": lambda: "18 answers",
    "backbone_plan": lambda: ("resnet-34", 16),
}

WRONG = {
    "attention_pool without the mask": (
        lambda x, scores, mask: pool(x, scores, torch.ones_like(mask)),
        "become -inf before the softmax",
    ),
    "attention_pool masked after the softmax": (
        attention_pool_masked_after_the_softmax,
        "the weights of clips with [4, 2, 1]",
    ),
    "attention_pool with scores set to zero": (zeros, "[4, 2, 1]"),
    "attention_pool over the clips": (across, "dim=1"),
    "attention_pool that overflows": (bare, "the weights"),
    "attention_pool with the mean": (mean, "the vectors of clips"),
    "attention_pool of one tensor": (lambda *given: pool(*given)[0], "the pooled vectors and the weights"),
    "depthwise flipped": (lambda x, k: conv(x, k, flip=True), "is not flipped"),
    "depthwise that mixes channels": (ordinary, "no other channel"),
    "depthwise without padding": (lambda x, k: F.conv2d(x, k[:, None], groups=len(k)), "has shape"),
    "convnext_parameters without layer scale": (
        lambda w, b: parameters(w, b, scale=0),
        "8 C^2 + 58 C a block",
    ),
    "convnext_parameters with the new norm": (
        lambda w, b: parameters(w, b, old_norm=False),
        "of the OLD width",
    ),
    "convnext_parameters with a head": (lambda w, b: parameters(w, b) + 769_000, "(96, 192, 384, 768)"),
    "part_rates the wrong way round": (reversed_rates, "the stem being part 0"),
    "part_rates that freeze the last parts": (part_rates_that_freeze_the_last_parts, "2 frozen"),
    "part_rates one decay too many": (more, "backbone_rate 0.5"),
    "times_answered rightly": (lambda: "16 answers", "wrong answers, too"),
    "times_answered wrongly": (lambda: "2 answers", "on the diagonal"),
    "times_answered one forgotten": (lambda: "17 answers", "two words besides"),
    "times_answered clips": (lambda: "18 clips", "answers is expected"),
    "backbone_plan too large a file": (lambda: ("convnext-tiny", 13), "111 MB"),
    "backbone_plan too slow": (lambda: ("resnet-50", 16), "65.4 billion"),
    "backbone_plan fewer frames": (lambda: ("resnet-50", 14), "fewer than another backbone"),
    "backbone_plan smaller": (lambda: ("resnet-18", 16), "a larger backbone is"),
    "backbone_plan of another name": (lambda: ("resnet", 16), "not in the table"),
}

test_right, test_wrong = solution_tests("sign_model", RIGHT, WRONG)
