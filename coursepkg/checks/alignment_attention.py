"""Checks of the exercises in the chapter on additive and multiplicative attention."""

from collections.abc import Callable

import torch
from torch import Tensor

from coursepkg.checks import expect


def additive_scores(
    student: Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor],
) -> None:
    """v^T tanh(W q + U k) for all pairs."""
    generator = torch.Generator().manual_seed(0)
    query, keys, W, U, v = (
        torch.randn(*shape, generator=generator)
        for shape in ((3, 4), (5, 6), (7, 4), (7, 6), (7,))
    )
    exact = torch.stack(
        [torch.stack([v @ torch.tanh(W @ q + U @ k) for k in keys]) for q in query]
    )
    scores = student(*(x.clone() for x in (query, keys, W, U, v)))
    expect.close(
        scores,
        exact,
        what="scores",
        hint="tanh of the sum, then the product with v; no softmax here",
    )


def padded_weights(student: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Weights that ignore padding, sum to one, and are zero where no key is real."""
    scores = torch.randn(3, 2, 4, generator=torch.Generator().manual_seed(1))
    lengths = torch.tensor([4, 2, 0])
    is_real = torch.arange(4) < lengths[:, None]
    weights = student(scores.clone(), is_real.clone())
    expect.is_tensor(weights, (3, 2, 4), what="weights")
    expect.close(
        weights[0],
        scores[0].softmax(-1),
        what="the weights of a sentence without padding",
    )
    expect.close(weights[1, :, 2:], torch.zeros(2, 2), what="the weights at padding")
    expect.close(
        weights[1, :, :2],
        scores[1, :, :2].softmax(-1),
        what="the weights of a sentence with padding",
        hint="mask the scores before the softmax, or the rest does not sum to 1",
    )
    expect.close(
        weights[2],
        torch.zeros(2, 4),
        what="the weights of a sentence without a real key",
    )


def general_matrix(student: Callable[[Tensor, Tensor], Tensor]) -> None:
    """W = W_q W_k^T / sqrt(d), with d the width of a head."""
    W_q, W_k = torch.randn(2, 6, 3, generator=torch.Generator().manual_seed(2))
    matrix = student(W_q.clone(), W_k.clone())
    expect.close(
        matrix,
        W_q @ W_k.T / 3**0.5,
        what="W",
        hint="W_q comes first, and d under the root is the head's width",
    )


def alignment_hits(
    student: Callable[[Tensor, list[tuple[int, int]]], tuple[int, int]],
) -> None:
    """Hits and counted words: unaligned words, several partners."""
    weights = torch.tensor(
        [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3], [0.4, 0.3, 0.3]]
    )
    hits, counted = student(weights.clone(), [(0, 0), (1, 1)])
    expect.equal(counted, 2, what="counted words when two of four have a partner")
    expect.equal(
        hits,
        1,
        what="hits when one of two words hits",
        hint="pairs have the source position first",
    )
    expect.equal(
        tuple(student(weights.clone(), [(0, 1), (2, 1), (1, 2)])),
        (2, 2),
        what="(hits, counted) with a word that has two partners",
        hint="count words, not pairs",
    )
    try:
        student(weights.clone(), [(0, 4)])
    except ValueError:
        return
    raise AssertionError(
        "a target position beyond the weights' rows must raise ValueError"
    )
