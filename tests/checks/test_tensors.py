"""The checks of the chapter on tensors accept what is right and say what is wrong."""

import torch

from tests.checks.solutions import solution_tests


def masked(x, lengths):
    return x * (torch.arange(x.shape[1]) < lengths[:, None])[:, :, None]


def stable(s):
    m = s.amax(-1, keepdim=True)
    return m.squeeze(-1) + (s - m).exp().sum(-1).log()


RIGHT = {
    "normalise_rows": lambda x: x / x.sum(-1, keepdim=True),
    "masked_mean": lambda x, n: masked(x, n).sum(1) / n[:, None],
    "score_bytes": lambda b, h, t, d: b * h * t * t * torch.finfo(d).bits // 8,
    "log_sum_exp": stable,
}

WRONG = {
    "normalise_rows with the silent broadcast": (lambda x: x / x.sum(-1), "divided by its own sum"),
    "normalise_rows normalise columns": (lambda x: x / x.sum(-2, keepdim=True), "divided by its own sum"),
    "masked_mean over padding": (lambda x, n: x.mean(1), "padding must count neither"),
    "masked_mean divided by the box": (lambda x, n: masked(x, n).mean(1), "padding must count neither"),
    "score_bytes in bits": (lambda b, h, t, d: b * h * t * t * torch.finfo(d).bits, "bytes for"),
    "score_bytes always four": (lambda b, h, t, d: 4 * b * h * t * t, "float16"),
    "log_sum_exp that overflows": (lambda s: s.exp().sum(-1).log(), "1000"),
    "log_sum_exp that forgets the maximum": (
        lambda s: (s - s.amax(-1, keepdim=True)).exp().sum(-1).log(),
        "near 0",
    ),
}

test_right, test_wrong = solution_tests("tensors", RIGHT, WRONG)
