"""Sparse attention: any pattern, at the cost of the blocks it touches.

A mask alone saves nothing, because hidden scores are computed and thrown away. Here the pattern says of each
block of the score matrix whether it may hold a visible pair, and the others are never computed nor read, neither
in the forward pass nor in the backward pass. The result is exact: the same numbers as the dense formula.

Sources: Child et al., Sparse Transformer (arXiv 1904.10509); Longformer (arXiv 2004.05150); BigBird (arXiv
2007.14062), appendix D, for visiting blocks.
"""

import math

from torch import Tensor

from coursepkg.attention.block_attention import BLOCK, block_attention
from coursepkg.attention.block_plan import plan
from coursepkg.attention.patterns import Pattern, full


def run(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    pattern: Pattern | None,
    *,
    scale: float,
    bias: Tensor | None,
    dropout_p: float,
    dropout_seed: int,
    block: int = BLOCK,
) -> Tensor:
    """q (B, H, T, D), k and v (B, G, S, D) -> (B, H, T, D), visiting blocks of `block` queries by `block` keys."""
    pattern = full() if pattern is None else pattern
    return block_attention(
        q, k, v, pattern, scale=scale, bias=bias, dropout_p=dropout_p, dropout_seed=dropout_seed, block=block
    )


def visited_blocks(
    pattern: Pattern, n_queries: int, n_keys: int, *, block: int = BLOCK, batch: int = 1, heads: int = 1
) -> int:
    """Blocks of the score matrix that `run` computes, over all heads and sequences.

    >>> visited_blocks(causal(), 256, 256, block=64)  # 4 + 3 + 2 + 1
    10
    """
    parts = plan(pattern, (batch, heads, heads, n_queries, n_keys), block)
    return sum(math.prod(part.shape) * stripe.n_blocks for part in parts for stripe in part.stripes)


def visited_fraction(
    pattern: Pattern, n_queries: int, n_keys: int, *, block: int = BLOCK, batch: int = 1, heads: int = 1
) -> float:
    """Computed pairs over all pairs, between 0 and 1: the bound on the time, relative to full attention."""
    parts = plan(pattern, (batch, heads, heads, n_queries, n_keys), block)
    pairs = sum(
        math.prod(part.shape) * stripe.n_rows * stripe.n_keys for part in parts for stripe in part.stripes
    )
    return pairs / (batch * heads * n_queries * n_keys)
