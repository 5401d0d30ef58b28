"""Checks of the exercises in the chapter on additive and multiplicative attention."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from coursepkg.checks import expect
from coursepkg.checks.error_lists import read_labels


def additive_scores(
    student: Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor],
) -> None:
    """v^T tanh(W q + U k) for all pairs."""
    generator = torch.Generator().manual_seed(0)
    query, keys, W, U, v = (
        torch.randn(*shape, generator=generator)
        for shape in ((3, 4), (5, 6), (7, 4), (7, 6), (7,))
    )
    exact = torch.stack(
        [torch.stack([v @ torch.tanh(W @ q + U @ k) for k in keys]) for q in query]
    )
    scores = student(*(x.clone() for x in (query, keys, W, U, v)))
    expect.close(
        scores,
        exact,
        what="scores",
        hint="tanh of the sum, then the product with v; no softmax here",
    )


def padded_weights(student: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Weights that ignore padding, sum to one, and are zero where no key is real."""
    scores = torch.randn(3, 2, 4, generator=torch.Generator().manual_seed(1))
    lengths = torch.tensor([4, 2, 0])
    is_real = torch.arange(4) < lengths[:, None]
    weights = student(scores.clone(), is_real.clone())
    expect.is_tensor(weights, (3, 2, 4), what="weights")
    expect.close(
        weights[0],
        scores[0].softmax(-1),
        what="the weights of a sentence without padding",
    )
    expect.close(weights[1, :, 2:], torch.zeros(2, 2), what="the weights at padding")
    expect.close(
        weights[1, :, :2],
        scores[1, :, :2].softmax(-1),
        what="the weights of a sentence with padding",
        hint="mask the scores before the softmax, or the rest does not sum to 1",
    )
    expect.close(
        weights[2],
        torch.zeros(2, 4),
        what="the weights of a sentence without a real key",
    )


def general_matrix(student: Callable[[Tensor, Tensor], Tensor]) -> None:
    """W = W_q W_k^T / sqrt(d), with d the width of a head."""
    W_q, W_k = torch.randn(2, 6, 3, generator=torch.Generator().manual_seed(2))
    matrix = student(W_q.clone(), W_k.clone())
    expect.close(
        matrix,
        W_q @ W_k.T / 3**0.5,
        what="W",
        hint="W_q comes first, and d under the root is the head's width",
    )


def alignment_hits(
    student: Callable[[Tensor, list[tuple[int, int]]], tuple[int, int]],
) -> None:
    """Hits and counted words: unaligned words, several partners."""
    weights = torch.tensor(
        [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3], [0.4, 0.3, 0.3]]
    )
    hits, counted = student(weights.clone(), [(0, 3), (1, 1)])
    expect.equal(counted, 2, what="counted words when two of four have a partner")
    expect.equal(
        hits,
        1,
        what="hits when one of two words hits",
        hint="pairs have the source position first",
    )
    expect.equal(
        tuple(student(weights.clone(), [(0, 1), (2, 1), (1, 2)])),
        (2, 2),
        what="(hits, counted) with a word that has two partners",
        hint="count words, not pairs; pairs have the source position first",
    )
    try:
        student(weights.clone(), [(0, 4)])
    except ValueError:
        return
    raise AssertionError(
        "a target position beyond the weights' rows must raise ValueError"
    )


def memory_growth(
    student: tuple[Any, Callable[[int, int], Any]],
) -> None:
    """Twice the length takes four times the memory, twice the width takes twice."""
    predicted, additive_peak = student
    longer, wider = expect.attempted(predicted)
    base, long, wide = (
        expect.attempted(additive_peak(n, m))
        for n, m in ((64, 32), (128, 32), (64, 64))
    )
    hidden_layer = 64 * 64 * 32 * 4
    assert hidden_layer <= base <= 4 * hidden_layer, (
        f"additive_peak(64, 32) is {base:,} bytes; the hidden layer of all pairs alone"
        f" takes {hidden_layer:,}: measure AdditiveAttention with 32 hidden units"
    )
    for name, measured, factor in (("length", long, 4), ("hidden units", wide, 2)):
        assert 0.85 * factor < measured / base < 1.15 * factor, (
            f"the measured factor for twice the {name} is {measured / base:.1f}; about"
            f" {factor} is expected: do n and m both reach the layer?"
        )
    hint = "T and S both double, and each pair of them has a hidden layer"
    expect.equal(float(longer), 4.0, what="the prediction for the length", hint=hint)
    hint = "one hidden layer for each pair: its width counts once"
    expect.equal(float(wider), 2.0, what="the prediction for the width", hint=hint)


def choose_score(
    student: Callable[[int, int, int, int, int], tuple[str, int]],
) -> None:
    """Settings where parameters, memory, or both decide."""
    for E, T, S, m in [
        *((128, 100, 100, 52), (128, 20, 20, 77), (128, 400, 400, 0)),
        *((256, 400, 400, 0), (128, 50, 200, 52), (128, 200, 50, 52)),
        *((128, 125, 256, 16), (128, 128, 257, 0)),
    ]:
        best = "additive" if m else "general" if E * E <= 20_000 else "dot"
        chosen, units = student(E, T, S, 20_000, 2**21)
        case = f"for E = {E}, T = {T}, S = {S}"
        assert chosen in ("additive", "general", "dot"), (
            f"{case} the score is {chosen!r}; one of additive, general, dot is expected"
        )
        parameters = {"additive": units * (2 * E + 1), "general": E * E, "dot": 0}
        assert parameters[chosen] <= 20_000, (
            f"{case} {chosen} with m = {units} has {parameters[chosen]:,} parameters;"
            " 20,000 are allowed"
        )
        stored = T * S * 4 * (units if chosen == "additive" else 1)
        assert stored <= 2**21, (
            f"{case} {chosen} with m = {units} stores {stored:,} bytes; 2,097,152 are"
            " allowed"
        )
        assert chosen == best, f"{case} the score is {chosen}; {best} fits and is asked"
        assert m or units == 0, f"{case} m is {units}; 0 is expected for {chosen}"
        assert units == m, f"{case} m is {units}; {m} is the largest that fits"


LABELS = (
    "number",
    "repetition",
    "omission",
    "addition",
    "one place",
    "several places",
)
"""The kinds of wrong translations, as the exercise names them."""


def wrong_translations(student: Callable[[], Sequence[str]]) -> str:
    """Fifty labels against those of the reference."""
    return expect.labels(student(), *read_labels("gru_translations"), LABELS)
