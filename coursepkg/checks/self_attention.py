"""Checks of the exercises in the chapter on self-attention."""

from collections.abc import Callable

import torch
from torch import Tensor

from coursepkg.attention.api import attention
from coursepkg.attention.pattern import causal, padding
from coursepkg.checks import expect


def _draw(seed: int, *shape: int) -> Tensor:
    return torch.randn(
        *shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )


def one_head(student: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]) -> None:
    """Self-attention of one head from embeddings and three projection matrices."""
    x, w_q, w_k, w_v = _draw(0, 6, 8), *_draw(1, 3, 8, 4)
    given = x.clone()
    output = student(given, w_q.clone(), w_k.clone(), w_v.clone())
    expect.is_tensor(output, (6, 4), what="the output")
    expect.unchanged(x, given, what="x")
    scores, v = (x @ w_q) @ (x @ w_k).T, x @ w_v
    for wrong, hint in [
        (scores.softmax(-1) @ v, "the scores are not divided by sqrt(D)"),
        (
            (scores / 4).softmax(-1) @ v,
            "the scores are divided by D; the root is missing",
        ),
        (
            (scores / 8**0.5).softmax(-1) @ v,
            "D is the width of a query (4), not of x (8)",
        ),
        (
            (scores / 2).softmax(0) @ v,
            "each row of weights must sum to 1: softmax over the keys",
        ),
    ]:
        assert not expect.same(output, wrong), f"the output is not right: {hint}"
    expect.close(output, (scores / 2).softmax(-1) @ v, what="the output")


def visible(student: Callable[[int, int, Tensor], Tensor]) -> None:
    """Causal and padding mask together, with as many queries as keys and with fewer."""
    for n_queries, n_keys, lengths in [(4, 4, [4, 2]), (2, 5, [5, 4]), (1, 3, [3, 1])]:
        mask = student(n_queries, n_keys, torch.tensor(lengths))
        expect.is_tensor(
            mask,
            (2, 1, n_queries, n_keys),
            what=f"the mask for T = {n_queries}, S = {n_keys}",
        )
        assert mask.dtype == torch.bool, (
            f"the mask has dtype {mask.dtype}; torch.bool is expected"
        )
        ahead = causal().mask(n_queries, n_keys)
        real = padding(lengths).mask(n_queries, n_keys, batch=2)
        what = f"for T = {n_queries}, S = {n_keys}, lengths {lengths}: the mask"
        assert not bool((mask & ~real).any()), f"{what} shows padding"
        assert not bool((mask & ~ahead).any()), (
            f"{what} shows a key after the query's own position"
        )
        hint = "the last query stands beside the last key"
        assert torch.equal(mask, ahead & real), (
            f"{what} hides a key that the query may see; {hint}"
        )


def multi_head(student: Callable[[Tensor, Tensor, Tensor, int], Tensor]) -> None:
    """Heads split out of (B, T, E), attended and joined again."""
    q, k, v = _draw(2, 3, 2, 5, 12)
    for n_heads in (1, 3, 4):
        joined = student(q.clone(), k.clone(), v.clone(), n_heads)
        what = f"the output for {n_heads} heads"
        expect.is_tensor(joined, (2, 5, 12), what=what)
        heads = [x.unflatten(-1, (n_heads, -1)).transpose(1, 2) for x in (q, k, v)]
        output = attention(*heads, impl="reference")
        assert isinstance(output, Tensor)
        hint = (
            "head h takes columns h * D to (h + 1) * D - 1 of every token, and the"
            " scale is that of one head"
        )
        expect.close(joined, output.transpose(1, 2).flatten(-2), what=what, hint=hint)


def other_weights(student: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Different attention weights with the same output."""
    for seed in (3, 4, 5):
        weights, values = _draw(seed, 12).softmax(-1), _draw(seed + 10, 12, 4)
        other = student(weights.clone(), values.clone())
        expect.is_tensor(other, (12,), what="the other weights")
        assert float(other.min()) > -1e-9, (
            f"a weight is negative: {float(other.min()):.4f}"
        )
        expect.close(other.sum(), 1.0, what="the sum of the other weights")
        hint = "move only along directions that the values do not see"
        expect.close(
            other @ values,
            weights @ values,
            what="the output with the other weights",
            hint=hint,
        )
        moved = 0.5 * float((other - weights).abs().sum())
        assert moved > 0.05, (
            f"only {moved:.4f} of the weight was moved; at least 0.05 is asked for"
        )


def gradient_plot(student: str) -> None:
    """The line of the recurrent layer crosses 10^-8 about 31 tokens back."""
    expect.quantity(
        student,
        31.5,
        "tokens",
        what="the distance",
        tolerance=0.1,
        mistakes={
            23.0: "there the line is at 10^-6; the labels are two powers of ten apart",
            38.0: "there the line is at 10^-10; the labels are two powers of ten apart",
            63.0: "that is the end of the line, at 10^-16",
        },
    )
