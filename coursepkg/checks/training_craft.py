"""Checks of the exercises in the chapter on training craft."""

import math
from collections.abc import Callable, Mapping
from typing import Any

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


def cosine_rate(student: Callable[[int, float, int, int], float]) -> None:
    """The ends of both branches, and a point inside each."""
    for peak, warmup, last in [(1e-3, 100, 1000), (0.5, 4, 20)]:
        for step, share, hint in [
            (1, 1 / warmup, "the first step has the rate peak / warmup, not 0"),
            (
                warmup // 2,
                (warmup // 2) / warmup,
                "the warm-up is peak * step / warmup",
            ),
            (warmup, 1.0, "the warm-up ends at the peak, at step = warmup"),
            (
                warmup + 1,
                (1 + math.cos(math.pi / (last - warmup))) / 2,
                "the cosine begins behind the warm-up, at the peak: step - warmup",
            ),
            (
                (warmup + last) // 2,
                0.5,
                "half of the way from warmup to last the rate is half of the peak",
            ),
            (last, 0.0, "at the last step the rate is 0"),
        ]:
            expect.close(
                student(step, peak, warmup, last) / peak,
                share,
                what=f"the rate / peak at step {step} for warm-up {warmup} of {last}",
                tolerance=2e-7,  # single precision is enough
                hint=hint,
            )


def step_in_memory(student: Mapping[str, Any]) -> None:
    """A micro-batch and an accumulation for a GPU of 16 GB."""
    tokens, n_batches = (
        expect.attempted(student[key]) for key in ("micro_batch", "accumulate")
    )
    for name, number in (("micro_batch", tokens), ("accumulate", n_batches)):
        is_count = expect.is_whole(number) and number > 0
        assert is_count, f"{name} is {number!r}; a positive int is expected"
    assert tokens * n_batches >= 25_000, (
        f"{n_batches} micro-batches of {tokens:,} are {tokens * n_batches:,} tokens;"
        " 25,000 are needed"
    )
    gigabytes = (20 * 100e6 + 2e6 * tokens) / 1e9
    assert gigabytes <= 16, (
        f"this takes {gigabytes:.1f} GB of 16: 20 bytes a parameter with AdamW and EMA,"
        " and R-Drop keeps the activations of twice the batch"
    )
    assert n_batches == 4, (
        f"{n_batches} micro-batches are more than needed; fill the memory that the"
        " parameters leave"
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
