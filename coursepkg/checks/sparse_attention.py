"""Checks of the exercises in the chapter on sparse attention."""

from collections.abc import Callable

import torch
from torch import Tensor

from coursepkg.attention.api import attention
from coursepkg.attention.pattern import causal, sliding_window
from coursepkg.attention.topk import top_scores_attention
from coursepkg.checks import expect


def window_pairs(student: Callable[[int, int], int]) -> None:
    """Visible pairs of a causal window."""
    for n, window, count in [
        (1000, 100, 95_050),
        (6, 1, 6),
        (6, 3, 15),
        (4, 4, 10),
        (4, 9, 10),
    ]:
        expect.equal(
            student(n, window),
            count,
            what=f"visible pairs for n = {n}, window = {window}",
            hint="the first queries have fewer than `window` keys before them",
        )


def touched_tiles(student: Callable[[Tensor, int], int]) -> None:
    """Tiles with a visible pair."""
    masks = {
        "a causal window": ((causal() & sliding_window(3)).mask(8, 8)[0, 0], 4, 3),
        "a single pair": (
            torch.eye(6, dtype=torch.bool) & (torch.arange(6) == 2),
            2,
            1,
        ),
        "a mask of zeros": (torch.zeros(4, 4, dtype=torch.bool), 2, 0),
        "a causal mask whose last tile is smaller": (causal().mask(5, 5)[0, 0], 2, 6),
        "a wide mask": (torch.ones(3, 7, dtype=torch.bool), 3, 3),
    }
    for name, (mask, block, count) in masks.items():
        expect.equal(int(student(mask.clone(), block)), count, what=f"tiles of {name}")


def top_scores(student: Callable[[Tensor, Tensor, Tensor, int, int], Tensor]) -> None:
    """A causal window first, the highest scores of each row second."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 1, 2, 9, 4, generator=generator, dtype=torch.float64)
    pattern = causal() & sliding_window(4)
    output = student(q.clone(), k.clone(), v.clone(), 2, 4)
    expect.is_tensor(output, (1, 2, 9, 4), what="the output")
    _, weights = attention(
        q, k, v, pattern=pattern, impl="reference", return_weights=True
    )
    kept = torch.where(weights >= weights.topk(2).values[..., -1:], weights, 0.0)
    assert not torch.allclose(output, kept @ v), (
        "the weights of a row do not sum to one: hide the low scores before the"
        " softmax, not after it"
    )
    expect.close(
        output,
        top_scores_attention(q, k, v, 2, pattern=pattern),
        what="the output",
        hint=(
            "the window comes first: the n_keep highest scores are those among the"
            " visible keys"
        ),
    )
    expect.close(
        student(q.clone(), k.clone(), v.clone(), 4, 4),
        weights @ v,
        what="the output when n_keep is the whole window",
        hint="nothing may be lost then",
    )


def layers_needed(student: Callable[[int, int], int]) -> None:
    """Layers of a causal window until the last position depends on the first."""
    for n, window, count in [
        (8, 8, 1),
        (9, 8, 2),
        (64, 8, 9),
        (1000, 100, 11),
        (2, 2, 1),
    ]:
        expect.equal(
            student(n, window),
            count,
            what=f"layers for n = {n}, window = {window}",
            hint=(
                "the distance is n - 1, and a window that holds the position itself"
                " moves window - 1 steps"
            ),
        )
