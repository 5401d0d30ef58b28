"""The checks of the chapter on the Transformer accept what is right and say what is wrong."""

import torch
from torch.nn.functional import cross_entropy

from tests.checks.solutions import solution_tests


def count(vocab, E, F, n):
    attention, network, norm = 4 * (E * E + E), 2 * E * F + F + E, 2 * E
    return vocab * E + n * (3 * attention + 2 * network + 5 * norm)


def right_bridge(y, m, lengths, W_q, W_k, W_v):
    scores = (y @ W_q) @ (m @ W_k).transpose(1, 2) / W_q.shape[1] ** 0.5
    real = torch.arange(m.shape[1]) < lengths[:, None]
    return scores.masked_fill(~real[:, None], float("-inf")).softmax(-1) @ (m @ W_v)


def unmasked(y, m, lengths, *weights):
    return right_bridge(y, m, torch.full_like(lengths, m.shape[1]), *weights)


def exchanged(y, m, lengths, W_q, W_k, W_v):
    return right_bridge(m, y, lengths.clamp(max=y.shape[1]), W_q, W_k, W_v)


def unscaled(y, m, lengths, W_q, W_k, W_v):
    return right_bridge(y, m, lengths, W_q * W_q.shape[1] ** 0.5, W_k, W_v)


def right_cache(q, k, v, past, shift=1):
    if past is not None:
        k, v = torch.cat([past[0], k], 1), torch.cat([past[1], v], 1)
    n_new, n_all = q.shape[1], k.shape[1]
    hidden = torch.ones(n_new, n_all, dtype=torch.bool).triu(n_all - n_new + shift)
    scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
    return scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v, (k, v)


def mean_loss(logits, labels, ignored=0):
    return cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=ignored)


def by_sentence(decode, target):
    return torch.stack([mean_loss(decode(row[None, :-1]), row[None, 1:]) for row in target]).mean()


RIGHT = {
    "n_parameters": count,
    "bridge": right_bridge,
    "cached_attention": right_cache,
    "equal_shares": "1000 tokens",
    "target_loss": lambda decode, target: mean_loss(decode(target[:, :-1]), target[:, 1:]),
    "target_loss of a longer pass": lambda decode, target: mean_loss(decode(target)[:, :-1], target[:, 1:]),
    "cached_attention as a list": lambda *a: list(right_cache(*a)),
    "target_loss as a plain number": lambda decode, target: mean_loss(
        decode(target[:, :-1]), target[:, 1:]
    ).item(),
    "target_loss in double precision": lambda decode, target: mean_loss(
        decode(target[:, :-1]).double(), target[:, 1:]
    ),
}

WRONG = {
    "n_parameters without biases": (
        lambda V, E, F, n: V * E + n * (12 * E * E + 4 * E * F + 10 * E),
        "4 (E^2 + E)",
    ),
    "n_parameters with a second embedding": (
        lambda V, E, F, n: count(V, E, F, n) + V * E,
        "vocabulary 37000",
    ),
    "bridge without mask": (unmasked, "no weight at or behind"),
    "bridge with sides exchanged": (exchanged, "(2, 3, 4)"),
    "bridge without scale": (unscaled, "sqrt(D)"),
    "cached_attention forgets": (lambda q, k, v, past: right_cache(q, k, v, None), "P + i"),
    "cached_attention sees the future": (lambda q, k, v, past: right_cache(q, k, v, past, 99), "P + i"),
    "cached_attention returns the output alone": (
        lambda q, k, v, past: right_cache(q, k, v, past)[0],
        "the new past",
    ),
    "equal_shares with the network": ("2000 tokens", "feed-forward network"),
    "equal_shares with all the rest": ("3,072 tokens", "half of all work"),
    "equal_shares without a unit": ("1000", "without a unit"),
    "equal_shares in layers": ("1024 layers", "tokens is expected"),
    "target_loss as it was": (
        lambda decode, target: mean_loss(decode(target), target, -100),
        "has just read",
    ),
    "target_loss unshifted": (
        lambda decode, target: mean_loss(decode(target), target),
        "has just read",
    ),
    "target_loss with padding": (
        lambda decode, target: mean_loss(decode(target[:, :-1]), target[:, 1:], -100),
        "padding counts as a token",
    ),
    "target_loss shifted the other way": (
        lambda decode, target: mean_loss(decode(target[:, 1:]), target[:, :-1]),
        "asked for the one before",
    ),
    "target_loss as a sum": (
        lambda decode, target: mean_loss(decode(target[:, :-1]), target[:, 1:]) * (target[:, 1:] != 0).sum(),
        "divided once",
    ),
    "target_loss as a mean of sentences": (by_sentence, "divided once"),
    "cached_attention as three things": (
        lambda *a: [*right_cache(*a), 1],
        "the number of things returned is 3, 2 is expected",
    ),
}

test_right, test_wrong = solution_tests("transformer", RIGHT, WRONG)
