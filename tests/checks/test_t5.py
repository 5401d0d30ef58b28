"""The checks of the chapter on T5 accept what is right and say what is wrong."""

import math
import re

import numpy as np
import torch

from tests.checks.solutions import solution_tests


def text_of(similarity):
    return f"{math.floor(max(1.0, similarity) * 5 + 0.5) / 5:.1f}"


def restore(source, target):
    pieces = re.split(r"<extra_id_\d+>", target)[1:]
    words = []
    for word in source.split():
        sentinel = re.fullmatch(r"<extra_id_(\d+)>", word)
        words += pieces[int(sentinel[1])].split() if sentinel else [word]
    return " ".join(words)


def one_digit(source, target):
    for number, piece in enumerate(re.split(r"<extra_id_\d>", target)[1:]):
        source = source.replace(f"<extra_id_{number}>", piece.strip())
    return " ".join(source.split())


def appends(source, target):
    words = [w for w in f"{source} {target}".split() if not w.startswith("<extra_id_")]
    return " ".join(words)


def shift(labels, start, pad):
    first = torch.full_like(labels[:, :1], start)
    shifted = torch.cat([first, labels[:, :-1]], dim=1)
    return shifted.where(shifted != -100, pad)


def keeps(labels, start, pad):
    return torch.cat([torch.full_like(labels[:, :1], start), labels[:, :-1]], dim=1)


def overwrites(labels, start, pad):
    return labels.copy_(shift(labels, start, pad))


def bucket(steps, n_buckets, max_distance):
    exact = n_buckets // 2
    if steps < exact:
        return steps
    growth = math.log(steps / exact) / math.log(max_distance / exact)
    return min(exact + int(growth * (n_buckets - exact)), n_buckets - 1)


def by_differences(steps, n_buckets, max_distance):
    exact = n_buckets // 2
    if steps < exact:
        return steps
    growth = (math.log(steps) - math.log(exact)) / (math.log(max_distance) - math.log(exact))
    return min(exact + int(growth * (n_buckets - exact)), n_buckets - 1)


def beyond(steps, n_buckets, max_distance):
    exact = n_buckets // 2
    growth = math.log(max(steps, exact) / exact) / math.log(max_distance / exact)
    return steps if steps < exact else exact + int(growth * (n_buckets - exact))


def plan(size, batch, accumulate):
    return {"size": size, "batch": batch, "accumulate": accumulate}


RIGHT = {
    "similarity_text": text_of,
    "restored": restore,
    "decoder_input": shift,
    "causal_bucket": bucket,
    "causal_bucket by differences of logarithms": by_differences,
    "fine_tuning_plan": plan("Base", 32, 2),
    "fine_tuning_plan in NumPy's numbers": plan("Base", np.int64(32), np.int64(2)),
}

WRONG = {
    "similarity_text without the clip": (
        lambda s: f"{math.floor(s * 5 + 0.5) / 5:.1f}",
        "the string for 0.0",
    ),
    "similarity_text rounds to tenths": (lambda s: f"{max(1.0, s):.1f}", "nearest 0.2"),
    "similarity_text as a number": (lambda s: float(text_of(s)), "is 1.0, '1.0' is expected"),
    "restored leaves the sentinels": (lambda source, target: source, "belongs where that sentinel stands"),
    "restored with sentinels of one digit": (one_digit, "belongs where that sentinel stands"),
    "restored appends what was cut": (appends, "belongs where that sentinel stands"),
    "decoder_input keeps the ignored": (keeps, "an embedding has no row -100"),
    "decoder_input not shifted": (
        lambda labels, start, pad: labels.where(labels != -100, pad),
        "one place later",
    ),
    "decoder_input in place": (overwrites, "labels was changed in place"),
    "decoder_input starts with padding always": (
        lambda labels, start, pad: shift(labels, 0, pad),
        "start in front",
    ),
    "causal_bucket only clips": (lambda s, n, m: min(s, n - 1), "then logarithmic"),
    "causal_bucket without a last one": (beyond, "the last one for all the rest"),
    "causal_bucket of an encoder": (lambda s, n, m: bucket(s, n // 2, m), "below half of the buckets"),
    "fine_tuning_plan of the state alone": (
        plan("Large", 1, 64),
        "0.40 GB for the activations of 1 sentence",
    ),
    "fine_tuning_plan that does not fit at all": (
        plan("3B", 1, 64),
        "45.63 GB for its state; the card has 12 GB",
    ),
    "fine_tuning_plan with a batch too large": (plan("Base", 64, 1), "the activations of 64 sentences"),
    "fine_tuning_plan with the smallest": (plan("Small", 64, 1), "so does Base"),
    "fine_tuning_plan too careful": (plan("Base", 16, 4), "so does one of 32"),
    "fine_tuning_plan of another step": (plan("Base", 55, 1), "a step has 64"),
    "fine_tuning_plan without accumulation": ({"size": "Base", "batch": 32}, "its keys are"),
}

test_right, test_wrong = solution_tests("t5", RIGHT, WRONG)
