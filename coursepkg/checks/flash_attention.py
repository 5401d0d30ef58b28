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
        whole, exact, what="the gradient of a whole row", hint="ds = p * (dp - δ)"
    )
    part = student(s[:, 2:5].clone(), L.clone(), do.clone(), o.clone(), v[2:5].clone())
    expect.close(
        part,
        exact[:, 2:5],
        what="the gradient of a tile that is a part of the row",
        hint=(
            "p is exp(s - L), not a softmax of the tile, and δ is do * o, not a sum"
            " over the tile"
        ),
    )


def causal_tiles(student: Callable[[int, int], int]) -> None:
    """Tiles on and below the diagonal, with and without a smaller last tile."""
    for n, tile, count in [(4096, 256, 136), (8, 4, 3), (9, 4, 6), (5, 8, 1)]:
        expect.equal(student(n, tile), count, what=f"tiles for n = {n}, tile = {tile}")


def running_output(student: Callable[[Tensor, Tensor, int], Tensor]) -> None:
    """Rows whose largest score comes first, last, and is too large for exp."""
    generator = torch.Generator().manual_seed(2)
    row = torch.randn(12, generator=generator, dtype=torch.float64)
    values = torch.randn(12, 3, generator=generator, dtype=torch.float64)
    cases = {
        "whose largest score comes first": row.sort(descending=True).values,
        "whose largest score comes last": row.sort().values,
        "with scores up to a thousand": (1000 * row / row.max()).sort().values,
    }
    for case, scores in cases.items():
        for tile in (12, 5, 1):
            found = student(scores.clone(), values.clone(), tile)
            what = f"the output of a row {case}, in tiles of {tile},"
            expect.is_tensor(found, (3,), what=what)
            for part, wrong in _unmoved(scores, values, tile).items():
                assert tile == 12 or not _same(found, wrong, scores, values), (
                    f"{what} is wrong: the {part} of the earlier tiles is not moved to"
                    " the new maximum"
                )
            expect.close(
                found,
                scores.softmax(0) @ values,
                what=what,
                hint="move the old sum and the old output by exp(m - m_new)",
            )


def _unmoved(scores: Tensor, values: Tensor, tile: int) -> dict[str, Tensor]:
    """The running output where one of the two running parts is not rescaled."""
    found = {}
    for forgotten in ("output", "sum"):
        m = torch.tensor(-torch.inf, dtype=scores.dtype)
        total, output = torch.zeros_like(m), torch.zeros_like(values[0])
        for s, v in zip(scores.split(tile), values.split(tile), strict=True):
            m_new = torch.maximum(m, s.max())
            decay, p = (m - m_new).exp(), (s - m_new).exp()
            total = total * (1 if forgotten == "sum" else decay) + p.sum()
            output = output * (1 if forgotten == "output" else decay) + p @ v
            m = m_new
        found[forgotten] = output / total
    return found


def _same(found: Tensor, wrong: Tensor, scores: Tensor, values: Tensor) -> bool:
    """Whether a result is the wrong one, where this differs from the right one."""
    right = scores.softmax(0) @ values
    return expect.same(found, wrong) and not torch.allclose(wrong, right)
