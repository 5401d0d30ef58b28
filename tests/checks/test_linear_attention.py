"""The checks of the chapter on linear attention accept what is right and say what is wrong."""

import torch

from tests.checks.solutions import solution_tests


def right(phi_q, phi_k, v):
    return phi_q @ (phi_k.T @ v) / (phi_q @ phi_k.sum(0))[:, None]


def quadratic(phi_q, phi_k, v):
    kernel = phi_q @ phi_k.T
    return kernel @ v / kernel.sum(1, keepdim=True)


def step(S, z, phi_q, phi_k, v):
    S, z = S + torch.outer(phi_k, v), z + phi_k
    return phi_q @ S / (phi_q @ z), S, z


def in_place(S, z, phi_q, phi_k, v):
    S += torch.outer(phi_k, v)
    z += phi_k
    return phi_q @ S / (phi_q @ z), S, z


def raw(S, z, phi_q, phi_k, v):
    _, S, z = step(S, z, phi_q, phi_k, v)
    return phi_q @ S, S, z


def late(S, z, phi_q, phi_k, v):
    return phi_q @ S / (phi_q @ z + 1e-9), S + torch.outer(phi_k, v), z + phi_k


def rank(phi_q, phi_k):
    weights = phi_q @ phi_k.T
    return int(torch.linalg.matrix_rank(weights / weights.sum(1, keepdim=True)))


def softmax_rank(phi_q, phi_k):
    return int(torch.linalg.matrix_rank((phi_q @ phi_k.T).softmax(-1)))


RIGHT = {
    "linear_output": right,
    "rnn_step": step,
    "delta_update": lambda S, k, v: S + torch.outer(k, v - k @ S),
    "break_even": "130 tokens",
    "rank_of_weights": ((16, 10), rank),
    "rnn_step as a list": lambda *a: list(step(*a)),
}

WRONG = {
    "linear_output without normaliser": (lambda phi_q, phi_k, v: phi_q @ (phi_k.T @ v), "divide each row"),
    "linear_output with the matrix": (quadratic, "1500 x 1500"),
    "rnn_step in place": (in_place, "changed in place"),
    "rnn_step without normaliser": (raw, "divide by"),
    "rnn_step that does not see itself": (late, "first, then read"),
    "delta_update that adds": (lambda S, k, v: S + torch.outer(k, v), "difference between v"),
    "delta_update that forgets the rest": (lambda S, k, v: torch.outer(k, v), "orthogonal to k"),
    "break_even without the normaliser": ("129 tokens", "did you count the normaliser"),
    "break_even of keys only": ("260 tokens", "a key and a value"),
    "break_even in fractions": ("129.6 tokens", "tokens are whole"),
    "break_even in bytes": ("130 bytes", "tokens is expected"),
    "rank_of_weights guessed as the keys": (((40, 10), rank), "through 16 columns"),
    "rank_of_weights guessed as the features": (((16, 16), rank), "at most rank 10"),
    "rank_of_weights of a softmax": (((16, 10), softmax_rank), "without a softmax"),
    "rank_of_weights that counts features": (
        ((16, 10), lambda q, k: q.shape[1]),
        "10 keys and 16 features",
    ),
    "rnn_step of two things": (lambda *a: step(*a)[:2], "2 thing(s) returned; three are expected"),
}

test_right, test_wrong = solution_tests("linear_attention", RIGHT, WRONG)
