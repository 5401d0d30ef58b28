"""What attention costs, counted before it runs.

    shape = AttentionShape(batch=1, n_queries=4096, n_keys=4096, n_heads=32,
                           n_kv_heads=8, head_dim=128, n_layers=32)
    kv_cache_bytes(shape)                       memory of a conversation of 4,096 tokens
    flops(shape, "tiled", pattern=causal())     work of a pass that skips empty tiles
    arithmetic_intensity(shape, "reference")    operations for each byte that moves

Parameters and bytes kept, floating-point operations, bytes moved. The formulas hold for
any hardware; the tests compare them with modules, caches, counted operations and
measured allocations.

Operations: a multiplication and the addition after it are two. Only matrix products
count, as is usual: the softmax is smaller by a factor of about D. `rope_flops` counts
what is no matrix product.

Bytes moved: two levels of memory, as in the FlashAttention paper (Dao et al., arXiv
2205.14135, section 3.2): a large slow one that holds every tensor, and a fast one of
`sram_bytes`. What an operation reads comes from the slow memory and what it stores goes
there; nothing stays in the fast one from one operation to the next.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch

from coursepkg.attention.pattern import Pattern
from coursepkg.validation import check_counts, use_python_numbers

VARIANTS = ("reference", "tiled", "ideal", "linear", "topk", "additive")
PASSES = ("forward", "backward", "both")

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
    """Key-value heads (G), a divisor of n_heads: H is multi-head, 1 multi-query."""
    head_dim: int
    """Dimension of a head (D)."""
    d_model: int | None = None
    """Width of the model (E); None takes n_heads * head_dim."""
    n_layers: int = 1
    """Attention layers of this shape in the model."""
    bytes_per_element: int = 4
    """4 for float32, 2 for bfloat16 and float16."""

    def __post_init__(self) -> None:
        sizes = vars(self)
        check_counts(**{n: x for n, x in sizes.items() if x is not None})
        use_python_numbers(self)
        if self.n_heads % self.n_kv_heads:
            raise ValueError(
                f"n_heads must be a multiple of n_kv_heads, got {self.n_heads} and"
                f" {self.n_kv_heads}"
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
    """A way to compute attention; the cost functions take its fields as arguments.

    reference: every pair is computed and every score is stored, whatever the pattern
    hides. tiled: FlashAttention, and the block-sparse form: the tiles that hold a
    visible pair, one in memory at a time. ideal: the visible pairs and nothing else, q,
    k, v and the output moved once: the bound of any exact method. linear: a feature map
    and a state in place of the scores; causal, by chunks. topk: every visible pair is
    scored, then each query adds up the values of its n_keep best keys. additive:
    Bahdanau's score with one hidden layer; one head.
    """

    name: str
    """One of `VARIANTS`."""
    pattern: Pattern | None = None
    """Which query sees which key (tiled, ideal, topk); None shows everything."""
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
    """Fast memory that tiles share, in bytes; an A100 multiprocessor has 192 KiB."""

    def __post_init__(self) -> None:
        if self.name not in VARIANTS:
            raise ValueError(
                f"variant must be one of {', '.join(VARIANTS)}, got {self.name!r}"
            )
        use_python_numbers(self)
        for field, value in vars(self).items():
            if isinstance(value, int) and value < 1:
                raise ValueError(f"{field} must be at least 1, got {value}")

    def features(self, shape: AttentionShape) -> int:
        """F, the features of the feature map."""
        return shape.head_dim if self.n_features is None else self.n_features

    def state(self, shape: AttentionShape) -> int:
        """Numbers in the state of linear attention: B * G * F * (D + 1)."""
        rows = shape.batch * shape.n_kv_heads * self.features(shape)
        return rows * (shape.head_dim + 1)

    def check_fits(self, shape: AttentionShape) -> None:
        """Raises a ValueError for a shape that this method does not have."""
        if self.name == "additive" and shape.n_heads != 1:
            raise ValueError(
                "variant 'additive' has one head: n_heads must be 1, got"
                f" {shape.n_heads}"
            )
        if self.name == "linear" and shape.n_queries != shape.n_keys:
            raise ValueError(
                "variant 'linear' is causal: n_queries and n_keys must be equal, "
                f"got {shape.n_queries} and {shape.n_keys}"
            )


def visible_pairs(shape: AttentionShape, pattern: Pattern | None) -> int:
    """Pairs (query, key) that `pattern` shows, over all heads of one layer.

    The predicate is evaluated a few rows at a time, so that long sequences do not need
    a dense mask in memory.
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
        visible = visible.broadcast_to(shape.batch, n_heads, len(rows), n_keys)
        total += int(visible.sum())
    return total


def visited_pairs(
    shape: AttentionShape, pattern: Pattern | None, tile_q: int, tile_k: int
) -> int:
    """Pairs in tiles that may hold a visible pair, over all heads of one layer."""
    areas = _lengths(shape.n_queries, tile_q)[:, None] * _lengths(shape.n_keys, tile_k)
    return int((_visited(shape, pattern, tile_q, tile_k) * areas).sum())


def visited_keys(
    shape: AttentionShape, pattern: Pattern | None, tile_q: int, tile_k: int
) -> int:
    """Keys read, tile by tile of queries, over all heads of one layer."""
    read = _visited(shape, pattern, tile_q, tile_k) * _lengths(shape.n_keys, tile_k)
    return int(read.sum())


def _visited(
    shape: AttentionShape, pattern: Pattern | None, tile_q: int, tile_k: int
) -> torch.Tensor:
    """Which tiles are visited, bool (B, H, row tiles, column tiles)."""
    tiles = -(-shape.n_queries // tile_q), -(-shape.n_keys // tile_k)
    may = torch.ones(1, dtype=torch.bool)
    if pattern is not None:
        lanes = {"batch": shape.batch, "heads": shape.n_heads}
        sizes = (shape.n_queries, shape.n_keys, tile_q, tile_k)
        may, _ = pattern.block_map(*sizes, **lanes)
    return may.expand(shape.batch, shape.n_heads, *tiles)


def _lengths(length: int, tile: int) -> torch.Tensor:
    """Rows in each tile: `tile`, except that the last may be shorter."""
    starts = torch.arange(0, length, tile)
    return (starts + tile).clamp(max=length) - starts


def parameters(shape: AttentionShape, bias: bool = False) -> int:
    """Parameters of the four projections, E * D * (2 H + 2 G) a layer, and biases."""
    inner, kv_inner = shape.n_heads * shape.head_dim, shape.n_kv_heads * shape.head_dim
    weights = shape.width * 2 * (inner + kv_inner)
    biases = inner + 2 * kv_inner + shape.width if bias else 0
    return shape.n_layers * (weights + biases)


def additive_parameters(d_query: int, d_key: int, d_hidden: int) -> int:
    """Parameters of Bahdanau's score v^T tanh(W query + U key)."""
    return d_hidden * (d_query + d_key + 1)


def kv_cache_bytes(shape: AttentionShape) -> int:
    """Bytes of the keys and values of all layers: 2 * layers * B * G * S * D * bytes.

    H does not appear: multi-query attention divides the cache by H, grouped-query
    attention by H / G.
    """
    elements = 2 * shape.batch * shape.n_kv_heads * shape.n_keys * shape.head_dim
    return shape.n_layers * elements * shape.bytes_per_element


def linear_state_bytes(
    shape: AttentionShape, n_features: int | None = None, bytes_per_sum: int = 4
) -> int:
    """Bytes of linear attention's state: layers * B * G * F * (D + 1).

    Args:
        shape: sizes; neither T nor S matters.
        n_features: F, features of the feature map; None takes head_dim.
        bytes_per_sum: bytes of one sum; sums are kept in float32 even where the model
            is in half precision.
    """
    sums = Method("linear", n_features=n_features).state(shape)
    return shape.n_layers * sums * bytes_per_sum


def score_bytes(
    shape: AttentionShape, variant: str = "reference", **options: Any
) -> int:
    """Bytes of the intermediate that a forward pass of one layer holds at once.

    reference and topk store B * H * T * S scores, whatever G is; tiled one tile for
    each head, B * H * tile * tile; linear the kernel of one chunk and the state;
    additive the hidden layer of every pair, B * T * S * d_hidden; ideal nothing.
    Without a backward pass to come, the next layer uses the same memory again.

    Raises:
        ValueError: unknown variant, or a shape that it does not have.
    """
    method = Method(variant, **options)
    method.check_fits(shape)
    return _VARIANTS[variant].stored(shape, method) * shape.bytes_per_element


def longest_length(budget_bytes: int, cost: Callable[[int], int]) -> int:
    """The largest length whose cost fits a budget; 0 when not even one token does.

    Args:
        budget_bytes: memory to spend, in bytes.
        cost: bytes that a length needs; never falls as the length grows.

    Raises:
        ValueError: the budget is negative, or the cost stays within it up to 2^40
            tokens.

    Example:
        >>> longest_length(16 * 2**30, lambda n: score_bytes(shape.with_length(n)))
    """
    if budget_bytes < 0:
        raise ValueError(f"budget_bytes must not be negative, got {budget_bytes}")
    too_long = 1
    while cost(too_long) <= budget_bytes:
        too_long *= 2
        if too_long > 2**40:
            raise ValueError(
                "cost does not grow with the length: no budget can be too small for it"
            )
    fits = too_long // 2
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if cost(middle) <= budget_bytes:
            fits = middle
        else:
            too_long = middle
    return fits


def kv_copies(n_kv_heads: int, n_devices: int) -> int:
    """Devices that hold the same key-value head when query heads are split evenly.

    Tensor parallelism gives each device its share of the query heads and the kv heads
    that they read. With at least as many kv heads as devices each head lives on one
    device; with fewer, every device still needs one, so each is stored n_devices /
    n_kv_heads times, and a device's cache stops shrinking: multi-query attention on 8
    devices keeps 8 copies of one head.

    Source: Pope et al. (arXiv 2211.05102), section 3.3; Ainslie et al. (arXiv
    2305.13245), section 2.2.

    Raises:
        ValueError: a count is not positive, or neither count divides the other.
    """
    check_counts(n_kv_heads=n_kv_heads, n_devices=n_devices)
    if max(n_kv_heads, n_devices) % min(n_kv_heads, n_devices):
        raise ValueError(
            "n_kv_heads and n_devices must divide one another to split evenly, got"
            f" {n_kv_heads} and {n_devices}"
        )
    return max(1, n_devices // n_kv_heads)


def flops(
    shape: AttentionShape,
    variant: str = "reference",
    *,
    passes: str = "forward",
    **options: Any,
) -> int:
    """Operations between the projections, over all layers, in matrix products.

    A visible pair costs 4 D: 2 D in q k^T and 2 D in the weighted sum. The backward
    pass has four such products where the forward pass has two; tiled and ideal
    recompute the scores, which makes five.

    Args:
        shape: sizes.
        variant: one of `VARIANTS`; `Method` says what each computes.
        passes: "forward", "backward" or "both".
        options: fields of `Method`, such as `pattern` or `tile`.

    Raises:
        ValueError: unknown variant or passes, or a shape that the variant does not
            have.
    """
    method = Method(variant, **options)
    method.check_fits(shape)
    forward = shape.n_layers * _VARIANTS[variant].flops(shape, method)
    backward = 2.5 if variant in ("tiled", "ideal") else 2.0
    return _times_passes(forward, passes, backward)


def benchmark_flops(
    shape: AttentionShape, *, causal: bool = False, passes: str = "forward"
) -> int:
    """Published speeds count 4 B H T S D, half if causal, 2.5 times that backward.

    A TFLOP/s figure divides this by the time, so that methods that compute different
    numbers of pairs can be compared. Source: Dao, FlashAttention-2 (arXiv 2307.08691),
    section 4.1.

    Raises:
        ValueError: unknown passes.
    """
    every_pair = 4 * visible_pairs(shape, None) * shape.head_dim
    forward = shape.n_layers * every_pair // (2 if causal else 1)
    return _times_passes(forward, passes, backward=2.5)


def projection_flops(shape: AttentionShape) -> int:
    """Operations of the four projections of a forward pass, over all layers."""
    inner, kv_inner = shape.n_heads * shape.head_dim, shape.n_kv_heads * shape.head_dim
    elements = shape.n_queries * inner + shape.n_keys * kv_inner
    return shape.n_layers * 4 * shape.batch * shape.width * elements


def rope_flops(shape: AttentionShape) -> int:
    """Operations that rotary embedding adds to a forward pass, over all layers.

    Four multiplications and two additions rotate a pair of components: 3 operations for
    each component of q and k. Sines and cosines are tables, made once.
    """
    rows = shape.n_heads * shape.n_queries + shape.n_kv_heads * shape.n_keys
    return shape.n_layers * 3 * shape.batch * rows * shape.head_dim


def _times_passes(forward: int, passes: str, backward: float) -> int:
    if passes not in PASSES:
        raise ValueError(f"passes must be one of {', '.join(PASSES)}, got {passes!r}")
    factors = {"forward": 1.0, "backward": backward, "both": 1.0 + backward}
    return round(forward * factors[passes])


def bytes_moved(
    shape: AttentionShape, variant: str = "reference", **options: Any
) -> int:
    """Bytes that a forward pass moves between the projections, over all layers.

    reference: reads q, k, v, writes the output, and writes and reads the scores and
    then the weights: 4 * H * T * S. tiled: q and the output once; k and v again for
    each tile of queries that needs them, so twice the fast memory halves that part.
    ideal: q, k, v and the output once.

    Args:
        shape: sizes.
        variant: one of `VARIANTS`; `Method` says what each computes.
        options: fields of `Method`, such as `pattern` or `sram_bytes`.

    Raises:
        ValueError: unknown variant, a shape that it does not have, or a fast memory too
            small for a single row.
    """
    method = Method(variant, **options)
    method.check_fits(shape)
    elements = _VARIANTS[variant].moved(shape, method)
    return shape.n_layers * shape.bytes_per_element * elements


def decode_bytes(shape: AttentionShape, *, expand: bool = False) -> int:
    """Bytes of one decoding step over a cache of S keys, over all layers.

    The cache is read once, because the H / G queries that share a kv head are rows of
    one matrix product; the new key and value, the query and the output are small beside
    it.

    Args:
        shape: sizes, with n_queries = 1.
        expand: copy the cache to H heads first, as `repeat_interleave` does: the copy
            is written and read again.

    Raises:
        ValueError: n_queries is not 1.
    """
    if shape.n_queries != 1:
        raise ValueError(
            f"n_queries must be 1 in a decoding step, got {shape.n_queries}"
        )
    cache = kv_cache_bytes(shape)
    copies = 2 * cache * (shape.n_heads // shape.n_kv_heads) if expand else 0
    row = shape.batch * shape.head_dim * shape.bytes_per_element * shape.n_layers
    return cache + copies + row * (2 * shape.n_heads + 2 * shape.n_kv_heads)


def arithmetic_intensity(
    shape: AttentionShape, variant: str = "reference", **options: Any
) -> float:
    """Operations for each byte moved; below FLOP/s by bytes/s, memory is the limit."""
    return flops(shape, variant, **options) / bytes_moved(shape, variant, **options)


def sram_tile(shape: AttentionShape, sram_bytes: int) -> int:
    """Rows of tiles of q, k, v and output that share the fast memory: M / (4 D).

    Raises:
        ValueError: the fast memory does not hold one row of each.
    """
    rows = sram_bytes // (4 * shape.head_dim * shape.bytes_per_element)
    if rows < 1:
        raise ValueError(
            "sram_bytes must hold four rows of a head,"
            f" {4 * shape.head_dim * shape.bytes_per_element} bytes, got {sram_bytes}"
        )
    return rows


def _inputs_and_output(shape: AttentionShape) -> int:
    """Elements of q and the output, and of k and v."""
    rows = 2 * shape.n_heads * shape.n_queries + 2 * shape.n_kv_heads * shape.n_keys
    return shape.batch * rows * shape.head_dim


class _Variant(NamedTuple):
    """Elements and operations of a forward pass of one layer."""

    flops: Callable[[AttentionShape, Method], int]
    moved: Callable[[AttentionShape, Method], int]
    stored: Callable[[AttentionShape, Method], int]


def _reference_flops(shape: AttentionShape, method: Method) -> int:
    return 4 * shape.head_dim * visible_pairs(shape, None)


def _tiled_flops(shape: AttentionShape, method: Method) -> int:
    pairs = visited_pairs(shape, method.pattern, method.tile, method.tile)
    return 4 * shape.head_dim * pairs


def _ideal_flops(shape: AttentionShape, method: Method) -> int:
    return 4 * shape.head_dim * visible_pairs(shape, method.pattern)


def _topk_flops(shape: AttentionShape, method: Method) -> int:
    scored = visible_pairs(shape, method.pattern)
    rows = shape.batch * shape.n_heads * shape.n_queries
    kept = rows * min(method.n_keep, shape.n_keys)
    return 2 * shape.head_dim * (scored + min(kept, scored))


def _linear_flops(shape: AttentionShape, method: Method) -> int:
    """The last chunk counts in full; the normaliser is one more column of values."""
    features, columns = method.features(shape), shape.head_dim + 1
    chunk = min(method.chunk_size, shape.n_queries)
    n_chunks = math.ceil(shape.n_queries / chunk)
    within = 2 * chunk * chunk * (features + columns)
    read_state = write_state = 2 * chunk * features * columns
    of_a_chunk = shape.n_heads * (within + read_state) + shape.n_kv_heads * write_state
    return shape.batch * n_chunks * of_a_chunk


def _additive_flops(shape: AttentionShape, method: Method) -> int:
    pairs = shape.n_queries * shape.n_keys
    projected = 2 * (shape.n_queries + shape.n_keys) * shape.head_dim * method.d_hidden
    scores_and_sum = 2 * pairs * (method.d_hidden + shape.head_dim)
    return shape.batch * (projected + scores_and_sum)


def _reference_moved(shape: AttentionShape, method: Method) -> int:
    return _inputs_and_output(shape) + 4 * visible_pairs(shape, None)


def _tiled_moved(shape: AttentionShape, method: Method) -> int:
    """Each query head reads its own keys, even where heads share them."""
    tile = sram_tile(shape, method.sram_bytes)
    keys_read = visited_keys(shape, method.pattern, tile, tile)
    rows = shape.batch * shape.n_heads * shape.n_queries
    return shape.head_dim * (2 * rows + 2 * keys_read)


def _ideal_moved(shape: AttentionShape, method: Method) -> int:
    return _inputs_and_output(shape)


def _topk_moved(shape: AttentionShape, method: Method) -> int:
    """Scores are written and read to choose; the chosen values are fetched."""
    rows = shape.batch * shape.n_heads * shape.n_queries
    keys = shape.batch * shape.n_kv_heads * shape.n_keys
    fetched = rows * min(method.n_keep, shape.n_keys)
    scores = 2 * visible_pairs(shape, method.pattern)
    return shape.head_dim * (2 * rows + keys + fetched) + scores + 2 * fetched


def _linear_moved(shape: AttentionShape, method: Method) -> int:
    """The state is written after each chunk and read before the next."""
    n_chunks = math.ceil(shape.n_queries / method.chunk_size)
    state = method.state(shape)
    return _inputs_and_output(shape) + 2 * n_chunks * state


def _additive_moved(shape: AttentionShape, method: Method) -> int:
    """Each step of the formula reads its input and writes its output."""
    n_queries, n_keys, width = shape.n_queries, shape.n_keys, shape.head_dim
    projections = (n_queries + n_keys) * (width + 2 * method.d_hidden)
    hidden = 4 * n_queries * n_keys * method.d_hidden
    context = (n_queries + n_keys) * width
    return shape.batch * (projections + hidden + 4 * n_queries * n_keys + context)


def _all_scores(shape: AttentionShape, method: Method) -> int:
    return visible_pairs(shape, None)


def _one_tile(shape: AttentionShape, method: Method) -> int:
    tile = min(method.tile, shape.n_queries) * min(method.tile, shape.n_keys)
    return shape.batch * shape.n_heads * tile


def _chunk_and_state(shape: AttentionShape, method: Method) -> int:
    chunk = min(method.chunk_size, shape.n_queries)
    return shape.batch * shape.n_heads * chunk * chunk + method.state(shape)


def _hidden_layer(shape: AttentionShape, method: Method) -> int:
    return shape.batch * shape.n_queries * shape.n_keys * method.d_hidden


_VARIANTS = {
    "reference": _Variant(_reference_flops, _reference_moved, _all_scores),
    "tiled": _Variant(_tiled_flops, _tiled_moved, _one_tile),
    "ideal": _Variant(_ideal_flops, _ideal_moved, lambda shape, method: 0),
    "linear": _Variant(_linear_flops, _linear_moved, _chunk_and_state),
    "topk": _Variant(_topk_flops, _topk_moved, _all_scores),
    "additive": _Variant(_additive_flops, _additive_moved, _hidden_layer),
}
