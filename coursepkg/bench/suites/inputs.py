"""Random inputs, SDPA pinned to a backend, and gates, shared by the suites."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from coursepkg.attention.api import attention
from coursepkg.attention.pattern import Pattern
from coursepkg.bench.machine import Device
from coursepkg.bench.race import Gate

GATE_LENGTH = 640
"""Long enough to cross several tiles and to end inside none of the usual sizes; float64 is cheap here."""


def random_qkv(
    device: Device,
    length: int,
    *,
    n_heads: int = 8,
    n_kv_heads: int | None = None,
    head_dim: int = 64,
    batch: int = 1,
    n_queries: int | None = None,
    grad: bool = False,
    dtype: torch.dtype | None = None,
) -> list[Tensor]:
    """q (B, H, T, D), k and v (B, G, S, D): float32 on a CPU, bfloat16 on a GPU, where no dtype is given."""
    generator = torch.Generator().manual_seed(0)
    dtype = dtype or (torch.bfloat16 if device.is_cuda else torch.float32)
    n_kv_heads = n_kv_heads or n_heads
    shapes = [(n_heads, n_queries or length), (n_kv_heads, length), (n_kv_heads, length)]
    drawn = (torch.randn(batch, heads, rows, head_dim, generator=generator) for heads, rows in shapes)
    return [x.to(device.kind, dtype).requires_grad_(grad) for x in drawn]


def plain_call(**options: Any) -> Callable[..., Tensor]:
    """`attention` with options, typed as a function that returns the output alone."""

    def call(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        output = attention(q, k, v, **options)
        assert isinstance(output, Tensor)
        return output

    return call


def pinned_sdpa(backend: SDPBackend) -> Callable[..., Tensor]:
    """SDPA that may use only `backend`: an opponent must not change with a torch release."""

    def call(q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Tensor:
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, **options)

    return call


def sdpa_causal(device: Device) -> tuple[str, Callable[..., Tensor]]:
    """The dense causal opponent and its name: PyTorch's one fused kernel on a CPU, pinned to flash on a GPU."""
    if device.is_cuda:
        return "SDPA flash causal", partial(pinned_sdpa(SDPBackend.FLASH_ATTENTION), is_causal=True)
    return "SDPA causal", partial(scaled_dot_product_attention, is_causal=True)


def with_gradients(function: Callable[..., Tensor], inputs: Sequence[Tensor]) -> list[Tensor]:
    """The output and, when the inputs ask for them, their gradients for a direction of ones."""
    output = function(*inputs)
    if not inputs[0].requires_grad:
        return [output]
    return [output.detach(), *torch.autograd.grad(output, list(inputs), torch.ones_like(output))]


def gate_against_reference(
    device: Device, impl: str, pattern: Pattern | None, *, grad: bool = False, **shape: Any
) -> Gate:
    """`attention(impl=impl)` must be as exact as the plain formula, in outputs and, if `grad`, in gradients."""
    inputs = random_qkv(device, GATE_LENGTH, grad=grad, **shape)
    exact_inputs = [x.detach().double().requires_grad_(grad) for x in inputs]

    def run(name: str, tensors: list[Tensor]) -> list[Tensor]:
        return with_gradients(plain_call(pattern=pattern, impl=name), tensors)

    return Gate(
        candidate=impl,
        compute=lambda: run(impl, inputs),
        plain=lambda: run("reference", inputs),
        exact=lambda: run("reference", exact_inputs),
    )


def dense_flops(
    length: int, *, n_heads: int = 8, head_dim: int = 64, batch: int = 1, backward: bool = False
) -> float:
    """FLOPs of causal attention by the usual convention: 4 B H T^2 D, halved, times 3.5 with the backward pass."""
    return 2 * batch * n_heads * length**2 * head_dim * (3.5 if backward else 1.0)
