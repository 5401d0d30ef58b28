"""The checks of the chapter on positions accept what is right and say what is wrong."""

import math

import torch

from coursepkg.blocks.position import sinusoidal_table
from tests.checks.solutions import solution_tests


def halves(length, d_model):
    table = sinusoidal_table(length, d_model)
    return torch.cat([table[:, 0::2], table[:, 1::2]], dim=1)


def each(length, d_model):
    angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(d_model) / d_model)
    angles[:, 0::2] = angles[:, 0::2].sin()
    angles[:, 1::2] = angles[:, 1::2].cos()
    return angles


def rotation(offset, d_model):
    blocks = []
    for i in range(0, d_model, 2):
        c, s = math.cos(offset * 1e4 ** (-i / d_model)), math.sin(offset * 1e4 ** (-i / d_model))
        blocks.append(torch.tensor([[c, s], [-s, c]]))
    return torch.block_diag(*blocks)


def one_speed(offset, d_model):
    return torch.block_diag(*[rotation(offset, 2)] * (d_model // 2))


def first_hand(x, table):
    return torch.cdist(x[:, :2], table[:, :2]).argmin(-1)


def shaw(q, k, a, *, transposed=False, wrapped=False, scaled=True):
    m = (len(a) - 1) // 2
    places = torch.arange(len(q))
    offsets = places[:, None] - places if transposed else places - places[:, None]
    rows = (offsets + m) % len(a) if wrapped else offsets.clamp(-m, m) + m
    relative = torch.einsum("id,ijd->ij", q, a[rows])
    root = math.sqrt(q.shape[-1])
    return (q @ k.T + relative) / root if scaled else q @ k.T / root + relative


def last_row(x, causal, n_layers):
    hidden = torch.ones(len(x), len(x), dtype=torch.bool).triu(1) & causal
    for _ in range(n_layers):
        scores = (x @ x.T / math.sqrt(x.shape[1])).masked_fill(hidden, -math.inf)
        x = x + scores.softmax(-1) @ x
    return x[-1]


def largest_change(x, causal, n_layers):
    exchanged = torch.cat([x[[1, 0]], x[2:]])
    return (last_row(x, causal, n_layers) - last_row(exchanged, causal, n_layers)).abs().max().item()


def predicted(none, one, two):
    return {"no mask, 2 layers": none, "causal, 1 layer": one, "causal, 2 layers": two}


RIGHT = {
    "position_table": sinusoidal_table,
    "shift_matrix": rotation,
    "read_positions": lambda x, table: torch.cdist(x, table).argmin(-1),
    "relative_key_scores": shaw,
    "exchanged_words": (predicted(False, False, True), largest_change),
}

WRONG = {
    "position_table with the base 1000": (lambda n, d: sinusoidal_table(n, d, 1000.0), "10000^(-2i"),
    "position_table in two halves": (halves, "cosine of the same angle"),
    "position_table with an exponent for each column": (each, "cosine of the same angle"),
    "shift_matrix the other way round": (lambda k, d: rotation(k, d).T, "minus sign"),
    "shift_matrix with one speed": (one_speed, "d_model 16"),
    "read_positions by the first hand": (first_hand, "in all dimensions"),
    "read_positions returns distances": (lambda x, table: torch.cdist(x, table), "shape"),
    "relative_key_scores query minus key": (
        lambda q, k, a: shaw(q, k, a, transposed=True),
        "key minus query",
    ),
    "relative_key_scores without clipping": (lambda q, k, a: shaw(q, k, a, wrapped=True), "clipped"),
    "relative_key_scores scales one term": (
        lambda q, k, a: shaw(q, k, a, scaled=False),
        "both terms are divided",
    ),
    "exchanged_words thinks that a mask is enough": (
        (predicted(False, True, True), largest_change),
        "the last word sees all words, as a set",
    ),
    "exchanged_words thinks that nothing is noticed": (
        (predicted(False, False, False), largest_change),
        "word 0 sees itself alone",
    ),
    "exchanged_words measures without a mask": (
        (predicted(False, False, True), lambda x, causal, n: largest_change(x, False, n)),
        "the measured change, causal, 2 layers",
    ),
    "exchanged_words measures one layer": (
        (predicted(False, False, True), lambda x, causal, n: largest_change(x, causal, 1)),
        "run all layers",
    ),
}

test_right, test_wrong = solution_tests("positions", RIGHT, WRONG)
