"""Checks of the exercises in the chapter on FlashAttention."""

from collections.abc import Callable

import torch
from torch import Tensor

from coursepkg.checks import expect


def merge(student: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]) -> None:
    """Join two outputs by their log-sum-exps."""
    generator = torch.Generator().manual_seed(0)
    for size in (1.0, 300.0):
        q, k, v = torch.randn(3, 12, 4, generator=generator, dtype=torch.float64)
        scores = q @ k.T * size
        halves = [
            (part.softmax(-1) @ x, part.logsumexp(-1, keepdim=True))
            for part, x in _cut(scores, v)
        ]
        joined = student(*(x.clone() for half in halves for x in half))
        expect.close(
            joined,
            scores.softmax(-1) @ v,
            what="the joined output",
            hint="weigh with exp(L), not equally",
        )


def _cut(scores: Tensor, v: Tensor) -> list[tuple[Tensor, Tensor]]:
    return [(scores[:, :5], v[:5]), (scores[:, 5:], v[5:])]


def score_gradient(
    student: Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor],
) -> None:
    """The gradient of one tile of scores."""
    generator = torch.Generator().manual_seed(1)
    s, v, do = (
        torch.randn(*shape, generator=generator, dtype=torch.float64)
        for shape in ((6, 9), (9, 4), (6, 4))
    )
    s.requires_grad_()
    o = s.softmax(-1) @ v
    (exact,) = torch.autograd.grad(o, s, do)
    s, o = s.detach(), o.detach()
    L = s.logsumexp(-1, keepdim=True)
    whole = student(s.clone(), L.clone(), do.clone(), o.clone(), v.clone())
    expect.is_tensor(whole, (6, 9), what="the gradient")
    expect.close(
        whole, exact, what="the gradient of a whole row", hint="ds = p * (dp - D)"
    )
    part = student(s[:, 2:5].clone(), L.clone(), do.clone(), o.clone(), v[2:5].clone())
    expect.close(
        part,
        exact[:, 2:5],
        what="the gradient of a tile that is a part of the row",
        hint=(
            "p is exp(s - L), not a softmax of the tile, and D is do * o, not a sum"
            " over the tile"
        ),
    )


def causal_tiles(student: Callable[[int, int], int]) -> None:
    """Tiles on and below the diagonal, with and without a smaller last tile."""
    for n, tile, count in [(4096, 256, 136), (8, 4, 3), (9, 4, 6), (5, 8, 1)]:
        expect.equal(student(n, tile), count, what=f"tiles for n = {n}, tile = {tile}")
