"""Checks of the exercises in the chapter on extensions: ensembles, streams."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from coursepkg.checks import expect
from coursepkg.checks.error_lists import read_labels
from coursepkg.training.schedules import Plateau

Said = list[tuple[str, float]]


def two_losses(student: Callable[[Tensor, Tensor], tuple[float, float]]) -> None:
    """The example of the chapter, one network, and several of many words."""
    generator = torch.Generator().manual_seed(0)
    many = torch.rand(3, 7, 4, generator=generator, dtype=torch.float64) + 0.05
    cases = [
        (
            torch.tensor([[[0.9, 0.1]], [[0.2, 0.8]]], dtype=torch.float64),
            torch.tensor([0]),
        ),
        (
            torch.tensor([[[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]]], dtype=torch.float64),
            torch.tensor([2, 0]),
        ),
        (many / many.sum(dim=2, keepdim=True), torch.tensor([0, 3, 1, 2, 2, 0, 1])),
    ]
    for p, truths in cases:
        answer = student(p.clone(), truths.clone())
        assert len(answer) == 2, (
            f"{len(answer)} values came; the loss of the mean and the mean loss are"
            " expected"
        )
        right = p[:, torch.arange(len(truths)), truths]
        what = f"of {p.shape[0]} networks on {p.shape[1]} clips"
        expect.close(
            answer[0],
            -right.mean(dim=0).log().mean().item(),
            what=f"the log loss of the mean {what}",
            hint=(
                "average the probabilities of the networks first, take the logarithm"
                " then"
            ),
        )
        expect.close(
            answer[1],
            -right.log().mean().item(),
            what=f"the mean log loss {what}",
            hint=(
                "take the logarithm of each network's probability first, and average"
                " then"
            ),
        )


def windows_until_sure(student: Callable[[float, float, float], int]) -> None:
    """The examples of the chapter, no smoothing, what is never sure."""
    for q, smoothing, threshold, expected in [
        (0.9, 0.5, 0.7, 3),
        (0.9, 0.8, 0.7, 7),
        (0.9, 0.0, 0.7, 1),
        (0.6, 0.5, 0.3, 1),
        (1.0, 0.9, 0.5, 7),
        (0.7, 0.0, 0.7, 1),
        (0.9, 0.95, 0.85, 57),
        (0.5, 0.5, 0.7, 0),
        (0.7, 0.5, 0.7, 0),
    ]:
        expect.equal(
            student(q, smoothing, threshold),
            expected,
            what=(
                f"the number of windows for q {q}, smoothing {smoothing}, threshold"
                f" {threshold}"
            ),
            hint=(
                "after k windows the smoothed probability is q (1 - s^k); 0 says that"
                " it never reaches the threshold"
            ),
        )


def plateau_rates(
    student: Callable[[list[float], float, int, float], Sequence[float]],
) -> None:
    """The example of the chapter, equal losses, no patience, two factors."""
    cases = [
        ([5.0, 4.0, 4.1, 4.2, 4.1, 4.3, 3.9, 4.0, 4.0, 4.0, 4.0], 3),
        ([3.0, 3.0, 3.0, 3.0, 3.0], 1),
        ([3.0, 2.0, 1.0], 0),
        ([1.0, 2.0, 1.5, 1.2, 0.5], 0),
        ([2.0, 3.0, 3.0, 3.0, 2.5, 2.4, 2.3, 1.9], 2),
        ([5.0, 4.0, 4.5, 3.0, 3.5, 3.6, 2.0], 1),
    ]
    for number, (losses, patience) in enumerate(cases):
        lr, factor = ((8.0, 0.5), (1.0, 0.1))[number % 2]
        schedule, rates = (
            Plateau(lr, factor=factor, patience=patience, mode="min", threshold=0),
            [],
        )
        for loss in losses:
            schedule.update(loss)
            rates.append(schedule.lr)
        answer = student(list(losses), lr, patience, factor)
        assert len(answer) == len(losses), (
            f"{len(answer)} rates came for {len(losses)} validations"
        )
        expect.close(
            torch.tensor([float(one) for one in answer], dtype=torch.float64),
            torch.tensor(rates, dtype=torch.float64),
            what=(
                f"the rates after the losses {losses} with patience {patience}, lr"
                f" {lr:g} and factor {factor:g}"
            ),
            hint=(
                "cut when MORE than patience losses in a row were no new best; a new"
                " best begins the counting again, and after a cut the best stays"
            ),
        )


def events(student: Callable[[Said, float, int], list[tuple[str, int, int]]]) -> None:
    """Runs, pauses that are short and too long, other words in between."""
    cases: list[tuple[Said, int, list[tuple[str, int, int]]]] = [
        (
            [("Mẹ", 0.8), ("Mẹ", 0.9), ("Bố", 0.3), ("Bố", 0.7)],
            0,
            [("Mẹ", 0, 1), ("Bố", 3, 3)],
        ),
        ([("Mẹ", 0.8), ("Mẹ", 0.4), ("Mẹ", 0.3), ("Mẹ", 0.9)], 2, [("Mẹ", 0, 3)]),
        (
            [("Mẹ", 0.8), ("Mẹ", 0.4), ("Mẹ", 0.3), ("Mẹ", 0.9)],
            1,
            [("Mẹ", 0, 0), ("Mẹ", 3, 3)],
        ),
        ([("Mẹ", 0.8)] * 4, 0, [("Mẹ", 0, 3)]),
        ([("Mẹ", 0.8), ("Bố", 0.3), ("Mẹ", 0.9)], 1, [("Mẹ", 0, 2)]),
        (
            [("Mẹ", 0.8), ("Bố", 0.6), ("Mẹ", 0.9)],
            5,
            [("Mẹ", 0, 0), ("Bố", 1, 1), ("Mẹ", 2, 2)],
        ),
        ([("Mẹ", 0.5), ("Bố", 0.49)], 0, [("Mẹ", 0, 0)]),
        ([("Mẹ", 0.1), ("Bố", 0.2)], 3, []),
        ([], 1, []),
    ]
    for said, pause, expected in cases:
        answer = student(list(said), 0.5, pause)
        expect.equal(
            [tuple(event) for event in answer],
            expected,
            what=f"the events of {said} with threshold 0.5 and pause {pause}",
            hint=(
                "windows that are not sure belong to no event and do not end one by"
                " themselves; a pause is counted from the event's LAST window, and"
                " between windows 4 and 7 lie two"
            ),
        )


LABELS = (
    "hidden hand",
    "too few frames",
    "left-handed",
    "same hand shape",
    "same movement",
    "same place",
    "rare word",
    "other",
)
"""The causes of wrong answers, as the exercise names them."""


def wrong_answers(student: Callable[[], Sequence[str]]) -> str:
    """Fifty labels against those of the reference."""
    return expect.labels(student(), *read_labels("wrong_signs"), LABELS)
