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


def overlaps(pairs):
    sides = [[set(side) for side in pair] for pair in pairs]
    n = range(len(sides))
    return torch.tensor(
        [[i != j and any(x & y for x, y in zip(sides[i], sides[j], strict=True)) for j in n] for i in n]
    )


def in_any_order(pairs):
    return clashes([tuple(sorted(side) for side in pair) for pair in pairs])


def halved(positive, negative, n_negatives, wanted):
    low, high = 1e-4, 100.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        found = 1 / (1 + n_negatives * math.exp(-(positive - negative) / middle))
        low, high = (middle, high) if found > wanted else (low, middle)
    return low


def solved(positive, negative, n_negatives, wanted):
    return (positive - negative) / math.log(n_negatives * wanted / (1 - wanted))


def contrastive(a, b, temperature):
    scores = F.normalize(a, dim=-1) @ F.normalize(b, dim=-1).T / temperature
    return two_way(scores, 1.0)


def of_the_task(a, b, temperature):
    scores = F.normalize(a, dim=-1) @ F.normalize(b, dim=-1).T / temperature
    others = scores.masked_fill(torch.eye(len(a), dtype=torch.bool), -math.inf)
    rows = others.logsumexp(dim=1) - scores.diagonal()
    columns = others.logsumexp(dim=0) - scores.diagonal()
    return ((rows + columns) / 2).mean()


def along_rows(a, b, temperature):
    scores = F.normalize(a, dim=-1) @ F.normalize(b, dim=-1).T
    return one_way(scores, temperature)


def floor(copies, temperature):
    rows = torch.arange(len(copies)).repeat_interleave(torch.tensor(copies))
    return float(two_way((rows[:, None] == rows).double(), temperature))


RIGHT = {
    "two_way_loss": two_way,
    "pool_content": pool,
    "wrong_negatives": clashes,
    "temperature_for": solved,
    "temperature_for by halving": halved,
    "contrastive_loss": contrastive,
    "floor_of_copies": ("0.693 nats", floor),
    "floor_of_copies rounded": ("0.7 nats", floor),
}

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
    "wrong_negatives with an id in common": (overlaps, "as a whole"),
    "wrong_negatives in any order": (in_any_order, "as a whole"),
    "wrong_negatives across sides": (mixes, "side with side"),
    "wrong_negatives of numbers": (lambda pairs: clashes(pairs).long(), "torch.bool"),
    "temperature_for one negative": (lambda p, q, n, w: solved(p, q, 1, w), "its own term"),
    "temperature_for one negative too many": (lambda p, q, n, w: solved(p, q, n + 1, w), "its own term"),
    "temperature_for the inverse": (lambda p, q, n, w: 1 / solved(p, q, n, w), "the partner's probability"),
    "temperature_for the wrong sign": (lambda p, q, n, w: -solved(p, q, n, w), "must be above 0"),
    "contrastive_loss of the task": (of_the_task, "below 0"),
    "contrastive_loss along rows alone": (along_rows, "when the languages are exchanged"),
    "contrastive_loss of raw vectors": (
        lambda a, b, t: two_way(a @ b.T, t),
        "the loss of random vectors",
    ),
    "contrastive_loss times the temperature": (
        lambda a, b, t: contrastive(a, b, 1 / t),
        "over the temperature",
    ),
    "floor_of_copies of one copy": (("1.386 nats", floor), "the mean is over all eight"),
    "floor_of_copies of one of eight": (("0.173 nats", floor), "each of the four copies"),
    "floor_of_copies at chance": (("2.079 nats", floor), "that is chance"),
    "floor_of_copies sums": (("0.693 nats", lambda c, t: sum(c) * floor(c, t)), "an identity matrix"),
    "floor_of_copies of distinct sentences": (
        ("0.693 nats", lambda c, t: floor([1] * len(c), t)),
        "as often as it stands",
    ),
}

test_right, test_wrong = solution_tests("contrastive", RIGHT, WRONG)
