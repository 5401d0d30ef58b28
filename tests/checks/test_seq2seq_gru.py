"""Wrong solutions that the checks of the chapter on the GRU must reject, each with a message that says why."""

import torch
import torch.nn.functional as F

from tests.checks.solutions import solution_tests


def gru(x, h, w, u, b, c, *, swap=False, reset=True):
    (x_r, x_z, x_n), (h_r, h_z, h_n) = F.linear(x, w, b).chunk(3, -1), F.linear(h, u, c).chunk(3, -1)
    r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    n = torch.tanh(x_n + (r * h_n if reset else h_n))
    return (1 - z) * h + z * n if swap else (1 - z) * n + z * h


def parameters(source, target, width, hidden, *, biases=2, output_bias=1, output=None):
    cell = 3 * hidden * (width + hidden + biases)
    return (source + target) * width + 2 * cell + (output or target) * (hidden + output_bias)


def clipped(gradients, max_norm):
    norm = torch.stack([g.norm() for g in gradients]).norm()
    return [g * min(1.0, max_norm / norm.item()) for g in gradients]


RIGHT = {
    "gru_step": gru,
    "gru_parameters": parameters,
    "clip": clipped,
    "cut": lambda ids, max_len: [1, *ids[: max_len - 2], 2],
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
    "gru_parameters with one bias": (lambda *a: parameters(*a, biases=1), "two biases"),
    "gru_parameters without the last bias": (
        lambda *a: parameters(*a, output_bias=0),
        "output layer has a bias",
    ),
    "gru_parameters of the source": (lambda *a: parameters(*a, output=a[0]), "only the target vocabulary"),
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
    "cut without EOS": (lambda ids, max_len: [1, *ids, 2][:max_len], "does not end with EOS"),
    "cut too late": (lambda ids, max_len: [1, *ids[:max_len], 2], "at most 5"),
    "cut too early": (lambda ids, max_len: [1, *ids[: max_len - 3], 2], "is expected"),
    "cut with padding": (
        lambda ids, max_len: [1, *ids[: max_len - 2], 2] + [0] * (max_len - len(ids) - 2),
        "no padding",
    ),
}

test_right, test_wrong = solution_tests("seq2seq_gru", RIGHT, WRONG)
