"""The patterns of the course: each is one predicate, and all of them compose with `&` and `|`.

>>> (sliding_window(256) | global_tokens(4)) & causal()

Positions are aligned as `Pattern` says: query row r stands at i = r + S - T.
"""

import math
from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor

from coursepkg.arguments import describe
from coursepkg.attention.bands import causal, check_positive, full, sliding_window
from coursepkg.attention.hashing import uniform_hash
from coursepkg.attention.pattern import Pattern, Span

__all__ = [
    "Pattern",
    "causal",
    "dilated_window",
    "from_predicate",
    "full",
    "global_tokens",
    "padding",
    "per_head",
    "random_blocks",
    "sliding_window",
]


def dilated_window(window: int, dilation: int) -> Pattern:
    """Query i sees every `dilation`-th key within `window` steps: |i - j| < window * dilation, (i - j) % dilation == 0.

    It reaches `dilation` times as far as a sliding window at the same cost.
    Source: Longformer (arXiv 2004.05150), section 3.1.
    """
    check_positive("window", window)
    check_positive("dilation", dilation)
    reach = sliding_window((window - 1) * dilation + 1)

    def tile(b: Tensor, h: Tensor, i: Tensor, j: Tensor, n_keys: int) -> Tensor:
        return reach.tile(b, h, i, j, n_keys) & ((i - j) % dilation == 0)

    def bounds(b: Tensor, h: Tensor, i: Span, j: Span, n_keys: int) -> tuple[Tensor, Tensor]:
        may, must = reach.bounds(b, h, i, j, n_keys)
        # Tiles of one residue class have no gaps to look through; elsewhere no tile is full.
        one_class = i.step % dilation == 0 and j.step % dilation == 0
        return may, must & one_class & ((i.first - j.first) % dilation == 0)

    band = reach.band if dilation == 1 else None
    return Pattern(f"dilated_window({window}, {dilation})", tile, bounds, band, stride=dilation)


def global_tokens(n_tokens: int) -> Pattern:
    """The first `n_tokens` positions see every key and are seen by every query.

    Source: Longformer (arXiv 2004.05150), section 3.1; BigBird (arXiv 2007.14062), section 2.
    """
    check_positive("n_tokens", n_tokens)

    def tile(b: Tensor, h: Tensor, i: Tensor, j: Tensor, n_keys: int) -> Tensor:
        return ((i < n_tokens) & (i >= 0)) | (j < n_tokens)

    def bounds(b: Tensor, h: Tensor, i: Span, j: Span, n_keys: int) -> tuple[Tensor, Tensor]:
        may = ((i.first < n_tokens) & (i.last >= 0)) | (j.first < n_tokens)
        must = ((i.last < n_tokens) & (i.first >= 0)) | (j.last < n_tokens)
        return may, must

    def fits(batch: int, heads: int, n_queries: int, n_keys: int) -> None:
        if n_tokens > n_keys:
            raise ValueError(f"pattern global_tokens({n_tokens}) is too large: there are only {n_keys} keys")

    return Pattern(f"global_tokens({n_tokens})", tile, bounds, None, fits)


def random_blocks(n_blocks: int, block: int, seed: int = 0) -> Pattern:
    """Each block of `block` queries sees `n_blocks` key blocks drawn at random.

    Whole blocks are drawn, not single pairs, because only an empty block saves work. The draw is a hash of
    (seed, query block, key block), the same on every device and in every order of visiting.
    Source: BigBird (arXiv 2007.14062), section 2 and appendix D.
    """
    check_positive("n_blocks", n_blocks)
    check_positive("block", block)

    def chosen(rows: Tensor, n_keys: int) -> Tensor:
        """bool (rows, key blocks): the n_blocks smallest hashes of each row."""
        columns = torch.arange(-(-n_keys // block), device=rows.device)
        draws = uniform_hash(seed, rows[:, None], columns)
        smallest = draws.topk(min(n_blocks, len(columns)), dim=1, largest=False).indices
        return torch.zeros_like(draws, dtype=torch.bool).scatter_(1, smallest, True)

    def tile(b: Tensor, h: Tensor, i: Tensor, j: Tensor, n_keys: int) -> Tensor:
        rows, row_of = torch.unique(i.div(block, rounding_mode="floor"), return_inverse=True)
        return chosen(rows, n_keys)[row_of, j.div(block, rounding_mode="floor")]

    def bounds(b: Tensor, h: Tensor, i: Span, j: Span, n_keys: int) -> tuple[Tensor, Tensor]:
        top, bottom = (i.first.div(block, rounding_mode="floor"), i.last.div(block, rounding_mode="floor"))
        left, right = (j.first.div(block, rounding_mode="floor"), j.last.div(block, rounding_mode="floor"))
        origin = int(top.min())
        table = chosen(torch.arange(origin, int(bottom.max()) + 1, device=top.device), n_keys)
        # A summed-area table counts the chosen blocks of any rectangle with four look-ups.
        area = torch.nn.functional.pad(table.long().cumsum(0).cumsum(1), (1, 0, 1, 0))
        top, bottom = top - origin, bottom - origin + 1
        right = right + 1
        count = area[bottom, right] - area[top, right] - area[bottom, left] + area[top, left]
        return count > 0, count == (bottom - top) * (right - left)

    def fits(batch: int, heads: int, n_queries: int, n_keys: int) -> None:
        available = -(-n_keys // block)
        if n_blocks > available:
            raise ValueError(
                f"pattern random_blocks({n_blocks}, {block}) is too large: {n_keys} keys make only {available} blocks"
            )

    return Pattern(f"random_blocks({n_blocks}, {block}, seed={seed})", tile, bounds, None, fits)


def padding(lengths: Tensor | Sequence[int]) -> Pattern:
    """Sequence b has `lengths[b]` real keys; the rest is padding and is seen by nobody.

    Args:
        lengths: (B,) integers, each between 0 and S.
    """
    real = _lengths_tensor(lengths)

    def n_real(b: Tensor) -> Tensor:
        return real.to(b.device)[b]

    def tile(b: Tensor, h: Tensor, i: Tensor, j: Tensor, n_keys: int) -> Tensor:
        return j < n_real(b)

    def bounds(b: Tensor, h: Tensor, i: Span, j: Span, n_keys: int) -> tuple[Tensor, Tensor]:
        return j.first < n_real(b), j.last < n_real(b)

    def fits(batch: int, heads: int, n_queries: int, n_keys: int) -> None:
        if len(real) != batch:
            raise ValueError(f"pattern padding has {len(real)} lengths, but the batch has {batch} sequences")
        if len(real) and (int(real.max()) > n_keys or int(real.min()) < 0):
            raise ValueError(f"pattern padding needs lengths in 0..{n_keys} (the keys), got {real.tolist()}")

    return Pattern(f"padding({real.tolist()})", tile, bounds, None, fits)


def _lengths_tensor(lengths: Tensor | Sequence[int]) -> Tensor:
    needed = "lengths must be one integer a sequence, shape (B,)"
    try:
        real = torch.as_tensor(lengths)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{needed}, got {describe(lengths)}") from None
    if real.dim() != 1 or real.dtype == torch.bool or real.is_floating_point() or real.is_complex():
        raise ValueError(f"{needed}, got {real.dtype} {tuple(real.shape)}")
    return real


def per_head(patterns: Sequence[Pattern]) -> Pattern:
    """Head h follows `patterns[h]`, so that heads can look at different parts of a sequence.

    Source: Sparse Transformer (arXiv 1904.10509), section 4.3, gives different heads different patterns.
    """
    heads_patterns = _one_a_head(patterns)

    def split(h: Tensor) -> list[tuple[Pattern, Tensor]]:
        return [(heads_patterns[int(index)], index.reshape(1, 1, 1)) for index in h.flatten()]

    def tile(b: Tensor, h: Tensor, i: Tensor, j: Tensor, n_keys: int) -> Tensor:
        return _join_heads([pattern.tile(b, index, i, j, n_keys) for pattern, index in split(h)])

    def bounds(b: Tensor, h: Tensor, i: Span, j: Span, n_keys: int) -> tuple[Tensor, Tensor]:
        answers = [pattern.bounds(b, index, i, j, n_keys) for pattern, index in split(h)]
        return _join_heads([may for may, _ in answers]), _join_heads([must for _, must in answers])

    def fits(batch: int, heads: int, n_queries: int, n_keys: int) -> None:
        if len(heads_patterns) != heads:
            raise ValueError(
                f"pattern per_head has {len(heads_patterns)} patterns, but there are {heads} heads"
            )
        for pattern in heads_patterns:
            pattern.fits(batch, heads, n_queries, n_keys)

    name = f"per_head([{', '.join(pattern.name for pattern in heads_patterns)}])"
    stride = math.gcd(*(pattern.stride for pattern in heads_patterns))
    return Pattern(name, tile, bounds, None, fits, max(stride, 1))


def _one_a_head(patterns: object) -> tuple[Pattern, ...]:
    if not isinstance(patterns, Iterable):
        raise ValueError(f"patterns must be a list with one Pattern a head, got {describe(patterns)}")
    heads_patterns = tuple(patterns)
    if not heads_patterns:
        raise ValueError("patterns must have one Pattern a head, got none")
    for head, pattern in enumerate(heads_patterns):
        if not isinstance(pattern, Pattern):
            hint = " (brackets forgotten?)" if callable(pattern) else ""
            raise ValueError(f"patterns[{head}] must be a Pattern as causal(), got {describe(pattern)}{hint}")
    return heads_patterns


def _join_heads(parts: list[Tensor]) -> Tensor:
    """Stack one answer a head, each (B or 1, 1, rows, columns) or fewer dimensions, on dimension 1."""
    shape = torch.broadcast_shapes((1, 1, 1, 1), *(part.shape for part in parts))
    return torch.cat([part.broadcast_to(shape) for part in parts], dim=1)


def from_predicate(predicate: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor], name: str) -> Pattern:
    """Any function (b, h, i, j) -> bool as a pattern. Nothing is known of its tiles, so every tile is visited."""

    def bounds(b: Tensor, h: Tensor, i: Span, j: Span, n_keys: int) -> tuple[Tensor, Tensor]:
        may = torch.ones_like(i.first + j.first, dtype=torch.bool)
        return may, torch.zeros_like(may)

    return Pattern(name, lambda b, h, i, j, n_keys: predicate(b, h, i, j), bounds)
