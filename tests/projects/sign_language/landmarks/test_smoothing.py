"""The one-euro filter against the paper's algorithm with scalars, and the properties that it is made for."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.sign_language.landmarks.smoothing import OneEuroConfig, OneEuroFilter

CONFIG = OneEuroConfig(min_cutoff=1.0, beta=0.5, speed_cutoff=1.0)
VALUES = st.lists(st.floats(-1000, 1000), min_size=1, max_size=30)


def paper(values: list[float], rates: list[float], config: OneEuroConfig) -> list[float]:
    """Algorithms 1 and 2 of Casiez et al. as they are printed, one number at a time."""

    def alpha(rate: float, cutoff: float) -> float:
        tau, period = 1 / (2 * math.pi * cutoff), 1 / rate
        return 1 / (1 + tau / period)

    smooth, speed, out = 0.0, 0.0, []
    for i, value in enumerate(values):
        if i == 0:
            smooth = value
        else:
            share = alpha(rates[i], config.speed_cutoff)
            speed = share * (value - values[i - 1]) * rates[i] + (1 - share) * speed
            share = alpha(rates[i], config.min_cutoff + config.beta * abs(speed))
            smooth = share * value + (1 - share) * smooth
        out.append(smooth)
    return out


def through(
    values: list[float] | np.ndarray, rate: float = 30.0, config: OneEuroConfig = CONFIG
) -> np.ndarray:
    one = OneEuroFilter(config)
    found = [one.apply(np.atleast_1d(value), rate) for value in values]
    return np.array(found).reshape(np.shape(values))


@given(values=VALUES, seed=st.integers(0, 10), beta=st.floats(0, 100))
def test_it_is_the_algorithm_of_the_paper(values: list[float], seed: int, beta: float) -> None:
    rates = np.random.default_rng(seed).uniform(1, 60, len(values)).tolist()
    config = OneEuroConfig(0.3, beta, 2.0)
    one = OneEuroFilter(config)
    found = [one.apply(np.array([value]), rate)[0] for value, rate in zip(values, rates, strict=True)]
    assert found == pytest.approx(paper(values, rates, config), rel=1e-9, abs=1e-9)


@given(value=st.floats(-1e6, 1e6), rate=st.floats(1, 1000))
def test_what_stands_still_stays(value: float, rate: float) -> None:
    assert through([value] * 5, rate).tolist() == [value] * 5


@given(values=VALUES)
def test_it_never_leaves_the_range_of_what_came(values: list[float]) -> None:
    found = through(values)
    assert found.min() >= min(values) - 1e-9
    assert found.max() <= max(values) + 1e-9


def test_a_step_is_followed_without_overshoot() -> None:
    found = through([0.0] * 5 + [1.0] * 60)
    assert np.all(np.diff(found) >= 0)
    assert found[4] == 0 < found[5] < 1
    assert found[-1] == pytest.approx(1, abs=1e-3)


def test_fast_movements_are_smoothed_less() -> None:
    """After a jump of any height the filter has gone the greater a share of the way the higher it was."""
    shares = [through([0.0, height, height])[1] / height for height in (0.1, 1.0, 10.0, 100.0)]
    assert shares == sorted(shares)
    assert shares[0] < 0.3
    assert shares[-1] > 0.8


def test_noise_at_rest_shrinks() -> None:
    noise = np.random.default_rng(0).normal(0, 0.01, 300)
    assert through(noise)[50:].std() < 0.6 * noise[50:].std()


def test_points_do_not_mix_and_unit_divides_the_speed() -> None:
    values = np.random.default_rng(0).normal(size=(20, 4, 2))
    together = through(values)
    apart = np.stack([through(values[:, i, j]) for i in range(4) for j in range(2)], axis=-1)
    assert together.reshape(20, 8) == pytest.approx(apart)
    far, near = OneEuroFilter(CONFIG), OneEuroFilter(CONFIG)
    for value in values:
        assert 7 * far.apply(value, 30.0, 1.0) == pytest.approx(near.apply(7 * value, 30.0, 7.0))


def test_reset_forgets() -> None:
    one = OneEuroFilter(CONFIG)
    for value in (0.0, 5.0):
        one.apply(np.array(value), 30.0)
    one.reset()
    assert one.apply(np.array(9.0), 30.0) == 9
    assert one.apply(np.array(9.0), 30.0) == 9


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((0.0, 1.0, 1.0), "min_cutoff must be above 0, got 0.0"),
        ((1.0, -1.0, 1.0), "beta must be at least 0, got -1.0"),
        ((1.0, 1.0, math.nan), "speed_cutoff must be above 0, got nan"),
    ],
)
def test_what_cannot_be_is_refused(values: tuple[float, float, float], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        OneEuroConfig(*values)
