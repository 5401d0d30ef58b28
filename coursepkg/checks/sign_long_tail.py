"""Checks of the exercises in the chapter on the long tail."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from coursepkg.checks import expect


def times_shown(student: Callable[[list[int]], Sequence[float]]) -> None:
    """Even words, the contest's numbers, and a tail."""
    for counts in ([5, 5, 5], [60, 4], [97, 55, 30, 12, 4], [1, 1, 10]):
        answer = student(list(counts))
        assert len(answer) == len(counts), (
            f"{len(answer)} numbers came for {len(counts)} words"
        )
        share = sum(counts) / len(counts)
        expect.close(
            torch.tensor([float(one) for one in answer], dtype=torch.float64),
            torch.tensor([share / count for count in counts], dtype=torch.float64),
            what=f"how often a clip is shown, for words of {counts} clips,",
            hint=(
                "each word gets the same share of the epoch, and the clips of a word"
                " share it evenly"
            ),
        )


def macro_f1(
    student: Callable[[list[str], list[str | None], list[str]], float],
) -> None:
    """The example of the chapter, absent words, answers off the list."""
    from coursepkg.metrics.scoring import score
    from coursepkg.projects.sign_language.scores import WordF1

    cases: list[tuple[str, str, str]] = [
        ("AAAABBC", "AAABBAC", "ABC"),
        ("AAAABBC", "AAABBAC", "ABCD"),
        ("AABB", "AXB-", "AB"),
        ("AAA", "BBB", "ABC"),
        ("ABCD", "ABCD", "ABCD"),
        ("AAAAAAAAAB", "AAAAAAAAAA", "BA"),
    ]
    for signed, said, words in cases:
        given = [None if one == "-" else one for one in said]
        listed = tuple(sorted({*words, *signed, *said} - {"-"}))
        metric = WordF1(
            listed,
            tuple(words),
            absent=tuple(word for word in words if word not in signed),
        )
        expect.close(
            student(list(signed), list(given), list(words)),
            score(metric, given, list(signed)).value,
            what=(
                f"macro-F1 of {signed} heard as {said} (- is no answer) over the words"
                f" {words}"
            ),
            hint=(
                "the mean is over all words of the list, and not over those that occur;"
                " a word with neither clip nor answer counts 0"
            ),
        )


def adjust(student: Callable[[Tensor, list[int], float], Tensor]) -> None:
    """No, half, full and double strength, with one clip and with several."""
    from coursepkg.projects.sign_language.inference import adjusted

    generator = torch.Generator().manual_seed(0)
    many = torch.rand(5, 4, generator=generator, dtype=torch.float64)
    cases = [
        (torch.tensor([[0.8, 0.2]], dtype=torch.float64), [60, 4], 1.0),
        (many / many.sum(dim=1, keepdim=True), [60, 30, 12, 4], 0.0),
        (many / many.sum(dim=1, keepdim=True), [60, 30, 12, 4], 0.5),
        (many / many.sum(dim=1, keepdim=True), [60, 30, 12, 4], 2.0),
    ]
    for p, counts, tau in cases:
        before = p.clone()
        answer = expect.is_tensor(
            student(p, list(counts), tau), p.shape, what="the adjusted probabilities"
        )
        expect.unchanged(before, p, what="p")
        expect.close(
            answer,
            adjusted(p.log(), counts, tau).softmax(dim=1),
            what=f"the probabilities for words of {counts} clips at tau {tau}",
            hint="p / prior ** tau, then each row scaled to a sum of 1",
        )


def prior_left(
    student: Callable[[list[int], float, float, float], Sequence[float]],
) -> None:
    """Nothing, each correction alone, two of them, all, and half-way."""
    for sampler, weights, tau in [
        (0, 0, 0),
        (1, 0, 0),
        (0, 1, 0),
        (0, 0, 1),
        (1, 1, 0),
        (1, 0, 1),
        (0.5, 0, 0),
        (0.5, 0.25, 0.25),
        (1, 1, 1),
    ]:
        counts = [60, 30, 12, 4]
        answer = student(list(counts), sampler, weights, tau)
        assert len(answer) == len(counts), (
            f"{len(answer)} shares came for {len(counts)} words"
        )
        parts = [count ** (1 - sampler - weights - tau) for count in counts]
        expect.close(
            torch.tensor([float(one) for one in answer], dtype=torch.float64),
            torch.tensor([part / sum(parts) for part in parts], dtype=torch.float64),
            what=(
                f"the prior that is left with sampler {sampler}, weights {weights}, tau"
                f" {tau}"
            ),
            hint="n to the power 1 - s - w - tau, scaled to a sum of 1",
        )
