"""Launching the Triton kernels: tile sizes, the band in numbers, strides, grids."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from coursepkg.attention.pattern import Band


@dataclass(frozen=True)
class Tiles:
    """How one kernel is cut and compiled."""

    block_q: int
    """Queries a tile."""
    block_k: int
    """Keys a tile."""
    warps: int = 4
    """Groups of 32 threads a program."""
    stages: int = 2
    """Tiles under way from memory at once."""


class Plan(NamedTuple):
    """Tiles of the three kernels that walk over scores."""

    forward: Tiles
    query_gradient: Tiles
    key_value_gradient: Tiles


# One fixed choice a head dim instead of autotuning: a learner's first call compiles three kernels, not sixty.
# Data-centre Hopper and Blackwell: tensor cores want 128 rows, and 227 KB of shared memory feed them. At head dim 64
# the softmax takes as long as the products: the forward tiles need so few registers (128 a thread) that two programs
# share a multiprocessor, one in its softmax while the other multiplies.
LARGE_HALF = {
    32: Plan(Tiles(128, 64, 4, 3), Tiles(128, 64, 4, 3), Tiles(64, 64, 4, 3)),
    64: Plan(Tiles(128, 64, 8, 3), Tiles(128, 64, 8, 3), Tiles(64, 128, 8, 3)),
    128: Plan(Tiles(128, 64, 8, 3), Tiles(128, 64, 8, 3), Tiles(64, 128, 8, 3)),
}
# Every other GPU from the A100 on: fits the 99 KB of shared memory of an RTX card.
SMALL_HALF = {
    32: Plan(Tiles(128, 64, 4, 3), Tiles(64, 64, 4, 2), Tiles(64, 64, 4, 2)),
    64: Plan(Tiles(128, 64, 4, 2), Tiles(64, 64, 4, 2), Tiles(64, 64, 4, 2)),
    128: Plan(Tiles(64, 64, 4, 2), Tiles(64, 32, 4, 2), Tiles(32, 64, 4, 2)),
}
# Exact float32 products run outside the tensor cores, with operands in registers: small tiles.
SINGLE = {
    32: Plan(Tiles(64, 32), Tiles(32, 32), Tiles(32, 32)),
    64: Plan(Tiles(32, 32), Tiles(32, 32), Tiles(32, 32)),
    128: Plan(Tiles(32, 16), Tiles(32, 16), Tiles(16, 32)),
}
# On the CPU the sizes serve the tests: several tiles in a short sequence, queries and keys cut differently.
INTERPRETED = Plan(Tiles(32, 16), Tiles(32, 16), Tiles(16, 32))


def plan_for(q: Tensor) -> Plan:
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


def forward(q: Tensor, k: Tensor, v: Tensor, band: Band, scale: float) -> tuple[Tensor, Tensor]:
    """Attention over a band, and what the backward pass needs to know of its softmax.

    Args:
        q: (B, H, T, D).
        k: (B, G, S, D).
        v: (B, G, S, D).
        band: (left, right) of the pattern.
        scale: factor on the dot products, above 0.

    Returns:
        out (B, H, T, D), and lse (B, H, T) in float32: the base-2 logarithm of each row's softmax denominator,
        -inf where a row sees nothing.
    """
    from coursepkg.attention.triton_forward import forward_kernel

    q, k, v = (_unit_stride(x) for x in (q, k, v))
    out, lse = torch.empty_like(q), _one_float_a_row(q)
    tiles = plan_for(q).forward
    tensors = {"q": q, "k": k, "v": v, "out": out}
    walk = _over_keys(q, k, band, tiles)
    _launch(forward_kernel, q, tiles.block_q, tiles, tensors, lse=lse, **_problem(q, k, band, scale), **walk)
    return out, lse


def backward(
    q: Tensor, k: Tensor, v: Tensor, out: Tensor, lse: Tensor, grad_out: Tensor, band: Band, scale: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of q, k and v, from the inputs and results of `forward` and the gradient of `out`."""
    from coursepkg.attention import triton_backward as kernels

    q, k, v, grad_out = (_unit_stride(x) for x in (q, k, v, grad_out))
    grad_q, grad_k, grad_v = (torch.empty_like(x) for x in (q, k, v))
    delta, plan, problem = _one_float_a_row(q), plan_for(q), _problem(q, k, band, scale)

    tiles = Tiles(plan.forward.block_q, plan.forward.block_k)
    sizes = {"n_queries": q.shape[2], "n_heads": q.shape[1], "BLOCK_Q": tiles.block_q, **_head_dim(q)}
    _launch(
        kernels.delta_kernel,
        q,
        tiles.block_q,
        tiles,
        {"out": out, "grad_out": grad_out},
        delta=delta,
        **sizes,
    )

    saved = {"lse": lse, "delta": delta, "scale": scale, **problem}
    read = {"q": q, "k": k, "v": v, "grad_out": grad_out}
    tiles = plan.query_gradient
    walk = _over_keys(q, k, band, tiles)
    _launch(
        kernels.query_gradient_kernel, q, tiles.block_q, tiles, {**read, "grad_q": grad_q}, **saved, **walk
    )

    tiles = plan.key_value_gradient
    walk = _over_queries(q, k, band, tiles)
    tensors = {**read, "grad_k": grad_k, "grad_v": grad_v}
    _launch(kernels.key_value_gradient_kernel, k, tiles.block_k, tiles, tensors, **saved, **walk)
    return grad_q, grad_k, grad_v


def _launch(
    kernel: Any, tiled: Tensor, block: int, tiles: Tiles, tensors: dict[str, Tensor], **arguments: object
) -> None:
    """Run one program for each `block` rows of each head of `tiled`; each tensor goes with its strides."""
    programs = tiled.shape[0] * tiled.shape[1] * -(-tiled.shape[2] // block)
    strides = {f"{name}_strides": x.stride()[:3] for name, x in tensors.items()}
    with torch.cuda.device_of(tiled):
        kernel[(programs,)](**tensors, **strides, **arguments, num_warps=tiles.warps, num_stages=tiles.stages)


def _problem(q: Tensor, k: Tensor, band: Band, scale: float) -> dict[str, int | float]:
    left, right = _reach(q, k, band)
    return {
        "n_queries": q.shape[2],
        "n_keys": k.shape[2],
        "n_kv_heads": k.shape[1],
        "n_shared": q.shape[1] // k.shape[1],
        "left": left,
        "right": right,
        "scale_log2": scale * math.log2(math.e),
        **_head_dim(q),
    }


def _head_dim(q: Tensor) -> dict[str, int]:
    return {"HEAD_DIM": q.shape[-1], "BLOCK_D": padded_head_dim(q)}


def _reach(q: Tensor, k: Tensor, band: Band) -> tuple[int, int]:
    """The band in numbers: "no limit" is the largest distance there is between these queries and keys."""
    left, right = band
    back, ahead = k.shape[2] - 1, q.shape[2] - 1
    return back if left is None else min(left, back), ahead if right is None else min(right, ahead)


def _over_keys(q: Tensor, k: Tensor, band: Band, tiles: Tiles) -> dict[str, int]:
    """Blocks of a walk over keys, and which of its three stages can happen."""
    left, right = _reach(q, k, band)
    before, after = left < k.shape[2] - 1, right < q.shape[2] - 1
    return _walk(tiles, before, after or k.shape[2] % tiles.block_k > 0)


def _over_queries(q: Tensor, k: Tensor, band: Band, tiles: Tiles) -> dict[str, int]:
    """The same for a walk over queries, where before and after change places."""
    left, right = _reach(q, k, band)
    before, after = right < q.shape[2] - 1, left < k.shape[2] - 1
    return _walk(tiles, before, after or q.shape[2] % tiles.block_q > 0)


def _walk(tiles: Tiles, before: bool, after: bool) -> dict[str, int]:
    return {
        "BLOCK_Q": tiles.block_q,
        "BLOCK_K": tiles.block_k,
        "FIRST_STAGE": 0 if before else 1,
        "END_STAGE": 3 if after else 2,
    }


def _unit_stride(x: Tensor) -> Tensor:
    """X itself if the numbers of a head lie side by side, else a copy; other strides are free."""
    return x if x.stride(-1) == 1 else x.contiguous()


def _one_float_a_row(q: Tensor) -> Tensor:
    return torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
