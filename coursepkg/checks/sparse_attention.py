"""Checks of the exercises in the chapter on sparse attention."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from coursepkg.attention.api import attention
from coursepkg.attention.pattern import causal, sliding_window
from coursepkg.attention.topk import top_scores_attention
from coursepkg.checks import expect


def window_pairs(student: Callable[[int, int], int]) -> None:
    """Visible pairs of a causal window."""
    for n, window, count in [
        (1000, 100, 95_050),
        (6, 1, 6),
        (6, 3, 15),
        (4, 4, 10),
        (4, 9, 10),
    ]:
        expect.equal(
            student(n, window),
            count,
            what=f"visible pairs for n = {n}, window = {window}",
            hint="the first queries have fewer than `window` keys before them",
        )


def top_scores(student: Callable[[Tensor, Tensor, Tensor, int, int], Tensor]) -> None:
    """A causal window first, the highest scores of each row second."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 1, 2, 9, 4, generator=generator, dtype=torch.float64)
    pattern = causal() & sliding_window(4)
    output = student(q.clone(), k.clone(), v.clone(), 2, 4)
    expect.is_tensor(output, (1, 2, 9, 4), what="the output")
    _, weights = attention(
        q, k, v, pattern=pattern, impl="reference", return_weights=True
    )
    kept = torch.where(weights >= weights.topk(2).values[..., -1:], weights, 0.0)
    assert not expect.same(output, kept @ v), (
        "the weights of a row do not sum to one: hide the low scores before the"
        " softmax, not after it"
    )
    expect.close(
        output,
        top_scores_attention(q, k, v, 2, pattern=pattern),
        what="the output",
        hint=(
            "the window comes first: the n_keep highest scores are those among the"
            " visible keys"
        ),
    )
    expect.close(
        student(q.clone(), k.clone(), v.clone(), 4, 4),
        weights @ v,
        what="the output when n_keep is the whole window",
        hint="nothing may be lost then",
    )


def visited_share(
    student: tuple[Any, Callable[[Tensor, int], Any]],
) -> None:
    """The shares of a causal window of 64 over 1,024 tokens, in two sizes of block."""
    predicted, share_of = student
    small, large = expect.attempted(predicted)
    window = (causal() & sliding_window(64)).mask(1024, 1024)[0, 0]
    one_pair = torch.eye(6, dtype=torch.bool) & (torch.arange(6) == 2)
    last_pair = torch.zeros(5, 7, dtype=torch.bool)
    last_pair[4, 6] = True
    for name, mask, block, share in [
        ("a single pair in blocks of 2", one_pair, 2, 1 / 9),
        ("a pair in the smaller last block", last_pair, 3, 1 / 6),
        ("a mask of zeros", torch.zeros(4, 4, dtype=torch.bool), 2, 0.0),
        ("the window in blocks of 64", window, 64, 31 / 256),
        ("the window in blocks of 128", window, 128, 15 / 64),
    ]:
        expect.close(
            float(expect.attempted(share_of(mask.clone(), block))),
            share,
            what=f"the measured share for {name}",
            hint="count the blocks with at least one visible pair, not the pairs",
        )
    for block, guess, share, one_block in (
        (64, float(small), 31 / 256, 16 / 256),
        (128, float(large), 15 / 64, 8 / 64),
    ):
        what = f"the prediction for blocks of {block}"
        assert 0 <= guess <= 1, f"{what} is {guess}; a share from 0 to 1 is expected"
        assert abs(guess - one_block) > 0.01, (
            f"{what} is {guess}: that is one block in each row of blocks; the window"
            " also begins in the block before"
        )
        assert abs(guess - share) <= 0.02, (
            f"{what} is {guess}, {share:.3f} is measured: how many blocks does a row of"
            " blocks visit?"
        )


def fewest_layers(student: Callable[[int, int], tuple[int, int]]) -> None:
    """The fewest layers whose windows keep to a number of pairs and reach the start."""
    for n, budget, fewest in [
        (1000, 100_000, 10),
        (64, 500, 9),
        (64, 2080, 1),
        (10, 19, 9),
    ]:
        window, n_layers = student(n, budget)
        case = f"for n = {n} and {budget} pairs, window {window} and {n_layers} layers"
        assert window >= 2, f"{case}: the window must be at least 2"
        width = min(window, n)  # a window may be longer than the text
        pairs = n * width - width * (width - 1) // 2
        assert pairs <= budget, f"{case}: a layer shows {pairs} pairs, too many"
        reach = n_layers * (window - 1)
        assert reach >= n - 1, (
            f"{case}: the reach is {reach} of {n - 1} steps; a window that holds the"
            " position itself moves window - 1 steps"
        )
        assert n_layers == fewest, f"{case} fit, but {fewest} layers are enough"
