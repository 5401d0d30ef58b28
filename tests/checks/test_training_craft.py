"""The checks of the chapter on training craft accept what is right and say what is wrong."""

import math

import torch

from tests.checks.solutions import solution_tests


def target(right, n_classes, smoothing, convention):
    others = smoothing / (n_classes if convention == "pytorch" else n_classes - 1)
    result = torch.full((n_classes,), others)
    result[right] = 1 - smoothing + (others if convention == "pytorch" else 0.0)
    return result


def forgets(right, n_classes, smoothing, convention):
    result = target(right, n_classes, smoothing, convention)
    result[right] = 1 - smoothing
    return result


def clip(gradients, limit):
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    return [g * min(1.0, limit / float(norm)) for g in gradients]


def scaled(gradients, limit):
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    return [g * (limit / norm) for g in gradients]


def overwrites(gradients, limit):
    for gradient, value in zip(gradients, clip(gradients, limit), strict=True):
        gradient.copy_(value)
    return gradients


def place(step, n_batches, accumulate):
    epoch, rest = divmod(step, math.ceil(n_batches / accumulate))
    return epoch, rest * accumulate


def drops(step, n_batches, accumulate):
    epoch, rest = divmod(step, n_batches // accumulate)
    return epoch, rest * accumulate


RIGHT = {
    "noam_rate": lambda s, d, w: d**-0.5 * min(s**-0.5, s * w**-1.5),
    "smoothed_target": target,
    "clip_together": clip,
    "position_after": place,
}

WRONG = {
    "noam_rate as printed in the report": (
        lambda s, d, w: d**-0.5 * min(s**-0.5, s * w**-0.5),
        r"warmup^-1.5",
    ),
    "noam_rate without the width": (lambda s, d, w: min(s**-0.5, s * w**-1.5), r"d_model^-0.5"),
    "smoothed_target with one convention": (
        lambda r, n, a, c: target(r, n, a, "pytorch"),
        "the wrong ones only",
    ),
    "smoothed_target that sums to less": (forgets, "the sum is 1"),
    "clip_together each by itself": (
        lambda gradients, limit: [g * min(1.0, limit / float(g.norm())) for g in gradients],
        "one norm over all gradients",
    ),
    "clip_together always scales": (scaled, "none where the norm is small enough"),
    "clip_together in place": (overwrites, "was changed in place"),
    "position_after drops the last group": (drops, "a step too"),
    "position_after counts batches through": (lambda s, n, a: divmod(s * a, n), "a step too"),
}

test_right, test_wrong = solution_tests("training_craft", RIGHT, WRONG)
