"""Which query may see which key, as a predicate that composes with `&` and `|`.

    (sliding_window(256) | global_tokens(4)) & causal()

One object serves four uses: it draws itself (`mask`), it masks dense scores (`mask`,
`tile`), it tells a tiled implementation which tiles are empty and which are full
(`block_map`), and it tells a kernel its band (`band`): how far back and how far ahead a
query sees. Full, causal and sliding window are bands; the others are not.

Positions are bottom-right aligned: with T queries and S keys, query row r stands at
position i = r + S - T. The last query therefore stands beside the last key, as in
decoding with a cache.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from coursepkg.attention.dropout import uniform_hash
from coursepkg.validation import check_count, check_integer, describe

Predicate = Callable[[Tensor, Tensor, Tensor, Tensor, int], Tensor]
"""(b (B, 1, 1, 1), h (1, H, 1, 1), aligned i (T, 1), j (S,), n_keys) -> bool."""

Bounds = Callable[[Tensor, Tensor, "Span", "Span", int], tuple[Tensor, Tensor]]
"""(b, h, span of i, span of j, n_keys) -> (may, must): False proves a tile empty, True
proves it full.
"""

Band = tuple[int | None, int | None]
"""(left, right): query i sees key j when -right <= i - j <= left; None is no limit."""


@dataclass(frozen=True)
class Span:
    """First and last index of each tile, inclusive; both broadcast over the tiles."""

    first: Tensor
    last: Tensor
    step: int = 1
    """A tile holds every `step`-th index from `first` to `last`."""


@dataclass(frozen=True)
class Pattern:
    """A predicate over (batch, head, query position, key position).

    Compose patterns with `&` (both allow) and `|` (either allows). Make one with the
    factories of this package (`causal`, `sliding_window`, ...) or, from any function,
    with `from_predicate`.
    """

    name: str
    """How the pattern prints, for instance `causal() & sliding_window(4)`."""
    tile: Predicate
    """The predicate itself, on broadcastable index tensors."""
    bounds: Bounds
    """Conservative answers for whole tiles."""
    band: Band | None = None
    """The band this pattern equals, or None when it is not a band."""
    fits: Callable[[int, int, int, int], None] = (
        lambda batch, heads, n_queries, n_keys: None
    )
    """Raises ValueError when the pattern cannot apply to (B, H, T, S)."""
    stride: int = 1
    """Every visible pair has (i - j) % stride == 0, so positions can be visited by
    residue class.
    """

    def __and__(self, other: "Pattern") -> "Pattern":
        if not isinstance(other, Pattern):
            return NotImplemented
        band = _intersect(self.band, other.band) if self.band and other.band else None
        stride = math.lcm(self.stride, other.stride)
        return _combine(self, other, "&", torch.logical_and, band, stride)

    def __or__(self, other: "Pattern") -> "Pattern":
        if not isinstance(other, Pattern):
            return NotImplemented
        stride = math.gcd(self.stride, other.stride)
        return _combine(self, other, "|", torch.logical_or, None, stride)

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
            bool (B or 1, H or 1, T, S); a dimension is 1 when the pattern does not
            depend on it.

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
        self,
        n_queries: int,
        n_keys: int,
        block_q: int,
        block_k: int,
        *,
        batch: int = 1,
        heads: int = 1,
    ) -> tuple[Tensor, Tensor]:
        """Which tiles may hold a visible pair, and which are visible throughout.

        The cost is one answer a tile, never one a pair: at T = S = 8192 with tiles of
        128, 4,096 answers instead of 67 million.

        Returns:
            may, must: bool (B or 1, H or 1, ceil(T / block_q), ceil(S / block_k)).
        """
        self.fits(batch, heads, n_queries, n_keys)
        b, h = _batch_and_head(batch, heads, "cpu")
        rows = _spans(n_queries, block_q, offset=n_keys - n_queries)
        columns = _spans(n_keys, block_k, offset=0)
        may, must = self.bounds(
            b, h, Span(rows.first[:, None], rows.last[:, None]), columns, n_keys
        )
        shape = torch.broadcast_shapes(
            may.shape, must.shape, (1, 1, len(rows.first), len(columns.first))
        )
        return may.broadcast_to(shape), must.broadcast_to(shape)

    def visible_pairs(self, n_queries: int, n_keys: int) -> int:
        """Number of (query, key) pairs this pattern allows in one head."""
        return int(self.mask(n_queries, n_keys)[0, 0].sum())


def _combine(
    a: Pattern,
    b: Pattern,
    sign: str,
    operation: Callable,
    band: Band | None,
    stride: int,
) -> Pattern:
    def bounds(
        bi: Tensor, hi: Tensor, i: Span, j: Span, n_keys: int
    ) -> tuple[Tensor, Tensor]:
        may_a, must_a = a.bounds(bi, hi, i, j, n_keys)
        may_b, must_b = b.bounds(bi, hi, i, j, n_keys)
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


def _batch_and_head(
    batch: int, heads: int, device: torch.device | str
) -> tuple[Tensor, Tensor]:
    b, h = torch.arange(batch, device=device), torch.arange(heads, device=device)
    return b[:, None, None, None], h[:, None, None]


def _spans(length: int, block: int, offset: int) -> Span:
    first = torch.arange(0, length, block)
    return Span(first + offset, (first + block).clamp(max=length) - 1 + offset)


def band_pattern(name: str, band: Band) -> Pattern:
    """The pattern -right <= i - j <= left; extreme distances decide for a tile."""
    left, right = band

    def inside(low: Tensor, high: Tensor, shape_of: Tensor) -> Tensor:
        keep = torch.ones_like(shape_of, dtype=torch.bool)
        keep = keep if left is None else keep & (high <= left)
        return keep if right is None else keep & (low >= -right)

    def tile(b: Tensor, h: Tensor, i: Tensor, j: Tensor, n_keys: int) -> Tensor:
        distance = i - j
        return inside(distance, distance, distance)

    def bounds(
        b: Tensor, h: Tensor, i: Span, j: Span, n_keys: int
    ) -> tuple[Tensor, Tensor]:
        nearest, farthest = i.first - j.last, i.last - j.first
        return inside(farthest, nearest, nearest), inside(nearest, farthest, nearest)

    return Pattern(name, tile, bounds, band)


def full() -> Pattern:
    """Every query sees every key."""
    return band_pattern("full()", (None, None))


def causal() -> Pattern:
    """Query i sees keys j <= i: nothing from the future."""
    return band_pattern("causal()", (None, 0))


def sliding_window(window: int) -> Pattern:
    """Query i sees keys with |i - j| < window; `& causal()` keeps the past side.

    Source: Longformer (arXiv 2004.05150), section 3.1; Mistral 7B (arXiv 2310.06825)
    uses the causal form.
    """
    check_count("window", window)
    return band_pattern(f"sliding_window({window})", (window - 1, window - 1))


def dilated_window(window: int, dilation: int) -> Pattern:
    """Query i sees every `dilation`-th key within `window` steps of that size.

    It reaches `dilation` times as far as a sliding window at the same cost.
    Source: Longformer (arXiv 2004.05150), section 3.1.
    """
    check_count("window", window)
    check_count("dilation", dilation)
    window, dilation = int(window), int(dilation)
    reach = sliding_window((window - 1) * dilation + 1)

    def tile(b: Tensor, h: Tensor, i: Tensor, j: Tensor, n_keys: int) -> Tensor:
        return reach.tile(b, h, i, j, n_keys) & ((i - j) % dilation == 0)

    def bounds(
        b: Tensor, h: Tensor, i: Span, j: Span, n_keys: int
    ) -> tuple[Tensor, Tensor]:
        may, must = reach.bounds(b, h, i, j, n_keys)
        # Tiles of one residue class have no gaps to look through; elsewhere no tile is
        # full.
        one_class = i.step % dilation == 0 and j.step % dilation == 0
        return may, must & one_class & ((i.first - j.first) % dilation == 0)

    band = reach.band if dilation == 1 else None
    return Pattern(
        f"dilated_window({window}, {dilation})", tile, bounds, band, stride=dilation
    )


def global_tokens(n_tokens: int) -> Pattern:
    """The first `n_tokens` positions see every key and are seen by every query.

    Source: Longformer (arXiv 2004.05150), section 3.1; BigBird (arXiv 2007.14062),
    section 2.
    """
    check_count("n_tokens", n_tokens)

    def tile(b: Tensor, h: Tensor, i: Tensor, j: Tensor, n_keys: int) -> Tensor:
        return ((i < n_tokens) & (i >= 0)) | (j < n_tokens)

    def bounds(
        b: Tensor, h: Tensor, i: Span, j: Span, n_keys: int
    ) -> tuple[Tensor, Tensor]:
        may = ((i.first < n_tokens) & (i.last >= 0)) | (j.first < n_tokens)
        must = ((i.last < n_tokens) & (i.first >= 0)) | (j.last < n_tokens)
        return may, must

    def fits(batch: int, heads: int, n_queries: int, n_keys: int) -> None:
        if n_tokens > n_keys:
            raise ValueError(
                f"pattern global_tokens({n_tokens}) is too large: there are only"
                f" {n_keys} keys"
            )

    return Pattern(f"global_tokens({n_tokens})", tile, bounds, None, fits)


def random_blocks(n_blocks: int, block: int, seed: int = 0) -> Pattern:
    """Each block of `block` queries sees `n_blocks` key blocks drawn at random.

    Whole blocks are drawn, not single pairs, because only an empty block saves work.
    The draw is a hash of (seed, query block, key block), the same on every device and
    in every order of visiting. Source: BigBird (arXiv 2007.14062), section 2 and
    appendix D.
    """
    check_count("n_blocks", n_blocks)
    check_count("block", block)
    check_integer("seed", seed)
    n_blocks, block, seed = int(n_blocks), int(block), int(seed)

    def chosen(rows: Tensor, n_keys: int) -> Tensor:
        """bool (rows, key blocks): the n_blocks smallest hashes of each row."""
        columns = torch.arange(-(-n_keys // block), device=rows.device)
        draws = uniform_hash(seed, rows[:, None], columns)
        smallest = draws.topk(min(n_blocks, len(columns)), dim=1, largest=False).indices
        return torch.zeros_like(draws, dtype=torch.bool).scatter_(1, smallest, True)

    def tile(b: Tensor, h: Tensor, i: Tensor, j: Tensor, n_keys: int) -> Tensor:
        rows, row_of = torch.unique(
            i.div(block, rounding_mode="floor"), return_inverse=True
        )
        return chosen(rows, n_keys)[row_of, j.div(block, rounding_mode="floor")]

    def bounds(
        b: Tensor, h: Tensor, i: Span, j: Span, n_keys: int
    ) -> tuple[Tensor, Tensor]:
        top, bottom, left, right = (
            x.div(block, rounding_mode="floor")
            for x in (i.first, i.last, j.first, j.last)
        )
        origin = int(top.min())
        table = chosen(
            torch.arange(origin, int(bottom.max()) + 1, device=top.device), n_keys
        )
        # A summed-area table counts the chosen blocks of any rectangle with four
        # look-ups.
        area = torch.nn.functional.pad(table.long().cumsum(0).cumsum(1), (1, 0, 1, 0))
        top, bottom = top - origin, bottom - origin + 1
        right = right + 1
        count = area[bottom, right] - area[top, right]
        count = count - area[bottom, left] + area[top, left]
        return count > 0, count == (bottom - top) * (right - left)

    def fits(batch: int, heads: int, n_queries: int, n_keys: int) -> None:
        available = -(-n_keys // block)
        if n_blocks > available:
            raise ValueError(
                f"pattern random_blocks({n_blocks}, {block}) is too large: {n_keys}"
                f" keys make only {available} blocks"
            )

    return Pattern(
        f"random_blocks({n_blocks}, {block}, seed={seed})", tile, bounds, None, fits
    )


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

    def bounds(
        b: Tensor, h: Tensor, i: Span, j: Span, n_keys: int
    ) -> tuple[Tensor, Tensor]:
        return j.first < n_real(b), j.last < n_real(b)

    def fits(batch: int, heads: int, n_queries: int, n_keys: int) -> None:
        if len(real) != batch:
            raise ValueError(
                f"pattern padding has {len(real)} lengths, but the batch has {batch}"
                " sequences"
            )
        # Lengths on a GPU are not read: every call would wait for them.
        is_at_hand = real.device.type == "cpu" and len(real)
        if is_at_hand and (int(real.max()) > n_keys or int(real.min()) < 0):
            raise ValueError(
                f"pattern padding needs lengths in 0..{n_keys} (the keys), got"
                f" {real.tolist()}"
            )

    shown = real.tolist() if real.device.type == "cpu" else f"{len(real)} lengths"
    return Pattern(f"padding({shown})", tile, bounds, None, fits)


def _lengths_tensor(lengths: Tensor | Sequence[int]) -> Tensor:
    needed = "lengths must be one integer a sequence, shape (B,)"
    try:
        real = torch.as_tensor(lengths)
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{needed}, got {describe(lengths)}") from None
    if (
        real.dim() != 1
        or real.dtype == torch.bool
        or real.is_floating_point()
        or real.is_complex()
    ):
        raise ValueError(f"{needed}, got {real.dtype} {tuple(real.shape)}")
    return real


def per_head(patterns: Sequence[Pattern]) -> Pattern:
    """Head h follows `patterns[h]`, so that heads can look at different parts.

    Source: Sparse Transformer (arXiv 1904.10509), section 4.3, gives different heads
    different patterns.
    """
    heads_patterns = _one_a_head(patterns)

    def split(h: Tensor) -> list[tuple[Pattern, Tensor]]:
        return [(heads_patterns[int(x)], x.reshape(1, 1, 1)) for x in h.flatten()]

    def tile(b: Tensor, h: Tensor, i: Tensor, j: Tensor, n_keys: int) -> Tensor:
        return _join_heads([p.tile(b, x, i, j, n_keys) for p, x in split(h)])

    def bounds(
        b: Tensor, h: Tensor, i: Span, j: Span, n_keys: int
    ) -> tuple[Tensor, Tensor]:
        answers = [p.bounds(b, x, i, j, n_keys) for p, x in split(h)]
        may, must = zip(*answers, strict=True)
        return _join_heads(may), _join_heads(must)

    def fits(batch: int, heads: int, n_queries: int, n_keys: int) -> None:
        if len(heads_patterns) != heads:
            raise ValueError(
                f"pattern per_head has {len(heads_patterns)} patterns, but there are"
                f" {heads} heads"
            )
        for pattern in heads_patterns:
            pattern.fits(batch, heads, n_queries, n_keys)

    name = f"per_head([{', '.join(pattern.name for pattern in heads_patterns)}])"
    stride = math.gcd(*(pattern.stride for pattern in heads_patterns))
    return Pattern(name, tile, bounds, None, fits, max(stride, 1))


def _one_a_head(patterns: object) -> tuple[Pattern, ...]:
    if not isinstance(patterns, Iterable):
        raise ValueError(
            f"patterns must be a list with one Pattern a head, got {describe(patterns)}"
        )
    heads_patterns = tuple(patterns)
    if not heads_patterns:
        raise ValueError("patterns must have one Pattern a head, got none")
    for head, pattern in enumerate(heads_patterns):
        if not isinstance(pattern, Pattern):
            hint = " (brackets forgotten?)" if callable(pattern) else ""
            raise ValueError(
                f"patterns[{head}] must be a Pattern as causal(), got"
                f" {describe(pattern)}{hint}"
            )
    return heads_patterns


def _join_heads(parts: Sequence[Tensor]) -> Tensor:
    """Stack one answer a head, of four dimensions or fewer, on dimension 1."""
    shape = torch.broadcast_shapes((1, 1, 1, 1), *(part.shape for part in parts))
    return torch.cat([part.broadcast_to(shape) for part in parts], dim=1)


def from_predicate(
    predicate: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor], name: str
) -> Pattern:
    """Any function (b, h, i, j) -> bool as a pattern; every tile of it is visited.

    The pattern raises a ValueError where the function returns no bool tensor.
    """

    def tile(b: Tensor, h: Tensor, i: Tensor, j: Tensor, n_keys: int) -> Tensor:
        visible = predicate(b, h, i, j)
        if not isinstance(visible, Tensor) or visible.dtype != torch.bool:
            kind = visible.dtype if isinstance(visible, Tensor) else describe(visible)
            raise ValueError(f"pattern {name} must return a bool tensor, got {kind}")
        return visible

    def bounds(
        b: Tensor, h: Tensor, i: Span, j: Span, n_keys: int
    ) -> tuple[Tensor, Tensor]:
        may = torch.ones_like(i.first + j.first, dtype=torch.bool)
        return may, torch.zeros_like(may)

    return Pattern(name, tile, bounds)
