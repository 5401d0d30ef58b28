"""A warp keeps order and ends and moves samples; plain resampling before uniform sampling hardly does."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.sign_language.augmentation import (
    DrawWarp,
    Shift,
    TimeWarp,
    WarpConfig,
    draw_warp,
    resampling_shift,
    warp_shift,
)
from coursepkg.projects.sign_language.data.clip import frames_at, sample_frames


def chance(number: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([7, number]))


@given(
    number=st.integers(0, 10_000),
    strength=st.floats(0, 0.9),
    stretches=st.integers(2, 12),
    count=st.integers(2, 60),
)
def test_order_and_ends_stay(number: int, strength: float, stretches: int, count: int) -> None:
    places = DrawWarp(WarpConfig(strength, stretches))(chance(number))(count)
    assert places.shape == (count,)
    assert (np.diff(places) > 0).all()
    assert (places[0], places[-1]) == (0.0, 1.0)


@given(number=st.integers(0, 1000), n_frames=st.integers(1, 60), count=st.integers(1, 32))
def test_frames_are_taken_in_order(number: int, n_frames: int, count: int) -> None:
    rng = chance(number)
    times = 3.0 + np.cumsum(rng.uniform(0.01, 2.0, n_frames))
    sampled = sample_frames(times, count, places=draw_warp(WarpConfig(0.8), rng))
    assert (np.diff(sampled.numbers) >= 0).all()
    assert sampled.numbers[0] == 0
    assert sampled.numbers[-1] == (n_frames - 1 if min(n_frames, count) > 1 else 0)


def test_no_strength_leaves_time_as_it_is() -> None:
    assert np.allclose(draw_warp(WarpConfig(0.0), chance(2))(9), np.linspace(0, 1, 9))


def test_every_stretch_runs_at_its_speed() -> None:
    warp = TimeWarp(np.array([0, 0.2, 1]), np.array([0, 0.5, 1]))
    # The first half of what was filmed is shown in a fifth of the time, so few samples fall into it.
    assert np.allclose(warp(6), [0, 0.5, 0.625, 0.75, 0.875, 1])
    assert frames_at(np.arange(11.0), warp(6)).tolist() == [0, 5, 6, 7, 8, 10]


def test_speeds_stay_within_the_strength_of_each_other() -> None:
    for number in range(200):
        warp = draw_warp(WarpConfig(0.3, 5), chance(number))
        speeds = np.diff(warp.filmed)
        assert speeds.max() / speeds.min() <= (1 / 0.7) ** 2 + 1e-9


def test_a_warp_belongs_to_its_chance_alone() -> None:
    config = WarpConfig(0.5)
    assert np.array_equal(draw_warp(config, chance(3)).filmed, draw_warp(config, chance(3)).filmed)
    assert not np.array_equal(draw_warp(config, chance(3)).filmed, draw_warp(config, chance(4)).filmed)


def by_the_source(n_frames: int, n_samples: int, speed: float) -> Shift:
    """`_speed_augment` and `_downsample_frames` of the Olympiad tutorials, run on the numbers of frames."""
    frames = torch.arange(n_frames)

    def sample(some: torch.Tensor) -> torch.Tensor:
        if len(some) < n_samples:
            return torch.cat([some, some[-1:].repeat(n_samples - len(some))])
        return some[torch.linspace(0, len(some) - 1, n_samples, dtype=torch.float64).long()]

    count = max(4, int(n_frames / speed))
    played = frames[torch.linspace(0, n_frames - 1, count, dtype=torch.float64).long()]
    apart = (sample(played) - sample(frames)).abs()
    return Shift(apart.double().mean().item(), int(apart.max()))


@pytest.mark.parametrize("speed", [0.9, 0.95, 1.0, 1.05, 1.1])
def test_resampling_is_measured_as_the_source_does_it(speed: float) -> None:
    for n_frames in range(18, 61, 6):
        ours, theirs = resampling_shift(n_frames, 16, speed), by_the_source(n_frames, 16, speed)
        # Fractions that are whole numbers may come out a little below in floating point.
        assert abs(ours.mean - theirs.mean) <= 2 / 16
        assert abs(ours.most - theirs.most) <= 1


def test_resampling_is_almost_undone_and_a_warp_is_not() -> None:
    speeds = np.linspace(0.9, 1.1, 41)
    resampled = [resampling_shift(30, 16, float(speed)) for speed in speeds]
    warped = [warp_shift(30, 16, draw_warp(WarpConfig(0.3), chance(number))) for number in range(41)]
    assert max(shift.most for shift in resampled) <= 1
    assert np.mean([shift.mean for shift in warped]) > 2 * np.mean([shift.mean for shift in resampled])
    assert np.median([shift.most for shift in warped]) >= 2
    assert resampling_shift(30, 16, 1.0) == Shift(0.0, 0)
    assert warp_shift(30, 16, draw_warp(WarpConfig(0.0), chance(0))) == Shift(0.0, 0)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: WarpConfig(-0.1), "--strength"),
        (lambda: WarpConfig(0.95), "--strength"),
        (lambda: WarpConfig(float("nan")), "--strength"),
        (lambda: WarpConfig(stretches=1), "--stretches"),
        (lambda: resampling_shift(10, 16, 1.0), "n_frames"),
        (lambda: resampling_shift(30, 1, 1.0), "n_samples"),
        (lambda: resampling_shift(30, 16, 0.0), "speed must be above 0"),
    ],
)
def test_bad_arguments_are_named(make, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=said):
        make()
