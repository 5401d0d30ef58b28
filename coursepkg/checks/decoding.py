"""Checks of the exercises in the chapter on decoding."""

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import torch
from torch import Tensor

from coursepkg.checks import expect
from coursepkg.checks.error_lists import read_labels

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


def best_of(
    student: Callable[[Sequence[tuple[list[str], float]], float], list[str]],
) -> None:
    """Pairs of a short and a long hypothesis that each mistake orders wrongly."""
    for short, long, log_probs, alpha, best, hint in [
        (3, 7, (-2.0, -2.6), 1.0, 7, "a log-probability is divided by the penalty"),
        (
            *(2, 12, (-2.0, -5.0), 1.0, 2),
            "the penalty is ((5 + |y|) / 6)^alpha, not |y|^alpha",
        ),
        (1, 7, (-1.0, -1.93), 1.0, 1, "|y| counts the end token, which is not listed"),
        (3, 7, (-2.0, -2.6), 0.0, 3, "with alpha 0 the more probable one wins"),
    ]:
        pairs = [
            ([f"word {i}" for i in range(length)], log_prob)
            for length, log_prob in zip((short, long), log_probs, strict=True)
        ]
        for hypotheses in (pairs, pairs[::-1]):
            found = student(list(hypotheses), alpha)
            assert isinstance(found, list | tuple), (
                f"the result is a {type(found).__name__}; the tokens are expected"
            )
            expect.equal(
                len(found),
                best,
                what=(
                    f"the number of tokens of the best of {short} tokens with"
                    f" {log_probs[0]} and {long} with {log_probs[1]}, alpha {alpha}"
                ),
                hint=hint,
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


def kept_tokens(
    student: tuple[Mapping[float, Any], Callable[[Tensor, float, float], int]],
) -> None:
    """The size of the nucleus at three temperatures, predicted and counted."""
    prediction, n_kept = student
    after_go = torch.tensor([0.80, 0.12, 0.04, 0.02, 0.01, 0.01], dtype=torch.float64)
    mixed = torch.tensor([0.05, 0.5, 0.15, 0.3], dtype=torch.float64)
    for probs, temperature, p, kept in [
        *((after_go, 0.5, 0.9, 1), (after_go, 1.0, 0.9, 2), (after_go, 2.0, 0.9, 5)),
        *((mixed, 1.0, 0.7, 2), (mixed, 1.0, 0.85, 3), (mixed, 0.25, 0.7, 1)),
    ]:
        expect.equal(
            expect.attempted(n_kept(probs.clone(), temperature, p)),
            kept,
            what=f"n_kept for {probs.tolist()}, temperature {temperature}, p = {p}",
            hint=(
                "probabilities to the power 1 / temperature, divided by their sum; then"
                " sort, and count the token that crosses p too"
            ),
        )
    for temperature, kept in ((0.5, 1), (1.0, 2), (2.0, 5)):
        guess = expect.attempted(prediction.get(temperature))
        is_near = isinstance(guess, Real) and abs(float(guess) - kept) <= 1
        assert is_near, (
            f"you predicted {guess!r} for temperature {temperature}, and {kept} are"
            " kept: a low temperature sharpens, a high one flattens"
        )


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
        is_pair = isinstance(result, tuple | list) and len(result) == 2
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


LABELS = (
    "search error",
    "repetition",
    "other order",
    "shorter",
    "one word",
    "several words",
)
"""The kinds of greedy errors, as the exercise names them."""


def greedy_errors(student: Callable[[], Sequence[str]]) -> str:
    """Fifty labels against those of the reference."""
    return expect.labels(student(), *read_labels("greedy_translations"), LABELS)
