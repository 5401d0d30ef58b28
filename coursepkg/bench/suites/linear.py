"""Chunked linear attention against causal softmax attention: the speed of different functions, said plainly."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from torch import Tensor

from coursepkg.attention.linear import linear_attention
from coursepkg.bench.machine import Device
from coursepkg.bench.race import Comparison, Contest, Gate, Row, Work
from coursepkg.bench.suites.inputs import GATE_LENGTH, random_qkv, sdpa_causal, with_gradients


class GrowthContest:
    """How much longer 16,384 tokens take than 4,096: four times as many tokens should cost about four times."""

    def __init__(self, short: int = 4096, long: int = 16384) -> None:
        self.short, self.long = short, long

    def run(self, device: Device) -> list[Row]:
        """Race the two lengths; the ratio reported is long over short."""
        long, short = f"T {self.long}", f"T {self.short}"
        work: dict[str, Work] = {
            short: partial(with_gradients, _linear, random_qkv(device, self.short)),
            long: partial(with_gradients, _linear, random_qkv(device, self.long)),
        }
        gate = replace(_gate(device), candidate=short)
        (row,) = Contest(
            "growth of chunked linear attention, D 64", work, [Comparison(short, long)], [gate]
        ).run(device)
        # A contest divides the second time by the first; here the first name must be the numerator.
        return [
            replace(
                row,
                candidate=long,
                opponent=short,
                candidate_ms=row.opponent_ms,
                opponent_ms=row.candidate_ms,
                target=4.5,
                at_most=True,
            )
        ]


def contests(device: Device) -> list[Contest | GrowthContest]:
    """Forward at two lengths, forward with backward at one, and the growth with length."""
    return [
        _contest(device, 1024, backward=False),
        _contest(device, 4096, backward=False, target=None if device.is_cuda else 3.5),
        _contest(device, 4096, backward=True),
        GrowthContest(),
    ]


def _linear(q: Tensor, k: Tensor, v: Tensor, mode: str = "chunked") -> Tensor:
    output = linear_attention(q, k, v, mode=mode, causal=True)
    assert isinstance(output, Tensor)
    return output


def _contest(device: Device, length: int, *, backward: bool, target: float | None = None) -> Contest:
    inputs = random_qkv(device, length, grad=backward)
    opponent, causal = sdpa_causal(device)
    work: dict[str, Callable[..., Tensor]] = {
        "chunked": _linear,
        opponent: causal,
    }
    task = "forward and backward" if backward else "forward"
    return Contest(
        name=f"{task}, causal, T {length}, D 64 (different functions)",
        variants={name: partial(with_gradients, function, inputs) for name, function in work.items()},
        comparisons=[Comparison("chunked", opponent, target)],
        gates=[_gate(device)],
    )


def _gate(device: Device) -> Gate:
    """The chunked form must be as exact as the explicit kernel matrix, gradients included."""
    inputs = random_qkv(device, GATE_LENGTH, grad=True)
    exact_inputs = [x.detach().double().requires_grad_() for x in inputs]
    return Gate(
        candidate="chunked",
        compute=lambda: with_gradients(_linear, inputs),
        plain=lambda: with_gradients(partial(_linear, mode="parallel"), inputs),
        exact=lambda: with_gradients(partial(_linear, mode="parallel"), exact_inputs),
    )
