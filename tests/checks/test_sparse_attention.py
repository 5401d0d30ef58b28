"""The checks of the sparse attention chapter accept what is right and say what is wrong."""

import torch

from tests.checks.solutions import solution_tests


def top(q, k, v, n_keep, window, *, window_first=True, renormalise=True):
    scores = q @ k.mT * q.shape[-1] ** -0.5
    distance = torch.arange(q.shape[-2])[:, None] - torch.arange(k.shape[-2])
    visible = (distance >= 0) & (distance < window)
    shown = scores.masked_fill(~visible, -torch.inf)
    ranked = shown if window_first else scores
    kept = torch.zeros_like(visible.expand_as(scores)).scatter(-1, ranked.topk(n_keep).indices, True)
    if not renormalise:
        return shown.softmax(-1).masked_fill(~kept, 0.0) @ v
    return shown.masked_fill(~kept, -torch.inf).softmax(-1).nan_to_num(0.0) @ v


def blocks(mask, block):
    return [part for rows in mask.split(block) for part in rows.split(block, dim=1)]


def right(mask, block):
    return sum(bool(part.any()) for part in blocks(mask, block)) / len(blocks(mask, block))


def whole_blocks_only(mask, block):
    parts = [part.any() for part in blocks(mask, block) if part.shape == (block, block)]
    return float(sum(parts)) / len(parts)


def full_only(mask, block):
    return sum(bool(part.all()) for part in blocks(mask, block)) / len(blocks(mask, block))


def widest(n, budget):
    """Of all windows, also those longer than the text."""
    window = max(
        w for w in range(2, budget + 1) if n * min(n, w) - min(n, w) * (min(n, w) - 1) // 2 <= budget
    )
    return window, -(-(n - 1) // (window - 1))


def fewest(n, budget, *, step=1):
    window = max(w for w in range(2, n + 1) if n * w - w * (w - 1) // 2 <= budget)
    return window, -(-(n - 1) // (window - 1)) + step - 1


RIGHT = {
    "window_pairs": lambda n, w: n * min(n, w) - min(n, w) * (min(n, w) - 1) // 2,
    "top_scores": top,
    "visited_share": ((0.12, 0.23), right),
    "fewest_layers": fewest,
    "top_scores in single precision": lambda *args: top(*args).float(),
    "fewest_layers with a window longer than the text": widest,
}

WRONG = {
    "window_pairs without the edge": (lambda n, w: n * w, "fewer than `window` keys"),
    "window_pairs of a window longer than the sequence": (
        lambda n, w: n * w - w * (w - 1) // 2,
        "window = 9",
    ),
    "top_scores before the window": (lambda *args: top(*args, window_first=False), "the window comes first"),
    "top_scores without renormalising": (lambda *args: top(*args, renormalise=False), "do not sum to one"),
    "visited_share of full blocks": (((0.12, 0.23), full_only), "at least one visible pair"),
    "visited_share of pairs": (
        ((0.12, 0.23), lambda mask, block: mask.float().mean().item()),
        "not the pairs",
    ),
    "visited_share guessed one block a row": (((0.0625, 0.23), right), "begins in the block before"),
    "visited_share guessed that blocks do not matter": (((0.12, 0.12), right), "one block in each row"),
    "visited_share guessed too high": (((0.12, 0.5), right), "0.234 is measured"),
    "visited_share in percent": (((12, 23), right), "from 0 to 1"),
    "fewest_layers that move a whole window": (
        lambda n, budget: (fewest(n, budget)[0], -(-n // fewest(n, budget)[0])),
        "moves window - 1 steps",
    ),
    "fewest_layers of narrow windows": (lambda n, budget: (2, n - 1), "are enough"),
    "fewest_layers over the budget": (lambda n, budget: (n, 1), "too many"),
    "fewest_layers with one to spare": (lambda *a: fewest(*a, step=2), "are enough"),
    "visited_share of whole blocks only": (((0.12, 0.23), whole_blocks_only), "the smaller last block"),
    "fewest_layers with a window of 1": (lambda n, budget: (1, n), "must be at least 2"),
}

test_right, test_wrong = solution_tests("sparse_attention", RIGHT, WRONG)
