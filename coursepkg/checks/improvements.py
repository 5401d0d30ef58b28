"""Checks of the exercises in the chapter on the improvements."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from coursepkg.checks import expect
from coursepkg.text.vocabulary import PAD
from coursepkg.training.regularisers import r_drop_loss

DRAWS = 400
"""Draws of the bootstrap that the first check gives."""


def decide(student: Callable[[Tensor, Tensor, Tensor], str]) -> None:
    """A sure gain, a sure loss, a gain within the noise, equal systems."""
    draw = torch.Generator().manual_seed(0)
    n = 200
    draws = torch.randint(n, (DRAWS, n), generator=draw)
    before = 100 * torch.rand(n, generator=draw, dtype=torch.float64)
    noise = torch.randn(n, generator=draw, dtype=torch.float64)
    noise = noise - noise.mean()
    # 1.7 standard errors: outside of a 90 % interval and inside of a 95 % one
    near = noise / noise.std() + 1.75 / n**0.5
    cases = {
        "a system that gains 2 with little noise": (before + 2 + noise, "better"),
        "a system that loses 2 with little noise": (before - 2 + noise, "worse"),
        "a system that gains 0.5 with much noise": (
            before + 0.5 + 20 * noise,
            "undecided",
        ),
        "equal systems": (before.clone(), "undecided"),
        "a gain of 1.75 standard errors": (before + near, "undecided"),
    }
    for name, (after, wanted) in cases.items():
        kept = before.clone()
        found = student(before, after.clone(), draws.clone())
        expect.unchanged(kept, before, what="before")
        expect.equal(
            found,
            wanted,
            what=f"the decision for {name}",
            hint=(
                "score both systems on the same draws, and look where the middle 95 %"
                " of the differences lie"
            ),
        )


def r_drop(student: Callable[[Tensor, Tensor, Tensor, float], Tensor | float]) -> None:
    """Random logits, equal passes, and two strengths; nothing is padded."""
    draw = torch.Generator().manual_seed(1)
    first, second = torch.randn(2, 5, 7, generator=draw, dtype=torch.float64)
    targets = torch.randint(PAD + 1, 7, (5,), generator=draw)
    for name, other in (("two passes", second), ("two equal passes", first)):
        for alpha in (0.0, 1.0, 5.0):
            passes = first.clone(), other.clone()
            found = student(*passes, targets.clone(), alpha)
            exchanged = student(*passes[::-1], targets.clone(), alpha)
            assert abs(float(found) - float(exchanged)) < 1e-6, (
                f"the loss of {name} at alpha {alpha:g} changes when the passes are"
                " exchanged: KL(p || q) and KL(q || p) differ, and both count"
            )
            both = torch.cat([first, other])[:, None]
            expect.close(
                found,
                float(r_drop_loss(both, targets[:, None], alpha, reduction="mean")),
                what=f"the loss of {name} at alpha {alpha:g}",
                tolerance=1e-4,
                hint=(
                    "the mean of both cross-entropies, and alpha / 2 times the mean of"
                    " both divergences"
                ),
            )


def epochs_until_all(student: Callable[[int, float], int]) -> None:
    """Shares that divide 1, shares that do not, the whole."""
    for total, share in (
        (10, 0.7),
        (10, 0.5),
        (10, 0.25),
        (1000, 0.3),
        (7, 1.0),
        (10, 0.34),
        (3, 0.5),
    ):
        expect.equal(
            student(total, share),
            _counted(total, share),
            what=f"the number of epochs for {total} examples and a share of {share}",
            hint=(
                "the window holds round(total * share) examples; how many windows in a"
                " row cover them all?"
            ),
        )


def noisy_channel(
    student: Callable[[Sequence[tuple[Any, ...]], float, float, float], list[int]],
) -> None:
    """Lists whose order the length penalty, the model and the channel change."""
    n_best = [
        (-2.0, -9.0, -3.0, 4),
        (-2.6, -8.0, -1.0, 8),
        (-2.3, -5.0, -6.0, 5),
        (-2.6, -8.0, -1.0, 8),
    ]
    for alpha, channel, lm, wanted in (
        (0.0, 0.0, 0.0, [0, 2, 1, 3]),
        (1.0, 0.0, 0.0, [1, 3, 2, 0]),
        (0.0, 1.0, 0.0, [1, 3, 0, 2]),
        (0.0, 0.0, 0.5, [2, 0, 1, 3]),
        (0.0, 1.0, 0.5, [1, 3, 0, 2]),
        (1.0, 0.3, 1.0, [1, 3, 2, 0]),
    ):
        expect.equal(
            list(student(list(n_best), alpha, channel, lm)),
            wanted,
            what=(
                f"the order at alpha {alpha:g}, channel {channel:g}, language model"
                f" {lm:g}"
            ),
            hint=(
                "add the three log-probabilities first, divide by length ** alpha, and"
                " keep equal ones in order"
            ),
        )


def classify_errors(answer: Sequence[str]) -> str:
    """The fifty labels against those of the package."""
    from coursepkg.projects.translation.errors.labelled import (
        ERROR_KINDS,
        labelled_errors,
    )

    errors = labelled_errors()
    return expect.labels(
        answer,
        [one.label for one in errors],
        [f"{one.output!r}: {one.reason}" for one in errors],
        tuple(ERROR_KINDS),
    )


def _counted(total: int, share: float) -> int:
    """By trying: epochs until every example was taken."""
    size, taken, epoch = round(total * share), set[int](), 0
    while len(taken) < total:
        taken |= {(epoch * size + i) % total for i in range(size)}
        epoch += 1
    return epoch
