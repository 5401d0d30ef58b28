"""Checks of the exercises in the chapter on tensors and notation."""

from collections.abc import Callable

import torch
from torch import Tensor

from coursepkg.checks import expect


def normalise_rows(student: Callable[[Tensor], Tensor]) -> None:
    """Square matrices, where a wrong broadcast is silent, and stacks of matrices."""
    generator = torch.Generator().manual_seed(0)
    for shape in ((4, 4), (3, 5), (2, 3, 4, 4)):
        x = torch.rand(shape, generator=generator) + 0.1
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


def score_bytes(student: Callable[[int, int, int, torch.dtype], int]) -> None:
    """Three sizes and dtypes."""
    cases = [
        (1, 8, 1024, torch.float32, 2**25),
        (2, 4, 10, torch.float16, 1600),
        (1, 32, 8192, torch.bfloat16, 2**32),
    ]
    for batch, n_heads, length, dtype, count in cases:
        what = f"bytes for B = {batch}, H = {n_heads}, T = {length}, {dtype}"
        expect.equal(student(batch, n_heads, length, dtype), count, what=what)


def log_sum_exp(student: Callable[[Tensor], Tensor]) -> None:
    """Ordinary scores, and scores whose exponentials overflow or vanish."""
    s = torch.randn(3, 6, generator=torch.Generator().manual_seed(2))
    for shift in (0.0, 1000.0, -1000.0):
        found = student(s + shift)
        expect.close(
            found,
            (s + shift).logsumexp(-1),
            what=f"the result for scores near {shift:.0f}",
            tolerance=1e-3,
        )
