"""Dense causal attention: our tiles against PyTorch's fused kernels and against the plain formula."""

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor
from torch.nn.attention import SDPBackend
from torch.nn.functional import scaled_dot_product_attention

from coursepkg.attention.patterns import causal
from coursepkg.bench.machine import Device
from coursepkg.bench.memory import peak_bytes
from coursepkg.bench.race import Comparison, Contest, Row
from coursepkg.bench.suites.inputs import (
    dense_flops,
    gate_against_reference,
    pinned_sdpa,
    plain_call,
    random_qkv,
    with_gradients,
)


class MemoryContest:
    """Peak extra memory of the tiled implementation as a share of what the plain formula takes."""

    def __init__(self, length: int) -> None:
        self.length = length

    def run(self, device: Device) -> list[Row]:
        """Measure both once: allocations do not vary."""
        q, k, v = random_qkv(device, self.length)
        peaks = {
            impl: peak_bytes(partial(plain_call(pattern=causal(), impl=impl), q, k, v), device.kind)
            for impl in ("tiled", "reference")
        }
        share = peaks["tiled"] / peaks["reference"]
        note = f"{peaks['tiled'] / 2**20:.1f} MiB against {peaks['reference'] / 2**20:.1f} MiB"
        name = f"peak extra memory, causal, T {self.length}, D 64"
        return [Row(name, "tiled", "naive", share, target=0.05, at_most=True, note=note)]


def contests(device: Device) -> list[Contest | MemoryContest]:
    """On a CPU the tiles written in PyTorch, on a GPU the Triton kernel."""
    if device.is_cuda:
        return [_on_gpu(device, head_dim, backward) for head_dim in (64, 128) for backward in (False, True)]
    return [
        _on_cpu(device, 1024, backward=False),
        _on_cpu(device, 4096, backward=False, targets={"SDPA": 0.75, "naive": 4.0}),
        _on_cpu(device, 4096, backward=True),
        MemoryContest(4096),
    ]


def _on_cpu(
    device: Device, length: int, *, backward: bool, targets: dict[str, float] | None = None
) -> Contest:
    inputs = random_qkv(device, length, grad=backward)
    work: dict[str, Callable[..., Tensor]] = {
        "tiled": plain_call(pattern=causal(), impl="tiled"),
        "SDPA": partial(scaled_dot_product_attention, is_causal=True),
        "naive": plain_call(pattern=causal(), impl="reference"),
    }
    flops = dense_flops(length, backward=backward)
    return Contest(
        name=f"{_task(backward)}, causal, T {length}, D 64",
        variants={name: partial(with_gradients, function, inputs) for name, function in work.items()},
        comparisons=[Comparison("tiled", name, (targets or {}).get(name)) for name in ("SDPA", "naive")],
        gates=[gate_against_reference(device, "tiled", causal(), grad=backward)],
        flops=dict.fromkeys(work, flops),
    )


def _on_gpu(device: Device, head_dim: int, backward: bool, length: int = 8192) -> Contest:
    shape: dict[str, Any] = {"n_heads": 16, "head_dim": head_dim, "batch": 2}
    inputs = random_qkv(device, length, grad=backward, **shape)
    work: dict[str, Callable[..., Tensor]] = {
        "triton": plain_call(pattern=causal(), impl="triton"),
        "SDPA flash": partial(pinned_sdpa(SDPBackend.FLASH_ATTENTION), is_causal=True),
        "SDPA cuDNN": partial(pinned_sdpa(SDPBackend.CUDNN_ATTENTION), is_causal=True),
        "SDPA default": partial(scaled_dot_product_attention, is_causal=True),
    }
    targets = {
        (64, False): {"SDPA flash": 1.1, "SDPA cuDNN": 0.9},
        (128, False): {"SDPA flash": 1.0},
        (64, True): {"SDPA flash": 0.6},
        (128, True): {"SDPA flash": 0.6},
    }[head_dim, backward]
    return Contest(
        name=f"{_task(backward)}, causal, bf16, T {length}, D {head_dim}",
        variants={name: partial(with_gradients, function, inputs) for name, function in work.items()},
        comparisons=[Comparison("triton", name, targets.get(name)) for name in work if name != "triton"],
        gates=[gate_against_reference(device, "triton", causal(), grad=backward, head_dim=head_dim)],
        flops=dict.fromkeys(work, dense_flops(length, backward=backward, **shape)),
    )


def _task(backward: bool) -> str:
    return "forward and backward" if backward else "forward"
