"""The checks of the chapter on the long tail accept what is right and say what is wrong."""

import torch

from tests.checks.solutions import solution_tests


def shown(counts):
    return [sum(counts) / len(counts) / count for count in counts]


def macro(signed, said, words, *, over=None, empty=0.0):
    total, counted = 0.0, 0
    for word in words:
        hits = sum(a == b == word for a, b in zip(signed, said, strict=True))
        both = signed.count(word) + said.count(word)
        if over == "present" and word not in signed:
            continue
        total += 2 * hits / both if both else empty
        counted += 1
    return total / counted


def accuracy(signed, said, words):
    return sum(a == b for a, b in zip(signed, said, strict=True)) / len(signed)


def divided(p, counts, tau):
    parts = p / (torch.tensor(counts, dtype=p.dtype) / sum(counts)) ** tau
    return parts / parts.sum(dim=1, keepdim=True)


def by_counts(p, counts, tau):
    parts = p / torch.tensor(counts, dtype=p.dtype) ** tau
    return parts / parts.sum(dim=1, keepdim=True)


def in_place(p, counts, tau):
    p /= (torch.tensor(counts, dtype=p.dtype) / sum(counts)) ** tau
    p /= p.sum(dim=1, keepdim=True)
    return p


def left(counts, exponent):
    parts = [count**exponent for count in counts]
    return [part / sum(parts) for part in parts]


RIGHT = {
    "times_shown": shown,
    "macro_f1": macro,
    "adjust": divided,
    "adjust by counts is the same": by_counts,
    "prior_left": lambda n, s, w, tau: left(n, 1 - s - w - tau),
}

WRONG = {
    "times_shown of the word": (lambda counts: [sum(counts) / len(counts)] * len(counts), "share it evenly"),
    "times_shown as probability": (
        lambda counts: [1 / (len(counts) * count) for count in counts],
        "how often a clip is shown",
    ),
    "times_shown without balance": (lambda counts: [1.0] * len(counts), "60, 4"),
    "macro_f1 over the words that occur": (
        lambda signed, said, words: macro(signed, said, words, over="present"),
        "all words of the list",
    ),
    "macro_f1 with one for absent words": (
        lambda signed, said, words: macro(signed, said, words, empty=1.0),
        "over the words ABCD",
    ),
    "macro_f1 taken for accuracy": (accuracy, "AAABBAC"),
    "adjust not scaled": (
        lambda p, counts, tau: p / (torch.tensor(counts, dtype=p.dtype) / sum(counts)) ** tau,
        "sum of 1",
    ),
    "adjust that multiplies": (lambda p, counts, tau: divided(p, counts, -tau), "at tau 1.0"),
    "adjust without strength": (lambda p, counts, tau: divided(p, counts, 1.0), "at tau 0.0"),
    "adjust in place": (in_place, "p was changed in place"),
    "prior_left corrected once at most": (
        lambda n, s, w, tau: left(n, max(0, 1 - s - w - tau)),
        "sampler 1, weights 1",
    ),
    "prior_left with adjustment added": (lambda n, s, w, tau: left(n, 1 - s - w + tau), "tau 1"),
    "prior_left not scaled": (lambda n, s, w, tau: [count ** (1 - s - w - tau) for count in n], "sum of 1"),
}

test_right, test_wrong = solution_tests("sign_long_tail", RIGHT, WRONG)
