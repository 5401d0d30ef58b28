"""What attention keeps in memory: parameters, the cache of keys and values, and the scores."""

from collections.abc import Callable
from typing import Any

from coursepkg.attention.costs.shape import AttentionShape, Method


def parameters(shape: AttentionShape, bias: bool = False) -> int:
    """Parameters of the four projections, over all layers: E * D * (2 H + 2 G) a layer, and the biases."""
    inner, kv_inner = shape.n_heads * shape.head_dim, shape.n_kv_heads * shape.head_dim
    weights = shape.width * 2 * (inner + kv_inner)
    biases = inner + 2 * kv_inner + shape.width if bias else 0
    return shape.n_layers * (weights + biases)


def additive_parameters(d_query: int, d_key: int, d_hidden: int) -> int:
    """Parameters of Bahdanau's score v^T tanh(W query + U key)."""
    return d_hidden * (d_query + d_key + 1)


def kv_cache_bytes(shape: AttentionShape) -> int:
    """Bytes of the keys and values of all layers: 2 * layers * B * G * S * D * bytes.

    H does not appear: multi-query attention divides the cache by H, grouped-query attention by H / G.
    """
    elements = 2 * shape.batch * shape.n_kv_heads * shape.n_keys * shape.head_dim
    return shape.n_layers * elements * shape.bytes_per_element


def linear_state_bytes(shape: AttentionShape, n_features: int | None = None, bytes_per_sum: int = 4) -> int:
    """Bytes that linear attention keeps in place of a cache, whatever the length: layers * B * G * F * (D + 1).

    Args:
        shape: sizes; neither T nor S matters.
        n_features: F, features of the feature map; None takes head_dim.
        bytes_per_sum: bytes of one sum; sums are kept in float32 even where the model is in half precision.
    """
    features = shape.head_dim if n_features is None else n_features
    sums = shape.batch * shape.n_kv_heads * features * (shape.head_dim + 1)
    return shape.n_layers * sums * bytes_per_sum


def score_bytes(shape: AttentionShape, variant: str = "reference", **options: Any) -> int:
    """Bytes of the intermediate that a forward pass of one layer holds at once.

    reference and topk store B * H * T * S scores, whatever G is; tiled one tile for each head, B * H * tile * tile;
    linear the kernel of one chunk and the state; additive the hidden layer of every pair, B * T * S * d_hidden;
    ideal nothing. Without a backward pass to come, the next layer uses the same memory again.

    Args:
        shape: sizes.
        variant: one of `VARIANTS`.
        options: fields of `Method`.

    Raises:
        ValueError: unknown variant, or a shape that it does not have.
    """
    method = Method(variant, **options)
    method.check_fits(shape)
    rows = shape.batch * shape.n_heads
    if variant in ("reference", "topk"):
        elements = rows * shape.n_queries * shape.n_keys
    elif variant == "tiled":
        elements = rows * min(method.tile, shape.n_queries) * min(method.tile, shape.n_keys)
    elif variant == "linear":
        chunk = min(method.chunk_size, shape.n_queries)
        state = shape.batch * shape.n_kv_heads * method.features(shape) * (shape.head_dim + 1)
        elements = rows * chunk * chunk + state
    elif variant == "additive":
        elements = shape.batch * shape.n_queries * shape.n_keys * method.d_hidden
    else:
        elements = 0
    return elements * shape.bytes_per_element


def longest_length(budget_bytes: int, cost: Callable[[int], int]) -> int:
    """The largest length whose cost fits a budget; 0 when not even one token does.

    Args:
        budget_bytes: memory to spend, in bytes.
        cost: bytes that a length needs; never falls as the length grows.

    Raises:
        ValueError: the budget is negative, or the cost stays within it up to 2^40 tokens.

    Example:
        >>> longest_length(16 * 2**30, lambda n: score_bytes(shape.with_length(n)))
    """
    if budget_bytes < 0:
        raise ValueError(f"budget_bytes must not be negative, got {budget_bytes}")
    too_long = 1
    while cost(too_long) <= budget_bytes:
        too_long *= 2
        if too_long > 2**40:
            raise ValueError("cost does not grow with the length: no budget can be too small for it")
    fits = too_long // 2
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        fits, too_long = (middle, too_long) if cost(middle) <= budget_bytes else (fits, middle)
    return fits


def kv_copies(n_kv_heads: int, n_devices: int) -> int:
    """How many devices hold the same key-value head when query heads are split evenly over devices.

    Tensor parallelism gives each device its share of the query heads and the kv heads that they read. With at least
    as many kv heads as devices each head lives on one device; with fewer, every device still needs one, so each is
    stored n_devices / n_kv_heads times, and a device's cache stops shrinking: multi-query attention on 8 devices
    keeps 8 copies of one head.

    Source: Pope et al. (arXiv 2211.05102), section 3.3; Ainslie et al. (arXiv 2305.13245), section 2.2.

    Raises:
        ValueError: a count is not positive, or neither count divides the other.
    """
    for name, count in (("n_kv_heads", n_kv_heads), ("n_devices", n_devices)):
        if count < 1:
            raise ValueError(f"{name} must be a positive integer, got {count}")
    if max(n_kv_heads, n_devices) % min(n_kv_heads, n_devices):
        raise ValueError(
            f"n_kv_heads and n_devices must divide one another to split evenly, got {n_kv_heads} and {n_devices}"
        )
    return max(1, n_devices // n_kv_heads)
