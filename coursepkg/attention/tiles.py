"""The walk over tiles of a score matrix: which tiles exist, and how tensors are cut to fit them.

The query heads that share a kv head are stacked as rows of one matrix: a tile of queries has shape
(B * G, H/G * rows, D) and meets a tile of keys (B * G, columns, D), so keys are never repeated.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from coursepkg.attention.dropout import keep_mask
from coursepkg.attention.pattern import Pattern


@dataclass(frozen=True)
class Tile:
    """One tile of the score matrix: which rows, which columns, and whether some of its pairs are hidden."""

    rows: slice
    columns: slice
    partial: bool


@dataclass
class TileGrid:
    """A score matrix (B, H, T, S) cut into tiles, of which those that a pattern leaves empty are never visited."""

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
        shared = n_heads // n_kv_heads
        return cls(
            batch,
            n_kv_heads,
            shared,
            n_queries,
            n_keys,
            tile_q,
            tile_k,
            pattern,
            dtype,
            q.device,
            dropout_p,
            seed,
        )

    def __post_init__(self) -> None:
        size = self.batch * self.n_kv_heads * self.n_shared * self.tile_q * self.tile_k
        self._memory = torch.empty(size, dtype=self.dtype, device=self.device)
        if self.pattern is None:
            self._may = self._must = torch.ones(
                1, 1, -(-self.n_queries // self.tile_q), -(-self.n_keys // self.tile_k), dtype=torch.bool
            )
        else:
            self._may, self._must = self.pattern.block_map(
                self.n_queries, self.n_keys, self.tile_q, self.tile_k, batch=self.batch, heads=self.n_heads
            )
        self._visited = self._may.any(dim=0).any(dim=0)  # (row tiles, column tiles)
        self._partial = ~self._must.all(dim=0).all(dim=0)

    @property
    def n_heads(self) -> int:
        """Query heads H."""
        return self.n_kv_heads * self.n_shared

    @property
    def lowest(self) -> float:
        """Stands for a hidden score: finite, so that a row without any visible key makes no NaN."""
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
        return x[:, :, rows].reshape(self.batch * self.n_kv_heads, -1, x.shape[-1]).to(self.dtype)

    def keys(self, x: Tensor, columns: slice) -> Tensor:
        """Columns of x (B, G, S, D) as (B * G, columns, D): a view where dtype and layout allow one."""
        return x.flatten(0, 1)[:, columns].to(self.dtype)

    def store(self, x: Tensor, rows: slice, value: Tensor) -> None:
        """The inverse of `queries`: write (B * G, H/G * rows, D) into x (B, H, T, D)."""
        x[:, :, rows] = value.view(self.batch, self.n_heads, -1, value.shape[-1]).to(x.dtype)

    def scratch(self, tile: Tile) -> Tensor:
        """Memory for the scores of one tile, (B * G, H/G * rows, columns), the same for every tile."""
        n_rows, n_columns = (tile.rows.stop - tile.rows.start, tile.columns.stop - tile.columns.start)
        shape = (self.batch * self.n_kv_heads, self.n_shared * n_rows, n_columns)
        return self._memory[: shape[0] * shape[1] * shape[2]].view(shape)

    def by_head(self, s: Tensor, tile: Tile) -> Tensor:
        """Scores (B * G, H/G * rows, columns) seen as (B, H, rows, columns)."""
        return s.view(self.batch, self.n_heads, tile.rows.stop - tile.rows.start, -1)

    def hide(self, s: Tensor, tile: Tile) -> None:
        """Write the lowest number where the pattern hides a pair; tiles visible throughout are left alone."""
        if self.pattern is None or not tile.partial:
            return
        b, h, i, j = self._indices(tile)
        visible = self.pattern.tile(b, h, i + self.n_keys - self.n_queries, j, self.n_keys)
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
        """Add the tile's gradient to the bias gradient, summed over the dimensions that were broadcast."""
        if d_bias is not None:
            part = _part(d_bias, tile)
            part.add_(self.by_head(ds, tile).sum_to_size(part.shape))

    def _indices(self, tile: Tile) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        b, h = (torch.arange(self.batch, device=self.device), torch.arange(self.n_heads, device=self.device))
        i = torch.arange(tile.rows.start, tile.rows.stop, device=self.device)
        j = torch.arange(tile.columns.start, tile.columns.stop, device=self.device)
        return b[:, None, None, None], h[:, None, None], i[:, None], j


def _part(bias: Tensor, tile: Tile) -> Tensor:
    """The view of a (B|1, H|1, T|1, S|1) bias that covers one tile."""
    rows = tile.rows if bias.shape[2] > 1 else slice(None)
    columns = tile.columns if bias.shape[3] > 1 else slice(None)
    return bias[:, :, rows, columns]
