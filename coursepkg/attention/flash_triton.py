"""FlashAttention-2 on a GPU: the Triton kernels as one differentiable function.

Supports full, causal and sliding-window patterns (whatever has a band), grouped kv
heads, head dims up to 128 and float16, bfloat16 and float32, which is multiplied in
full precision. Memory beyond inputs and outputs is two float32 numbers a query. Triton
itself is imported at the first call.

Source: Dao, FlashAttention-2 (arXiv 2307.08691).
"""

import os
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from coursepkg.attention import triton_launch
from coursepkg.attention.pattern import Band, Pattern

MAX_HEAD_DIM = 128
DTYPES = (torch.float16, torch.bfloat16, torch.float32)
OLDEST_TRITON = (3, 3)
"""The first release whose launcher takes tuples, which is how strides are passed."""


def interpreting() -> bool:
    """Whether Triton interprets kernels on the CPU; it reads the variable at import."""
    yes = ("1", "true", "on", "yes", "y")
    return os.environ.get("TRITON_INTERPRET", "").lower() in yes


def unavailable(device: torch.device | None = None) -> str | None:
    """Why the kernels cannot run on a device (None: any GPU here), and what to do.

    Returns:
        one clause to put after "cannot run here:", or None when they can run.
    """
    if find_spec("triton") is None:
        return (
            f"triton is not installed; pip install 'triton>={_dotted(OLDEST_TRITON)}'"
            " (Linux only)"
        )
    if interpreting():
        return None
    if _installed_triton() < OLDEST_TRITON:
        found, needed = _dotted(_installed_triton()), _dotted(OLDEST_TRITON)
        return (
            f"triton {found} cannot launch them; it needs {needed} or newer, which"
            " comes with torch 2.7"
        )
    remedy = (
        "start Python with TRITON_INTERPRET=1 to check the kernels on the CPU, slowly"
    )
    if device is not None and device.type != "cuda":
        return (
            f"it needs tensors on a CUDA GPU, got {device.type} tensors; move them, or"
            f" {remedy}"
        )
    if not torch.cuda.is_available():
        return (
            "it needs a CUDA GPU and torch sees none; use a GPU machine with a CUDA"
            f" build of torch, or {remedy}"
        )
    major, minor = torch.cuda.get_device_capability(device)
    if major < 8:
        return (
            "Triton needs a GPU of compute capability 8.0 (A100, RTX 30) or newer,"
            f" this one has {major}.{minor}"
        )
    return None


def _installed_triton() -> tuple[int, ...]:
    try:
        found = version("triton")
    except PackageNotFoundError:
        # Nightly, AMD and Windows builds come in packages of other names.
        found = import_module("triton").__version__
    return tuple(int(part) for part in found.split(".")[:2])


def _dotted(release: tuple[int, ...]) -> str:
    return ".".join(map(str, release))


def run(
    q: Tensor, k: Tensor, v: Tensor, pattern: Pattern | None, **options: Any
) -> Tensor:
    """softmax(q k^T * scale) v over the band of `pattern`; the scores are never stored.

    Of the options, `bias` must be None and `dropout_p` 0. A row that sees nothing is
    zero.

    Raises:
        ValueError: the kernels lack what was asked for, or cannot run here.
    """
    band = (None, None) if pattern is None else pattern.band
    if band is None:
        raise ValueError(
            "pattern must be full, causal or sliding window for impl='triton', got"
            f" {pattern}"
        )
    if options["bias"] is not None or options["dropout_p"] > 0:
        raise ValueError("bias must be None and dropout_p 0 for impl='triton'")
    if q.dtype not in DTYPES or q.shape[-1] > MAX_HEAD_DIM:
        raise ValueError(
            f"q must be float16, bfloat16 or float32 with head dim {MAX_HEAD_DIM} at"
            f" most for impl='triton', got {q.dtype} with head dim {q.shape[-1]}"
        )
    if reason := unavailable(q.device):
        raise ValueError(f"impl='triton' cannot run here: {reason}")
    if interpreting() and q.dtype == torch.bfloat16:
        raise ValueError(
            "q must be float16 or float32 under TRITON_INTERPRET=1, got torch.bfloat16"
            " (wrong results)"
        )
    scale = options["scale"]
    if scale <= 0:
        # The kernels find a row's largest score before they scale it.
        q, scale = q * scale, 1.0
    return _FlashAttention.apply(q, k, v, band, scale)


class _FlashAttention(torch.autograd.Function):
    """The kernels as a differentiable function of q, k and v."""

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, k: Tensor, v: Tensor, band: Band, scale: float
    ) -> Tensor:
        out, lse = triton_launch.forward(q, k, v, band, scale)
        ctx.save_for_backward(q, k, v, out, lse)
        ctx.band, ctx.scale = band, scale
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, lse = ctx.saved_tensors
        found = triton_launch.backward(q, k, v, out, lse, grad_out, ctx.band, ctx.scale)
        return (*found, None, None)
