"""`attention`: one function in front of every implementation. It validates once and imports what it needs late."""

import math
from collections.abc import Callable
from importlib import import_module

import torch
from torch import Tensor

from coursepkg.attention.capabilities import CAPABILITIES, Request, why_not
from coursepkg.attention.dropout import draw_seed
from coursepkg.attention.pattern import Pattern

LARGEST_BIAS = 1e30
"""Beyond it a bias stands for "hidden", and a row that only such scores see has no meaning; a pattern says it."""
SPARSE_FROM_LENGTH = 1024
"""`auto` looks at a pattern's blocks only from this many keys on: below, a dense mask is as fast."""
SPARSE_FROM_QUERIES = 64
"""`auto` does not plan blocks for fewer queries: in a decoding step the plan would cost more than the step."""
SHORT = 128
"""`auto` takes the plain formula on a CPU for training on so few positions, with dropout or in half precision."""
SPARSE_BELOW = 0.25
"""`auto` takes `sparse` when a pattern leaves fewer than this share of the blocks to visit."""


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    pattern: Pattern | None = None,
    impl: str = "auto",
    scale: float | None = None,
    bias: Tensor | None = None,
    dropout_p: float = 0.0,
    return_weights: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Scaled dot-product attention: softmax(q k^T * scale + bias) v over the pairs that `pattern` shows.

    Args:
        q: queries (B, H, T, D).
        k: keys (B, G, S, D), with H a multiple of G: G = H is multi-head, G = 1 multi-query, between them
            grouped-query attention.
        v: values (B, G, S, D).
        pattern: which query sees which key, from `coursepkg.attention.patterns`; None shows everything. When T and
            S differ the last query stands beside the last key.
        impl: `reference`, `tiled`, `sdpa`, `sparse`, `triton`, or `auto`; all give the same result and gradients.
        scale: factor on the dot products; None is 1 / sqrt(D).
        bias: finite, broadcastable to (B, H, T, S), added to the scaled scores (ALiBi, T5's relative bias).
        dropout_p: probability of dropping an attention weight, in [0, 1).
        return_weights: also return the weights (B, H, T, S), which only `reference` stores.

    Returns:
        output (B, H, T, D), and the weights if asked for. A row that sees nothing is zero.

    Raises:
        ValueError: an argument is malformed, or `impl` lacks what was asked for; the message names an
            implementation that has it.

    Example:
        >>> q, k, v = torch.randn(2, 8, 10, 64), torch.randn(2, 2, 10, 64), torch.randn(2, 2, 10, 64)
        >>> attention(q, k, v, pattern=causal()).shape
        torch.Size([2, 8, 10, 64])
    """
    _check_tensors(q, k, v)
    _check_options(q, k, pattern, bias, scale, dropout_p)
    if torch.is_autocast_enabled(q.device.type):
        # As PyTorch's own attention does: cast once, so that every implementation computes in the same precision.
        half = torch.get_autocast_dtype(q.device.type)
        q, k, v = (x if x.dtype == torch.float64 else x.to(half) for x in (q, k, v))
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    asked = Request(pattern, q.dtype, q.shape[-1], bias is not None, dropout_p > 0, return_weights)
    name = _choose(impl, q, k, asked)
    seed = draw_seed() if dropout_p > 0 else 0
    bias = None if bias is None else bias[(None,) * (4 - bias.dim())]
    module, function = (
        ("reference", "attention_with_weights") if return_weights else (CAPABILITIES[name].module, "run")
    )
    run = _load(module, function)
    with torch.autocast(q.device.type, enabled=False):
        return run(q, k, v, pattern, scale=scale, bias=bias, dropout_p=dropout_p, dropout_seed=seed)


def _load(module: str, function: str) -> Callable:
    return getattr(import_module(f"coursepkg.attention.{module}"), function)


def _choose(impl: str, q: Tensor, k: Tensor, asked: Request) -> str:
    if not isinstance(impl, str) or (impl != "auto" and impl not in CAPABILITIES):
        known = ", ".join([*CAPABILITIES, "auto"])
        raise ValueError(f"impl must be one of {known}, got {impl!r}")
    able = [name for name in CAPABILITIES if why_not(name, asked) is None]
    if not able:
        raise ValueError(f"q has dtype {q.dtype}, which no implementation supports; use float32 or bfloat16")
    if impl == "auto":
        return _fastest(able, q, k, asked)
    if impl not in able:
        raise ValueError(f"impl={impl!r} does not support {why_not(impl, asked)}; use impl={able[0]!r}")
    if impl == "triton" and (reason := _load("flash_triton", "unavailable")(q.device)):
        raise ValueError(f"impl='triton' cannot run here: {reason}; or use impl={able[1]!r}")
    return impl


def _fastest(able: list[str], q: Tensor, k: Tensor, asked: Request) -> str:
    """The rule of `auto`: sparse blocks where a pattern leaves few, else PyTorch's kernels, else what is able."""
    pattern = asked.pattern
    if "reference" in able and _is_short_training(q, k, asked):
        return "reference"
    long = k.shape[2] >= SPARSE_FROM_LENGTH and q.shape[2] >= SPARSE_FROM_QUERIES
    if pattern is not None and long and pattern.band != (None, 0):
        if q.is_cuda and "triton" in able and not _load("flash_triton", "unavailable")(q.device):
            return "triton"
        visited_fraction = _load("sparse", "visited_fraction")
        sizes = {"batch": q.shape[0], "heads": q.shape[1]}
        if "sparse" in able and visited_fraction(pattern, q.shape[2], k.shape[2], **sizes) < SPARSE_BELOW:
            return "sparse"
    return next(name for name in ("sdpa", "tiled", "reference") if name in able)


def _is_short_training(q: Tensor, k: Tensor, asked: Request) -> bool:
    """Where tiles are slower than the plain formula: on a CPU, in the backward pass of sentences.

    The backward pass of PyTorch's CPU kernel costs as much for 20 keys as for a whole tile in half precision, and
    dropout is not in it.
    """
    learns = torch.is_grad_enabled() and (q.requires_grad or k.requires_grad)
    slow = asked.dropout or q.dtype in (torch.bfloat16, torch.float16)
    return q.device.type == "cpu" and learns and slow and max(q.shape[2], k.shape[2]) <= SHORT


def _check_tensors(q: Tensor, k: Tensor, v: Tensor) -> None:
    for name, x in (("q", q), ("k", k), ("v", v)):
        if not isinstance(x, Tensor):
            raise ValueError(f"{name} must be a tensor, got {type(x).__name__}")
        if x.dim() != 4:
            raise ValueError(
                f"{name} must have 4 dimensions (batch, heads, length, head dim), got {tuple(x.shape)}"
            )
        if x.dtype != q.dtype or not x.is_floating_point():
            raise ValueError(f"{name} must be floating point in the dtype of q ({q.dtype}), got {x.dtype}")
        if x.device != q.device:
            raise ValueError(f"{name} must be on the device of q ({q.device}), got {x.device}")
        if x.shape[-1] != q.shape[-1] or x.shape[0] != q.shape[0]:
            raise ValueError(
                f"{name} must share batch {q.shape[0]} and head dim {q.shape[-1]} with q, got {tuple(x.shape)}"
            )
    if v.shape != k.shape:
        raise ValueError(f"v must have the shape of k {tuple(k.shape)}, got {tuple(v.shape)}")
    if 0 in (*q.shape, *k.shape):
        raise ValueError(f"q and k must not be empty, got {tuple(q.shape)} and {tuple(k.shape)}")
    if q.shape[1] % k.shape[1]:
        raise ValueError(
            f"the query heads must be a multiple of the key-value heads, got {q.shape[1]} in q and {k.shape[1]} in k"
        )


def _check_options(
    q: Tensor, k: Tensor, pattern: Pattern | None, bias: Tensor | None, scale: float | None, dropout_p: float
) -> None:
    batch, heads, n_queries, _ = q.shape
    if pattern is not None and not isinstance(pattern, Pattern):
        raise ValueError(
            f"pattern must be a Pattern such as causal() or sliding_window(4), got {type(pattern).__name__}"
        )
    if pattern is not None:
        pattern.fits(batch, heads, n_queries, k.shape[2])
    if scale is not None and not (isinstance(scale, int | float) and math.isfinite(scale)):
        raise ValueError(f"scale must be a finite number or None, got {scale!r}")
    if not isinstance(dropout_p, int | float) or not 0.0 <= dropout_p < 1.0:
        raise ValueError(f"dropout_p must be at least 0 and below 1, got {dropout_p!r}")
    if bias is not None:
        _check_bias(bias, (batch, heads, n_queries, k.shape[2]), q)


def _check_bias(bias: Tensor, scores: tuple[int, int, int, int], q: Tensor) -> None:
    if not isinstance(bias, Tensor):
        raise ValueError(f"bias must be a tensor, got {type(bias).__name__}")
    sizes = (1,) * (4 - bias.dim()) + tuple(bias.shape)
    if bias.dim() > 4 or any(size not in (1, wanted) for size, wanted in zip(sizes, scores, strict=True)):
        raise ValueError(f"bias must broadcast to (batch, heads, T, S) = {scores}, got {tuple(bias.shape)}")
    if not bias.is_floating_point() or bias.device != q.device:
        raise ValueError(f"bias must be floating point on {q.device}, got {bias.dtype} on {bias.device}")
    if not (bias.abs() <= LARGEST_BIAS).all():
        raise ValueError(
            f"bias must be finite and within {LARGEST_BIAS:g}; hide pairs with a pattern instead"
        )
