"""Checks of the exercises in the chapter on the augmentation of clips."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch

from coursepkg.checks import expect


def played_frames(student: Callable[[int, float, int], Iterable[int]]) -> None:
    """Faster, slower, unchanged, so fast that frames run out."""
    for n_frames, speed, count in [
        (30, 1.0, 16),
        (30, 0.9, 16),
        (30, 1.1, 16),
        (23, 0.8, 16),
        (20, 1.5, 16),
        (24, 10.0, 6),
    ]:
        answer = student(n_frames, speed, count)
        expect.equal(
            [int(one) for one in answer],
            _played(n_frames, speed, count),
            what=(
                f"the frames of {n_frames} that are seen at speed {speed} with {count}"
                " samples"
            ),
            hint=(
                "first int(n / speed) frames, at least 4, then the samples among those,"
                " the last one repeated where there are too few; place i of m among n"
                " is i * (n - 1) // (m - 1)"
            ),
        )


def _played(n_frames: int, speed: float, count: int) -> list[int]:
    new = max(4, int(n_frames / speed))
    played = [i * (n_frames - 1) // (new - 1) for i in range(new)]
    played += [played[-1]] * (count - new)
    return [played[i * (len(played) - 1) // (count - 1)] for i in range(count)]


def warped_places(student: Callable[[list[float], int], Sequence[float]]) -> None:
    """Even speeds, a slow begin, a fast middle."""
    for speeds, count, expected in [
        ([1.0, 1.0], 5, [0.0, 0.25, 0.5, 0.75, 1.0]),
        ([1.0, 3.0], 5, [0.0, 0.125, 0.25, 0.625, 1.0]),
        ([2.0, 6.0], 5, [0.0, 0.125, 0.25, 0.625, 1.0]),
        ([0.5, 2.0, 0.5], 4, [0.0, 1 / 6, 5 / 6, 1.0]),
        ([1.0, 2.0, 1.0, 4.0], 6, [0.0, 0.1, 0.275, 0.425, 0.6, 1.0]),
    ]:
        answer = student(list(speeds), count)
        expect.close(
            torch.as_tensor(np.asarray(answer, dtype=np.float64)),
            torch.tensor(expected, dtype=torch.float64),
            what=f"the {count} places at the speeds {speeds}",
            tolerance=1e-6,
            hint=(
                "the old clip advances by each speed in turn, and by 1 in all;"
                " np.interp(x, xp, fp) wants the new clip's time as xp and the old"
                " one's as fp"
            ),
        )


def one_crop(
    student: Callable[[np.ndarray, int, np.random.Generator], np.ndarray],
) -> None:
    """Frames that carry their coordinates: the windows of all frames, of many draws."""
    rows, columns, side = 6, 5, 4
    frames = np.zeros((3, rows, columns, 3), np.uint8)
    frames[..., 0] = np.arange(rows)[:, None]
    frames[..., 1] = np.arange(columns)
    frames[..., 2] = np.arange(3)[:, None, None]
    seen: set[tuple[int, int]] = set()
    for seed in range(200):
        answer = student(
            frames.copy(), side, np.random.Generator(np.random.PCG64(seed))
        )
        answer = np.asarray(answer)
        expect.equal(answer.shape, (3, side, side, 3), what="the shape of the crop")
        corners = {(int(one[0, 0, 0]), int(one[0, 0, 1])) for one in answer}
        assert len(corners) == 1, (
            f"the windows of one clip begin at {sorted(corners)}; one draw holds for"
            " all frames, or the camera shakes"
        )
        top, left = corners.pop()
        assert np.array_equal(
            answer, frames[:, top : top + side, left : left + side]
        ), (
            f"the crop that begins at row {top} and column {left} is not that part of"
            " every frame"
        )
        seen.add((top, left))
        again = student(frames.copy(), side, np.random.Generator(np.random.PCG64(seed)))
        assert np.array_equal(answer, np.asarray(again)), (
            "two equal generators gave two crops; take all chance from rng"
        )
    every = {
        (top, left)
        for top in range(rows - side + 1)
        for left in range(columns - side + 1)
    }
    missing = sorted(every - seen)
    assert not missing, (
        f"in 200 draws no window of {side} x {side} of {rows} x {columns} pixels began"
        f" at {missing[0]}; the upper end of rng.integers is not drawn"
    )


def share_left(student: Callable[[np.ndarray, np.ndarray, int, int], float]) -> None:
    """Whole clips, padding behind either or both, a run in the padding."""
    dice = np.random.Generator(np.random.PCG64(0))
    cases = [
        (8, 8, 2, 4),
        (8, 8, 0, 8),
        (8, 5, 4, 8),
        (5, 8, 0, 2),
        (5, 5, 5, 8),
        (6, 3, 1, 5),
    ]
    cases += [
        (int(a), int(b), int(start), int(dice.integers(start, 9)))
        for a, b, start in dice.integers((1, 1, 0), (9, 9, 8), (8, 3))
    ]
    for n_first, n_second, start, stop in cases:
        first, second = np.arange(8) < n_first, np.arange(8) < n_second
        expect.close(
            student(first.copy(), second.copy(), start, stop),
            _share(first, second, start, stop),
            what=(
                f"the share of a clip of {n_first} real frames of 8, the frames {start}"
                f" to {stop} replaced by those of a clip of {n_second}"
            ),
            hint=(
                "count real frames only: where just one clip has a frame it is seen"
                " whole, where neither has one nothing counts"
            ),
        )


def _share(first: np.ndarray, second: np.ndarray, start: int, stop: int) -> float:
    from coursepkg.projects.sign_language.mixing import Weights, apply_weights

    places = torch.ones(2, 8, 1, 1, 1)
    places[:, start:stop] = 0
    mask = torch.from_numpy(np.stack([first, second]))
    _, _, targets = apply_weights(
        torch.zeros(2, 8, 3, 1, 1),
        mask,
        torch.eye(2),
        Weights(places, torch.tensor([1, 0])),
    )
    return float(targets[0, 0])


SPEEDS = (0.5, 0.9, 1.1, 1.5)
"""At which the clip of the prediction is played."""


def even_speed(student: Callable[[Sequence[float]], tuple[int, Sequence[int]]]) -> None:
    """The measured moves, and a guess that is near to them."""
    from coursepkg.projects.sign_language.augmentation import resampling_shift

    answer = student(SPEEDS)
    is_pair = isinstance(answer, tuple | list) and len(answer) == 2
    assert is_pair, "the result is not a pair; return (guess, moves)"
    guess, moves = answer
    measured = [int(resampling_shift(30, 16, speed).most) for speed in SPEEDS]
    expect.equal(
        [int(one) for one in expect.attempted(moves)],
        measured,
        what=f"the furthest moves at the speeds {SPEEDS}",
        hint="compare the frames that are seen with those at speed 1, sample by sample",
    )
    guess = expect.attempted(guess)
    assert expect.is_whole(guess), f"the guess is {guess!r}; a whole number is expected"
    assert abs(guess - measured[-1]) <= 1, (
        f"the guess is {guess} frames, the measured value is {measured[-1]}: the second"
        " sampling spreads its frames over the whole clip again, so only rounding is"
        " left; state why, then mend the guess"
    )
