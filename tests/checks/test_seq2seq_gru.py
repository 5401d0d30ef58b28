"""Wrong solutions that the checks of the chapter on the GRU must reject, each with a message that says why."""

import pytest
import torch
import torch.nn.functional as F


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


def test_right_solutions(assert_accepts):
    assert_accepts("seq2seq_gru.gru_step", gru)
    assert_accepts("seq2seq_gru.gru_parameters", parameters)
    assert_accepts("seq2seq_gru.clip", clipped)
    assert_accepts("seq2seq_gru.cut", lambda ids, max_len: [1, *ids[: max_len - 2], 2])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda *a: gru(*a, swap=True), "z keeps the old state"),
        (lambda *a: gru(*a, reset=False), "reset gate"),
        (lambda x, h, w, u, b, c: torch.tanh(F.linear(x, w, b) + F.linear(h, u, c)), "shape"),
        (lambda x, h, w, u, b, c: gru(x, h, w, u, b, torch.zeros_like(c)), "is expected"),
    ],
)
def test_wrong_steps(assert_rejects, wrong, message):
    assert_rejects("seq2seq_gru.gru_step", wrong, message)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda *a: parameters(*a, biases=1), "two biases"),
        (lambda *a: parameters(*a, output_bias=0), "output layer has a bias"),
        (lambda *a: parameters(*a, output=a[0]), "only the target vocabulary"),
    ],
)
def test_wrong_counts(assert_rejects, wrong, message):
    assert_rejects("seq2seq_gru.gru_parameters", wrong, message)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda gs, m: [g * min(1.0, m / g.norm().item()) for g in gs], "all gradients together"),
        (lambda gs, m: [g.clamp(-m, m) for g in gs], "all gradients together"),
        (lambda gs, m: [g * m / torch.stack([x.norm() for x in gs]).norm() for g in gs], "below the limit"),
        (
            lambda gs, m: [
                g.mul_(min(1.0, m / n)) for n in [sum(x.norm() ** 2 for x in gs) ** 0.5] for g in gs
            ],
            "place",
        ),
    ],
)
def test_wrong_clipping(assert_rejects, wrong, message):
    assert_rejects("seq2seq_gru.clip", wrong, message)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda ids, max_len: [1, *ids, 2][:max_len], "does not end with EOS"),
        (lambda ids, max_len: [1, *ids[:max_len], 2], "at most 5"),
        (lambda ids, max_len: [1, *ids[: max_len - 3], 2], "is expected"),
        (lambda ids, max_len: [1, *ids[: max_len - 2], 2] + [0] * (max_len - len(ids) - 2), "no padding"),
    ],
)
def test_wrong_cuts(assert_rejects, wrong, message):
    assert_rejects("seq2seq_gru.cut", wrong, message)
