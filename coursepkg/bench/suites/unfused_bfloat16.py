"""Padded attention in bfloat16 on a CPU: two batched products against PyTorch's fused kernel."""

from functools import partial

import torch
from torch.nn.functional import scaled_dot_product_attention

from coursepkg.attention.patterns import padding
from coursepkg.bench.machine import Device
from coursepkg.bench.race import Comparison, Contest, Gate
from coursepkg.bench.suites.inputs import plain_call, random_qkv
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
    drawn = random_qkv(device, length, n_heads=HEADS, head_dim=head_dim, batch=batch)
    q, k, v = (x.bfloat16() for x in drawn)
    lengths = [length - i * length // (8 * batch) for i in range(batch)]
    pattern = padding(lengths)
    mask = torch.arange(length) < torch.tensor(lengths)[:, None, None, None]
    ours, formula = (plain_call(pattern=pattern, impl=impl) for impl in ("sdpa", "reference"))
    exact = [x.double() for x in (q, k, v)]
    gate = Gate(
        "two products",
        compute=lambda: [ours(q, k, v)],
        plain=lambda: [formula(q, k, v)],
        exact=lambda: [formula(*exact)],
    )
    return Contest(
        name=f"bf16, padded, batch {batch}, {HEADS} heads, T {length}, D {head_dim}",
        variants={
            "two products": partial(ours, q, k, v),
            "SDPA": partial(scaled_dot_product_attention, q, k, v, attn_mask=mask),
        },
        comparisons=[Comparison("two products", "SDPA")],
        gates=[gate],
    )
