"""Launching the Triton kernels: tile sizes, the band in numbers, strides, grids."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from coursepkg.attention.pattern import Band


@dataclass(frozen=True)
class TileSizes:
    """How one kernel is cut and compiled."""

    block_q: int
    """Queries a tile."""
    block_k: int
    """Keys a tile."""
    warps: int = 4
    """Groups of 32 threads a program."""
    stages: int = 2
    """TileSizes under way from memory at once."""


class KernelTiles(NamedTuple):
    """TileSizes of the three kernels that walk over scores."""

    forward: TileSizes
    query_gradient: TileSizes
    key_value_gradient: TileSizes


def kernel_tiles(*sizes: tuple[int, ...]) -> KernelTiles:
    """(block_q, block_k), or with warps and stages, of each kernel in turn."""
    return KernelTiles(*(TileSizes(*size) for size in sizes))


# One fixed choice a head dim instead of autotuning: a learner's first call compiles
# three kernels, not sixty. Data-centre Hopper and Blackwell: tensor cores want 128
# rows, and 227 KB of shared memory feed them. At head dim 64 the softmax takes as long
# as the products: the forward tiles need so few registers (128 a thread) that two
# programs share a multiprocessor, one in its softmax while the other multiplies.
LARGE_HALF = {
    32: kernel_tiles((128, 64, 4, 3), (128, 64, 4, 3), (64, 64, 4, 3)),
    64: kernel_tiles((128, 64, 8, 3), (128, 64, 8, 3), (64, 128, 8, 3)),
    128: kernel_tiles((128, 64, 8, 3), (128, 64, 8, 3), (64, 128, 8, 3)),
}
# Every other GPU from the A100 on: fits the 99 KB of shared memory of an RTX card.
SMALL_HALF = {
    32: kernel_tiles((128, 64, 4, 3), (64, 64, 4, 2), (64, 64, 4, 2)),
    64: kernel_tiles((128, 64, 4, 2), (64, 64, 4, 2), (64, 64, 4, 2)),
    128: kernel_tiles((64, 64, 4, 2), (64, 32, 4, 2), (32, 64, 4, 2)),
}
# Exact float32 products run outside the tensor cores, with operands in registers: small
# tiles.
SINGLE = {
    32: kernel_tiles((64, 32), (32, 32), (32, 32)),
    64: kernel_tiles((32, 32), (32, 32), (32, 32)),
    128: kernel_tiles((32, 16), (32, 16), (16, 32)),
}
# On the CPU the sizes serve the tests: several tiles in a short sequence, queries and
# keys cut differently.
INTERPRETED = kernel_tiles((32, 16), (32, 16), (16, 32))


def tiles_for(q: Tensor) -> KernelTiles:
    """The tiles for tensors like q, on its device."""
    if not q.is_cuda:
        return INTERPRETED
    block_d = padded_head_dim(q)
    if q.dtype == torch.float32:
        return SINGLE[block_d]
    large = torch.cuda.get_device_capability(q.device)[0] in (9, 10)
    return (LARGE_HALF if large else SMALL_HALF)[block_d]


def padded_head_dim(q: Tensor) -> int:
    """The power of two that holds a head: tiles have no other widths."""
    return max(32, 1 << (q.shape[-1] - 1).bit_length())


def forward(
    q: Tensor, k: Tensor, v: Tensor, band: Band, scale: float
) -> tuple[Tensor, Tensor]:
    """Attention over a band, and what the backward pass needs to know of its softmax.

    The scale must be above 0.

    Returns:
        out (B, H, T, D), and lse (B, H, T) in float32: the base-2 logarithm of each
        row's softmax denominator, -inf where a row sees nothing.
    """
    from coursepkg.attention.triton_kernels import forward_kernel

    q, k, v = (_unit_stride(x) for x in (q, k, v))
    out, lse = torch.empty_like(q), _one_float_a_row(q)
    tiles = tiles_for(q).forward
    tensors = {"q": q, "k": k, "v": v, "out": out}
    walk = _over_keys(q, k, band, tiles)
    options = {"lse": lse, **_problem(q, k, band, scale), **walk}
    _launch(forward_kernel, q, tiles.block_q, tiles, tensors, **options)
    return out, lse


def backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    out: Tensor,
    lse: Tensor,
    grad_out: Tensor,
    band: Band,
    scale: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of q, k and v, from inputs and results of `forward`."""
    from coursepkg.attention import triton_kernels as kernels

    q, k, v, grad_out = (_unit_stride(x) for x in (q, k, v, grad_out))
    grad_q, grad_k, grad_v = (torch.empty_like(x) for x in (q, k, v))
    delta, plan = _one_float_a_row(q), tiles_for(q)
    problem = _problem(q, k, band, scale)

    tiles = TileSizes(plan.forward.block_q, plan.forward.block_k)
    tensors = {"out": out, "grad_out": grad_out}
    sizes = {"T": q.shape[2], "n_heads": q.shape[1], **_head_dim(q)}
    options = {"delta": delta, "BLOCK_Q": tiles.block_q, **sizes}
    _launch(kernels.delta_kernel, q, tiles.block_q, tiles, tensors, **options)

    saved: dict[str, Any] = {"lse": lse, "delta": delta, "scale": scale, **problem}
    read = {"q": q, "k": k, "v": v, "grad_out": grad_out}
    tiles = plan.query_gradient
    options = saved | _over_keys(q, k, band, tiles)
    tensors = {**read, "grad_q": grad_q}
    _launch(kernels.query_gradient_kernel, q, tiles.block_q, tiles, tensors, **options)

    tiles = plan.key_value_gradient
    options = saved | _over_queries(q, k, band, tiles)
    tensors = {**read, "grad_k": grad_k, "grad_v": grad_v}
    kernel = kernels.key_value_gradient_kernel
    _launch(kernel, k, tiles.block_k, tiles, tensors, **options)
    return grad_q, grad_k, grad_v


def _launch(
    kernel: Any,
    tiled: Tensor,
    block: int,
    tiles: TileSizes,
    tensors: dict[str, Tensor],
    **arguments: object,
) -> None:
    """One program for each `block` rows of each head; tensors go with their strides."""
    programs = tiled.shape[0] * tiled.shape[1] * -(-tiled.shape[2] // block)
    strides = {f"{name}_strides": x.stride()[:3] for name, x in tensors.items()}
    launch = {"num_warps": tiles.warps, "num_stages": tiles.stages}
    with torch.cuda.device_of(tiled):
        kernel[(programs,)](**tensors, **strides, **arguments, **launch)


def _problem(q: Tensor, k: Tensor, band: Band, scale: float) -> dict[str, int | float]:
    left, right = _reach(q, k, band)
    return {
        "T": q.shape[2],
        "S": k.shape[2],
        "n_kv_heads": k.shape[1],
        "n_shared": q.shape[1] // k.shape[1],
        "left": left,
        "right": right,
        "scale_log2": scale * math.log2(math.e),
        **_head_dim(q),
    }


def _head_dim(q: Tensor) -> dict[str, int]:
    return {"D": q.shape[-1], "BLOCK_D": padded_head_dim(q)}


def _reach(q: Tensor, k: Tensor, band: Band) -> tuple[int, int]:
    """The band in numbers; "no limit" is the largest distance there is."""
    left, right = band
    back, ahead = k.shape[2] - 1, q.shape[2] - 1
    left = back if left is None else min(int(left), back)
    return left, ahead if right is None else min(int(right), ahead)


def _over_keys(q: Tensor, k: Tensor, band: Band, tiles: TileSizes) -> dict[str, int]:
    """Blocks of a walk over keys, and which of its three stages can happen."""
    left, right = _reach(q, k, band)
    before, after = left < k.shape[2] - 1, right < q.shape[2] - 1
    return _walk(tiles, before, after or k.shape[2] % tiles.block_k > 0)


def _over_queries(q: Tensor, k: Tensor, band: Band, tiles: TileSizes) -> dict[str, int]:
    """The same for a walk over queries, where before and after change places."""
    left, right = _reach(q, k, band)
    before, after = right < q.shape[2] - 1, left < k.shape[2] - 1
    return _walk(tiles, before, after or q.shape[2] % tiles.block_q > 0)


def _walk(tiles: TileSizes, before: bool, after: bool) -> dict[str, int]:
    return {
        "BLOCK_Q": tiles.block_q,
        "BLOCK_K": tiles.block_k,
        "FIRST_STAGE": 0 if before else 1,
        "END_STAGE": 3 if after else 2,
    }


def _unit_stride(x: Tensor) -> Tensor:
    """x itself if the numbers of a head lie side by side, else a copy."""
    return x if x.stride(-1) == 1 else x.contiguous()


def _one_float_a_row(q: Tensor) -> Tensor:
    return torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
