"""The checks of the chapter on the Transformer accept what is right and say what is wrong."""

import torch

from tests.checks.solutions import solution_tests


def normal(x, weight, bias, eps):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() * weight + bias


def over_batch(x, weight, bias, eps):
    return (x - x.mean(0)) / (x.var(0, unbiased=False) + eps).sqrt() * weight + bias


def unbiased(x, weight, bias, eps):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + eps).sqrt() * weight + bias


def outside(x, weight, bias, eps):
    deviation = x.std(-1, keepdim=True, unbiased=False)
    return (x - x.mean(-1, keepdim=True)) / (deviation + eps) * weight + bias


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


RIGHT = {"normalize": normal, "n_parameters": count, "bridge": right_bridge, "cached_attention": right_cache}

WRONG = {
    "normalize over the batch": (over_batch, "over the last dimension"),
    "normalize with unbiased variance": (unbiased, "divides by E"),
    "normalize with eps outside the root": (outside, "inside the root"),
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
}

test_right, test_wrong = solution_tests("transformer", RIGHT, WRONG)
