"""Checks of the exercises in the chapter on decoding."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from coursepkg.checks import expect

Ended = list[tuple[int, float]]
"""(row, log-probability) of what ended."""
Alive = list[tuple[int, int, float]]
"""(row, token, log-probability) of what goes on."""


def penalised(student: Callable[[float, int, float], float]) -> None:
    """The score of a hypothesis for several lengths and exponents."""
    for log_prob, length, alpha in [
        (-2.0, 1, 0.6),
        (-2.0, 4, 0.6),
        (-2.6, 8, 0.6),
        (-3.0, 13, 1.0),
        (-1.5, 7, -0.5),
    ]:
        expect.close(
            student(log_prob, length, alpha),
            log_prob / ((5 + length) / 6) ** alpha,
            what=(
                f"the score for log-probability {log_prob}, length {length}, alpha"
                f" {alpha}"
            ),
            hint="divide by ((5 + length) / 6) to the power alpha",
        )
    expect.close(
        student(-3.0, 20, 0.0),
        -3.0,
        what="the score for alpha 0",
        hint="anything to the power 0 is 1",
    )


def nucleus(student: Callable[[Tensor, float], Tensor]) -> None:
    """Which tokens top-p keeps: unsorted probabilities, exact boundaries, ties."""
    for probs, p, kept in [
        ([0.1, 0.5, 0.15, 0.25], 0.7, [1, 3]),
        ([0.1, 0.5, 0.15, 0.25], 0.76, [1, 2, 3]),
        ([0.25, 0.5, 0.25, 0.0], 0.5, [1]),
        ([0.05, 0.9, 0.05], 0.3, [1]),
        ([0.25, 0.25, 0.5], 1.0, [0, 1, 2]),
        ([0.1, 0.3, 0.3, 0.3], 0.5, [1, 2]),
        ([0.25, 0.25, 0.25, 0.25], 0.5, [0, 1]),
    ]:
        given = torch.tensor(probs, dtype=torch.float64)
        before = given.clone()
        mask = student(given, p)
        case = f"the mask for probs = {probs}, p = {p}"
        expect.is_tensor(mask, given.shape, what=case)
        assert mask.dtype == torch.bool, (
            f"{case} has dtype {mask.dtype}; torch.bool is expected"
        )
        expect.equal(
            mask.nonzero().flatten().tolist(),
            kept,
            what=f"the kept tokens for probs = {probs}, p = {p}",
            hint=(
                "the fewest of the most likely tokens whose sum reaches p; the one that"
                " crosses p belongs to them; of equally likely tokens the one with the"
                " smaller id is kept first"
            ),
        )
        expect.unchanged(before, given, what="probs")


def beam_step(
    student: Callable[[Sequence[float], Tensor, int, int], tuple[Ended, Alive]],
) -> None:
    """One step of beam search: an end among the best K, one that is too far down."""
    eos = 0
    cases = [
        ([0.0], [[0.2, 0.5, 0.3]], [], [(0, 1), (0, 2)]),
        ([0.0], [[0.4, 0.5, 0.1]], [0], [(0, 1), (0, 2)]),
        ([-0.1, -1.0], [[0.05, 0.55, 0.4], [0.6, 0.3, 0.1]], [], [(0, 1), (0, 2)]),
        (
            [-0.5, -0.6],
            [[0.9, 0.06, 0.04], [0.8, 0.15, 0.05]],
            [0, 1],
            [(1, 1), (0, 1)],
        ),
    ]
    for totals, probs, ended, alive in cases:
        log_probs = torch.tensor(probs, dtype=torch.float64).log()
        result = expect.attempted(student(list(totals), log_probs.clone(), 2, eos))
        case = f"totals = {totals}, probabilities {probs}, K = 2, EOS = 0"
        is_pair = isinstance(result, tuple) and len(result) == 2
        assert is_pair, (
            f"the result is {result!r}; two lists are expected, what ends and what"
            " goes on"
        )
        got_ended, got_alive = result
        expect.equal(
            [row for row, _ in got_ended],
            ended,
            what=f"the rows that end, for {case}",
            hint="an end counts only among the best K of all continuations",
        )
        expect.equal(
            [(row, token) for row, token, _ in got_alive],
            alive,
            what=f"the (row, token) that go on, for {case}",
            hint="the best K others, EOS left out, best first; two may share a row",
        )
        for row, *token, total in [*got_ended, *got_alive]:
            wanted = totals[row] + log_probs[row, token[0] if token else eos].item()
            expect.close(
                float(total),
                wanted,
                what=f"a log-probability, for {case}",
                hint="add the row's own total",
            )


def can_stop(
    student: Callable[[float, Sequence[float], int, int, float], bool],
) -> None:
    """The early stop: safe for long and for short results."""
    for best_alive, finished, now, limit, alpha, stop in [
        (-3.0, [-1.0, -2.5], 4, 5, 0.0, True),
        (-2.0, [-1.0, -2.5], 4, 5, 0.0, False),
        (-3.0, [-1.0, -2.5], 4, 30, 1.0, False),
        (-30.0, [-1.0, -2.5], 4, 30, 1.0, True),
        (-3.0, [-1.0, -5.5], 4, 30, -1.0, False),
        (-3.4, [-1.0, -5.5], 4, 30, -1.0, True),
        (-9.0, [-1.0, -math.inf], 4, 30, 0.6, False),
        (-3.0, [-1.0, -3.0], 4, 5, 0.0, True),
    ]:
        expect.equal(
            bool(student(best_alive, list(finished), now, limit, alpha)),
            stop,
            what=(
                f"the answer for best alive {best_alive}, n best {finished}, {now}"
                f" tokens of {limit}, alpha {alpha}"
            ),
            hint=(
                "compare the worst of the n best with the best that a row can still"
                " reach: its log-probability over the larger of lp(now + 1) and"
                " lp(limit)"
            ),
        )
