"""Padded attention in bfloat16 on a CPU: two batched products against PyTorch's fused kernel."""

from functools import partial
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

from coursepkg.attention.patterns import padding
from coursepkg.bench.machine import Device
from coursepkg.bench.race import Comparison, Contest
from coursepkg.bench.suites.inputs import GATE_LENGTH, gate_against_reference, plain_call, random_qkv
from coursepkg.processor import multiplies_bfloat16

HEADS = 4
SIZES = ((16, 64, 32), (16, 64, 64), (13, 136, 64), (5, 248, 64), (2, 496, 32), (2, 496, 64), (2, 1024, 64))
"""Batch, length and head dim: lines of text of several widths, and one that is longer than they are."""


def contests(device: Device) -> list[Contest]:
    """One a size.

    Raises:
        ValueError: `attention` runs the fused kernel here, so that there is nothing to compare.
    """
    if device.is_cuda or not multiplies_bfloat16():
        raise ValueError(
            "suite unfused-bfloat16 needs --device cpu and a processor that multiplies bfloat16 itself (AVX-512 BF16 "
            "or AMX); run it on such a machine"
        )
    return [_contest(device, *size) for size in SIZES]


def _contest(device: Device, batch: int, length: int, head_dim: int) -> Contest:
    shape: dict[str, Any] = {"n_heads": HEADS, "head_dim": head_dim, "batch": batch, "dtype": torch.bfloat16}
    q, k, v = random_qkv(device, length, **shape)
    pattern = padding(_lengths(batch, length))
    mask = pattern.mask(1, length, batch=batch, heads=HEADS)
    return Contest(
        name=f"bf16, padded, batch {batch}, {HEADS} heads, T {length}, D {head_dim}",
        variants={
            "sdpa": partial(plain_call(pattern=pattern, impl="sdpa"), q, k, v),
            "SDPA": partial(scaled_dot_product_attention, q, k, v, attn_mask=mask),
        },
        comparisons=[Comparison("sdpa", "SDPA")],
        gates=[gate_against_reference(device, "sdpa", padding(_lengths(batch, GATE_LENGTH)), **shape)],
    )


def _lengths(batch: int, longest: int) -> list[int]:
    """Real positions of each row: all of the first, of the last about an eighth less."""
    return [longest - i * longest // (8 * batch) for i in range(batch)]
