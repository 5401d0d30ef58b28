"""Checks of the exercises in the chapter on multi-query attention."""

from collections.abc import Callable

import torch
from torch import Tensor

from coursepkg.checks import expect


def longest_context(student: Callable[[int, int, int, int, int], int]) -> None:
    """Tokens that fit a budget, with one and with many key-value heads."""
    for arguments, tokens in [
        ((2**34, 32, 32, 128, 2), 32768),
        ((2**30, 2, 1, 8, 4), 2**23),
        ((100, 1, 1, 4, 2), 6),
    ]:
        budget, n_layers, n_kv_heads, head_dim, n_bytes = arguments
        setting = (
            f"{budget} bytes, {n_layers} layers, {n_kv_heads} kv heads of {head_dim},"
            f" {n_bytes} bytes a number"
        )
        expect.equal(
            student(*arguments),
            tokens,
            what=f"tokens for {setting}",
            hint=(
                "a token has a key and a value in every layer, and only whole tokens"
                " count"
            ),
        )


def shared_attention(student: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
    """Attention of several query heads to one key-value head, in batches."""
    generator = torch.Generator().manual_seed(0)
    for batch, heads, n_queries, n_keys in [(2, 4, 3, 5), (3, 2, 1, 7)]:
        q = torch.randn(batch, heads, n_queries, 8, generator=generator)
        k, v = torch.randn(2, batch, n_keys, 8, generator=generator)
        output = student(q.clone(), k.clone(), v.clone())
        expect.is_tensor(output, q.shape, what="the output")
        weights = (torch.einsum("bhtd,bsd->bhts", q, k) / 8**0.5).softmax(dim=-1)
        expect.close(
            output,
            torch.einsum("bhts,bsd->bhtd", weights, v),
            what="the output",
            hint=(
                "scale by 1/sqrt(D), take the softmax over the keys, keep the rows of a"
                " head together"
            ),
        )


def pool_heads(student: Callable[[Tensor, int], Tensor]) -> None:
    """The mean over heads of a projection whose rows are ordered head by head."""
    weight = torch.randn(4 * 6, 10, generator=torch.Generator().manual_seed(1))
    before = weight.clone()
    pooled = student(weight, 6)
    expect.is_tensor(pooled, (6, 10), what="the pooled projection")
    expect.unchanged(before, weight, what="weight")
    expect.close(
        pooled,
        sum(before.split(6)) / 4,
        what="the pooled projection",
        hint="the rows of head 0 come first: view as (H, D, E) and average over H",
    )


def cache_by_hand(student: str) -> None:
    """160 MiB: keys and values of 40 layers, one head of 128, 8,192 tokens."""
    expect.quantity(
        student,
        160.0,
        "MiB",
        what="the cache",
        mistakes={
            7680.0: "that is multi-head attention; here 48 query heads share one head",
            80.0: "keys and values are both cached; there is a factor of 2 for them",
            4.0: "that is one layer; each of the 40 layers has a cache of its own",
            320.0: "a number in half precision takes 2 bytes, not 4",
        },
    )
