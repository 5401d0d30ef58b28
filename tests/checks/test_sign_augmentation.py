"""The checks of the chapter on the augmentation of clips accept what is right and say what is wrong."""

import numpy as np

from coursepkg.projects.sign_language import resampling_shift
from tests.checks.solutions import solution_tests


def played(n_frames, speed, count, *, least=4):
    new = max(least, int(n_frames / speed))
    first = [i * (n_frames - 1) // (new - 1) for i in range(new)]
    first += [first[-1]] * max(0, count - new)
    return [first[i * (len(first) - 1) // (count - 1)] for i in range(count)]


def by_linspace(n_frames, speed, count):
    new = max(4, int(n_frames / speed))
    first = np.linspace(0, n_frames - 1, new).astype(int)
    first = np.concatenate([first, np.full(max(0, count - new), first[-1])])
    return first[np.linspace(0, len(first) - 1, count).astype(int)]


def once(n_frames, speed, count):
    return played(n_frames, 1.0, count)


def rounded(n_frames, speed, count):
    new = max(4, int(n_frames / speed))
    first = [round(i * (n_frames - 1) / (new - 1)) for i in range(new)]
    first += [first[-1]] * max(0, count - new)
    return [first[round(i * (len(first) - 1) / (count - 1))] for i in range(count)]


def places(speeds, count):
    old = np.concatenate([[0], np.cumsum(speeds)]) / np.sum(speeds)
    return np.interp(np.linspace(0, 1, count), np.linspace(0, 1, len(old)), old)


def inverse(speeds, count):
    old = np.concatenate([[0], np.cumsum(speeds)]) / np.sum(speeds)
    return np.interp(np.linspace(0, 1, count), old, np.linspace(0, 1, len(old)))


def crop(frames, side, rng, *, end=1):
    top = rng.integers(frames.shape[1] - side + end)
    left = rng.integers(frames.shape[2] - side + end)
    return frames[:, top : top + side, left : left + side]


def each(frames, side, rng):
    return np.concatenate([crop(frames[i : i + 1], side, rng) for i in range(len(frames))])


def middle(frames, side, rng):
    top, left = ((length - side) // 2 for length in frames.shape[1:3])
    return frames[:, top : top + side, left : left + side]


HIDDEN = np.random.Generator(np.random.PCG64(7))


def share(first, second, start, stop):
    inside = (np.arange(len(first)) >= start) & (np.arange(len(first)) < stop)
    own = first & (~inside | ~second)
    real = first | second
    return float(own.sum() / real.sum())


def alone(first, second, start, stop):
    kept = first.copy()
    kept[start:stop] = False
    return float(kept.sum() / first.sum())


def even_speed(speeds, guess=1, times=1):
    return guess, [times * resampling_shift(30, 16, speed).most for speed in speeds]


RIGHT = {
    "played_frames": played,
    "played_frames with fractions": by_linspace,
    "warped_places": places,
    "warped_places in float32": lambda *given: np.asarray(places(*given), dtype=np.float32),
    "one_crop": crop,
    "share_left": share,
    "even_speed": even_speed,
    "even_speed a guess of NumPy's": lambda speeds: even_speed(speeds, guess=np.int64(2)),
}

WRONG = {
    "played_frames without the second step": (once, "at speed 0.9"),
    "played_frames the wrong way round": (
        lambda n_frames, speed, count: played(n_frames, 1 / speed, count),
        "int(n / speed)",
    ),
    "played_frames rounded": (rounded, "at speed 1.0"),
    "played_frames with fewer than four": (
        lambda n, speed, count: played(n, speed, count, least=2),
        "at least 4",
    ),
    "warped_places not brought back": (
        lambda speeds, count: places(speeds, count) * np.sum(speeds) / len(speeds),
        "by 1 in all",
    ),
    "warped_places the other way round": (inverse, "as xp"),
    "warped_places speeds taken for lengths": (
        lambda speeds, count: np.linspace(0, 1, count),
        "the 5 places",
    ),
    "one_crop for each frame": (each, "the camera shakes"),
    "one_crop that misses the last place": (
        lambda frames, side, rng: crop(frames, side, rng, end=0),
        "upper end",
    ),
    "one_crop in the middle": (middle, "in 200 draws"),
    "one_crop by other chance": (
        lambda frames, side, rng: crop(frames, side, HIDDEN),
        "take all chance from rng",
    ),
    "one_crop of another shape": (lambda frames, side, rng: frames, "the shape of the crop"),
    "share_left by all frames": (
        lambda first, second, start, stop: 1 - (stop - start) / len(first),
        "count real frames only",
    ),
    "share_left by the first clip alone": (alone, "just one clip has a frame"),
    "share_left of the other": (
        lambda first, second, start, stop: 1 - share(first, second, start, stop),
        "is expected",
    ),
    "even_speed far guess": (lambda speeds: even_speed(speeds, guess=10), "only rounding is left"),
    "even_speed means": (lambda speeds: (1, [0.4 for _ in speeds]), "the furthest moves"),
    "even_speed one step only": (lambda speeds: even_speed(speeds, times=10), "the furthest moves"),
    "even_speed guess alone": (lambda speeds: 1, "return (guess, moves)"),
    "even_speed a guess in words": (lambda speeds: even_speed(speeds, guess="few"), "whole number"),
}

test_right, test_wrong = solution_tests("sign_augmentation", RIGHT, WRONG)
