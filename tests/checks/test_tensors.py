"""The checks of the chapter on tensors accept what is right and say what is wrong."""

import torch

from tests.checks.solutions import solution_tests


def masked(x, lengths):
    return x * (torch.arange(x.shape[1]) < lengths[:, None])[:, :, None]


def stable(s):
    m = s.amax(-1, keepdim=True)
    return m.squeeze(-1) + (s - m).exp().sum(-1).log()


def stable_by_one_maximum(s):
    m = s.max()
    return m + (s - m).exp().sum(-1).log()


def last_sum(dtype, step):
    total, one = torch.zeros((), dtype=dtype), torch.tensor(step, dtype=dtype)
    while total + one != total:
        total = total + one
    return total.item()


def last_count(dtype, step):
    return last_sum(dtype, step) / step


def unrounded(dtype, step):
    return 2.0**24 * step


RIGHT = {
    "normalise_rows": lambda x: x / x.sum(-1, keepdim=True),
    "masked_mean": lambda x, n: masked(x, n).sum(1) / n[:, None],
    "log_sum_exp": stable,
    "score_memory": "4 GiB",
    "score_memory in another unit": "4,294,967,296 bytes",
    "running_sum": (128, last_sum),
    "stored_numbers": "b",
}

WRONG = {
    "normalise_rows with the silent broadcast": (lambda x: x / x.sum(-1), "divided by its own sum"),
    "normalise_rows normalise columns": (lambda x: x / x.sum(-2, keepdim=True), "divided by its own sum"),
    "masked_mean over padding": (lambda x, n: x.mean(1), "padding must count neither"),
    "masked_mean divided by the box": (lambda x, n: masked(x, n).mean(1), "padding must count neither"),
    "log_sum_exp that overflows": (lambda s: s.exp().sum(-1).log(), "1000"),
    "log_sum_exp that forgets the maximum": (
        lambda s: (s - s.amax(-1, keepdim=True)).exp().sum(-1).log(),
        "near 0",
    ),
    "score_memory in single precision": ("8 GiB", "2 bytes, not 4"),
    "score_memory of one head": ("128 MiB", "each of the 32 heads"),
    "score_memory with the length once": ("0.5 MiB", "the length counts twice"),
    "score_memory in bits": ("32 GiB", "16 bits"),
    "score_memory without a unit": ("4", "without a unit"),
    "running_sum guessed for a step of one": ((256, last_sum), "0.5 is lost earlier"),
    "running_sum guessed too early": ((64.0, last_sum), "64.5 can be stored"),
    "running_sum guessed at random": ((1000, last_sum), "two steps apart"),
    "running_sum that counts the steps": ((128, last_count), "not a count"),
    "running_sum in single precision": ((128, unrounded), "keep the sum in this dtype"),
    "stored_numbers of float32": ("a", "line of float32"),
    "stored_numbers of bfloat16": ("c", "line of bfloat16"),
    "stored_numbers on another picture": ("d", "move the slider"),
    "stored_numbers as a count": ("3", "choose one of a, b, c, d"),
    "normalise_rows by absolute numbers": (
        lambda x: torch.nn.functional.normalize(x, p=1, dim=-1),
        "divided by its own sum",
    ),
    "log_sum_exp with one maximum for all rows": (stable_by_one_maximum, "rows near 0, 1000 and -1000"),
    "log_sum_exp over the second dimension": (
        lambda s: s.logsumexp(1),
        "has shape (2, 6); (2, 3) is expected",
    ),
    "score_memory in decimal units": ("4 GB", "not 4 GB but 4 GiB"),
}

test_right, test_wrong = solution_tests("tensors", RIGHT, WRONG)
