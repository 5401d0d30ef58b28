"""Double sparsity: a pattern first, then only the highest scores of each query.

    s = q k^T * scale over the keys the pattern shows
    keep the n_keep largest s of each row
    output = softmax over the kept scores, times v

Which scores are kept depends on the data, so this is a function of its own and not a
pattern. Every visible score still has to be computed before the largest are known:
keeping few makes the weights sparse, the pattern makes the computation cheap.

Sources: Zhao et al., Explicit Sparse Transformer (arXiv 1912.11637), keeps the top
scores of each query; Gupta et al. (arXiv 2106.06899) do so chunk by chunk to save
memory.
"""

import math
from functools import partial

import torch
from torch import Tensor

from coursepkg.attention.block_sparse import BLOCK, block_attention
from coursepkg.attention.pattern import Pattern, full
from coursepkg.validation import check_count, check_number


def top_scores_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    n_keep: int,
    *,
    pattern: Pattern | None = None,
    scale: float | None = None,
    block: int = BLOCK,
) -> Tensor:
    """Attention in which each query keeps its `n_keep` highest visible scores.

    The gradient is exact through the kept scores and zero through the others. Equal
    scores are kept from the first key on. Where a query sees no more than `n_keep`
    keys, this is plain attention.

    Args:
        q: queries (B, H, T, D).
        k: keys (B, G, S, D), with H a multiple of G.
        v: values (B, G, S, D).
        n_keep: scores kept for each query of each head, at least 1.
        pattern: which query sees which key; None shows everything. Its empty blocks are
            never visited.
        scale: factor on the dot products; None is 1 / sqrt(D). Positive, or the lowest
            products are kept.
        block: rows and columns of a visited block, at least 1.

    Returns:
        (B, H, T, D). A row that sees nothing is zero.

    Raises:
        ValueError: an argument is malformed; the message names it.
    """
    check_count("n_keep", n_keep)
    check_count("block", block)
    _check_tensors(q, k, v)
    if pattern is not None and not isinstance(pattern, Pattern):
        raise ValueError(
            "pattern must be a Pattern such as sliding_window(4), got"
            f" {type(pattern).__name__}"
        )
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    check_number("scale", scale)
    if not math.isfinite(scale):
        raise ValueError(f"scale: got {scale}, needs a finite number")
    select = partial(topk_mask, n_keep=n_keep)
    return block_attention(
        q, k, v, pattern or full(), scale=scale, block=int(block), select=select
    )


def topk_mask(scores: Tensor, *, n_keep: int) -> None:
    """Write -inf over all but the `n_keep` largest scores (..., keys), in place.

    `topk` alone would not say which of several equal scores it takes, so it only gives
    the value of the last kept score; the scores equal to it are then kept in the order
    of their keys until the row is full.
    """
    if scores.shape[-1] <= n_keep:
        return
    last_kept = scores.topk(n_keep, dim=-1).values[..., -1:]
    above, equal = scores > last_kept, scores == last_kept
    room = n_keep - above.sum(dim=-1, keepdim=True)
    kept = above | (equal & (equal.cumsum(dim=-1) <= room))
    scores.masked_fill_(~kept, -torch.inf)


def _check_tensors(q: Tensor, k: Tensor, v: Tensor) -> None:
    for name, x in (("q", q), ("k", k), ("v", v)):
        if not isinstance(x, Tensor) or x.dim() != 4:
            got = tuple(x.shape) if isinstance(x, Tensor) else type(x).__name__
            raise ValueError(
                f"{name} must have 4 dimensions (batch, heads, length, head dim), got"
                f" {got}"
            )
        if x.dtype != q.dtype or not x.is_floating_point() or x.device != q.device:
            raise ValueError(
                f"{name} must be floating point in the dtype and on the device of q"
                f" ({q.dtype}, {q.device}), got {x.dtype} on {x.device}"
            )
    if v.shape != k.shape:
        raise ValueError(
            f"v must have the shape of k {tuple(k.shape)}, got {tuple(v.shape)}"
        )
    if k.shape[0] != q.shape[0] or k.shape[-1] != q.shape[-1]:
        raise ValueError(
            f"k must share batch {q.shape[0]} and head dim {q.shape[-1]} with q, got"
            f" {tuple(k.shape)}"
        )
    if 0 in (*q.shape, *k.shape):
        raise ValueError(
            f"q and k must not be empty, got {tuple(q.shape)} and {tuple(k.shape)}"
        )
    if q.shape[1] % k.shape[1]:
        raise ValueError(
            f"k must have a divisor of the {q.shape[1]} query heads, got {k.shape[1]}"
            " heads"
        )
