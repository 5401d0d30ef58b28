"""What each implementation can do: one table, read by `attention`, printed in the book, tested cell by cell."""

from dataclasses import dataclass

import torch

from coursepkg.attention.pattern import Pattern

_HALF_AND_SINGLE = (torch.float16, torch.bfloat16, torch.float32)
_ALL = (*_HALF_AND_SINGLE, torch.float64)


@dataclass(frozen=True)
class Capability:
    """One row of the table: an implementation and what it supports."""

    module: str
    """Module of this package whose `run` does the work."""
    summary: str
    """What sets the implementation apart, in a few words."""
    patterns: str
    """`any`, or `band`: full, causal, sliding window and what `&` makes of them."""
    dtypes: tuple[torch.dtype, ...] = _ALL
    bias: bool = True
    dropout: bool = True
    weights: bool = False
    """Whether `return_weights=True` works: only an implementation that stores the weights can return them."""
    backward: bool = True
    max_head_dim: int | None = None


CAPABILITIES = {
    "reference": Capability("reference", "the formula; stores every score", "any", weights=True),
    "tiled": Capability("tiled", "FlashAttention in PyTorch; skips empty tiles", "any"),
    "sdpa": Capability("sdpa", "PyTorch's fused kernels; any pattern as a dense mask", "any", dropout=False),
    "sparse": Capability("sparse", "visits only the blocks of a pattern", "any"),
    "triton": Capability(
        "flash_triton",
        "FlashAttention as a Triton kernel for CUDA GPUs",
        "band",
        dtypes=_HALF_AND_SINGLE,
        bias=False,
        dropout=False,
        max_head_dim=128,
    ),
}
"""The implementations by name. `impl="auto"` chooses one of them."""


@dataclass(frozen=True)
class Request:
    """What one call of `attention` asks of an implementation."""

    pattern: Pattern | None = None
    dtype: torch.dtype = torch.float32
    head_dim: int = 64
    bias: bool = False
    dropout: bool = False
    weights: bool = False


def why_not(impl: str, asked: Request) -> str | None:
    """The first thing asked for that `impl` lacks, in words that end a sentence, or None when it has all."""
    can = CAPABILITIES[impl]
    if can.patterns == "band" and asked.pattern is not None and asked.pattern.band is None:
        return f"pattern {asked.pattern.name}"
    if asked.dtype not in can.dtypes:
        return f"dtype {asked.dtype}"
    if can.max_head_dim is not None and asked.head_dim > can.max_head_dim:
        return f"a head dim of {asked.head_dim} (at most {can.max_head_dim})"
    lacks = {
        "bias": asked.bias and not can.bias,
        "dropout_p": asked.dropout and not can.dropout,
        "return_weights": asked.weights and not can.weights,
    }
    return next((name for name, lacking in lacks.items() if lacking), None)


def capability_table() -> list[dict[str, str]]:
    """The table as rows of text, for the book: one row an implementation."""

    def tick(yes: bool) -> str:
        return "yes" if yes else "no"

    return [
        {
            "impl": name,
            "what it is": can.summary,
            "patterns": "any" if can.patterns == "any" else "full, causal, sliding window",
            "dtypes": ", ".join(str(dtype).removeprefix("torch.") for dtype in can.dtypes),
            "bias": tick(can.bias),
            "dropout": tick(can.dropout),
            "weights": tick(can.weights),
            "backward": tick(can.backward),
        }
        for name, can in CAPABILITIES.items()
    ]
