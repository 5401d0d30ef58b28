"""Checks of the exercises in the chapter on positions."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from coursepkg.blocks.position import sinusoidal_table
from coursepkg.checks import expect


def position_table(student: Callable[[int, int], Tensor]) -> None:
    """Three sizes, one of them with a single pair."""
    for length, d_model in ((3, 512), (50, 8), (7, 2)):
        table = student(length, d_model)
        case = f"the table for length {length}, d_model {d_model}"
        expect.close(
            table,
            sinusoidal_table(length, d_model),
            what=case,
            tolerance=1e-4,
            hint=(
                "column 2i is sin(t * 10000^(-2i / d_model)) and column 2i + 1 the"
                " cosine of the same angle"
            ),
        )


def shift_matrix(student: Callable[[int, int], Tensor]) -> None:
    """The matrix moves every row of a table: forward, back, and not at all."""
    for offset, d_model in ((1, 2), (5, 16), (-3, 16), (0, 4)):
        matrix = student(offset, d_model)
        expect.is_tensor(
            matrix, (d_model, d_model), what=f"R for offset {offset}, d_model {d_model}"
        )
        table = sinusoidal_table(40, d_model)
        rows = torch.arange(10, 30)
        expect.close(
            table[rows] @ matrix.to(table.dtype).T,
            table[rows + offset],
            what=f"R @ table[t] for offset {offset}, d_model {d_model}",
            tolerance=1e-4,
            hint="is the minus sign on the right side of the diagonal?",
        )


def exchanged_words(
    student: tuple[Mapping[str, Any], Callable[[Tensor, bool, int], float]],
) -> None:
    """What the last word notices of an exchange, for three stacks of layers."""
    prediction, largest_change = student
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(5, 8, generator=generator, dtype=torch.float64)
    for name, causal, n_layers, reason in [
        (*("no mask, 2 layers", False, 2), "each layer sees a set without an order"),
        (*("causal, 1 layer", True, 1), "the last word sees all words, as a set"),
        (
            *("causal, 2 layers", True, 2),
            "under the mask word 0 sees itself alone and word 1 sees both",
        ),
    ]:
        guess = expect.attempted(prediction.get(name))
        found = expect.attempted(largest_change(x.clone(), causal, n_layers))
        exchanged = torch.cat([x[[1, 0]], x[2:]])
        change = _last_row(x, causal, n_layers) - _last_row(exchanged, causal, n_layers)
        measured = change.abs().max().item()
        expect.close(
            found,
            measured,
            what=f"the measured change, {name}",
            hint=(
                "exchange rows 0 and 1 of x, run all layers on both, and compare the"
                " last rows"
            ),
        )
        assert guess is (measured > 1e-6), (
            f"you predicted {guess!r} for {name!r}, and the change is {measured:.3f}:"
            f" {reason}"
        )


def _last_row(x: Tensor, causal: bool, n_layers: int) -> Tensor:
    """The last row behind layers x + softmax(x x^T / sqrt(E)) x."""
    for _ in range(n_layers):
        x = x + scaled_dot_product_attention(x, x, x, is_causal=causal)
    return x[-1]


def read_positions(student: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Noisy rows of a table, in a random order."""
    generator = torch.Generator().manual_seed(0)
    table = sinusoidal_table(200, 64)
    places = torch.randperm(200, generator=generator)[:50]
    x = table[places] + 0.1 * torch.randn(50, 64, generator=generator)
    found = student(x.clone(), table.clone())
    expect.is_tensor(found, (50,), what="the positions")
    expect.equal(
        found.long().tolist(),
        places.tolist(),
        what="the list of positions",
        hint="compare each vector with every row of the table, in all dimensions",
    )


def relative_key_scores(student: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
    """Offsets within the table and beyond it, against a score computed pair by pair."""
    generator = torch.Generator().manual_seed(0)
    for length, furthest in ((4, 6), (7, 2), (5, 1)):
        q, k = torch.randn(2, length, 8, generator=generator)
        a = torch.randn(2 * furthest + 1, 8, generator=generator)
        expected = torch.empty(length, length)
        for i in range(length):
            for j in range(length):
                row = min(max(j - i, -furthest), furthest) + furthest
                expected[i, j] = q[i] @ (k[j] + a[row]) / 8**0.5
        scores = student(q.clone(), k.clone(), a.clone())
        expect.close(
            scores,
            expected,
            what=f"the scores for T = {length}, m = {furthest}",
            hint=(
                "the offset is j - i, key minus query, clipped to -m..m; both terms are"
                " divided by sqrt(D)"
            ),
        )
