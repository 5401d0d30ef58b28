"""Bytes between the large memory and the processor: what decides the speed wherever arithmetic is cheap.

The model has two levels, as in the FlashAttention paper: a large slow memory that holds every tensor, and a fast one
of `sram_bytes`. What an operation reads comes from the slow memory and what it stores goes there; nothing stays in
the fast one from one operation to the next.

Source: Dao et al., FlashAttention (arXiv 2205.14135), section 3.2.
"""

import math
from typing import Any

from coursepkg.attention.costs.compute import flops
from coursepkg.attention.costs.memory import kv_cache_bytes
from coursepkg.attention.costs.shape import AttentionShape, Method, visible_pairs, visited_keys


def bytes_moved(shape: AttentionShape, variant: str = "reference", **options: Any) -> int:
    """Bytes that a forward pass moves between the projections, over all layers.

    reference: reads q, k, v, writes the output, and writes and reads the scores and then the weights: 4 * H * T * S.
    tiled: q and the output once; k and v again for each tile of queries that needs them, so twice the fast memory
        halves that part.
    ideal: q, k, v and the output once.

    Args:
        shape: sizes.
        variant: one of `VARIANTS`; `Method` says what each computes.
        options: fields of `Method`, such as `pattern` or `sram_bytes`.

    Raises:
        ValueError: unknown variant, a shape that it does not have, or a fast memory too small for a single row.
    """
    method = Method(variant, **options)
    method.check_fits(shape)
    return shape.n_layers * shape.bytes_per_element * _ELEMENTS[variant](shape, method)


def decode_bytes(shape: AttentionShape, *, expand: bool = False) -> int:
    """Bytes of one decoding step over a cache of S keys, over all layers.

    The cache is read once, because the H / G queries that share a kv head are rows of one matrix product; the new
    key and value, the query and the output are small beside it.

    Args:
        shape: sizes, with n_queries = 1.
        expand: copy the cache to H heads first, as `repeat_interleave` does: the copy is written and read again.

    Raises:
        ValueError: n_queries is not 1.
    """
    if shape.n_queries != 1:
        raise ValueError(f"n_queries must be 1 in a decoding step, got {shape.n_queries}")
    cache = kv_cache_bytes(shape)
    copies = 2 * cache * (shape.n_heads // shape.n_kv_heads) if expand else 0
    row = shape.batch * shape.head_dim * shape.bytes_per_element * shape.n_layers
    return cache + copies + row * (2 * shape.n_heads + 2 * shape.n_kv_heads)


def arithmetic_intensity(shape: AttentionShape, variant: str = "reference", **options: Any) -> float:
    """Operations for each byte moved. Below the processor's own ratio of FLOP/s to bytes/s, memory is the limit."""
    return flops(shape, variant, **options) / bytes_moved(shape, variant, **options)


def sram_tile(shape: AttentionShape, sram_bytes: int) -> int:
    """Rows of the tiles of q, k, v and the output when the four share the fast memory: M / (4 D) elements.

    Raises:
        ValueError: the fast memory does not hold one row of each.
    """
    rows = sram_bytes // (4 * shape.head_dim * shape.bytes_per_element)
    if rows < 1:
        raise ValueError(
            f"sram_bytes must hold four rows of a head, {4 * shape.head_dim * shape.bytes_per_element} bytes, "
            f"got {sram_bytes}"
        )
    return rows


def _inputs_and_output(shape: AttentionShape) -> int:
    """Elements of q and the output, and of k and v."""
    rows = 2 * shape.n_heads * shape.n_queries + 2 * shape.n_kv_heads * shape.n_keys
    return shape.batch * rows * shape.head_dim


def _reference(shape: AttentionShape, method: Method) -> int:
    return _inputs_and_output(shape) + 4 * visible_pairs(shape, None)


def _tiled(shape: AttentionShape, method: Method) -> int:
    """Each query head reads its own keys, even where heads share them."""
    tile = sram_tile(shape, method.sram_bytes)
    keys_read = visited_keys(shape, method.pattern, tile, tile)
    return shape.head_dim * (2 * shape.batch * shape.n_heads * shape.n_queries + 2 * keys_read)


def _ideal(shape: AttentionShape, method: Method) -> int:
    return _inputs_and_output(shape)


def _topk(shape: AttentionShape, method: Method) -> int:
    """Scores are written, read to choose, and the chosen values are fetched query by query."""
    rows = shape.batch * shape.n_heads * shape.n_queries
    keys = shape.batch * shape.n_kv_heads * shape.n_keys
    fetched = rows * min(method.n_keep, shape.n_keys)
    scores = 2 * visible_pairs(shape, method.pattern)
    return shape.head_dim * (2 * rows + keys + fetched) + scores + 2 * fetched


def _linear(shape: AttentionShape, method: Method) -> int:
    """The state is written after each chunk and read before the next."""
    n_chunks = math.ceil(shape.n_queries / method.chunk_size)
    state = shape.batch * shape.n_kv_heads * method.features(shape) * (shape.head_dim + 1)
    return _inputs_and_output(shape) + 2 * n_chunks * state


def _additive(shape: AttentionShape, method: Method) -> int:
    """Each step of the formula reads its input and writes its output: projections, sum, tanh, scores, softmax."""
    n_queries, n_keys, width = shape.n_queries, shape.n_keys, shape.head_dim
    projections = (n_queries + n_keys) * (width + 2 * method.d_hidden)
    hidden = 4 * n_queries * n_keys * method.d_hidden
    context = (n_queries + n_keys) * width
    return shape.batch * (projections + hidden + 4 * n_queries * n_keys + context)


_ELEMENTS = {
    "reference": _reference,
    "tiled": _tiled,
    "ideal": _ideal,
    "linear": _linear,
    "topk": _topk,
    "additive": _additive,
}
