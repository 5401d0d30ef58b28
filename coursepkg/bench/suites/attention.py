"""Attention: our kernels against PyTorch's and against the plain formula.

Suites: dense, windowed and linear attention, grouped heads at one decoding step, and
bfloat16 on a CPU.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from coursepkg.attention.api import attention
from coursepkg.attention.block_sparse import visited_fraction
from coursepkg.attention.linear import linear_attention
from coursepkg.attention.pattern import (
    Pattern,
    causal,
    dilated_window,
    global_tokens,
    padding,
    random_blocks,
    sliding_window,
)
from coursepkg.bench.machine import Device
from coursepkg.bench.measure import (
    BenchmarkCase,
    CaseResult,
    Comparison,
    Gate,
    Work,
    peak_bytes,
)
from coursepkg.processor import multiplies_bfloat16

GATE_LENGTH = 640
"""Crosses several tiles, no multiple of the usual sizes; float64 is cheap."""
BLOCK = 128
"""Block size of the random blocks."""
CACHE = 1024
"""Cached tokens of a decoding step."""
HEADLINE_BATCH = 8
"""The decoding step with targets: its 16 MiB exceed a core's own caches."""
BF16_HEADS = 4
BF16_SIZES = (
    (16, 64, 32),
    (16, 64, 64),
    (13, 136, 64),
    (5, 248, 64),
    (2, 496, 32),
    (2, 496, 64),
    (2, 1024, 64),
)
"""Batch, length and head dim: lines of text of several widths, and a longer one."""


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
    """q (B, H, T, D), k and v (B, G, S, D).

    Without a dtype they are float32 on a CPU and bfloat16 on a GPU.
    """
    generator = torch.Generator().manual_seed(0)
    dtype = dtype or (torch.bfloat16 if device.is_cuda else torch.float32)
    shapes = [(n_heads, n_queries or length), *[(n_kv_heads or n_heads, length)] * 2]
    drawn = (
        torch.randn(batch, heads, rows, head_dim, generator=generator)
        for heads, rows in shapes
    )
    return [x.to(device.kind, dtype).requires_grad_(grad) for x in drawn]


def plain_call(**options: Any) -> Callable[..., Tensor]:
    """`attention` with options, typed as a function that returns the output alone."""

    def call(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        output = attention(q, k, v, **options)
        assert isinstance(output, Tensor)
        return output

    return call


def pinned_sdpa(backend: SDPBackend) -> Callable[..., Tensor]:
    """SDPA on one backend: a baseline must not change with a release of PyTorch."""

    def call(q: Tensor, k: Tensor, v: Tensor, **options: Any) -> Tensor:
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, **options)

    return call


def sdpa_causal(device: Device) -> tuple[str, Callable[..., Tensor]]:
    """The dense causal baseline and its name; on a GPU it is pinned to flash."""
    if device.is_cuda:
        flash = pinned_sdpa(SDPBackend.FLASH_ATTENTION)
        return "SDPA flash causal", partial(flash, is_causal=True)
    return "SDPA causal", partial(scaled_dot_product_attention, is_causal=True)


def with_gradients(
    function: Callable[..., Tensor], inputs: Sequence[Tensor]
) -> list[Tensor]:
    """The output and, where the inputs ask for them, their gradients."""
    output = function(*inputs)
    if not inputs[0].requires_grad:
        return [output]
    gradients = torch.autograd.grad(output, list(inputs), torch.ones_like(output))
    return [output.detach(), *gradients]


def gate_against_reference(
    device: Device,
    impl: str,
    pattern: Pattern | None,
    *,
    grad: bool = False,
    **shape: Any,
) -> Gate:
    """`attention(impl=impl)` must be as exact as the plain formula."""
    inputs = random_qkv(device, GATE_LENGTH, grad=grad, **shape)
    exact = [x.detach().double().requires_grad_(grad) for x in inputs]

    def run(name: str, tensors: list[Tensor]) -> list[Tensor]:
        return with_gradients(plain_call(pattern=pattern, impl=name), tensors)

    return Gate(
        candidate=impl,
        compute=lambda: run(impl, inputs),
        plain=lambda: run("reference", inputs),
        exact=lambda: run("reference", exact),
    )


def dense_flops(
    length: int,
    *,
    n_heads: int = 8,
    head_dim: int = 64,
    batch: int = 1,
    backward: bool = False,
) -> float:
    """FLOPs of causal attention: 4 B H T^2 D, halved; times 3.5 with backward."""
    return 2 * batch * n_heads * length**2 * head_dim * (3.5 if backward else 1.0)


def _task(backward: bool) -> str:
    return "forward and backward" if backward else "forward"


def _variants(work: Mapping[str, Any], inputs: list[Tensor]) -> dict[str, Work]:
    return {name: partial(with_gradients, call, inputs) for name, call in work.items()}


# Dense causal attention


class MemoryCase:
    """Peak memory of the tiled implementation as a share of the plain formula's."""

    def __init__(self, length: int) -> None:
        self.length = length

    def run(self, device: Device) -> list[CaseResult]:
        """Measure both once: allocations do not vary."""
        q, k, v = random_qkv(device, self.length)
        tiled, reference = (
            peak_bytes(
                partial(plain_call(pattern=causal(), impl=impl), q, k, v), device.kind
            )
            for impl in ("tiled", "reference")
        )
        note = f"{tiled / 2**20:.1f} MiB against {reference / 2**20:.1f} MiB"
        name = f"peak extra memory, causal, T {self.length}, D 64"
        share = tiled / reference
        return [
            CaseResult(
                name, "tiled", "naive", share, target=0.05, at_most=True, note=note
            )
        ]


def dense_cases(device: Device) -> list[BenchmarkCase | MemoryCase]:
    """On a CPU the tiles written in PyTorch, on a GPU the Triton kernel."""
    if device.is_cuda:
        return [
            _dense_on_gpu(device, head_dim, backward)
            for head_dim in (64, 128)
            for backward in (False, True)
        ]
    return [
        _dense_on_cpu(device, 1024, backward=False),
        _dense_on_cpu(device, 4096, backward=False, SDPA=0.75, naive=4.0),
        _dense_on_cpu(device, 4096, backward=True),
        MemoryCase(4096),
    ]


def _dense_on_cpu(
    device: Device, length: int, *, backward: bool, **targets: float
) -> BenchmarkCase:
    work = {
        "tiled": plain_call(pattern=causal(), impl="tiled"),
        "SDPA": partial(scaled_dot_product_attention, is_causal=True),
        "naive": plain_call(pattern=causal(), impl="reference"),
    }
    return BenchmarkCase(
        name=f"{_task(backward)}, causal, T {length}, D 64",
        variants=_variants(work, random_qkv(device, length, grad=backward)),
        comparisons=[
            Comparison("tiled", name, targets.get(name)) for name in ("SDPA", "naive")
        ],
        gates=[gate_against_reference(device, "tiled", causal(), grad=backward)],
        flops=dict.fromkeys(work, dense_flops(length, backward=backward)),
    )


def _dense_on_gpu(
    device: Device, head_dim: int, backward: bool, length: int = 8192
) -> BenchmarkCase:
    shape: dict[str, Any] = {"n_heads": 16, "head_dim": head_dim, "batch": 2}
    work = {
        "triton": plain_call(pattern=causal(), impl="triton"),
        "SDPA flash": partial(pinned_sdpa(SDPBackend.FLASH_ATTENTION), is_causal=True),
        "SDPA cuDNN": partial(pinned_sdpa(SDPBackend.CUDNN_ATTENTION), is_causal=True),
        "SDPA default": partial(scaled_dot_product_attention, is_causal=True),
    }
    targets = {
        (64, False): {"SDPA flash": 1.1, "SDPA cuDNN": 0.9},
        (128, False): {"SDPA flash": 1.0},
    }.get((head_dim, backward), {"SDPA flash": 0.6})
    gate = gate_against_reference(
        device, "triton", causal(), grad=backward, head_dim=head_dim
    )
    return BenchmarkCase(
        name=f"{_task(backward)}, causal, bf16, T {length}, D {head_dim}",
        variants=_variants(work, random_qkv(device, length, grad=backward, **shape)),
        comparisons=[
            Comparison("triton", name, targets.get(name)) for name in list(work)[1:]
        ],
        gates=[gate],
        flops=dict.fromkeys(work, dense_flops(length, backward=backward, **shape)),
    )


# Patterns that leave most pairs out


def window_cases(device: Device) -> list[BenchmarkCase]:
    """Windows of 256 (CPU) or 1024 (GPU) at 8192 tokens; on a CPU others too."""
    if device.is_cuda:
        window = causal() & sliding_window(1024)
        case = partial(_window, device, "causal window 1024", window, "triton")
        return [case(backward=False, causal_target=4.0), case(backward=True)]
    window = sliding_window(256)
    some = window | global_tokens(8)
    named: dict[str, Pattern] = {
        "causal dilated window 256 by 4": dilated_window(256, 4),
        "window 256 and 8 global tokens": some,
        "window, global and 2 random blocks": some | random_blocks(2, BLOCK),
    }
    case = partial(_window, device, "causal window 256", causal() & window)
    return [
        case(backward=False, causal_target=3.5, mask_target=9.0),
        case(backward=True),
        *(
            _window(device, name, pattern & causal(), backward=False)
            for name, pattern in named.items()
        ),
    ]


def _window(
    device: Device,
    name: str,
    pattern: Pattern,
    impl: str = "sparse",
    *,
    backward: bool,
    causal_target: float | None = None,
    mask_target: float | None = None,
    length: int = 8192,
) -> BenchmarkCase:
    dense_name, dense = sdpa_causal(device)
    mask = pattern.mask(length, length, device=device.kind)
    work: dict[str, Callable[..., Tensor]] = {
        impl: plain_call(pattern=pattern, impl=impl),
        dense_name: dense,
        "SDPA with the mask": partial(scaled_dot_product_attention, attn_mask=mask),
    }
    visited = visited_fraction(pattern, length, length)
    return BenchmarkCase(
        name=f"{_task(backward)}, {name}, T {length}, D 64",
        variants=_variants(work, random_qkv(device, length, grad=backward)),
        comparisons=[
            Comparison(impl, dense_name, causal_target, bound=0.5 / visited),
            Comparison(impl, "SDPA with the mask", mask_target, bound=1 / visited),
        ],
        gates=[gate_against_reference(device, impl, pattern, grad=backward)],
    )


# Chunked linear attention, another function than causal softmax attention


class GrowthCase:
    """How much longer 16,384 tokens take than 4,096: about four times, if linear."""

    def __init__(self, short: int = 4096, long: int = 16384) -> None:
        self.short, self.long = short, long

    def run(self, device: Device) -> list[CaseResult]:
        """Time the two lengths; the ratio reported is long over short."""
        long, short = f"T {self.long}", f"T {self.short}"
        work: dict[str, Work] = {
            name: partial(with_gradients, _linear, random_qkv(device, length))
            for name, length in ((short, self.short), (long, self.long))
        }
        (row,) = BenchmarkCase(
            "growth of chunked linear attention, D 64",
            work,
            [Comparison(short, long)],
            [replace(_linear_gate(device), candidate=short)],
        ).run(device)
        # A case divides the second time by the first; here the first is the numerator.
        return [
            replace(
                row,
                candidate=long,
                baseline=short,
                candidate_ms=row.baseline_ms,
                baseline_ms=row.candidate_ms,
                target=4.5,
                at_most=True,
            )
        ]


def linear_cases(device: Device) -> list[BenchmarkCase | GrowthCase]:
    """Forward at two lengths, with backward at one, and the growth with length."""
    return [
        _linear_case(device, 1024, backward=False),
        _linear_case(
            device, 4096, backward=False, target=None if device.is_cuda else 3.5
        ),
        _linear_case(device, 4096, backward=True),
        GrowthCase(),
    ]


def _linear(q: Tensor, k: Tensor, v: Tensor, mode: str = "chunked") -> Tensor:
    output = linear_attention(q, k, v, mode=mode, causal=True)
    assert isinstance(output, Tensor)
    return output


def _linear_case(
    device: Device, length: int, *, backward: bool, target: float | None = None
) -> BenchmarkCase:
    baseline, softmax = sdpa_causal(device)
    work: dict[str, Callable[..., Tensor]] = {"chunked": _linear, baseline: softmax}
    return BenchmarkCase(
        name=f"{_task(backward)}, causal, T {length}, D 64 (different functions)",
        variants=_variants(work, random_qkv(device, length, grad=backward)),
        comparisons=[Comparison("chunked", baseline, target)],
        gates=[_linear_gate(device)],
    )


def _linear_gate(device: Device) -> Gate:
    """Chunked must be as exact as the explicit kernel matrix, gradients included."""
    inputs = random_qkv(device, GATE_LENGTH, grad=True)
    exact = [x.detach().double().requires_grad_() for x in inputs]
    parallel = partial(_linear, mode="parallel")
    return Gate(
        candidate="chunked",
        compute=lambda: with_gradients(_linear, inputs),
        plain=lambda: with_gradients(parallel, inputs),
        exact=lambda: with_gradients(parallel, exact),
    )


# One decoding step: the cache read once a group of heads instead of once a head


def gqa_decode_cases(device: Device) -> list[BenchmarkCase]:
    """16 query heads on 4 kv heads with 1024 cached tokens, three batch sizes."""
    return [_gqa_decode(device, batch) for batch in (1, HEADLINE_BATCH, 32)]


def _gqa_decode(device: Device, batch: int) -> BenchmarkCase:
    heads: dict[str, Any] = {"n_heads": 16, "n_kv_heads": 4, "n_queries": 1}
    q, k, v = random_qkv(device, CACHE, batch=batch, **heads)
    sdpa: Callable[..., Tensor] = scaled_dot_product_attention
    suffix, targets = "", {}
    if device.is_cuda:
        sdpa, suffix = pinned_sdpa(SDPBackend.FLASH_ATTENTION), " flash"
    elif batch == HEADLINE_BATCH:
        targets = {"repeat_interleave": 20.0, "enable_gqa": 1.2}
    baselines: dict[str, Work] = {
        f"repeat_interleave{suffix}": partial(_repeated, q, k, v, sdpa),
        f"enable_gqa{suffix}": partial(sdpa, q, k, v, enable_gqa=True),
    }
    return BenchmarkCase(
        name=f"decode step, 16 heads on 4 kv heads, cache {CACHE}, batch {batch}, D 64",
        variants={"sdpa": partial(attention, q, k, v, impl="sdpa"), **baselines},
        comparisons=[Comparison("sdpa", name, targets.get(name)) for name in baselines],
        gates=[gate_against_reference(device, "sdpa", None, **heads)],
    )


def _repeated(q: Tensor, k: Tensor, v: Tensor, sdpa: Callable[..., Tensor]) -> Tensor:
    """What many code bases do: copy keys and values out to every head, then attend."""
    n_shared = q.shape[1] // k.shape[1]
    return sdpa(q, *(x.repeat_interleave(n_shared, dim=1) for x in (k, v)))


# Padded attention in bfloat16 on a CPU: two products against the fused kernel


def bfloat16_cases(device: Device) -> list[BenchmarkCase]:
    """One a size.

    Raises:
        ValueError: `attention` itself runs the fused kernel here.
    """
    if device.is_cuda or not multiplies_bfloat16():
        raise ValueError(
            "suite unfused-bfloat16 needs --device cpu and a processor that multiplies"
            " bfloat16 itself (AVX-512 BF16 or AMX); run it on such a machine"
        )
    return [_bfloat16(device, *size) for size in BF16_SIZES]


def _bfloat16(device: Device, batch: int, length: int, head_dim: int) -> BenchmarkCase:
    shape: dict[str, Any] = {
        "n_heads": BF16_HEADS,
        "head_dim": head_dim,
        "batch": batch,
        "dtype": torch.bfloat16,
    }
    q, k, v = random_qkv(device, length, **shape)
    pattern, gated = (_padding(batch, n) for n in (length, GATE_LENGTH))
    mask = pattern.mask(1, length, batch=batch, heads=BF16_HEADS)
    return BenchmarkCase(
        name=(
            f"bf16, padded, batch {batch}, {BF16_HEADS} heads, T {length}, D {head_dim}"
        ),
        variants={
            "sdpa": partial(plain_call(pattern=pattern, impl="sdpa"), q, k, v),
            "SDPA": partial(scaled_dot_product_attention, q, k, v, attn_mask=mask),
        },
        comparisons=[Comparison("sdpa", "SDPA")],
        gates=[gate_against_reference(device, "sdpa", gated, **shape)],
    )


def _padding(batch: int, longest: int) -> Pattern:
    """All positions of the first row are real; the last row has an eighth less."""
    return padding([longest - i * longest // (8 * batch) for i in range(batch)])
