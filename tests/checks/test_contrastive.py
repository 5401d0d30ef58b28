"""The checks of the chapter on the contrastive stage accept what is right and say what is wrong."""

import math

import torch
from torch.nn import functional as F

from tests.checks.solutions import solution_tests


def two_way(cosines, temperature):
    labels = torch.arange(len(cosines))
    scores = cosines / temperature
    return (F.cross_entropy(scores, labels) + F.cross_entropy(scores.T, labels)) / 2


def one_way(cosines, temperature):
    return F.cross_entropy(cosines / temperature, torch.arange(len(cosines)))


def pool(outputs, ids, left_out):
    counts = ~torch.isin(ids, torch.tensor(left_out))
    total = (outputs * counts[..., None]).sum(dim=1)
    return total / counts.sum(dim=1, keepdim=True).clamp_min(1)


def shrinks(outputs, ids, left_out):
    return (outputs * ~torch.isin(ids, torch.tensor(left_out))[..., None]).mean(dim=1)


def not_a_number(outputs, ids, left_out):
    counts = ~torch.isin(ids, torch.tensor(left_out))
    return (outputs * counts[..., None]).sum(dim=1) / counts.sum(dim=1, keepdim=True)


def clashes(pairs):
    n = range(len(pairs))
    return torch.tensor(
        [[i != j and any(x == y for x, y in zip(pairs[i], pairs[j], strict=True)) for j in n] for i in n]
    )


def copies(pairs):
    return torch.tensor([[i != j and a == b for j, b in enumerate(pairs)] for i, a in enumerate(pairs)])


def mixes(pairs):
    sides = [{tuple(side) for side in pair} for pair in pairs]
    return torch.tensor([[i != j and bool(a & b) for j, b in enumerate(sides)] for i, a in enumerate(sides)])


def solved(positive, negative, n_negatives, wanted):
    return (positive - negative) / math.log(n_negatives * wanted / (1 - wanted))


RIGHT = {"two_way_loss": two_way, "pool_content": pool, "wrong_negatives": clashes, "temperature_for": solved}

WRONG = {
    "two_way_loss one way": (one_way, "along rows and along columns"),
    "two_way_loss multiplies by the temperature": (
        lambda c, t: two_way(c, 1 / t),
        "divide by the temperature",
    ),
    "two_way_loss sums": (lambda c, t: two_way(c, t) * len(c), "the mean over the pairs"),
    "pool_content leaves out padding only": (lambda o, i, left_out: pool(o, i, [0]), "what is left out"),
    "pool_content divides by all positions": (shrinks, "nor in the number"),
    "pool_content divides by zero": (not_a_number, "NaN"),
    "wrong_negatives only where both sides agree": (copies, "their source or their target"),
    "wrong_negatives forbids the positive": (
        lambda pairs: clashes(pairs) | torch.eye(len(pairs)).bool(),
        "diagonal",
    ),
    "wrong_negatives across sides": (mixes, "side with side"),
    "wrong_negatives of numbers": (lambda pairs: clashes(pairs).long(), "torch.bool"),
    "temperature_for one negative": (lambda p, q, n, w: solved(p, q, 1, w), "its own term"),
    "temperature_for the inverse": (lambda p, q, n, w: 1 / solved(p, q, n, w), "the partner's probability"),
    "temperature_for the wrong sign": (lambda p, q, n, w: -solved(p, q, n, w), "must be above 0"),
}

test_right, test_wrong = solution_tests("contrastive", RIGHT, WRONG)
