"""`attention`: one function in front of every implementation.

It validates once, chooses a row of `CAPABILITIES`, and imports that row's module at the
first call. The table is all that dispatch knows: a new variant is one row here and one
module with a function `run`. The book prints the table, the tests try every cell of it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor

from coursepkg.attention.dropout import draw_seed
from coursepkg.attention.pattern import Pattern
from coursepkg.validation import describe, is_number

_HALF = (torch.float16, torch.bfloat16)
_HALF_AND_SINGLE = (*_HALF, torch.float32)
_ALL = (*_HALF_AND_SINGLE, torch.float64)

LARGEST_BIAS = 1e30
"""Beyond it a bias stands for "hidden", and a row of such scores has no meaning."""
SPARSE_FROM_LENGTH = 1024
"""`auto` looks at a pattern's blocks from so many keys on; below, a mask is as fast."""
SPARSE_FROM_QUERIES = 64
"""With fewer queries, as in a decoding step, the plan of the blocks costs more than it
saves.
"""
SPARSE_BELOW = 0.25
"""`auto` takes `sparse` when a pattern leaves fewer than this share of the blocks."""
SHORT = 128
"""Positions up to which `auto` trains with the plain formula: with dropout, and on a
CPU in half precision.
"""


class Request(NamedTuple):
    """What one call of `attention` asks of an implementation."""

    pattern: Pattern | None = None
    dtype: torch.dtype = torch.float32
    head_dim: int = 64
    bias: bool = False
    dropout: bool = False
    weights: bool = False


def _is_short_training(q: Tensor, k: Tensor, asked: Request) -> bool:
    """Where tiles are slower than the formula: training on sentences.

    PyTorch's fused kernels lack this package's dropout, and tiles ask the host which of
    them are empty, for which a GPU has to be waited for. In half precision the backward
    pass of the fused CPU kernel is as slow for 20 keys as for a full tile.
    """
    learns = torch.is_grad_enabled() and (q.requires_grad or k.requires_grad)
    if not learns or max(q.shape[2], k.shape[2]) > SHORT:
        return False
    return asked.dropout or (q.device.type == "cpu" and q.dtype in _HALF)


def _is_long(q: Tensor, k: Tensor, asked: Request) -> bool:
    """Whether empty blocks are worth looking for; a causal mask is in every kernel."""
    causal = (None, 0)
    long = k.shape[2] >= SPARSE_FROM_LENGTH and q.shape[2] >= SPARSE_FROM_QUERIES
    return long and asked.pattern is not None and asked.pattern.band != causal


def _can_launch(q: Tensor, k: Tensor, asked: Request) -> bool:
    if not q.is_cuda or not _is_long(q, k, asked):
        return False
    return _module("flash_triton").unavailable(q.device) is None


def _leaves_few_blocks(q: Tensor, k: Tensor, asked: Request) -> bool:
    if asked.pattern is None or not _is_long(q, k, asked):
        return False
    sizes = {"batch": q.shape[0], "heads": q.shape[1]}
    share = _module("block_sparse").visited_fraction
    return share(asked.pattern, q.shape[2], k.shape[2], **sizes) < SPARSE_BELOW


def _always(q: Tensor, k: Tensor, asked: Request) -> bool:
    return True


@dataclass(frozen=True)
class Capability:
    """One row of the table: an implementation and what it supports."""

    module: str
    """Module of this package whose `run` does the work. Where it has a function
    `unavailable(device)`, that says why it cannot run on a machine.
    """
    summary: str
    """What sets the implementation apart, in a few words."""
    patterns: str = "any"
    """`any`, or `band`: full, causal, sliding window and what `&` makes of them."""
    dtypes: tuple[torch.dtype, ...] = _ALL
    bias: bool = True
    dropout: bool = True
    weights: bool = False
    """Whether `return_weights=True` works, by a function `attention_with_weights`."""
    backward: bool = True
    max_head_dim: int | None = None
    auto_rank: int = 9
    """`auto` asks the rows in this order, the lowest first."""
    auto_when: Callable[[Tensor, Tensor, Request], bool] = _always
    """(q, k, request) -> whether `auto` takes this row when its turn comes."""


CAPABILITIES = {
    "reference": Capability(
        "reference",
        "the formula; stores every score",
        weights=True,
        auto_rank=0,
        auto_when=_is_short_training,
    ),
    "tiled": Capability(
        "tiled", "FlashAttention in PyTorch; skips empty tiles", auto_rank=4
    ),
    "sdpa": Capability(
        "sdpa",
        "PyTorch's fused kernels; any pattern as a dense mask",
        dropout=False,
        auto_rank=3,
    ),
    "sparse": Capability(
        "block_sparse",
        "visits only the blocks of a pattern",
        auto_rank=2,
        auto_when=_leaves_few_blocks,
    ),
    "triton": Capability(
        "flash_triton",
        "FlashAttention as a Triton kernel for CUDA GPUs",
        "band",
        dtypes=_HALF_AND_SINGLE,
        bias=False,
        dropout=False,
        max_head_dim=128,
        auto_rank=1,
        auto_when=_can_launch,
    ),
}
"""The implementations by name. `impl="auto"` chooses one of them."""


def unsupported_reason(impl: str, asked: Request) -> str | None:
    """The first thing asked for that `impl` lacks, to end a sentence, or None."""
    can, pattern = CAPABILITIES[impl], asked.pattern
    if can.patterns == "band" and pattern is not None and pattern.band is None:
        return f"pattern {pattern.name}"
    if asked.dtype not in can.dtypes:
        return f"dtype {asked.dtype}"
    if can.max_head_dim is not None and asked.head_dim > can.max_head_dim:
        return f"a head dim of {asked.head_dim} (at most {can.max_head_dim})"
    if asked.bias and not can.bias:
        return "bias"
    if asked.dropout and not can.dropout:
        return "dropout_p"
    return "return_weights" if asked.weights and not can.weights else None


def capability_table() -> list[dict[str, str]]:
    """The table as rows of text, for the book: one row an implementation."""
    patterns = {"any": "any", "band": "full, causal, sliding window"}
    return [
        {
            "impl": name,
            "what it is": can.summary,
            "patterns": patterns[can.patterns],
            "dtypes": ", ".join(str(x).removeprefix("torch.") for x in can.dtypes),
        }
        | {
            what: "yes" if getattr(can, what) else "no"
            for what in ("bias", "dropout", "weights", "backward")
        }
        for name, can in CAPABILITIES.items()
    ]


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
    """softmax(q k^T * scale + bias) v over the pairs that `pattern` shows.

    Args:
        q: queries (B, H, T, D).
        k: keys (B, G, S, D), with H a multiple of G: G = H is multi-head, G = 1
            multi-query, between them grouped-query attention.
        v: values (B, G, S, D).
        pattern: which query sees which key, from `coursepkg.attention.pattern`; None
            shows everything. When T and S differ the last query stands beside the last
            key.
        impl: `reference`, `tiled`, `sdpa`, `sparse`, `triton`, or `auto`; all give the
            same result and gradients.
        scale: factor on the dot products; None is 1 / sqrt(D).
        bias: finite, broadcastable to (B, H, T, S), added to the scaled scores (ALiBi,
            T5's relative bias).
        dropout_p: probability of dropping an attention weight, in [0, 1).
        return_weights: also return the weights (B, H, T, S), which only `reference`
            stores.

    Returns:
        output (B, H, T, D), and the weights if asked for. A row that sees nothing is
        zero.

    Raises:
        ValueError: an argument is malformed, or `impl` lacks what was asked for; the
            message names an implementation that has it. Of tensors on an accelerator
            only shapes and types are checked: reading values back would make every
            call wait for the device.

    Example:
        >>> q, k, v = (torch.randn(2, heads, 10, 64) for heads in (8, 2, 2))
        >>> attention(q, k, v, pattern=causal()).shape
        torch.Size([2, 8, 10, 64])
    """
    if not _fit_together(q, k, v):
        _refuse_tensors(q, k, v)
    _check_options(q, k, pattern, bias, scale, dropout_p)
    device = q.device.type
    if autocast := torch.is_autocast_enabled(device):
        # As PyTorch's own attention does: cast once, so that every implementation
        # computes in the same precision.
        half = torch.get_autocast_dtype(device)
        q, k, v = (x if x.dtype == torch.float64 else x.to(half) for x in (q, k, v))
    head_dim = q.shape[3]
    asked = Request(
        pattern, q.dtype, head_dim, bias is not None, dropout_p > 0, return_weights
    )
    module = _module(CAPABILITIES[_choose(impl, q, k, asked)].module)
    run = module.attention_with_weights if return_weights else module.run
    options = {
        "scale": head_dim**-0.5 if scale is None else float(scale),
        "bias": None if bias is None else bias[(None,) * (4 - bias.dim())],
        "dropout_p": dropout_p,
        "dropout_seed": draw_seed() if dropout_p > 0 else 0,
    }
    if not autocast:
        return run(q, k, v, pattern, **options)
    with torch.autocast(device, enabled=False):
        return run(q, k, v, pattern, **options)


_LOADED: dict[str, ModuleType] = {}


def _module(name: str) -> ModuleType:
    # No `lru_cache`: `torch.compile` would trace the import at every call and fail.
    if name not in _LOADED:
        _LOADED[name] = import_module(f"coursepkg.attention.{name}")
    return _LOADED[name]


def _choose(impl: str, q: Tensor, k: Tensor, asked: Request) -> str:
    """The name of the row that serves a request."""
    if impl == "auto":
        for name in _AUTO_ORDER:
            is_wanted = CAPABILITIES[name].auto_when(q, k, asked)
            if is_wanted and unsupported_reason(name, asked) is None:
                return name
    elif not isinstance(impl, str) or impl not in CAPABILITIES:
        known = ", ".join([*CAPABILITIES, "auto"])
        raise ValueError(f"impl must be one of {known}, got {impl!r}")
    elif unsupported_reason(impl, asked) is None:
        why = getattr(_module(CAPABILITIES[impl].module), "unavailable", None)
        if why is None or (reason := why(q.device)) is None:
            return impl
        other = next(n for n in _able(asked) if n not in (impl, "reference"))
        raise ValueError(
            f"impl={impl!r} cannot run here: {reason}; or use impl={other!r}"
        )
    able = _able(asked)
    if not able:
        raise ValueError(
            f"q has dtype {q.dtype}, which no implementation supports; use float32 or"
            " bfloat16"
        )
    if impl == "auto":
        return able[0]
    raise ValueError(
        f"impl={impl!r} does not support {unsupported_reason(impl, asked)}; use"
        f" impl={able[0]!r}"
    )


def _able(asked: Request) -> list[str]:
    return [name for name in CAPABILITIES if unsupported_reason(name, asked) is None]


_AUTO_ORDER = sorted(CAPABILITIES, key=lambda name: CAPABILITIES[name].auto_rank)


def _fit_together(q: Any, k: Any, v: Any) -> bool:
    """The usual case in one expression; `_refuse_tensors` looks for the reason."""
    if not (isinstance(q, Tensor) and isinstance(k, Tensor) and isinstance(v, Tensor)):
        return False
    sizes, others, dtype, device = q.shape, k.shape, q.dtype, q.device
    return (
        len(sizes) == len(others) == 4
        and others == v.shape
        and dtype == k.dtype == v.dtype
        and dtype.is_floating_point
        and device == k.device == v.device
        and sizes[0] == others[0]
        and sizes[3] == others[3]
        and 0 not in sizes
        and 0 not in others
        and sizes[1] % others[1] == 0
    )


def _refuse_tensors(q: Tensor, k: Tensor, v: Tensor) -> None:
    for name, x in (("q", q), ("k", k), ("v", v)):
        if not isinstance(x, Tensor):
            raise ValueError(f"{name} must be a tensor, got {type(x).__name__}")
        if x.dim() != 4:
            raise ValueError(
                f"{name} must have 4 dimensions (batch, heads, length, head dim), got"
                f" {tuple(x.shape)}"
            )
        if x.dtype != q.dtype or not x.is_floating_point():
            raise ValueError(
                f"{name} must be floating point in the dtype of q ({q.dtype}), got"
                f" {x.dtype}"
            )
        if x.device != q.device:
            raise ValueError(
                f"{name} must be on the device of q ({q.device}), got {x.device}"
            )
        if x.shape[-1] != q.shape[-1] or x.shape[0] != q.shape[0]:
            raise ValueError(
                f"{name} must share batch {q.shape[0]} and head dim {q.shape[-1]} with"
                f" q, got {tuple(x.shape)}"
            )
    if v.shape != k.shape:
        raise ValueError(
            f"v must have the shape of k {tuple(k.shape)}, got {tuple(v.shape)}"
        )
    if 0 in (*q.shape, *k.shape):
        raise ValueError(
            f"q and k must not be empty, got {tuple(q.shape)} and {tuple(k.shape)}"
        )
    if q.shape[1] % k.shape[1]:
        raise ValueError(
            "the query heads must be a multiple of the key-value heads, got"
            f" {q.shape[1]} in q and {k.shape[1]} in k"
        )


def _check_options(
    q: Tensor,
    k: Tensor,
    pattern: Pattern | None,
    bias: Tensor | None,
    scale: float | None,
    dropout_p: float,
) -> None:
    batch, heads, n_queries, _ = q.shape
    if pattern is not None:
        if not isinstance(pattern, Pattern):
            raise ValueError(
                "pattern must be a Pattern such as causal() or sliding_window(4), got"
                f" {type(pattern).__name__}"
            )
        pattern.fits(batch, heads, n_queries, k.shape[2])
    if scale is not None and not (is_number(scale) and math.isfinite(scale)):
        raise ValueError(
            f"scale must be a finite number or None, got {describe(scale)}"
        )
    if not is_number(dropout_p) or not 0.0 <= dropout_p < 1.0:
        raise ValueError(
            f"dropout_p must be at least 0 and below 1, got {describe(dropout_p)}"
        )
    if bias is not None:
        _check_bias(bias, (batch, heads, n_queries, k.shape[2]), q)


def _check_bias(bias: Tensor, scores: tuple[int, int, int, int], q: Tensor) -> None:
    if not isinstance(bias, Tensor):
        raise ValueError(f"bias must be a tensor, got {type(bias).__name__}")
    sizes = (1,) * (4 - bias.dim()) + tuple(bias.shape)
    if bias.dim() > 4 or any(
        size not in (1, wanted) for size, wanted in zip(sizes, scores, strict=True)
    ):
        raise ValueError(
            f"bias must broadcast to (batch, heads, T, S) = {scores}, got"
            f" {tuple(bias.shape)}"
        )
    if not bias.is_floating_point() or bias.device != q.device:
        raise ValueError(
            f"bias must be floating point on {q.device}, got {bias.dtype} on"
            f" {bias.device}"
        )
    # A value is read only where it lies at hand: on a GPU every call would wait for it.
    if bias.device.type == "cpu" and not (bias.abs() <= LARGEST_BIAS).all():
        raise ValueError(
            f"bias must be finite and within {LARGEST_BIAS:g}; hide pairs with a"
            " pattern instead"
        )
