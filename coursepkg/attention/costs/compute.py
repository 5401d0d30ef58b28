"""Floating-point operations of attention. A multiplication and the addition after it are two operations.

Only matrix products are counted, as is usual: the softmax is smaller by a factor of about D. `rope_flops` counts
what is no matrix product.
"""

import math
from typing import Any

from coursepkg.attention.costs.shape import AttentionShape, Method, visible_pairs, visited_pairs

PASSES = ("forward", "backward", "both")


def flops(
    shape: AttentionShape, variant: str = "reference", *, passes: str = "forward", **options: Any
) -> int:
    """Operations between the projections, over all layers, exactly as many as the method's matrix products do.

    A visible pair costs 4 D: 2 D in q k^T and 2 D in the weighted sum. The backward pass has four such products where
    the forward pass has two; tiled and ideal recompute the scores, which makes five.

    Args:
        shape: sizes.
        variant: one of `VARIANTS`; `Method` says what each computes.
        passes: "forward", "backward" or "both".
        options: fields of `Method`, such as `pattern` or `tile`.

    Raises:
        ValueError: unknown variant or passes, or a shape that the variant does not have.
    """
    method = Method(variant, **options)
    method.check_fits(shape)
    forward = shape.n_layers * _FORWARD[variant](shape, method)
    return _times_passes(forward, passes, backward=2.5 if variant in ("tiled", "ideal") else 2.0)


def benchmark_flops(shape: AttentionShape, *, causal: bool = False, passes: str = "forward") -> int:
    """The convention of published speeds: 4 B H T S D, halved if causal, 2.5 times that for the backward pass.

    A TFLOP/s figure divides this by the time, so that methods that compute different numbers of pairs can be compared.
    Source: Dao, FlashAttention-2 (arXiv 2307.08691), section 4.1.

    Raises:
        ValueError: unknown passes.
    """
    every_pair = 4 * shape.batch * shape.n_heads * shape.n_queries * shape.n_keys * shape.head_dim
    return _times_passes(shape.n_layers * every_pair // (2 if causal else 1), passes, backward=2.5)


def projection_flops(shape: AttentionShape) -> int:
    """Operations of the four projections of a forward pass, over all layers: T rows of q and o, S rows of k and v."""
    inner, kv_inner = shape.n_heads * shape.head_dim, shape.n_kv_heads * shape.head_dim
    elements = shape.n_queries * inner + shape.n_keys * kv_inner
    return shape.n_layers * 4 * shape.batch * shape.width * elements


def rope_flops(shape: AttentionShape) -> int:
    """Operations that rotary embedding adds to a forward pass, over all layers.

    Four multiplications and two additions rotate a pair of components: 3 operations for each component of q and k.
    Sines and cosines are tables, made once.
    """
    rows = shape.n_heads * shape.n_queries + shape.n_kv_heads * shape.n_keys
    return shape.n_layers * 3 * shape.batch * rows * shape.head_dim


def _times_passes(forward: int, passes: str, backward: float) -> int:
    if passes not in PASSES:
        raise ValueError(f"passes must be one of {', '.join(PASSES)}, got {passes!r}")
    factors = {"forward": 1.0, "backward": backward, "both": 1.0 + backward}
    return round(forward * factors[passes])


def _reference(shape: AttentionShape, method: Method) -> int:
    return 4 * shape.head_dim * visible_pairs(shape, None)


def _tiled(shape: AttentionShape, method: Method) -> int:
    return 4 * shape.head_dim * visited_pairs(shape, method.pattern, method.tile, method.tile)


def _ideal(shape: AttentionShape, method: Method) -> int:
    return 4 * shape.head_dim * visible_pairs(shape, method.pattern)


def _topk(shape: AttentionShape, method: Method) -> int:
    scored = visible_pairs(shape, method.pattern)
    kept = shape.batch * shape.n_heads * shape.n_queries * min(method.n_keep, shape.n_keys)
    return 2 * shape.head_dim * (scored + min(kept, scored))


def _linear(shape: AttentionShape, method: Method) -> int:
    """The last chunk counts in full, filled up with zeros; the normaliser is one more column of values: D + 1."""
    features, columns = method.features(shape), shape.head_dim + 1
    chunk = min(method.chunk_size, shape.n_queries)
    n_chunks = math.ceil(shape.n_queries / chunk)
    within = 2 * chunk * chunk * (features + columns)
    read_state = write_state = 2 * chunk * features * columns
    of_a_chunk = shape.n_heads * (within + read_state) + shape.n_kv_heads * write_state
    return shape.batch * n_chunks * of_a_chunk


def _additive(shape: AttentionShape, method: Method) -> int:
    pairs = shape.n_queries * shape.n_keys
    projected = 2 * (shape.n_queries + shape.n_keys) * shape.head_dim * method.d_hidden
    return shape.batch * (projected + 2 * pairs * method.d_hidden + 2 * pairs * shape.head_dim)


_FORWARD = {
    "reference": _reference,
    "tiled": _tiled,
    "ideal": _ideal,
    "linear": _linear,
    "topk": _topk,
    "additive": _additive,
}
