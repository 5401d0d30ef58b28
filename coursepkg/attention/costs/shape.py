"""The two things every cost depends on: the sizes of an attention layer, and the method that computes it."""

from dataclasses import dataclass, replace

import torch

from coursepkg.attention.pattern import Pattern

VARIANTS = ("reference", "tiled", "ideal", "linear", "topk", "additive")

ROWS_AT_ONCE = 256
"""Rows of a dense mask that `visible_pairs` builds at a time."""


@dataclass(frozen=True)
class AttentionShape:
    """Sizes of attention in one model; every field is a positive integer."""

    batch: int
    """Sequences side by side (B)."""
    n_queries: int
    """Query positions of a sequence (T); 1 in a decoding step."""
    n_keys: int
    """Key positions of a sequence (S)."""
    n_heads: int
    """Query heads (H)."""
    n_kv_heads: int
    """Key-value heads (G), a divisor of n_heads: H is multi-head, 1 multi-query attention."""
    head_dim: int
    """Dimension of a head (D)."""
    d_model: int | None = None
    """Width of the model (E); None takes n_heads * head_dim."""
    n_layers: int = 1
    """Attention layers of this shape in the model."""
    bytes_per_element: int = 4
    """4 for float32, 2 for bfloat16 and float16."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name == "d_model" and value is None:
                continue
            if not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a positive integer, got {value!r}")
        if self.n_heads % self.n_kv_heads:
            raise ValueError(
                f"n_heads must be a multiple of n_kv_heads, got {self.n_heads} and {self.n_kv_heads}"
            )

    @property
    def width(self) -> int:
        """Width of the model (E)."""
        return self.n_heads * self.head_dim if self.d_model is None else self.d_model

    def with_length(self, length: int) -> "AttentionShape":
        """The same model on a text of `length` tokens: T = S = length."""
        return replace(self, n_queries=length, n_keys=length)


@dataclass(frozen=True)
class Method:
    """A way to compute attention. The cost functions take its fields as keyword arguments.

    reference: every pair is computed and every score is stored, whatever the pattern hides.
    tiled: FlashAttention, and the block-sparse form: the tiles that hold a visible pair, one in memory at a time.
    ideal: the visible pairs and nothing else, q, k, v and the output moved once: the bound of any exact method.
    linear: a feature map and a state in place of the scores; causal, by chunks.
    topk: every visible pair is scored, then each query adds up the values of its n_keep best keys.
    additive: Bahdanau's score with one hidden layer; one head.
    """

    name: str
    """One of `VARIANTS`."""
    pattern: Pattern | None = None
    """Which query sees which key; None shows everything. Used by tiled, ideal and topk."""
    tile: int = 128
    """Rows and columns of a tile (tiled)."""
    n_features: int | None = None
    """Features of the feature map F (linear); None takes head_dim, as elu + 1 does."""
    chunk_size: int = 64
    """Tokens in a chunk (linear); 1 is the recurrent form."""
    n_keep: int = 32
    """Scores that each query keeps (topk)."""
    d_hidden: int = 128
    """Width of the hidden layer (additive)."""
    sram_bytes: int = 192 * 1024
    """Fast memory that tiles share, in bytes (traffic of tiled). 192 KiB is what one A100 multiprocessor has."""

    def __post_init__(self) -> None:
        if self.name not in VARIANTS:
            raise ValueError(f"variant must be one of {', '.join(VARIANTS)}, got {self.name!r}")
        for field in ("tile", "chunk_size", "n_keep", "d_hidden", "sram_bytes"):
            if getattr(self, field) < 1:
                raise ValueError(f"{field} must be at least 1, got {getattr(self, field)}")
        if self.n_features is not None and self.n_features < 1:
            raise ValueError(f"n_features must be at least 1, got {self.n_features}")

    def features(self, shape: AttentionShape) -> int:
        """F, the features of the feature map."""
        return shape.head_dim if self.n_features is None else self.n_features

    def check_fits(self, shape: AttentionShape) -> None:
        """Refuse a shape that this method does not have.

        Raises:
            ValueError: additive attention with several heads, or causal linear attention with T != S.
        """
        if self.name == "additive" and shape.n_heads != 1:
            raise ValueError(f"variant 'additive' has one head: n_heads must be 1, got {shape.n_heads}")
        if self.name == "linear" and shape.n_queries != shape.n_keys:
            raise ValueError(
                f"variant 'linear' is causal: n_queries and n_keys must be equal, "
                f"got {shape.n_queries} and {shape.n_keys}"
            )


def visible_pairs(shape: AttentionShape, pattern: Pattern | None) -> int:
    """Pairs (query, key) that `pattern` shows, over all sequences and heads of one layer.

    The predicate is evaluated a few rows at a time, so that long sequences do not need a dense mask in memory.
    """
    n_heads, n_queries, n_keys = shape.n_heads, shape.n_queries, shape.n_keys
    if pattern is None:
        return shape.batch * n_heads * n_queries * n_keys
    pattern.fits(shape.batch, n_heads, n_queries, n_keys)
    b = torch.arange(shape.batch)[:, None, None, None]
    h = torch.arange(n_heads)[:, None, None]
    j = torch.arange(n_keys)
    total = 0
    for rows in torch.arange(n_queries).split(ROWS_AT_ONCE):
        i = rows[:, None] + n_keys - n_queries
        visible = pattern.tile(b, h, i, j, n_keys)
        total += int(visible.broadcast_to(shape.batch, n_heads, len(rows), n_keys).sum())
    return total


def visited_pairs(shape: AttentionShape, pattern: Pattern | None, tile_q: int, tile_k: int) -> int:
    """Pairs in the tiles that may hold a visible pair, over all sequences and heads of one layer."""
    areas = _lengths(shape.n_queries, tile_q)[:, None] * _lengths(shape.n_keys, tile_k)
    return int((_visited(shape, pattern, tile_q, tile_k) * areas).sum())


def visited_keys(shape: AttentionShape, pattern: Pattern | None, tile_q: int, tile_k: int) -> int:
    """Keys that are read, tile by tile of queries, over all sequences and heads of one layer."""
    return int((_visited(shape, pattern, tile_q, tile_k) * _lengths(shape.n_keys, tile_k)).sum())


def _visited(shape: AttentionShape, pattern: Pattern | None, tile_q: int, tile_k: int) -> torch.Tensor:
    """Which tiles are visited, bool (B, H, row tiles, column tiles)."""
    sizes = (shape.batch, shape.n_heads, -(-shape.n_queries // tile_q), -(-shape.n_keys // tile_k))
    if pattern is None:
        return torch.ones(1, dtype=torch.bool).expand(sizes)
    may, _ = pattern.block_map(
        shape.n_queries, shape.n_keys, tile_q, tile_k, batch=shape.batch, heads=shape.n_heads
    )
    return may.expand(sizes)


def _lengths(length: int, tile: int) -> torch.Tensor:
    """Rows in each tile: `tile`, except that the last may be shorter."""
    starts = torch.arange(0, length, tile)
    return (starts + tile).clamp(max=length) - starts
