"""The checks of the RoPE chapter accept what is right and say what is wrong."""

import math

import torch

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


RIGHT = {
    "rotate": rotate,
    "slow_pairs": slow,
    "chunk_positions": right,
    "alibi": alibi,
    "half_layout": half_pairs,
    "half_layout by permutation": half,
    "scaled_angles": "8 pairs",
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
}

test_right, test_wrong = solution_tests("rope", RIGHT, WRONG)
