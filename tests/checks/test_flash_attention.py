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


RIGHT = {
    "merge": merged,
    "score_gradient": right,
    "causal_tiles": lambda n, tile: (r := -(-n // tile)) * (r + 1) // 2,
}

WRONG = {
    "merge equal weights": (lambda o1, L1, o2, L2: (o1 + o2) / 2, "weigh with exp(L)"),
    "merge that overflows": (overflowing, "infinite"),
    "score_gradient without delta": (lambda s, L, do, o, v: (s - L).exp() * (do @ v.T), "dp - D"),
    "score_gradient with a softmax of the tile": (local, "a part of the row"),
    "causal_tiles without the diagonal": (lambda n, tile: (r := -(-n // tile)) * (r - 1) // 2, "136"),
    "causal_tiles without the last row": (lambda n, tile: (r := n // tile) * (r + 1) // 2, "n = 9"),
}

test_right, test_wrong = solution_tests("flash_attention", RIGHT, WRONG)
