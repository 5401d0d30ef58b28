"""Which query may see which key, as a predicate that composes with `&` and `|`.

One object serves four uses: it draws itself (`mask`), it masks dense scores (`mask`, `tile`), it tells a tiled
implementation which tiles are empty and which are full (`block_map`), and it tells a kernel its band (`band`).

Positions are bottom-right aligned: with T queries and S keys, query row r stands at position i = r + S - T. The
last query therefore stands beside the last key, as in decoding with a cache.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Tile = Callable[[Tensor, Tensor, Tensor, Tensor, int], Tensor]
"""(b, h, i, j, n_keys) -> bool: batch (B, 1, 1, 1), head (1, H, 1, 1), aligned query i (T, 1), key j (S,)."""

Bounds = Callable[[Tensor, Tensor, "Span", "Span", int], tuple[Tensor, Tensor]]
"""(b, h, span of i, span of j, n_keys) -> (may, must): may=False proves a tile empty, must=True proves it full."""

Band = tuple[int | None, int | None]
"""(left, right): key j is visible to query i exactly when -right <= i - j <= left; None is no limit."""


@dataclass(frozen=True)
class Span:
    """First and last index of each tile, inclusive: two tensors that broadcast over the tiles."""

    first: Tensor
    last: Tensor
    step: int = 1
    """A tile holds every `step`-th index from `first` to `last`."""


@dataclass(frozen=True)
class Pattern:
    """A predicate over (batch, head, query position, key position).

    Compose patterns with `&` (both allow) and `|` (either allows). Make one with the factories of this package
    (`causal`, `sliding_window`, ...) or, from any function, with `from_predicate`.
    """

    name: str
    """How the pattern prints, for instance `causal() & sliding_window(4)`."""
    tile: Tile
    """The predicate itself, on broadcastable index tensors."""
    bounds: Bounds
    """Conservative answers for whole tiles."""
    band: Band | None = None
    """The band this pattern equals, or None when it is not a band."""
    fits: Callable[[int, int, int, int], None] = lambda batch, heads, n_queries, n_keys: None
    """Raises ValueError when the pattern cannot apply to (B, H, T, S)."""
    stride: int = 1
    """Every visible pair has (i - j) % stride == 0, so positions can be visited by residue class."""

    def __and__(self, other: "Pattern") -> "Pattern":
        if not isinstance(other, Pattern):
            return NotImplemented
        band = _intersect(self.band, other.band) if self.band and other.band else None
        return _combine(self, other, "&", torch.logical_and, band, math.lcm(self.stride, other.stride))

    def __or__(self, other: "Pattern") -> "Pattern":
        if not isinstance(other, Pattern):
            return NotImplemented
        return _combine(self, other, "|", torch.logical_or, None, math.gcd(self.stride, other.stride))

    def __repr__(self) -> str:
        return self.name

    def mask(
        self,
        n_queries: int,
        n_keys: int,
        *,
        batch: int = 1,
        heads: int = 1,
        device: torch.device | str = "cpu",
    ) -> Tensor:
        """The dense mask, True where the query may see the key.

        Returns:
            bool (B or 1, H or 1, T, S); a dimension is 1 when the pattern does not depend on it.

        Raises:
            ValueError: the pattern does not fit these sizes.
        """
        self.fits(batch, heads, n_queries, n_keys)
        b, h = _batch_and_head(batch, heads, device)
        i = torch.arange(n_queries, device=device)[:, None] + (n_keys - n_queries)
        j = torch.arange(n_keys, device=device)
        visible = self.tile(b, h, i, j, n_keys)
        batch_and_heads = (1, 1, 1, 1, *visible.shape)[-4:-2]
        return visible.broadcast_to((*batch_and_heads, n_queries, n_keys))

    def block_map(
        self, n_queries: int, n_keys: int, block_q: int, block_k: int, *, batch: int = 1, heads: int = 1
    ) -> tuple[Tensor, Tensor]:
        """Which tiles may hold a visible pair, and which are visible throughout.

        The cost is one answer a tile, never one a pair: at T = S = 8192 with tiles of 128, 4,096 answers instead of
        67 million.

        Returns:
            may, must: bool (B or 1, H or 1, ceil(T / block_q), ceil(S / block_k)).
        """
        self.fits(batch, heads, n_queries, n_keys)
        b, h = _batch_and_head(batch, heads, "cpu")
        rows = _spans(n_queries, block_q, offset=n_keys - n_queries)
        columns = _spans(n_keys, block_k, offset=0)
        may, must = self.bounds(b, h, Span(rows.first[:, None], rows.last[:, None]), columns, n_keys)
        shape = torch.broadcast_shapes(may.shape, must.shape, (1, 1, len(rows.first), len(columns.first)))
        return may.broadcast_to(shape), must.broadcast_to(shape)

    def visible_pairs(self, n_queries: int, n_keys: int) -> int:
        """Number of (query, key) pairs this pattern allows in one head of one sequence."""
        return int(self.mask(n_queries, n_keys)[0, 0].sum())


def _combine(
    a: Pattern, b: Pattern, sign: str, operation: Callable, band: Band | None, stride: int
) -> Pattern:
    def bounds(bi: Tensor, hi: Tensor, i: Span, j: Span, n_keys: int) -> tuple[Tensor, Tensor]:
        (may_a, must_a), (may_b, must_b) = (a.bounds(bi, hi, i, j, n_keys), b.bounds(bi, hi, i, j, n_keys))
        return operation(may_a, may_b), operation(must_a, must_b)

    def fits(batch: int, heads: int, n_queries: int, n_keys: int) -> None:
        a.fits(batch, heads, n_queries, n_keys)
        b.fits(batch, heads, n_queries, n_keys)

    return Pattern(
        name=f"({a.name} {sign} {b.name})",
        tile=lambda *index: operation(a.tile(*index), b.tile(*index)),
        bounds=bounds,
        band=band,
        fits=fits,
        stride=stride,
    )


def _intersect(a: Band, b: Band) -> Band:
    def tighter(x: int | None, y: int | None) -> int | None:
        return y if x is None else x if y is None else min(x, y)

    return tighter(a[0], b[0]), tighter(a[1], b[1])


def _batch_and_head(batch: int, heads: int, device: torch.device | str) -> tuple[Tensor, Tensor]:
    b, h = torch.arange(batch, device=device), torch.arange(heads, device=device)
    return b[:, None, None, None], h[:, None, None]


def _spans(length: int, block: int, offset: int) -> Span:
    first = torch.arange(0, length, block)
    return Span(first + offset, (first + block).clamp(max=length) - 1 + offset)
