"""Checks of the exercises in the chapter on the contrastive stage."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from coursepkg.checks import expect
from coursepkg.training.losses import info_nce

PARTS_OF_VECTORS = 5
"""Width of the random vectors whose cosines the first check gives."""


def two_way_loss(student: Callable[[Tensor, float], Tensor | float]) -> None:
    """The chapter's matrix, equal vectors, and cosines that are not symmetric."""
    draw = torch.Generator().manual_seed(0)
    random = torch.randn(2, 6, PARTS_OF_VECTORS, generator=draw, dtype=torch.float64)
    sides = {
        "the matrix of the chapter": (
            torch.tensor([[0.8, 0.6, 0.0], [0.0, 0.6, 0.8], [0.0, 0.0, 1.0]]).double(),
            torch.eye(3, dtype=torch.float64),
        ),
        "identical vectors": (torch.ones(4, 2).double(), torch.ones(4, 2).double()),
        "random vectors": (random[0], random[1]),
    }
    for name, (a, b) in sides.items():
        a, b = (torch.nn.functional.normalize(x, dim=-1) for x in (a, b))
        for temperature in (0.1, 1.0):
            expect.close(
                student(a @ b.T, temperature),
                float(info_nce(a, b, temperature, reduction="mean")),
                what=f"the loss of {name} at temperature {temperature}",
                tolerance=1e-5,
                hint=(
                    "divide by the temperature, ask along rows and along columns, and"
                    " take the mean over the pairs"
                ),
            )


def pool_content(student: Callable[[Tensor, Tensor, list[int]], Tensor]) -> None:
    """Padding, EOS and a tag hold large numbers; one row has no content at all."""
    ids = torch.tensor([[5, 10, 11, 12, 2], [4, 10, 2, 0, 0], [4, 2, 0, 0, 0]])
    outputs = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(1))
    wanted = torch.stack([outputs[0, 1:4].mean(dim=0), outputs[1, 1], torch.zeros(4)])
    outputs[ids < 10] = 1000.0
    found = student(outputs.clone(), ids.clone(), [0, 1, 2, 4, 5])
    expect.close(
        found,
        wanted,
        what="the pooled vectors",
        hint=(
            "what is left out counts neither in the sum nor in the number, and a row"
            " without content is 0"
        ),
    )


def wrong_negatives(
    student: Callable[[Sequence[tuple[list[int], list[int]]]], Tensor],
) -> None:
    """A copy, a shared source, a shared target; ids in common are not enough."""
    pairs = [
        ([10], [20]),
        ([10], [20]),
        ([11], [20]),
        ([10], [21]),
        ([20], [10]),
        ([12, 13], [22]),
        ([13, 12], [23]),
        ([12, 10], [24, 20]),
    ]
    n = len(pairs)
    wanted = torch.zeros(n, n, dtype=torch.bool)
    for i, j in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3)):
        wanted[i, j] = wanted[j, i] = True
    found = expect.is_tensor(student(list(pairs)), (n, n), what="the matrix")
    assert found.dtype == torch.bool, (
        f"the matrix has dtype {found.dtype}; torch.bool is expected"
    )
    assert not bool(found.diagonal().any()), (
        "the diagonal is True; the partner is the positive, so it stays"
    )
    for i in range(n):
        for j in range(n):
            expect.equal(
                bool(found[i, j]),
                bool(wanted[i, j]),
                what=f"the entry for {pairs[i]} and {pairs[j]}",
                hint=(
                    "two pairs clash where they share their source or their target as"
                    " a whole, side with side"
                ),
            )


def temperature_for(student: Callable[[float, float, int, float], float]) -> None:
    """Several batches; the answer is put back into the softmax."""
    for positive, negative, n_negatives, wanted in [
        (0.7, 0.2, 63, 0.9),
        (0.5, -0.5, 1, 0.75),
        (0.9, 0.8, 255, 0.5),
    ]:
        found = float(student(positive, negative, n_negatives, wanted))
        given = (
            f"cosines {positive} and {negative}, {n_negatives} negatives, probability"
            f" {wanted}"
        )
        assert found > 0, (
            f"the temperature for {given} is {found:.4f}; it must be above 0"
        )
        expect.close(
            1 / (1 + n_negatives * math.exp(-(positive - negative) / found)),
            wanted,
            what=(
                f"the partner's probability at your temperature {found:.4f} for {given}"
            ),
            tolerance=1e-4,
            hint=(
                "every negative adds its own term to the softmax; solve for the"
                " temperature"
            ),
        )


def contrastive_loss(student: Callable[[Tensor, Tensor, float], Tensor]) -> None:
    """Perfect vectors, random ones, and vectors that are not of length one."""
    perfect = torch.eye(3, dtype=torch.float64)
    found = float(student(perfect, perfect, 0.1))
    assert found > -1e-9, (
        f"the loss of perfect vectors is {found:.4f}; below 0 it is no logarithm of a"
        " probability: the partner must stand among the candidates, too"
    )
    draw = torch.Generator().manual_seed(2)
    a, b = torch.randn(2, 5, 4, generator=draw, dtype=torch.float64)
    for name, left, right in (
        ("perfect vectors", perfect, perfect),
        ("random vectors", a, b),
        ("vectors three times as long", 3 * a, 3 * b),
    ):
        for temperature in (0.1, 1.0):
            found = float(student(left.clone(), right.clone(), temperature))
            exchanged = float(student(right.clone(), left.clone(), temperature))
            assert abs(found - exchanged) < 1e-6, (
                f"the loss of {name} changes when the languages are exchanged: ask"
                " along the rows and along the columns"
            )
            expect.close(
                found,
                float(info_nce(left, right, temperature, reduction="mean")),
                what=f"the loss of {name} at temperature {temperature}",
                hint=(
                    "cosines over the temperature; the softmax runs over all pairs of"
                    " the batch, the partner among them"
                ),
            )


def floor_of_copies(answer: tuple[Any, Callable[[list[int], float], float]]) -> None:
    """The measuring function on several batches, then the prediction."""
    prediction, student = answer
    expect.attempted(prediction)
    for copies in ([1, 1, 1], [2, 1, 1], [3, 3], [5], [4, 1, 1, 1, 1]):
        for temperature in (0.05, 0.5):
            kinds = [kind for kind, n in enumerate(copies) for _ in range(n)]
            perfect = torch.eye(len(copies), dtype=torch.float64)[kinds]
            wanted = float(info_nce(perfect, perfect, temperature, reduction="mean"))
            expect.close(
                expect.attempted(student(list(copies), temperature)),
                wanted,
                what=f"the loss for copies {copies} at temperature {temperature}",
                hint=(
                    "one row of an identity matrix for each different sentence, taken"
                    " as often as it stands in the batch"
                ),
            )
    expect.quantity(
        prediction,
        math.log(4) / 2,
        "nats",
        what="the prediction",
        tolerance=0.03,
        mistakes={
            math.log(4): (
                "so much costs each of the four copies; the other four pairs cost next"
                " to nothing, and the mean is over all eight"
            ),
            math.log(4) / 8: "each of the four copies costs ln 4, not one of them",
            math.log(8): "that is chance; these vectors are perfect",
        },
    )
