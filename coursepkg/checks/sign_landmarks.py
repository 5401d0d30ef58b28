"""Checks of the exercises in the chapter on landmarks."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np

from coursepkg.checks import expect
from coursepkg.projects.sign_language import (
    Landmarks,
    Region,
    SignSteps,
    cost_table,
    draw_words,
    sign,
    signs_of,
    turned,
)

CHANGES = ("moved", "larger", "slower", "longer hands", "mirrored", "camera turned")
"""What may happen to a film, as the exercise names it."""


def last_row(student: Callable[[], Sequence[float]]) -> None:
    """The costs of the last row of the table on paper."""
    a, b = np.array([1.0, 3.0, 2.0]), np.array([1.0, 2.0, 3.0, 2.0])
    costs = cost_table(np.abs(a[:, None] - b), window=4)
    answer = expect.attempted(student())
    assert len(answer) == 4, (
        f"{len(answer)} numbers; the last row has 4, one a step of b"
    )
    wrong = [j for j in range(4) if answer[j] != costs[2, j]]
    assert not wrong, (
        f"column {wrong[0] + 1} of the last row has {answer[wrong[0]]}; add the distance"
        " to the least of the cells above, to the left, and above left"
    )


def to_cut(
    student: Callable[[np.ndarray, float, float, float, float], np.ndarray],
) -> None:
    """There and back through upright and turned squares."""
    points = np.array([[0.5, 0.5], [0.0, 0.25], [1.0, 0.75]])
    squares = [
        Region(60.0, 40.0, 20.0),
        Region(10.0, 90.0, 50.0, 0.6),
        Region(3.0, 4.0, 8.0, -2.0),
    ]
    for one in squares:
        given = one.to_frame(points)
        answer = expect.attempted(student(given, one.x, one.y, one.side, one.angle))
        assert np.shape(answer) == points.shape, (
            f"the result has shape {np.shape(answer)}; {points.shape} is expected"
        )
        assert np.allclose(answer, points), (
            f"a square of angle {one.angle}: {np.round(answer, 3).tolist()}; need"
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
            f"{len(answer)} probabilities for {len(distances)} words; need one more, the"
            " last for none of these"
        )
        assert np.allclose(answer, powers / powers.sum()), (
            f"distances {distances}, none at {none}: {np.round(answer, 4).tolist()};"
            f" need {np.round(powers / powers.sum(), 4).tolist()}"
        )


def unchanged(student: Callable[[], Collection[str]]) -> None:
    """What is predicted against what the package makes of a changed clip."""
    predicted = expect.attempted(student())
    unknown = [one for one in predicted if one not in CHANGES]
    assert not unknown, f"{unknown[0]!r} is no change; use {', '.join(CHANGES)}"
    clip = _clip()
    before = signs_of(clip)[0][0]
    for name in CHANGES:
        same = _same(before, signs_of(_changed(clip, name))[0][0])
        assert same == (name in predicted), (
            f"{name!r}: the normalised steps {'stay' if same else 'do not stay'} the"
            " same; which length is it divided by, and from where is it counted?"
        )


def two_rows(student: Callable[[np.ndarray], float]) -> None:
    """Tables of several shapes against the package."""
    rng = np.random.default_rng(0)
    for shape in [(1, 1), (1, 4), (4, 5), (6, 3)]:
        distances = rng.random(shape)
        given = distances.copy()
        answer = expect.attempted(student(given))
        assert np.array_equal(given, distances), "the table was changed in place"
        needed = float(cost_table(distances, max(shape))[-1, -1])
        assert np.isclose(answer, needed), (
            f"a table of {shape[0]} x {shape[1]} distances: {answer:.4f}; need"
            f" {needed:.4f}"
        )


def _clip() -> Landmarks:
    """A made-up sign whose hands are seen in every frame."""
    rng = np.random.default_rng(3)
    clip = sign(rng, draw_words(rng, 1)).clip(0)
    hands = np.where(np.isfinite(clip.hands), clip.hands, clip.body[:, None, 15:16])
    hands[..., 1:, :] += np.random.default_rng(4).normal(0, 3, hands[..., 1:, :].shape)
    scores = np.ones_like(clip.scores)
    return replace(clip, hands=hands.astype(np.float32), scores=scores)


def _changed(clip: Landmarks, name: str) -> Landmarks:
    body, hands = clip.body.copy(), clip.hands.copy()
    if name == "slower":
        return replace(clip, times=1.5 * clip.times)
    if name == "longer hands":
        wrists = hands[:, :, :1]
        return replace(clip, hands=wrists + 1.5 * (hands - wrists))
    for points in (body, hands):
        if name == "moved":
            points[..., :2] += (80, -30)
        elif name == "larger":
            points *= 2
        elif name == "mirrored":
            points[..., 0] = clip.size[0] - points[..., 0]
        else:
            points[..., :2] = turned(points[..., :2], 0.5)
    if name == "mirrored":
        pairs = np.arange(7, 33).reshape(-1, 2)
        body[:, pairs.ravel()] = body[:, pairs[:, ::-1].ravel()]
        hands = hands[:, ::-1]
    return replace(clip, body=body, hands=hands)


def _same(before: SignSteps, after: SignSteps) -> bool:
    """Whether hands and arms agree within rounding."""
    parts = ("hands", "wrists", "elbows")
    return all(
        np.allclose(getattr(before, part), getattr(after, part), atol=1e-3)
        for part in parts
    )
