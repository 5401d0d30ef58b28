"""The checks of the chapter on additive and multiplicative attention accept what is right and say what is wrong."""

import torch

from tests.checks.solutions import solution_tests


def scored(query, keys, W, U, v):
    return torch.tanh((query @ W.T)[:, None] + (keys @ U.T)[None]) @ v


def apart(query, keys, W, U, v):
    return (torch.tanh(query @ W.T)[:, None] + torch.tanh(keys @ U.T)[None]) @ v


def right(scores, is_real):
    return scores.masked_fill(~is_real[:, None], -1e30).softmax(-1) * is_real[:, None]


def counted(weights, pairs, *, swap=False, check=True):
    partners = {}
    for s, t in pairs:
        if check and t >= len(weights):
            raise ValueError("outside")
        s, t = (t, s) if swap else (s, t)
        partners.setdefault(t, set()).add(s)
    return sum(int(weights[t].argmax()) in p for t, p in partners.items() if t < len(weights)), len(partners)


RIGHT = {
    "additive_scores": scored,
    "padded_weights": right,
    "general_matrix": lambda W_q, W_k: W_q @ W_k.T / W_q.shape[1] ** 0.5,
    "alignment_hits": counted,
}

WRONG = {
    "additive_scores with tanh of each part": (apart, "tanh of the sum"),
    "additive_scores with a softmax": (lambda *x: scored(*x).softmax(-1), "no softmax"),
    "additive_scores keys first": (lambda *x: scored(*x).T, "(3, 5)"),
    "padded_weights masked after the softmax": (
        lambda scores, is_real: scores.softmax(-1) * is_real[:, None],
        "before the softmax",
    ),
    "padded_weights with scores of zero": (
        lambda scores, is_real: (scores * is_real[:, None]).softmax(-1),
        "weights at padding",
    ),
    "padded_weights nan without a real key": (
        lambda scores, is_real: scores.masked_fill(~is_real[:, None], -torch.inf).softmax(-1),
        "NaN",
    ),
    "general_matrix without the root": (lambda W_q, W_k: W_q @ W_k.T, "root"),
    "general_matrix transposed": (lambda W_q, W_k: W_k @ W_q.T / 3**0.5, "W_q comes first"),
    "alignment_hits with all words counted": (
        lambda weights, pairs: (counted(weights, pairs)[0], len(weights)),
        "two of four",
    ),
    "alignment_hits that counts pairs": (
        lambda weights, pairs: (counted(weights, pairs)[0], len(pairs)),
        "count words, not pairs",
    ),
    "alignment_hits without the error": (
        lambda weights, pairs: counted(weights, pairs, check=False),
        "ValueError",
    ),
}

test_right, test_wrong = solution_tests("alignment_attention", RIGHT, WRONG)
