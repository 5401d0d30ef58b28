"""Checks of the exercises of the chapter on landmarks."""

from collections.abc import Callable

import numpy as np

from coursepkg.projects.sign_language import Region, cost_table


def one_cell(student: Callable[[float, float, float, float], float]) -> None:
    """The cell of the chapter, and each of the three ways as the cheapest."""
    for case in [(2.0, 3.0, 1.0, 4.0), (1.0, 0.0, 5.0, 2.0), (0.5, 7.0, 6.0, 3.0)]:
        distance, *before = case
        expected = distance + min(before)
        answer = student(*case)
        assert answer == expected, f"{case}: {answer}; need {expected}"


def to_cut(student: Callable[..., np.ndarray]) -> None:
    """There and back through turned squares."""
    points = np.array([[0.5, 0.5], [0.0, 0.25], [1.0, 0.75]])
    for region in [Region(60, 40, 20), Region(10, 90, 50, 0.6), Region(3, 4, 8, -2)]:
        answer = student(
            region.to_frame(points), region.x, region.y, region.side, region.angle
        )
        assert np.allclose(answer, points), f"{region}: {answer}; need {points}"


def warp(student: Callable[[np.ndarray], float]) -> None:
    """Tables of several shapes against the package."""
    rng = np.random.default_rng(0)
    for shape in [(1, 1), (4, 5), (6, 3)]:
        distances = rng.random(shape)
        expected = float(cost_table(distances, max(shape))[-1, -1])
        answer = student(distances)
        assert np.isclose(answer, expected), f"{shape}: {answer}; need {expected}"
