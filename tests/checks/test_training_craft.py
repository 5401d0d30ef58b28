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


def place(step, n_batches, accumulate):
    epoch, rest = divmod(step, math.ceil(n_batches / accumulate))
    return epoch, rest * accumulate


def drops(step, n_batches, accumulate):
    epoch, rest = divmod(step, n_batches // accumulate)
    return epoch, rest * accumulate


def cosine(step, peak, warmup, last, *, before=0, begins=None):
    if step <= warmup:
        return peak * (step - before) / warmup
    begins = warmup if begins is None else begins
    return peak / 2 * (1 + math.cos(math.pi * (step - begins) / (last - begins)))


def cosine_in_single_precision(step, peak, warmup, last):
    if step <= warmup:
        return peak * step / warmup
    return peak / 2 * (1 + torch.cos(torch.tensor(math.pi * (step - warmup) / (last - warmup))))


def cosine_to_a_tenth(step, peak, warmup, last):
    rate = cosine(step, peak, warmup, last)
    return rate if step <= warmup else 0.1 * peak + 0.9 * rate


RIGHT = {
    "noam_rate": lambda s, d, w: d**-0.5 * min(s**-0.5, s * w**-1.5),
    "smoothed_target": target,
    "position_after": place,
    "cosine_rate": cosine,
    "step_in_memory": {"micro_batch": 6250, "accumulate": 4},
    "step_in_memory that fills the memory": {"micro_batch": 7000, "accumulate": 4},
    "cosine_rate in single precision": cosine_in_single_precision,
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
    "position_after drops the last group": (drops, "a step too"),
    "position_after counts batches through": (lambda s, n, a: divmod(s * a, n), "a step too"),
    "cosine_rate as it was": (
        lambda s, p, w, n: cosine(s, p, w, n, before=1, begins=0),
        "the first step has the rate peak / warmup",
    ),
    "cosine_rate with a late warm-up": (lambda s, p, w, n: cosine(s, p, w, n, before=1), "not 0"),
    "cosine_rate that jumps": (lambda s, p, w, n: cosine(s, p, w, n, begins=0), "step - warmup"),
    "cosine_rate that never ends": (
        lambda s, p, w, n: cosine(s, p, w, n + w),
        "begins behind the warm-up",
    ),
    "cosine_rate that does not end at 0": (cosine_to_a_tenth, "step - warmup"),
    "step_in_memory without R-Drop": ({"micro_batch": 12500, "accumulate": 2}, "twice the batch"),
    "step_in_memory without the parameters": ({"micro_batch": 8000, "accumulate": 4}, "18.0 GB of 16"),
    "step_in_memory with too few tokens": ({"micro_batch": 6000, "accumulate": 4}, "25,000 are needed"),
    "step_in_memory with too many passes": ({"micro_batch": 5000, "accumulate": 5}, "more than needed"),
    "noam_rate with a number too small for four decimals": (
        lambda s, d, w: 2 * d**-0.5 * min(s**-0.5, s * w**-1.5),
        "is 3.4938562e-07, 1.7469281e-07 is expected",
    ),
}

test_right, test_wrong = solution_tests("training_craft", RIGHT, WRONG)
