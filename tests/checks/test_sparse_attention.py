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


def right(mask, block):
    return sum(bool(part.any()) for rows in mask.split(block) for part in rows.split(block, dim=1))


def full_only(mask, block):
    return sum(bool(part.all()) for rows in mask.split(block) for part in rows.split(block, dim=1))


def drops(mask, block):
    rows, columns = (size // block * block for size in mask.shape)
    cut = mask[:rows, :columns].unflatten(0, (-1, block)).unflatten(2, (-1, block))
    return cut.any(3).any(1).sum()


RIGHT = {
    "window_pairs": lambda n, w: n * min(n, w) - min(n, w) * (min(n, w) - 1) // 2,
    "touched_tiles": right,
    "top_scores": top,
    "layers_needed": lambda n, w: -(-(n - 1) // (w - 1)),
}

WRONG = {
    "window_pairs without the edge": (lambda n, w: n * w, "fewer than `window` keys"),
    "window_pairs of a window longer than the sequence": (
        lambda n, w: n * w - w * (w - 1) // 2,
        "window = 9",
    ),
    "touched_tiles that counts full tiles": (full_only, "a causal window"),
    "touched_tiles that drops the last tile": (drops, "smaller"),
    "top_scores before the window": (lambda *args: top(*args, window_first=False), "the window comes first"),
    "top_scores without renormalising": (lambda *args: top(*args, renormalise=False), "do not sum to one"),
    "layers_needed that moves a whole window": (lambda n, w: -(-n // w), "window - 1 steps"),
    "layers_needed rounded down": (lambda n, w: max(1, (n - 1) // (w - 1)), "n = 9"),
}

test_right, test_wrong = solution_tests("sparse_attention", RIGHT, WRONG)
