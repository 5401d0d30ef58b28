"""Patterns that leave most pairs out: an implementation that skips blocks wins by the ratio of blocks."""

from collections.abc import Callable
from functools import partial

from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from coursepkg.attention.pattern import Pattern
from coursepkg.attention.patterns import causal, dilated_window, global_tokens, random_blocks, sliding_window
from coursepkg.attention.sparse import visited_fraction
from coursepkg.bench.machine import Device
from coursepkg.bench.race import Comparison, Contest
from coursepkg.bench.suites.inputs import (
    gate_against_reference,
    plain_call,
    random_qkv,
    sdpa_causal,
    with_gradients,
)

BLOCK = 128
"""Block size of the random blocks."""


def contests(device: Device) -> list[Contest]:
    """A CPU window of 256 and a GPU window of 1024, both at 8192 tokens; on a CPU also the other patterns."""
    if device.is_cuda:
        window = causal() & sliding_window(1024)
        return [
            _contest(device, "causal window 1024", window, "triton", backward=False, causal_target=4.0),
            _contest(device, "causal window 1024", window, "triton", backward=True),
        ]
    window = causal() & sliding_window(256)
    longformer = (sliding_window(256) | global_tokens(8)) & causal()
    bigbird = (sliding_window(256) | global_tokens(8) | random_blocks(2, BLOCK)) & causal()
    return [
        _contest(device, "causal window 256", window, backward=False, causal_target=3.5, mask_target=9.0),
        _contest(device, "causal window 256", window, backward=True),
        _contest(device, "causal dilated window 256 by 4", dilated_window(256, 4) & causal(), backward=False),
        _contest(device, "window 256 and 8 global tokens", longformer, backward=False),
        _contest(device, "window, global and 2 random blocks", bigbird, backward=False),
    ]


def _contest(
    device: Device,
    name: str,
    pattern: Pattern,
    impl: str = "sparse",
    *,
    backward: bool,
    causal_target: float | None = None,
    mask_target: float | None = None,
    length: int = 8192,
) -> Contest:
    inputs = random_qkv(device, length, grad=backward)
    dense_name, dense = sdpa_causal(device)
    mask = pattern.mask(length, length, device=device.kind)
    work: dict[str, Callable[..., Tensor]] = {
        impl: plain_call(pattern=pattern, impl=impl),
        dense_name: dense,
        "SDPA with the mask": partial(scaled_dot_product_attention, attn_mask=mask),
    }
    task = "forward and backward" if backward else "forward"
    visited = visited_fraction(pattern, length, length)
    return Contest(
        name=f"{task}, {name}, T {length}, D 64",
        variants={label: partial(with_gradients, function, inputs) for label, function in work.items()},
        comparisons=[
            Comparison(impl, dense_name, causal_target, bound=0.5 / visited),
            Comparison(impl, "SDPA with the mask", mask_target, bound=1 / visited),
        ],
        gates=[gate_against_reference(device, impl, pattern, grad=backward)],
    )
