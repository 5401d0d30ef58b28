"""Checks of the exercises in the chapter on training craft."""

from collections.abc import Callable

import torch
from torch import Tensor

from coursepkg.checks import expect
from coursepkg.training.schedules import noam


def noam_rate(student: Callable[[int, int, int], float]) -> None:
    """The corrected formula on both branches and where they meet."""
    for step, d_model, warmup in [
        (1, 512, 4000),
        (100, 64, 400),
        (4000, 512, 4000),
        (20_000, 512, 4000),
    ]:
        expect.close(
            student(step, d_model, warmup),
            noam(d_model, warmup)(step),
            what=f"the rate at step {step} for d_model {d_model} and warmup {warmup}",
            tolerance=1e-9,
            hint=(
                "the rising branch is step * warmup^-1.5, and both are scaled by"
                " d_model^-0.5"
            ),
        )


def smoothed_target(student: Callable[[int, int, float, str], Tensor]) -> None:
    """Both conventions, for several sizes."""
    for right, n_classes, smoothing in [(0, 5, 0.1), (3, 4, 0.2), (1, 2, 0.0)]:
        for convention in ("pytorch", "olympiad"):
            others = smoothing / (
                n_classes if convention == "pytorch" else n_classes - 1
            )
            wanted = torch.full((n_classes,), others)
            wanted[right] = 1.0 - (n_classes - 1) * others
            expect.close(
                student(right, n_classes, smoothing, convention),
                wanted,
                what=(
                    f"the target for class {right} of {n_classes}, smoothing"
                    f" {smoothing}, {convention}"
                ),
                hint=(
                    "pytorch spreads over all classes, olympiad over the wrong ones"
                    " only; the sum is 1"
                ),
            )


def clip_together(student: Callable[[list[Tensor], float], list[Tensor]]) -> None:
    """Gradients above and below the limit, of several shapes."""
    draw = torch.Generator().manual_seed(0)
    for limit in (1.0, 100.0):
        gradients = [torch.randn(shape, generator=draw) for shape in ((3, 4), (5,), ())]
        before = [g.clone() for g in gradients]
        norm = torch.cat([g.flatten() for g in before]).norm()
        clipped = student(gradients, limit)
        assert len(clipped) == len(before), (
            f"{len(clipped)} gradients came back; {len(before)} are expected"
        )
        for number, (got, given) in enumerate(zip(clipped, before, strict=True)):
            expect.unchanged(given, gradients[number], what=f"gradient {number}")
            expect.close(
                got,
                given * min(1.0, limit / float(norm)),
                what=(
                    f"gradient {number} for a norm of {float(norm):.2f} and the limit"
                    f" {limit}"
                ),
                hint=(
                    "one norm over all gradients, one factor for all, and none where"
                    " the norm is small enough"
                ),
            )


def position_after(student: Callable[[int, int, int], tuple[int, int]]) -> None:
    """Whole and incomplete last groups, inside an epoch and at its end."""
    for step, n_batches, accumulate, place in [
        (0, 5, 2, (0, 0)),
        (2, 5, 2, (0, 4)),
        (3, 5, 2, (1, 0)),
        (7, 5, 2, (2, 2)),
        (4, 6, 3, (2, 0)),
        (11, 4, 1, (2, 3)),
    ]:
        answer = student(step, n_batches, accumulate)
        expect.equal(
            tuple(answer),
            place,
            what=(
                f"(epoch, batch) after {step} steps of {accumulate} of {n_batches}"
                " batches"
            ),
            hint="the last group of an epoch is a step too, even if it is incomplete",
        )
