"""Dynamic time warping: against the recursion of its definition, and what must hold for any signals."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from coursepkg.projects.sign_language.few_shot.dtw import cost_table, dtw_distances, warping_path

NUMBERS = st.floats(0, 9, width=32)
TABLES = st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=NUMBERS)
)


def cheapest(distances: np.ndarray) -> float:
    """The cheapest way by recursion over all of them."""

    @cache
    def cost(i: int, j: int) -> float:
        if i < 0 or j < 0:
            return np.inf
        if i == j == 0:
            return float(distances[0, 0])
        return float(distances[i, j]) + min(cost(i - 1, j), cost(i, j - 1), cost(i - 1, j - 1))

    return cost(distances.shape[0] - 1, distances.shape[1] - 1)


@given(TABLES)
def test_the_last_cost_is_that_of_the_cheapest_way(distances: np.ndarray) -> None:
    assert cost_table(distances, 99)[-1, -1] == pytest.approx(cheapest(distances))


@given(TABLES)
def test_the_path_costs_what_the_table_says(distances: np.ndarray) -> None:
    costs = cost_table(distances, 99)
    path = warping_path(costs)
    assert sum(distances[step] for step in path) == pytest.approx(costs[-1, -1])
    assert path[0] == (0, 0)
    assert path[-1] == (distances.shape[0] - 1, distances.shape[1] - 1)
    for (i, j), (k, m) in pairwise(path):
        assert (k - i, m - j) in {(1, 0), (0, 1), (1, 1)}


def test_a_table_by_hand() -> None:
    distances = np.abs(np.array([1, 3, 4, 1])[:, None] - np.array([1, 2, 4, 4, 2])[None])
    costs = cost_table(distances, 9)
    assert costs.tolist() == [[0, 1, 4, 7, 8], [2, 1, 2, 3, 4], [5, 3, 1, 1, 3], [5, 4, 4, 4, 2]]
    assert warping_path(costs) == [(0, 0), (1, 1), (2, 2), (2, 3), (3, 4)]


def test_several_tables_at_once_are_those_one_by_one() -> None:
    rng = np.random.default_rng(0)
    tables = rng.random((3, 5, 7))
    assert np.array_equal(cost_table(tables, 3), np.stack([cost_table(one, 3) for one in tables]))


def test_a_window_hides_what_is_far_from_the_diagonal() -> None:
    costs = cost_table(np.ones((6, 6)), 2)
    i, j = np.indices(costs.shape)
    assert np.array_equal(np.isfinite(costs), np.abs(i - j) <= 2)


def test_signals_of_very_different_lengths_still_have_a_way() -> None:
    assert np.isfinite(cost_table(np.ones((3, 12)), 1)[-1, -1])


@given(arrays(np.float64, (6, 2), elements=NUMBERS), st.integers(1, 6))
def test_a_signal_is_at_no_distance_from_itself(signal: np.ndarray, window: int) -> None:
    assert dtw_distances(signal, signal[None], window)[0] == 0


@given(arrays(np.float64, (2, 6, 2), elements=NUMBERS))
def test_distance_is_symmetric(signals: np.ndarray) -> None:
    first, second = signals
    there, back = dtw_distances(first, second[None])[0], dtw_distances(second, first[None])[0]
    assert there == pytest.approx(back)


def test_a_slower_signal_is_nearer_by_warping_than_step_by_step() -> None:
    time = np.linspace(0, 1, 24)
    quick, slow = (np.sin(2 * np.pi * t)[:, None] for t in (time, time**1.5))
    step_by_step = np.abs(quick - slow).mean()
    assert dtw_distances(quick, slow[None])[0] < 0.3 * step_by_step


@pytest.mark.parametrize("window", [0, -1])
def test_a_window_that_is_no_count_is_refused(window: int) -> None:
    with pytest.raises(ValueError, match="window"):
        cost_table(np.ones((2, 2)), window)
