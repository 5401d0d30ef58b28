"""Checks of the exercises in the chapter on sequence to sequence with a GRU."""

from collections.abc import Callable, Sequence
from typing import Any

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
        assert not expect.same(found, wrong, tolerance=1e-5), (
            f"the new state is wrong: {hint}"
        )
    expect.close(found, expected, what="the new state")


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
    expect.close(
        student(large, 2.0)[0],
        torch.tensor([1.2, 0.0]),
        what="the first gradient for max_norm = 2",
        hint="the norm afterwards is max_norm",
    )
    small = [torch.tensor([0.3]), torch.tensor([0.4])]
    for gradient, result in zip(small, student(small, 1.0), strict=True):
        expect.close(
            result,
            gradient,
            what="a small gradient",
            hint="below the limit nothing changes",
        )


def lstm_translator(student: str) -> None:
    """969,656 parameters: two LSTMs of 99,328 in place of two GRUs of 74,496."""
    expect.quantity(
        student,
        969_656.0,
        "parameters",
        what="the size of the model",
        tolerance=1e-5,
        mistakes={
            919_992.0: "that is the model with GRUs; an LSTM has four blocks, not 3",
            944_824.0: "only one cell was exchanged: encoder and decoder have one each",
            968_632.0: "each cell has two biases, one for x and one for h",
            99_328.0: "that is one LSTM; all other parts of the model are missing",
            198_656.0: "these are two LSTMs; embeddings and output layer are missing",
        },
    )


def gradient_plot(student: str) -> None:
    """The solid line of the RNN with g = 0.8 crosses 10^-6 about 53 steps back."""
    expect.quantity(
        student,
        53.0,
        "steps",
        what="the distance",
        tolerance=0.12,
        mistakes={
            25.0: "that is a dashed line, a cell with gates, or the grid line of 10^-3",
            74.0: "there the line is at 10^-8; the grid lines are three powers apart",
            92.0: "there the line is at 10^-10; the grid lines are three powers apart",
        },
    )


def translator_width(student: tuple[Any, Any]) -> None:
    """The widest state with half as wide embeddings in 500,000 parameters."""
    d_embedding, d_hidden = student
    for name, size in (("d_embedding", d_embedding), ("d_hidden", d_hidden)):
        whole = expect.is_whole(size)
        assert whole, f"{name} is {size!r}; a whole number is expected"
    assert 2 * d_embedding >= d_hidden, (
        f"d_embedding = {d_embedding} is less than half of d_hidden = {d_hidden}"
    )
    d_embedding, d_hidden = int(d_embedding), int(d_hidden)
    size = _translator_parameters(d_embedding, d_hidden)
    assert size <= 500_000, (
        f"({d_embedding}, {d_hidden}) has {size:,} parameters; 500,000 are allowed"
    )
    wider = d_hidden + 1
    narrowest = (wider + 1) // 2
    assert _translator_parameters(narrowest, wider) > 500_000, (
        f"({narrowest}, {wider}) fits as well and has a wider state; go on, and take"
        " embeddings no wider than needed"
    )


def _translator_parameters(d_embedding: int, d_hidden: int) -> int:
    """Of the encoder-decoder with GRUs and 3,000 tokens on each side."""
    cell = 3 * d_hidden * (d_embedding + d_hidden + 2)
    return 2 * 3000 * d_embedding + 2 * cell + 3000 * (d_hidden + 1)


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
