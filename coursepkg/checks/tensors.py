"""Checks of the exercises in the chapter on tensors and notation."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from coursepkg.checks import expect


def normalise_rows(student: Callable[[Tensor], Tensor]) -> None:
    """Square matrices, where a wrong broadcast is silent, and stacks of matrices."""
    generator = torch.Generator().manual_seed(0)
    for shape in ((4, 4), (3, 5), (2, 3, 4, 4)):
        x = torch.rand(shape, generator=generator) + 0.1
        x[..., 0] = -0.1  # the sum of a row is not that of its absolute numbers
        rows = student(x.clone())
        expect.is_tensor(rows, shape, what="the result")
        expect.close(
            rows,
            x / x.sum(-1, keepdim=True),
            what=f"the rows for shape {shape}",
            hint="is each row divided by its own sum?",
        )


def masked_mean(student: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Padding holds large numbers here, so that one that is counted is noticed."""
    x = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(1))
    lengths = torch.tensor([5, 2, 1])
    exact = torch.stack(
        [row[:length].mean(0) for row, length in zip(x, lengths.tolist(), strict=True)]
    )
    for b, length in enumerate(lengths.tolist()):
        x[b, length:] = 1000.0
    means = student(x.clone(), lengths.clone())
    expect.close(
        means,
        exact,
        what="the means",
        hint="padding must count neither in the sum nor in the number",
    )


def log_sum_exp(student: Callable[[Tensor], Tensor]) -> None:
    """Scores whose exponentials overflow or vanish, in all rows or in one of them."""
    s = torch.randn(3, 6, generator=torch.Generator().manual_seed(2))
    for shift in (0.0, 1000.0, -1000.0):
        found = student(s + shift)
        expect.close(
            found,
            (s + shift).logsumexp(-1),
            what=f"the result for scores near {shift:.0f}",
            tolerance=1e-3,
        )
    levels = torch.tensor([[0.0, 1000.0, -1000.0], [-1000.0, 0.0, 1000.0]])
    found = student(s.expand(2, 3, 6) + levels[..., None])
    what = "the result for a stack (2, 3, 6) with rows near 0, 1000 and -1000"
    expect.is_tensor(found, (2, 3), what=what)
    expect.close(
        found - levels,
        s.logsumexp(-1).expand(2, 3),
        what=f"{what}, less 0, 1000 and -1000,",
        tolerance=1e-3,
        hint="each row needs a maximum of its own",
    )


def score_memory(student: str) -> None:
    """4 GiB: 32 heads, 8,192 queries, 8,192 keys, 2 bytes."""
    expect.quantity(
        student,
        4.0,
        "GiB",
        what="the memory of the scores",
        mistakes={
            8.0: "a number in bfloat16 takes 2 bytes, not 4",
            2.0: "a number in bfloat16 takes 2 bytes, not 1",
            32.0: "a number in bfloat16 takes 16 bits; these are 2 bytes",
            1 / 8: "that is one head; each of the 32 heads has scores of its own",
            1 / 2048: "each query has a score for each key: the length counts twice",
        },
    )


def running_sum(
    student: tuple[Any, Callable[[torch.dtype, float], Any]],
) -> None:
    """Adding 0.5 in bfloat16 stops at 128, where neighbours are 1 apart."""
    predicted, stops_at = student
    expect.attempted(predicted)
    for dtype, step, last in [
        (torch.bfloat16, 1.0, 256.0),
        (torch.bfloat16, 0.5, 128.0),
        (torch.float16, 1.0, 2048.0),
    ]:
        expect.equal(
            float(expect.attempted(stops_at(dtype, step))),
            last,
            what=f"stops_at({dtype}, {step})",
            hint="keep the sum in this dtype, and return the last sum, not a count",
        )
    hints = {
        256.0: "there a step of 1 is lost; a step of 0.5 is lost earlier",
        64.0: "from 64 on, neighbours are 0.5 apart, so 64.5 can be stored",
    }
    expect.equal(
        float(predicted),
        128.0,
        what="the prediction",
        hint=hints.get(
            float(predicted), "a step is lost where neighbours are two steps apart"
        ),
    )


def stored_numbers(student: str) -> None:
    """float16 stores 4,096, 4,100 and 4,104 of the nine numbers."""
    expect.choice(
        student,
        "b",
        {
            "a": "a mark at every number is the line of float32",
            "c": "a single mark is the line of bfloat16",
            "d": "a mark at every second number belongs to 2,048; move the slider",
        },
    )
