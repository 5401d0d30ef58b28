"""Clips played at another speed: the frames of the Olympiad tutorials, which are nearly those of the clip as it is."""

import numpy as np
import pytest

from coursepkg.projects.sign_language.augmentation import (
    DrawResampling,
    Resampling,
    ResamplingConfig,
    resampling_shift,
)
from coursepkg.projects.sign_language.data.clip import frames_at, uniform_frames


@pytest.mark.parametrize("speed", [0.5, 0.7, 0.9, 1.0, 1.1, 1.3, 1.8])
def test_frames_move_as_far_as_the_source_moves_them(speed: float) -> None:
    times = np.arange(30) / 12
    taken = frames_at(times, Resampling(speed, 30)(16))
    apart = np.abs(taken - uniform_frames(times, 16))
    expected = resampling_shift(30, 16, speed)
    assert (apart.mean(), apart.max()) == (pytest.approx(expected.mean), expected.most)
    assert (np.diff(taken) >= 0).all()


def test_speeds_belong_to_the_draw_and_stay_in_their_range() -> None:
    draw = DrawResampling(ResamplingConfig(0.3))
    speeds = [draw(np.random.Generator(np.random.PCG64(seed))).speed for seed in range(200)]
    again = [draw(np.random.Generator(np.random.PCG64(seed))).speed for seed in range(200)]
    assert speeds == again
    assert 0.7 <= min(speeds) < 0.75
    assert 1.25 < max(speeds) <= 1.3
    assert Resampling(1.0, 30)(1).tolist() == [0.0]


def test_settings_out_of_range_are_named() -> None:
    with pytest.raises(ValueError, match=r"--strength must be in \[0, 0\.9\], got 1\.0"):
        ResamplingConfig(1.0)
    with pytest.raises(ValueError, match="--n-frames must be an integer of at least 2, got 1"):
        ResamplingConfig(n_frames=1)
