"""The checks of the FlashAttention chapter accept what is right and say what is wrong."""

import torch

from tests.checks.solutions import solution_tests


def merged(o1, L1, o2, L2):
    L = torch.logaddexp(L1, L2)
    return (L1 - L).exp() * o1 + (L2 - L).exp() * o2


def overflowing(o1, L1, o2, L2):
    return (L1.exp() * o1 + L2.exp() * o2) / (L1.exp() + L2.exp())


def right(s, L, do, o, v):
    return (s - L).exp() * (do @ v.T - (do * o).sum(-1, keepdim=True))


def local(s, L, do, o, v):
    p, dp = s.softmax(-1), do @ v.T
    return p * (dp - (p * dp).sum(-1, keepdim=True))


def in_single_precision(scores, values, tile):
    m, total, output = torch.tensor(-torch.inf), torch.zeros(()), torch.zeros(values.shape[1])
    for s, v in zip(scores.split(tile), values.split(tile), strict=True):
        m_new = torch.maximum(m, s.max())
        total *= (m - m_new).exp()
        output *= (m - m_new).exp()
        total += (s - m_new).exp().sum()
        output += (s - m_new).exp() @ v
        m = m_new
    return output / total


def running(scores, values, tile, *, output=True, total=True, shift=True, sign=1):
    m, l, o = torch.tensor(-torch.inf, dtype=scores.dtype), 0.0, 0.0
    for s, v in zip(scores.split(tile), values.split(tile), strict=True):
        m_new = torch.maximum(m, s.max()) if shift else torch.zeros_like(m)
        decay = (sign * (m - m_new)).exp() if shift and m.isfinite() else torch.zeros_like(m) if shift else 1
        p = (s - m_new).exp()
        l = l * (decay if total else 1) + p.sum()
        o = o * (decay if output else 1) + p @ v
        m = m_new
    return o / l


RIGHT = {
    "merge": merged,
    "score_gradient": right,
    "causal_tiles": lambda n, tile: (r := -(-n // tile)) * (r + 1) // 2,
    "running_output": running,
    "running_output of the whole row": lambda s, v, tile: s.softmax(0) @ v,
    "running_output written to sums in single precision": in_single_precision,
}

WRONG = {
    "merge equal weights": (lambda o1, L1, o2, L2: (o1 + o2) / 2, "weigh with exp(L)"),
    "merge that overflows": (overflowing, "infinite"),
    "score_gradient without delta": (lambda s, L, do, o, v: (s - L).exp() * (do @ v.T), "dp - δ"),
    "score_gradient with a softmax of the tile": (local, "a part of the row"),
    "causal_tiles without the diagonal": (lambda n, tile: (r := -(-n // tile)) * (r - 1) // 2, "136"),
    "causal_tiles without the last row": (lambda n, tile: (r := n // tile) * (r + 1) // 2, "n = 9"),
    "running_output as planted": (lambda *a: running(*a, output=False), "the output of the earlier tiles"),
    "running_output with the old sum": (lambda *a: running(*a, total=False), "the sum of the earlier tiles"),
    "running_output rescaled the wrong way": (lambda *a: running(*a, sign=-1), "exp(m - m_new)"),
    "running_output without the maximum": (lambda *a: running(*a, shift=False), "NaN"),
    "running_output not divided": (
        lambda s, v, tile: (s - s.max()).exp() @ v,
        "is expected",
    ),
}

test_right, test_wrong = solution_tests("flash_attention", RIGHT, WRONG)
