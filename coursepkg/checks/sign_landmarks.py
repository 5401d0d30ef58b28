"""Checks of the exercises in the chapter on landmarks."""

import math
from collections.abc import Callable, Collection, Sequence

import numpy as np

from coursepkg.checks import expect

CHANGES = ("moved", "larger", "slower", "longer hands", "mirrored", "camera turned")
"""What may happen to a film, as the exercise names it."""


def last_row(student: Callable[[], Sequence[float]]) -> None:
    """The costs of the last row of the table on paper."""
    a, b = np.array([1.0, 3.0, 2.0]), np.array([1.0, 2.0, 3.0, 2.0])
    costs = _costs(np.abs(a[:, None] - b))
    answer = expect.attempted(student())
    assert len(answer) == 4, (
        f"{len(answer)} numbers; the last row has 4, one a step of b"
    )
    wrong = [j for j in range(4) if answer[j] != costs[2, j]]
    assert not wrong, (
        f"column {wrong[0] + 1} of the last row has {answer[wrong[0]]}; add the"
        " distance to the least of the cells above, to the left, and above left"
    )


def to_cut(
    student: Callable[[np.ndarray, float, float, float, float], np.ndarray],
) -> None:
    """There and back through upright and turned squares."""
    points = np.array([[0.5, 0.5], [0.0, 0.25], [1.0, 0.75]])
    squares = [(60, 40, 20, 0.0), (10, 90, 50, 0.6), (3, 4, 8, -2.0)]
    for x, y, side, angle in squares:
        given = np.array([x, y]) + side * _turned(points - 0.5, angle)
        answer = expect.attempted(student(given, x, y, side, angle))
        assert np.shape(answer) == points.shape, (
            f"the result has shape {np.shape(answer)}; {points.shape} is expected"
        )
        assert np.allclose(answer, points), (
            f"a square of angle {angle}: {np.round(answer, 3).tolist()}; need"
            f" {points.tolist()}"
        )


def none_of_these(
    student: Callable[[Sequence[float], float], Sequence[float]],
) -> None:
    """Several words and one, near and far, and distances that overflow."""
    cases = [([1.0, 2.0], 1.5), ([4.0, 4.0, 4.0], 0.5), ([0.3], 2.0), ([900.0], 901.0)]
    for distances, none in cases:
        scores = -np.array([*distances, none])
        powers = np.exp(scores - scores.max())
        answer = expect.attempted(student(list(distances), none))
        assert len(answer) == len(scores), (
            f"{len(answer)} probabilities for {len(distances)} words; need one more,"
            " the last for none of these"
        )
        assert np.allclose(answer, powers / powers.sum()), (
            f"distances {distances}, none at {none}: {np.round(answer, 4).tolist()};"
            f" need {np.round(powers / powers.sum(), 4).tolist()}"
        )


def unchanged(student: Callable[[], Collection[str]]) -> None:
    """What is predicted against what normalising makes of a changed film."""
    predicted = expect.attempted(student())
    unknown = [one for one in predicted if one not in CHANGES]
    assert not unknown, f"{unknown[0]!r} is no change; use {', '.join(CHANGES)}"
    before = _normalised(*_film())
    for name in CHANGES:
        same = np.allclose(before, _normalised(*_film(name)))
        assert same == (name in predicted), (
            f"{name!r}: the normalised steps {'stay' if same else 'do not stay'} the"
            " same; which length is it divided by, and from where is it counted?"
        )


def two_rows(student: Callable[[np.ndarray], float]) -> None:
    """Tables of several shapes, against the whole table."""
    rng = np.random.default_rng(0)
    for shape in [(1, 1), (1, 4), (4, 5), (6, 3)]:
        distances = rng.random(shape)
        given = distances.copy()
        answer = expect.attempted(student(given))
        assert np.array_equal(given, distances), "the table was changed in place"
        needed = float(_costs(distances)[-1, -1])
        assert np.isclose(answer, needed), (
            f"a table of {shape[0]} x {shape[1]} distances: {answer:.4f}; need"
            f" {needed:.4f}"
        )


def _costs(distances: np.ndarray) -> np.ndarray:
    """The table of warping without a window, (N, M)."""
    rows, columns = distances.shape
    costs = np.full((rows + 1, columns + 1), np.inf)
    costs[0, 0] = 0
    for i in range(rows):
        for j in range(columns):
            before = min(costs[i, j], costs[i, j + 1], costs[i + 1, j])
            costs[i + 1, j + 1] = distances[i, j] + before
    return costs[1:, 1:]


def _turned(points: np.ndarray, angle: float) -> np.ndarray:
    """Points (..., 2) turned about the origin, clockwise in a picture."""
    cos, sin = math.cos(angle), math.sin(angle)
    return np.asarray(points @ np.array([[cos, sin], [-sin, cos]]))


def _film(change: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Times (T,) and points (T, 24, 2): shoulders, elbow, and a hand of 21."""
    rng = np.random.default_rng(0)
    times = np.linspace(0, 2, 30)
    standing = rng.normal(0, 40, (24, 2)) + 300
    points = standing + np.cumsum(rng.normal(0, 3, (30, 24, 2)), axis=0)
    wrist = points[:, 3:4].copy()
    if change == "moved":
        points += (80, -30)
    elif change == "larger":
        points *= 2
    elif change == "slower":
        times *= 1.5
    elif change == "longer hands":
        points[:, 3:] = wrist + 1.5 * (points[:, 3:] - wrist)
    elif change == "mirrored":
        points[..., 0] = 640 - points[..., 0]
    elif change:
        points = _turned(points, 0.5)
    return times, points


def _normalised(times: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Arm from the shoulders, hand from its wrist, at 24 moments, (24, F)."""
    left, right, hand = points[:, 0], points[:, 1], points[:, 3:]
    width = np.median(np.linalg.norm(left - right, axis=-1))
    palm = np.median(np.linalg.norm(hand[:, 9] - hand[:, 0], axis=-1))
    arm = (points[:, 2:4] - (left + right)[:, None] / 2) / width
    shape = (hand - hand[:, :1]) / palm
    columns = np.concatenate([arm, shape], axis=1).reshape(len(times), -1).T
    at = np.linspace(times[0], times[-1], 24)
    return np.stack([np.interp(at, times, one) for one in columns], axis=1)


def mirrored(
    student: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]],
) -> None:
    """Hands and wrists of a clip, seen in a mirror."""
    dice = np.random.Generator(np.random.PCG64(0))
    hands, wrists = dice.normal(size=(5, 2, 21, 3)), dice.normal(size=(5, 2, 2))
    kept = hands.copy(), wrists.copy()
    answer = student(hands, wrists)
    unchanged = np.array_equal(hands, kept[0]) and np.array_equal(wrists, kept[1])
    assert unchanged, "the clip was changed in place; work on a copy"
    is_pair = isinstance(answer, tuple | list) and len(answer) == 2
    assert is_pair, "the result is not a pair; return (hands, wrists)"
    for found, given, what in zip(answer, kept, ("hands", "wrists"), strict=True):
        assert np.shape(found) == given.shape, (
            f"the {what} have shape {np.shape(found)}; {given.shape} is expected"
        )
        flipped = given * np.array([-1.0, 1.0, 1.0])[: given.shape[-1]]
        assert not np.allclose(found, flipped), (
            f"the {what} are flipped, but not exchanged: a right hand is a left one in"
            " the mirror, so the two sides change places"
        )
        assert not np.allclose(found, given[:, ::-1]), (
            f"the {what} are exchanged, but x has kept its sign"
        )
        assert np.allclose(found, flipped[:, ::-1]), (
            f"the {what} are not those of the mirror: x changes its sign, y and depth"
            " do not, and the sides change places"
        )
