"""Checks of the exercises in the chapter on rotary position embedding."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from coursepkg.attention.position_bias import alibi_bias
from coursepkg.attention.rope import RotaryEmbedding
from coursepkg.checks import expect
from coursepkg.checks.error_lists import read_labels


def rotate(student: Callable[[Tensor, int], Tensor]) -> None:
    """One vector in the interleaved layout, at several positions and sizes."""
    generator = torch.Generator().manual_seed(0)
    for size, position in [(2, 3), (4, 0), (8, 5), (16, 100)]:
        x = torch.randn(size, generator=generator)
        rotated = student(x.clone(), position)
        expect.is_tensor(rotated, (size,), what="the rotated vector")
        exact = (
            RotaryEmbedding(size).rotate(x[None, None, None], offset=position).flatten()
        )
        half = (
            RotaryEmbedding(size, layout="half")
            .rotate(x[None, None, None], offset=position)
            .flatten()
        )
        in_other_layout = (
            size > 2 and position > 0 and expect.same(rotated, half, tolerance=1e-4)
        )
        hint = (
            "these are the pairs of the half layout"
            if in_other_layout
            else "theta_i is base ** (-2 i / D)"
        )
        expect.close(
            rotated,
            exact,
            what=f"the vector at position {position}",
            tolerance=1e-4,
            hint=hint,
        )


def slow_pairs(student: Callable[[int, float, int], int]) -> None:
    """Pairs that made less than one turn."""
    for head_dim, base, trained, count in [
        (64, 10000.0, 512, 16),
        (128, 10000.0, 4096, 18),
        (8, 100.0, 1000, 0),
        (4, 10000.0, 3, 2),
    ]:
        what = (
            f"slow pairs for head_dim = {head_dim}, base = {base:.0f}, trained ="
            f" {trained}"
        )
        expect.equal(
            student(head_dim, base, trained),
            count,
            what=what,
            hint="a turn is 2 pi, not 1 and not pi",
        )


def chunk_positions(student: Callable[[Sequence[int]], Sequence[Tensor]]) -> None:
    """Positions go on from chunk to chunk."""
    for lengths in ([3, 2], [1, 1, 4], [5]):
        positions = student(list(lengths))
        expect.attempted(positions)
        expect.equal(len(positions), len(lengths), what="the number of chunks")
        for chunk, length in zip(positions, lengths, strict=True):
            expect.is_tensor(chunk, (length,), what="the positions of a chunk")
        joined = torch.cat([torch.as_tensor(chunk) for chunk in positions]).tolist()
        expect.equal(
            joined,
            list(range(sum(lengths))),
            what=f"all positions for chunks of {lengths}",
            hint="a chunk starts where the one before it ended",
        )


def alibi(student: Callable[[int, int], Tensor]) -> None:
    """The bias for heads that are a power of two."""
    for n_heads, length in [(8, 5), (4, 3)]:
        bias = student(n_heads, length)
        expect.is_tensor(bias, (n_heads, length, length), what="the bias")
        exact = alibi_bias(n_heads, length, length)[0]
        assert not expect.same(bias, -exact), (
            "the bias has the wrong sign: far keys must lose, not gain"
        )
        expect.close(
            bias,
            exact,
            what="the bias",
            hint="the first slope is 2 ** (-8 / H), the last 2 ** -8",
        )


def half_layout(student: Callable[[Tensor, int], Tensor]) -> None:
    """One vector in the half layout; the mistakes are mixed or reversed pairs."""
    generator = torch.Generator().manual_seed(1)
    for size, position in [(4, 0), (8, 5), (16, 100)]:
        x = torch.randn(size, generator=generator)
        found = student(x.clone(), position)
        what = f"the vector of {size} components at position {position}"
        expect.is_tensor(found, (size,), what=what)
        for wrong, reason in _half_layout_mistakes(x, position):
            assert position == 0 or not expect.same(found, wrong, tolerance=1e-4), (
                f"{what} is wrong: {reason}"
            )
        rotary = RotaryEmbedding(size, layout="half")
        exact = rotary.rotate(x[None, None, None], offset=position).flatten()
        hint = "component i turns with component i + D/2, by the same angle"
        expect.close(found, exact, what=what, tolerance=1e-4, hint=hint)


def _half_layout_mistakes(x: Tensor, position: int) -> list[tuple[Tensor, str]]:
    """Results of usual mistakes, each with what went wrong."""
    theta = 10000.0 ** (-torch.arange(0, len(x), 2) / len(x))
    angle, neighbours = (
        position * torch.cat((theta, theta)),
        position * theta.repeat_interleave(2),
    )
    a, b = x.chunk(2)
    turned = torch.cat((-b, a))
    rotary = RotaryEmbedding(len(x), layout="interleaved")
    return [
        (
            x * neighbours.cos() + turned * neighbours.sin(),
            "the angles stand in the order of the interleaved layout, the pairs in that"
            " of the half layout",
        ),
        (
            rotary.rotate(x[None, None, None], offset=position).flatten(),
            "these are the pairs of the interleaved layout",
        ),
        (
            x * angle.cos() - turned * angle.sin(),
            "it turns backwards; the first half gets the minus sign",
        ),
    ]


def scaled_angles(student: str) -> None:
    """Eight of the 16 points of NTK-aware scaling lie above 2."""
    expect.quantity(
        student,
        8.0,
        "pairs",
        what="the count",
        mistakes={
            16.0: "that is the line without scaling; NTK-aware scaling falls",
            0.0: "that is linear scaling; NTK-aware scaling is the falling line",
            7.0: "pairs count from 0: pair 0 lies above 2 as well",
            9.0: "pair 8 lies a little below 2",
        },
    )


LABELS = (
    "six back",
    "nearer",
    "five or seven back",
    "farther",
    "not shown",
)
"""The places where a wrong symbol stands, as the exercise names them."""


def wrong_symbols(student: Callable[[], Sequence[str]]) -> str:
    """Fifty labels against those of the reference."""
    return expect.labels(student(), *read_labels("recalled_symbols"), LABELS)
