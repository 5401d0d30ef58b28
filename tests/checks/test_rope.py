"""The checks of the RoPE chapter accept what is right and say what is wrong."""

import math

import torch

from coursepkg.checks.error_lists import read_errors, read_labels
from tests.checks.solutions import solution_tests


def rotate(x, position):
    theta = 10000.0 ** (-torch.arange(0, len(x), 2) / len(x))
    cos, sin = (position * theta).cos(), (position * theta).sin()
    a, b = x[0::2], x[1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten()


def half(x, position):
    order = torch.arange(len(x)).unflatten(0, (2, -1)).T.flatten()
    return rotate(x[order], position)[order.argsort()]


def slow(head_dim, base, trained, turn=2 * math.pi):
    theta = base ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    return int((theta * trained < turn).sum())


def right(lengths):
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    return [torch.arange(start, start + length) for start, length in zip(starts, lengths, strict=True)]


def shifted(lengths):
    return [torch.arange(1 + sum(lengths[:i]), 1 + sum(lengths[: i + 1])) for i in range(len(lengths))]


def alibi(n_heads, length, first=1, sign=-1.0):
    slopes = 2.0 ** (-8 * torch.arange(first, n_heads + first) / n_heads)
    distance = (torch.arange(length)[:, None] - torch.arange(length)).abs()
    return sign * slopes[:, None, None] * distance


def half_pairs(x, position, *, neighbours=False, sign=1):
    theta = 10000.0 ** (-torch.arange(0, len(x), 2) / len(x))
    angle = position * (theta.repeat_interleave(2) if neighbours else torch.cat((theta, theta)))
    a, b = x.chunk(2)
    return x * angle.cos() + sign * torch.cat((-b, a)) * angle.sin()


LABELS, _ = read_labels("recalled_symbols")
MOSTLY = {"RoPE": "not shown", "linear scaling": "six back", "NTK-aware": "not shown", "ALiBi": "nearer"}

RIGHT = {
    "rotate": rotate,
    "slow_pairs": slow,
    "chunk_positions": right,
    "alibi": alibi,
    "half_layout": half_pairs,
    "half_layout by permutation": half,
    "scaled_angles": "8 pairs",
    "wrong_symbols": lambda: LABELS,
    "wrong_symbols with ten that differ": lambda: ["six back"] * 10 + LABELS[10:],
    "rotate in double precision": lambda x, position: rotate(x.double(), position),
    "half_layout in double precision": lambda x, position: half_pairs(x.double(), position),
    "alibi in double precision": lambda h, n: alibi(h, n).double(),
}

WRONG = {
    "rotate backwards": (lambda x, position: rotate(x, -position), "theta_i"),
    "rotate in the half layout": (half, "half layout"),
    "slow_pairs with half a turn": (lambda *sizes: slow(*sizes, turn=math.pi), "a turn is 2 pi"),
    "slow_pairs fast pairs instead": (lambda d, base, n: d // 2 - slow(d, base, n), "slow pairs for"),
    "chunk_positions without offset": (
        lambda lengths: [torch.arange(n) for n in lengths],
        "where the one before",
    ),
    "chunk_positions off by one": (shifted, "where the one before"),
    "alibi that rewards distance": (lambda h, n: alibi(h, n, sign=1.0), "wrong sign"),
    "alibi slopes from zero": (lambda h, n: alibi(h, n, first=0), "the first slope"),
    "half_layout as planted": (lambda *a: half_pairs(*a, neighbours=True), "the order of the interleaved"),
    "half_layout interleaved": (rotate, "the pairs of the interleaved layout"),
    "half_layout backwards": (lambda *a: half_pairs(*a, sign=-1), "turns backwards"),
    "half_layout at the next position": (
        lambda x, position: half_pairs(x, position + 1),
        "by the same angle",
    ),
    "scaled_angles without scaling": ("16 pairs", "without scaling"),
    "scaled_angles of linear scaling": ("0 pairs", "linear scaling"),
    "scaled_angles one too few": ("7 pairs", "count from 0"),
    "scaled_angles one too many": ("9 pairs", "a little below 2"),
    "wrong_symbols all alike": (
        lambda: ["six back"] * 50,
        "Cohen's kappa 0.00; 0.6 is needed; item 1 is 'farther'",
    ),
    "wrong_symbols shifted by one": (lambda: LABELS[1:] + LABELS[:1], "0.6 is needed"),
    "wrong_symbols one too few": (lambda: LABELS[1:], "49 labels; 50 are expected"),
    "wrong_symbols of another list": (
        lambda: ["grammar", *LABELS[1:]],
        "label 1 is 'grammar'; need one of six back",
    ),
    "wrong_symbols by the layer alone": (
        lambda: [MOSTLY[error["layer"]] for error in read_errors("recalled_symbols")],
        "0.6 is needed; item 1 is 'farther' and not 'not shown': F stands 8 back",
    ),
}

test_right, test_wrong = solution_tests("rope", RIGHT, WRONG)
