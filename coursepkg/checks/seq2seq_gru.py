"""Checks of the exercises in the chapter on sequence to sequence with a GRU."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from coursepkg.checks import expect


def gru_step(
    student: Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor], Tensor],
) -> None:
    """One step of a GRU, rows of the weights in the order r, z, n."""
    generator = torch.Generator().manual_seed(0)
    x, h = (
        torch.randn(2, 3, generator=generator),
        torch.randn(2, 4, generator=generator),
    )
    w, u = (
        torch.randn(12, 3, generator=generator),
        torch.randn(12, 4, generator=generator),
    )
    b, c = torch.randn(2, 12, generator=generator)
    expected = torch.gru_cell(x, h, w, u, b, c)
    found = expect.is_tensor(
        student(x, h.clone(), w, u, b, c), (2, 4), what="the new state"
    )
    for hint, wrong in _gru_mistakes(x, h, w, u, b, c).items():
        assert not torch.allclose(found, wrong, atol=1e-5), (
            f"the new state is wrong: {hint}"
        )
    expect.close(found, expected, what="the new state")


def gru_parameters(student: Callable[[int, int, int, int], int]) -> None:
    """Parameters of the encoder-decoder without attention."""
    baseline = student(3000, 3000, 64, 128)
    assert baseline != 919_992 - 768, (
        "768 are missing: each cell has two biases, one for x and one for h"
    )
    assert baseline != 919_992 - 3000, "3000 are missing: the output layer has a bias"
    expect.equal(baseline, 919_992, what="gru_parameters(3000, 3000, 64, 128)")
    expect.equal(
        student(7, 5, 2, 3),
        170,
        what="gru_parameters(7, 5, 2, 3)",
        hint="only the target vocabulary has an output layer",
    )


def clip(student: Callable[[list[Tensor], float], Sequence[Tensor]]) -> None:
    """Gradients scaled so that their common norm is at most max_norm."""
    large = [torch.tensor([3.0, 0.0]), torch.tensor([[4.0]])]
    before = [gradient.clone() for gradient in large]
    found = student(large, 1.0)
    assert len(found) == 2, f"there are {len(found)} gradients; 2 are expected"
    hint = "the norm is that of all gradients together, here 5"
    expect.close(
        found[0], torch.tensor([0.6, 0.0]), what="the first gradient", hint=hint
    )
    expect.close(found[1], torch.tensor([[0.8]]), what="the second gradient", hint=hint)
    for gradient, kept in zip(large, before, strict=True):
        expect.unchanged(kept, gradient, what="a gradient")
    small = [torch.tensor([0.3]), torch.tensor([0.4])]
    for gradient, result in zip(small, student(small, 1.0), strict=True):
        expect.close(
            result,
            gradient,
            what="a small gradient",
            hint="below the limit nothing changes",
        )


def cut(student: Callable[[list[int], int], list[int]]) -> None:
    """A target of at most max_len ids that begins with BOS and ends with EOS."""
    expect.equal(
        student([7, 8], 6),
        [1, 7, 8, 2],
        what="cut([7, 8], 6)",
        hint="add BOS and EOS, and no padding",
    )
    long = student([7, 8, 9, 10, 11], 5)
    assert len(long) <= 5, (
        f"cut([7, 8, 9, 10, 11], 5) has {len(long)} ids; at most 5 are allowed"
    )
    assert long[-1] == 2, (
        "cut([7, 8, 9, 10, 11], 5) does not end with EOS: cut the words before you"
        " add it"
    )
    expect.equal(long, [1, 7, 8, 9, 2], what="cut([7, 8, 9, 10, 11], 5)")
    expect.equal(
        student([7, 8, 9], 5),
        [1, 7, 8, 9, 2],
        what="cut([7, 8, 9], 5)",
        hint="that fits exactly",
    )


def _gru_mistakes(
    x: Tensor, h: Tensor, w: Tensor, u: Tensor, b: Tensor, c: Tensor
) -> dict[str, Tensor]:
    """What usual mistakes give."""
    (x_r, x_z, x_n), (h_r, h_z, h_n) = (
        F.linear(x, w, b).chunk(3, -1),
        F.linear(h, u, c).chunk(3, -1),
    )
    r, z, n = (
        torch.sigmoid(x_r + h_r),
        torch.sigmoid(x_z + h_z),
        torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n),
    )
    return {
        "z keeps the old state, 1 - z takes the candidate": (1 - z) * h + z * n,
        "the reset gate r is missing in the candidate": (
            (1 - z) * torch.tanh(x_n + h_n) + z * h
        ),
        "the rows are in the order r, z, n": (
            (1 - r) * torch.tanh(x_n + z * h_n) + r * h
        ),
        "r multiplies only what comes from h, not what comes from x": (
            (1 - z) * torch.tanh(r * (x_n + h_n)) + z * h
        ),
    }
