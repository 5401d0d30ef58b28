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


RIGHT = {
    "linear_output": right,
    "rnn_step": step,
    "break_even": lambda d, n_features: n_features * (d + 1) // (2 * d) + 1,
    "delta_update": lambda S, k, v: S + torch.outer(k, v - k @ S),
}

WRONG = {
    "linear_output without normaliser": (lambda phi_q, phi_k, v: phi_q @ (phi_k.T @ v), "divide each row"),
    "linear_output with the matrix": (quadratic, "1500 x 1500"),
    "rnn_step in place": (in_place, "changed in place"),
    "rnn_step without normaliser": (raw, "divide by"),
    "rnn_step that does not see itself": (late, "first, then read"),
    "break_even without the normaliser": (lambda d, n_features: n_features // 2 + 1, "d = 64"),
    "break_even not strict": (lambda d, n: -(-n * (d + 1) // (2 * d)), "131 is expected"),
    "delta_update that adds": (lambda S, k, v: S + torch.outer(k, v), "difference between v"),
    "delta_update that forgets the rest": (lambda S, k, v: torch.outer(k, v), "orthogonal to k"),
}

test_right, test_wrong = solution_tests("linear_attention", RIGHT, WRONG)
