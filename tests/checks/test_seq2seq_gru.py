"""Wrong solutions that the checks of the chapter on the GRU must reject, each with a message that says why."""

import numpy as np
import torch
import torch.nn.functional as F

from tests.checks.solutions import solution_tests


def gru(x, h, w, u, b, c, *, swap=False, reset=True):
    (x_r, x_z, x_n), (h_r, h_z, h_n) = F.linear(x, w, b).chunk(3, -1), F.linear(h, u, c).chunk(3, -1)
    r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    n = torch.tanh(x_n + (r * h_n if reset else h_n))
    return (1 - z) * h + z * n if swap else (1 - z) * n + z * h


def clipped(gradients, max_norm):
    norm = torch.stack([g.norm() for g in gradients]).norm()
    return [g * min(1.0, max_norm / norm.item()) for g in gradients]


RIGHT = {
    "gru_step": gru,
    "clip": clipped,
    "lstm_translator": "969,656 parameters",
    "gradient_plot": "53 steps",
    "gradient_plot read a little lower": "50 steps",
    "translator_width": (37, 74),
    "gru_step in double precision": lambda *a: gru(*(x.double() for x in a)),
    "translator_width found with NumPy": (np.int64(37), np.int64(74)),
}

WRONG = {
    "gru_step with z swapped": (lambda *a: gru(*a, swap=True), "z keeps the old state"),
    "gru_step without the reset gate": (lambda *a: gru(*a, reset=False), "reset gate"),
    "gru_step without gates": (
        lambda x, h, w, u, b, c: torch.tanh(F.linear(x, w, b) + F.linear(h, u, c)),
        "shape",
    ),
    "gru_step without the second bias": (
        lambda x, h, w, u, b, c: gru(x, h, w, u, b, torch.zeros_like(c)),
        "is expected",
    ),
    "clip of each gradient": (
        lambda gs, m: [g * min(1.0, m / g.norm().item()) for g in gs],
        "all gradients together",
    ),
    "clip of each entry": (lambda gs, m: [g.clamp(-m, m) for g in gs], "all gradients together"),
    "clip that lengthens": (
        lambda gs, m: [g * m / torch.stack([x.norm() for x in gs]).norm() for g in gs],
        "below the limit",
    ),
    "clip in place": (
        lambda gs, m: [g.mul_(min(1.0, m / n)) for n in [sum(x.norm() ** 2 for x in gs) ** 0.5] for g in gs],
        "place",
    ),
    "lstm_translator with GRUs": ("919992 parameters", "four blocks, not 3"),
    "lstm_translator with one LSTM": ("944,824 parameters", "only one cell"),
    "lstm_translator with one bias": ("968,632 parameters", "two biases"),
    "lstm_translator cells only": ("198,656 parameters", "embeddings and output layer"),
    "gradient_plot of a dashed line": ("24 steps", "dashed line"),
    "gradient_plot at another grid line": ("75 steps", "at 10^-8"),
    "gradient_plot near the end": ("93 steps", "at 10^-10"),
    "gradient_plot in tokens": ("53 tokens", "steps is expected"),
    "translator_width over the budget": ((40, 80), "500,000 are allowed"),
    "translator_width too narrow": ((32, 64), "fits as well"),
    "translator_width with narrow embeddings": ((32, 80), "less than half"),
    "translator_width with wide embeddings": ((38, 73), "no wider than needed"),
    "translator_width in fractions": ((37.0, 74), "whole number"),
    "clip to a norm of 1": (lambda gs, m: clipped(gs, 1.0), "max_norm = 2"),
}

test_right, test_wrong = solution_tests("seq2seq_gru", RIGHT, WRONG)
