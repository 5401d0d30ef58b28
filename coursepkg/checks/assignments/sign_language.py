"""Tests of the assignment on sign language: landmarks, answers, windows, a score."""

import itertools
import random
from collections.abc import Collection
from typing import Any

import torch
from torch import Tensor

from coursepkg.checks import expect
from coursepkg.checks.assignments.measure import (
    Observed,
    gradients_close,
    personal,
    quantity,
    same_dtype,
    tensor_of,
    with_gradients,
)
from coursepkg.checks.assignments.task import Task

Case = tuple[Any, ...]
UNSEEN = (float("nan"), 1e4, float("inf"), -7.0)
"""What a tracker may leave where it saw nothing."""


def _landmark_case(batch: int, frames: int, points: int, seed: int, dtype: str) -> Case:
    """Landmarks (B, T, K, 2) in pixels, and which were seen, (B, T, K).

    Of three clips or more the second shows one place alone and the third nothing.
    """
    generator = torch.Generator().manual_seed(seed)
    kind = getattr(torch, dtype)
    shape = (batch, frames, points, 2)
    spread = 10 ** (3 * torch.rand(batch, 1, 1, 1, generator=generator) - 1)
    walk = torch.randn(batch, frames, 1, 2, generator=generator).cumsum(1)
    given = 100 + spread * (
        torch.randn(shape, generator=generator) * torch.tensor([1.0, 2.0]) + walk
    )
    seen = torch.rand(shape[:3], generator=generator) < 0.7
    seen[0, 0, 0] = seen[0, -1, -1] = True
    if batch > 1:
        given[1] = torch.tensor([60.5, 72.25])
    if batch > 2:
        seen[2] = False
    given[~seen] = UNSEEN[seed % len(UNSEEN)]
    return given.to(kind), seen


def _is_one_place(points: Tensor, seen: Tensor) -> Tensor:
    """Whether the seen landmarks of a clip are at one place, or none is seen, (B,).

    Args:
        points: landmarks (B, T, K, 2).
        seen: which were seen, (B, T, K).
    """
    lowest = torch.where(seen[..., None], points, torch.inf).amin((1, 2))
    highest = torch.where(seen[..., None], points, -torch.inf).amax((1, 2))
    return (lowest >= highest).all(1)


def _normalised(points: Tensor, seen: Tensor) -> Tensor:
    """Each clip on its own, from the landmarks that were seen and no others."""
    rows = []
    flat = _is_one_place(points.detach(), seen)
    for clip, mask, is_flat in zip(points, seen, flat.tolist(), strict=True):
        row = torch.zeros_like(clip)
        if not is_flat:
            given = clip[mask]
            moved = given - given.mean(0)
            row = row.masked_scatter(
                mask[..., None], moved / moved.square().sum(1).mean().sqrt()
            )
        rows.append(row)
    return torch.stack(rows)


def _judge_normalise(case: Case, answer: Any) -> None:
    points, seen = case
    result, gradients = answer
    found = tensor_of(result, points.shape, what="the tensor of landmarks")
    same_dtype(points, found)
    right, exact = with_gradients(_normalised, points, seen)
    flat = _is_one_place(points, seen)
    expect.close(
        found[~seen],
        right[~seen],
        what="a landmark that was not seen",
        hint="it is 0, whatever the tracker left there",
    )
    expect.close(
        found[flat],
        right[flat],
        what="a landmark of a clip without any extent",
        hint="all landmarks that were seen lie at one place: divide by no 0",
    )
    for clip, mask in zip(found[~flat].double(), seen[~flat], strict=True):
        centre = clip[mask].mean(0)
        assert bool((centre.abs() < 1e-3).all()), (
            f"the mean landmark of a clip is ({centre[0]:.3f}, {centre[1]:.3f}); it is"
            " (0, 0) over all frames and landmarks that were seen, and no others"
        )
        size = float(clip[mask].square().sum(1).mean().sqrt())
        assert abs(size - 1) < 1e-3, (
            f"the root of the mean squared distance from the centre is {size:.3f}; it"
            " is 1 over the landmarks that were seen"
        )
    expect.close(
        found,
        right,
        what="the landmarks",
        hint=(
            "a clip has one centre and one scale, the same for all its frames and for"
            " x and y"
        ),
        # Of landmarks near 100 that lie 0.1 apart, float32 keeps four digits.
        tolerance=1e-5 if found.dtype == torch.float64 else 1e-3,
    )
    gradients_close(gradients, exact, ("points", "seen"))


normalise = Task(
    "normalise",
    make=_landmark_case,
    judge=_judge_normalise,
    public=[
        (1, 3, 4, 0, "float64"),
        (3, 5, 7, 1, "float64"),
        (2, 1, 3, 3, "float32"),
    ],
    run="gradients",
)


def _clips_case(n_signers: int, n_words: int, seed: int) -> Case:
    """Distances of clips that tell much of signers and recordings, little of words.

    Returns:
        distances, words, signers, recordings. A few signers are not known, and a few
        clips stand there once more under another signer's name.
    """
    draw = random.Random(seed)
    names = [f"s{number}" for number in range(n_signers)]
    clips = [
        (f"w{word}", signer, f"r{signer}-{word}-{take}")
        for signer in names
        for word in range(n_words)
        for take in range(draw.choice([1, 2]))
    ]
    for word, signer, recording in draw.sample(clips, n_signers):
        other = draw.choice([name for name in names if name != signer])
        clips.append((word, other, recording))
    draw.shuffle(clips)
    for i in draw.sample(range(len(clips)), n_words):
        clips[i] = (clips[i][0], "", clips[i][2])
    words, signers, recordings = (list(column) for column in zip(*clips, strict=True))
    n = len(clips)
    distances = [[0.0] * n for _ in range(n)]
    for i, j in itertools.combinations(range(n), 2):
        far = draw.randint(6, 9) - 4 * (signers[i] == signers[j])
        far *= recordings[i] != recordings[j]
        distances[i][j] = distances[j][i] = float(far)
    return distances, words, signers, recordings


HINTS = {
    "itself": "a clip is no example of itself",
    "signer": "a clip by the same signer is no example",
    "recording": "a clip of the same recording is no example, whoever it is said to be",
    "unknown": (
        "where the signer of one of two clips is not known, they may be the same person"
    ),
}
"""Why a clip may not be an example of another one, and what to say about it."""


def _examples(case: Case, i: int, reasons: Collection[str] = tuple(HINTS)) -> list[int]:
    """Numbers of the clips that clip `i` may be compared with, the nearest first."""
    distances, words, signers, recordings = case
    excluded = {
        "itself": lambda j: j == i,
        "signer": lambda j: j != i and signers[j] == signers[i] != "",
        "recording": lambda j: j != i and recordings[j] == recordings[i],
        "unknown": lambda j: j != i and "" in (signers[i], signers[j]),
    }
    left = [
        j for j in range(len(words)) if not any(excluded[one](j) for one in reasons)
    ]
    return sorted(left, key=lambda j: distances[i][j])


def _answers(case: Case, reasons: Collection[str] = tuple(HINTS)) -> list[str | None]:
    """The word of the nearest example of each clip, None where it has none."""
    nearest = [_examples(case, i, reasons)[:1] for i in range(len(case[1]))]
    return [case[1][one[0]] if one else None for one in nearest]


def _judge_answers(case: Case, answer: Any) -> None:
    words, signers = case[1], case[2]
    expect.attempted(answer)
    assert isinstance(answer, list), (
        f"the result is a {type(answer).__name__}; a list is expected"
    )
    assert len(answer) == len(words), (
        f"the list has {len(answer)} answers; the set has {len(words)} clips"
    )
    right = _answers(case)
    i = next((i for i, said in enumerate(answer) if said != right[i]), None)
    if i is None:
        return
    said = f"clip {i} ({words[i]}, signer {signers[i]!r}) is answered {answer[i]!r}"
    for kept in itertools.chain(
        *(itertools.combinations(HINTS, n) for n in reversed(range(len(HINTS))))
    ):
        hints = [hint for reason, hint in HINTS.items() if reason not in kept]
        assert answer != _answers(case, kept), f"{said}: {hints[0]}"
    left = _examples(case, i)
    assert left, f"{said}; no example is left, so None is expected"
    raise AssertionError(
        f"{said}; the word {right[i]!r} is expected: the nearest of"
        f" {len(left)} examples is clip {left[0]}, the first of those that are equally"
        " near"
    )


answers_by_others = Task(
    "answers_by_others",
    make=_clips_case,
    judge=_judge_answers,
    public=[(3, 3, 0), (4, 2, 1), (2, 4, 2)],
)


def _stream_case(
    frames: int, width: int, size: int, hop: int, seed: int, dtype: str
) -> Case:
    """Scores (T,) on three levels far apart, vectors (T, D), and the windows."""
    generator = torch.Generator().manual_seed(seed)
    scores = 2 * torch.randn(frames, generator=generator)
    scores = scores + 600 * (torch.arange(frames) * 3 // frames - 1)
    if seed % 2:
        scores = scores.flip(0)
    vectors = torch.randn(frames, width, generator=generator)
    kind = getattr(torch, dtype)
    return scores.to(kind), vectors.to(kind), size, hop


def _pooled(scores: Tensor, vectors: Tensor, size: int, hop: int) -> Tensor:
    last = max(len(scores) - size, 0)
    return torch.stack(
        [
            torch.softmax(scores[i : i + size], 0) @ vectors[i : i + size]
            for i in range(0, last + 1, hop)
        ]
    )


def _judge_windows(case: Case, answer: Any) -> None:
    scores, vectors, size, _ = case
    observed = Observed(*answer)
    pooled, gradients = observed.result
    (frames, width), used = vectors.shape, min(size, len(scores))
    right, exact = with_gradients(_pooled, *case)
    found = tensor_of(pooled, right.shape, what="the tensor of pooled windows")
    same_dtype(vectors, found)
    assert bool(torch.isfinite(found).all()), (
        "a pooled window is NaN or infinite; the weights of a window come from its own"
        " scores, less their maximum"
    )
    expect.close(
        found,
        right,
        what="the pooled windows",
        hint="the weights of the frames of one window add up to 1",
        tolerance=1e-9 if found.dtype == torch.float64 else 1e-5,
    )
    gradients_close(gradients, exact, ("scores", "vectors", "size", "hop"))
    n = len(right)
    observed.must_stay_below(
        max(n * used * width, frames * width + 1, n * frames + 1),
        "every window with a copy of its frames",
    )


pool_windows = Task(
    "pool_windows",
    make=_stream_case,
    judge=_judge_windows,
    public=[
        (12, 3, 4, 2, 0, "float64"),
        (7, 2, 3, 3, 1, "float64"),
        (5, 4, 8, 2, 2, "float32"),
        (24, 4, 12, 2, 3, "float64"),
    ],
    run="observe",
)


def part_of(student: Any) -> dict[str, int]:
    """The student's own test part: words, clips, clips of the most frequent word."""
    draw = personal(student, "constant macro-F1")
    return {
        "n_words": draw.choice([12, 16, 20, 24]),
        "n_clips": draw.choice([180, 210, 240, 270]),
        "n_most": draw.choice([50, 60, 70, 80]),
    }


def _judge_constant(case: Case, answer: Any) -> None:
    n_words, n_clips, n_most = part_of(case[0]).values()
    f1 = 100 * 2 * n_most / (n_most + n_clips)
    mistakes = [
        (100 * n_most / n_clips, "this is the accuracy"),
        (f1, "this is the F1 of one word; the others count 0, with the same weight"),
        (
            100 * n_most / n_clips / n_words,
            "the word's F1 is the harmonic mean of precision and recall",
        ),
        (100 / n_words, "the word's recall is 1, its precision is not"),
        (f1 / (n_words - 1), "the most frequent word is one of the words, too"),
    ]
    quantity(
        answer,
        f1 / n_words,
        "%",
        hint="take the mean of F1 over the words",
        mistakes=mistakes,
    )


constant_macro_f1 = Task(
    "constant_macro_f1",
    make=lambda student: (student,),
    judge=_judge_constant,
    arguments=lambda case: (),
)
