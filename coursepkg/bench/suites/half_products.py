"""Padded attention in bfloat16 on a CPU: two batched products against PyTorch's fused kernel."""

from functools import partial

import torch
from torch.nn.functional import scaled_dot_product_attention

from coursepkg.attention.patterns import padding
from coursepkg.bench.machine import Device
from coursepkg.bench.race import Comparison, Contest, Gate
from coursepkg.bench.suites.inputs import plain_call, random_qkv
from coursepkg.processor import multiplies_bfloat16

HEADS, HEAD_DIM = 4, 64
SIZES = ((13, 136), (5, 248), (2, 496), (1, 1024))
"""Batch and length: those of lines of text of several widths, and one that is longer than they are."""


def contests(device: Device) -> list[Contest]:
    """None where the processor does not multiply bfloat16: `attention` runs the fused kernel there."""
    if device.is_cuda or not multiplies_bfloat16():
        return []
    return [_contest(device, batch, length) for batch, length in SIZES]


def _contest(device: Device, batch: int, length: int) -> Contest:
    drawn = random_qkv(device, length, n_heads=HEADS, head_dim=HEAD_DIM, batch=batch)
    q, k, v = (x.bfloat16() for x in drawn)
    lengths = [length - i for i in range(batch)]
    pattern = padding(lengths)
    mask = torch.arange(length) < torch.tensor(lengths)[:, None, None, None]
    ours, formula = (plain_call(pattern=pattern, impl=impl) for impl in ("sdpa", "reference"))
    exact = [x.double() for x in (q, k, v)]
    return Contest(
        name=f"bf16, padded, batch {batch}, {HEADS} heads, T {length}, D {HEAD_DIM}",
        variants={
            "two products": partial(ours, q, k, v),
            "SDPA": partial(scaled_dot_product_attention, q, k, v, attn_mask=mask),
        },
        comparisons=[Comparison("two products", "SDPA")],
        gates=[
            Gate(
                "two products",
                compute=lambda: [ours(q, k, v)],
                plain=lambda: [formula(q, k, v)],
                exact=lambda: [formula(*exact)],
            )
        ],
        flops=dict.fromkeys(("two products", "SDPA"), 4.0 * batch * HEADS * length**2 * HEAD_DIM),
    )
