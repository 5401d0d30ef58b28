"""FlashAttention in PyTorch: only one tile of the score matrix is ever stored.

Forward, for one tile of queries and each tile of keys in turn. Each row keeps its
maximum m so far, the sum l = sum exp(s - m) so far, and o, the attention over the keys
seen so far:

    s = q k^T * scale         m' = max(m, max s)         p = softmax(s), within the tile
    old = exp(m - m') l       new = exp(max s - m') * sum exp(s - max s)
    l' = old + new            o' = (old o + new p v) / l'

When the last tile is done, o is the output. L = m + log l, the log-sum-exp of the row,
is saved for the backward pass:

    p = exp(s - L)          dv += p^T do    dp = do v^T    ds = p * (dp - delta)
    dq += ds k * scale      dk += ds^T q * scale

with delta = sum(do * o) over the features of a row.

Sources: Dao et al., FlashAttention (arXiv 2205.14135), algorithms 1 and 4; Dao,
FlashAttention-2 (arXiv 2307.08691), whose order of loops this file follows; Milakov and
Gimelshein (arXiv 1805.02867) for the running softmax.

The query heads that share a kv head are stacked as rows of one matrix: a tile of
queries has shape (B * G, H/G * rows, D) and meets a tile of keys (B * G, columns, D),
so keys are never repeated.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from coursepkg.attention.dropout import keep_mask
from coursepkg.attention.pattern import Pattern


@dataclass(frozen=True)
class Tile:
    """One tile of the score matrix, and whether some of its pairs are hidden."""

    rows: slice
    columns: slice
    partial: bool


@dataclass
class TileGrid:
    """A score matrix (B, H, T, S) cut into tiles; empty ones are never visited."""

    batch: int
    n_kv_heads: int
    n_shared: int
    """Query heads a kv head serves: H / G."""
    n_queries: int
    n_keys: int
    tile_q: int
    tile_k: int
    pattern: Pattern | None
    dtype: torch.dtype
    """Accumulating dtype: float32 for half-precision inputs, else the dtype of q."""
    device: torch.device
    dropout_p: float = 0.0
    dropout_seed: int = 0
    _memory: Tensor = field(init=False, repr=False)
    """For the scores of one tile. Every tile writes into it, so that a pass allocates
    no scores at all."""

    @classmethod
    def of(
        cls,
        q: Tensor,
        k: Tensor,
        pattern: Pattern | None,
        tile_q: int,
        tile_k: int,
        dropout_p: float,
        seed: int,
    ) -> "TileGrid":
        """The grid for q (B, H, T, D) and k (B, G, S, D)."""
        batch, n_heads, n_queries, _ = q.shape
        _, n_kv_heads, n_keys, _ = k.shape
        dtype = torch.float32 if q.dtype in (torch.float16, torch.bfloat16) else q.dtype
        tile_q, tile_k = min(tile_q, n_queries), min(tile_k, n_keys)
        heads, tiles = (n_kv_heads, n_heads // n_kv_heads), (tile_q, tile_k)
        sizes = (batch, *heads, n_queries, n_keys, *tiles)
        return cls(*sizes, pattern, dtype, q.device, dropout_p, seed)

    def __post_init__(self) -> None:
        size = self.batch * self.n_kv_heads * self.n_shared * self.tile_q * self.tile_k
        self._memory = torch.empty(size, dtype=self.dtype, device=self.device)
        if self.pattern is None:
            n_rows = -(-self.n_queries // self.tile_q)
            n_columns = -(-self.n_keys // self.tile_k)
            may = must = torch.ones(1, 1, n_rows, n_columns, dtype=torch.bool)
        else:
            sizes = (self.n_queries, self.n_keys, self.tile_q, self.tile_k)
            lanes = {"batch": self.batch, "heads": self.n_heads}
            may, must = self.pattern.block_map(*sizes, **lanes)
        # One walk serves all sequences and heads: a tile that one of them sees is
        # visited for all, and counts as partial for the others.
        self._visited = may.any(dim=0).any(dim=0)  # (row tiles, column tiles)
        self._partial = ~must.all(dim=0).all(dim=0)

    @property
    def n_heads(self) -> int:
        """Query heads H."""
        return self.n_kv_heads * self.n_shared

    @property
    def lowest(self) -> float:
        """Stands for a hidden score; finite, so that an empty row makes no NaN."""
        return torch.finfo(self.dtype).min

    def query_tiles(self) -> Iterator[slice]:
        """The tiles of query rows, from first to last."""
        for start in range(0, self.n_queries, self.tile_q):
            yield slice(start, min(start + self.tile_q, self.n_queries))

    def key_tiles(self, rows: slice) -> Iterator[Tile]:
        """The tiles beside `rows` that hold a visible pair."""
        row = rows.start // self.tile_q
        for column in self._visited[row].nonzero().flatten().tolist():
            start = column * self.tile_k
            columns = slice(start, min(start + self.tile_k, self.n_keys))
            yield Tile(rows, columns, bool(self._partial[row, column]))

    def queries(self, x: Tensor, rows: slice) -> Tensor:
        """Rows of x (B, H, T, D) as (B * G, H/G * rows, D)."""
        stacked = x[:, :, rows].reshape(self.batch * self.n_kv_heads, -1, x.shape[-1])
        return stacked.to(self.dtype)

    def keys(self, x: Tensor, columns: slice) -> Tensor:
        """Columns of x (B, G, S, D) as (B * G, columns, D), a view where possible."""
        return x.flatten(0, 1)[:, columns].to(self.dtype)

    def store(self, x: Tensor, rows: slice, value: Tensor) -> None:
        """The inverse of `queries`: write its shape into x (B, H, T, D)."""
        # (B * G, H/G * rows, D) -> (B, H, rows, D)
        by_head = value.view(self.batch, self.n_heads, -1, value.shape[-1])
        x[:, :, rows] = by_head.to(x.dtype)

    def scratch(self, tile: Tile) -> Tensor:
        """Memory for a tile's scores, (B * G, H/G * rows, columns), reused by all."""
        n_rows = tile.rows.stop - tile.rows.start
        n_columns = tile.columns.stop - tile.columns.start
        shape = (self.batch * self.n_kv_heads, self.n_shared * n_rows, n_columns)
        return self._memory[: shape[0] * shape[1] * shape[2]].view(shape)

    def by_head(self, s: Tensor, tile: Tile) -> Tensor:
        """Scores (B * G, H/G * rows, columns) seen as (B, H, rows, columns)."""
        return s.view(self.batch, self.n_heads, tile.rows.stop - tile.rows.start, -1)

    def hide(self, s: Tensor, tile: Tile) -> None:
        """Write the lowest number where the pattern hides a pair."""
        if self.pattern is None or not tile.partial:
            return
        b, h, i, j = self._indices(tile)
        visible = self.pattern.tile(
            b, h, i + self.n_keys - self.n_queries, j, self.n_keys
        )
        self.by_head(s, tile).masked_fill_(~visible, self.lowest)

    def drop(self, p: Tensor, tile: Tile) -> Tensor:
        """Dropout on a tile of weights, in place."""
        if self.dropout_p > 0:
            keep = keep_mask(self.dropout_p, self.dropout_seed, *self._indices(tile))
            self.by_head(p, tile).mul_(keep).div_(1 - self.dropout_p)
        return p

    def add_bias(self, s: Tensor, bias: Tensor | None, tile: Tile) -> None:
        """Add the tile's part of a bias that broadcasts to (B, H, T, S)."""
        if bias is not None:
            self.by_head(s, tile).add_(_part(bias, tile))

    def add_bias_gradient(self, d_bias: Tensor | None, ds: Tensor, tile: Tile) -> None:
        """Add a tile's bias gradient, summed over broadcast dimensions."""
        if d_bias is not None:
            part = _part(d_bias, tile)
            part.add_(self.by_head(ds, tile).sum_to_size(part.shape))

    def _indices(self, tile: Tile) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        b = torch.arange(self.batch, device=self.device)
        h = torch.arange(self.n_heads, device=self.device)
        i = torch.arange(tile.rows.start, tile.rows.stop, device=self.device)
        j = torch.arange(tile.columns.start, tile.columns.stop, device=self.device)
        return b[:, None, None, None], h[:, None, None], i[:, None], j


def _part(bias: Tensor, tile: Tile) -> Tensor:
    """The view of a (B|1, H|1, T|1, S|1) bias that covers one tile."""
    rows = tile.rows if bias.shape[2] > 1 else slice(None)
    columns = tile.columns if bias.shape[3] > 1 else slice(None)
    return bias[:, :, rows, columns]


TILE_Q = 256
TILE_K = 256


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
    tile_q: int = TILE_Q,
    tile_k: int = TILE_K,
) -> Tensor:
    """(B, H, T, D), with tiles of tile_q queries by tile_k keys."""
    grid = TileGrid.of(q, k, pattern, tile_q, tile_k, dropout_p, dropout_seed)
    return TiledAttention.apply(q, k, v, bias, scale, grid)


class TiledAttention(torch.autograd.Function):
    """The two passes joined for autograd: q, k, v, output and L are saved."""

    @staticmethod
    def forward(ctx: Any, *given: Any) -> Tensor:
        """Run `forward_pass` on the same arguments; save what `backward_pass` needs."""
        q, k, v, bias, scale, grid = given
        output, log_sum_exp = forward_pass(*given)
        ctx.save_for_backward(q, k, v, bias, output, log_sum_exp)
        ctx.scale, ctx.grid = scale, grid
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        """Run `backward_pass`."""
        q, k, v, bias, output, log_sum_exp = ctx.saved_tensors
        found = backward_pass(
            grads[0], q, k, v, bias, output, log_sum_exp, ctx.scale, ctx.grid
        )
        return (*found, None, None)


def forward_pass(
    q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, scale: float, grid: TileGrid
) -> tuple[Tensor, Tensor]:
    """One pass over the tiles.

    Returns:
        output (B, H, T, D) in the dtype of q, and the log-sum-exp of each row (B, H, T,
        1) in the accumulating dtype; a row that sees nothing has output 0 and
        log-sum-exp +inf.
    """
    output = torch.empty_like(q)
    log_sum_exp = q.new_empty((*q.shape[:3], 1), dtype=grid.dtype)
    for rows in grid.query_tiles():
        q_tile = grid.queries(q, rows) * scale
        o = torch.zeros_like(q_tile)
        m = q_tile.new_full((*q_tile.shape[:2], 1), grid.lowest)
        l = torch.zeros_like(m)
        for tile in grid.key_tiles(rows):
            s = masked_scores(q_tile, k, bias, tile, grid)
            m, l, p, keep, add = update(m, l, s)
            o.mul_(keep)  # no name for the product: it would outlive its tile
            o.add_((grid.drop(p, tile) @ grid.keys(v, tile.columns)).mul_(add))
        hidden = m == grid.lowest
        grid.store(output, rows, o.masked_fill_(hidden, 0.0))
        grid.store(log_sum_exp, rows, (m + l.log()).masked_fill_(hidden, float("inf")))
    return output, log_sum_exp


def update(
    m: Tensor, l: Tensor, s: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """One step of the running softmax, for the scores of one more tile.

    Args:
        m, l: running maximum and running sum of each row, (B * G, rows, 1).
        s: scores of the tile, (B * G, rows, columns); overwritten.

    Returns:
        the new m and l; p, the softmax within the tile; and the shares of the sum that
        belong to the keys seen before (keep) and to the tile (add), so that o = keep *
        o + add * p v.
    """
    m_tile = s.amax(dim=-1, keepdim=True)
    p = torch.softmax(s, dim=-1, out=s)
    # The largest entry of p is exp(0) / l_tile.
    l_tile = 1 / p.amax(dim=-1, keepdim=True)
    m_new = torch.maximum(m, m_tile)
    old, new = (m - m_new).exp() * l, (m_tile - m_new).exp() * l_tile
    l_new = old + new
    return m_new, l_new, p, old / l_new, new / l_new


def masked_scores(
    q_tile: Tensor, k: Tensor, bias: Tensor | None, tile: Tile, grid: TileGrid
) -> Tensor:
    """s = q k^T + bias on one tile, the lowest number where hidden; q is scaled."""
    keys = grid.keys(k, tile.columns).transpose(1, 2)  # (B * G, D, columns)
    s = torch.bmm(q_tile, keys, out=grid.scratch(tile))
    grid.add_bias(s, bias, tile)
    grid.hide(s, tile)
    return s


def backward_pass(
    d_output: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    bias: Tensor | None,
    output: Tensor,
    log_sum_exp: Tensor,
    scale: float,
    grid: TileGrid,
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """Gradients of q, k, v and bias: the probabilities are computed again from L."""
    delta = d_output.to(grid.dtype) * output.to(grid.dtype)
    delta = delta.sum(dim=-1, keepdim=True)  # (B, H, T, 1)
    dq = torch.empty_like(q)
    dk, dv = (torch.zeros(x.shape, dtype=grid.dtype, device=x.device) for x in (k, v))
    d_bias = None if bias is None else torch.zeros_like(bias, dtype=grid.dtype)
    for rows in grid.query_tiles():
        q_tile = grid.queries(q, rows) * scale
        do, row_delta, row_lse = (
            grid.queries(x, rows) for x in (d_output, delta, log_sum_exp)
        )
        dq_tile = torch.zeros_like(q_tile)
        for tile in grid.key_tiles(rows):
            p = masked_scores(q_tile, k, bias, tile, grid).sub_(row_lse).exp_()
            dp = grid.drop(do @ grid.keys(v, tile.columns).transpose(1, 2), tile)
            ds = p * dp.sub_(row_delta)
            grid.keys(dv, tile.columns).baddbmm_(grid.drop(p, tile).transpose(1, 2), do)
            dq_tile.baddbmm_(ds, grid.keys(k, tile.columns))
            grid.keys(dk, tile.columns).baddbmm_(ds.transpose(1, 2), q_tile)
            grid.add_bias_gradient(d_bias, ds, tile)
        grid.store(dq, rows, dq_tile * scale)
    if bias is not None and d_bias is not None:
        d_bias = d_bias.to(bias.dtype)
    return dq, dk.to(k.dtype), dv.to(v.dtype), d_bias
