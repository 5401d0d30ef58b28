"""T frames of a clip: the contest's at an even rate, those on the screen at an uneven one, and what fills up."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.blocks.convolution import IMAGENET_MEAN, IMAGENET_STD
from coursepkg.projects.sign_language.data.clip import (
    frames_at,
    normalise,
    sample_frames,
    to_pixels,
    to_unit,
    uniform_frames,
)


@given(st.integers(16, 400), st.sampled_from([24.0, 25.0, 29.97, 30.0]), st.floats(-5, 5))
def test_at_an_even_rate_the_frames_are_those_of_the_contest(n_frames: int, fps: float, start: float) -> None:
    times = start + np.arange(n_frames) / fps
    contest = [place * (n_frames - 1) // 15 for place in range(16)]
    assert uniform_frames(times, 16).tolist() == contest
    # A container that stores milliseconds gives the same frames.
    assert uniform_frames(np.round(np.arange(n_frames) / fps, 3), 16).tolist() == contest


@given(st.lists(st.integers(1, 900), min_size=0, max_size=60), st.integers(1, 40))
def test_at_an_uneven_rate_they_are_what_is_on_the_screen(steps: list[int], count: int) -> None:
    times = np.concatenate(([0], np.cumsum(steps))) / 1000
    found = uniform_frames(times, count)
    assert len(found) == count
    assert (np.diff(found) >= 0).all()
    assert found[0] == 0
    assert count == 1 or found[-1] == len(times) - 1
    near = 0.031 * np.diff(times, prepend=times[0])
    for number, moment in zip(found, np.linspace(0, times[-1], count), strict=True):
        assert times[number] <= moment + near[number]
        assert number + 1 == len(times) or times[number + 1] > moment


def test_a_long_pause_is_sampled_as_long_as_it_lasts() -> None:
    times = np.concatenate((np.arange(10) / 30, 3 + np.arange(10) / 30))
    found = uniform_frames(times, 16)
    assert (found == 9).sum() >= 11
    assert found[-1] == 19


def test_a_short_clip_is_filled_up_in_three_ways() -> None:
    times = np.arange(3) / 30
    filled = {padding: sample_frames(times, 8, padding) for padding in ("repeat", "loop", "mask")}
    assert filled["repeat"].numbers.tolist() == [0, 1, 2, 2, 2, 2, 2, 2]
    assert filled["loop"].numbers.tolist() == [0, 1, 2, 0, 1, 2, 0, 1]
    assert filled["mask"].numbers.tolist() == [0, 1, 2, 2, 2, 2, 2, 2]
    assert filled["mask"].mask.tolist() == [True] * 3 + [False] * 5
    assert filled["repeat"].mask.all()
    assert filled["loop"].mask.all()
    for padding in ("repeat", "loop", "mask"):
        assert sample_frames(np.arange(40) / 30, 8, padding).mask.all()


@pytest.mark.parametrize("n_frames", [1, 5, 16, 17, 90])
def test_a_sample_is_never_empty_and_never_beyond_the_clip(n_frames: int) -> None:
    for padding in ("repeat", "loop", "mask"):
        found = sample_frames(np.arange(n_frames) / 25, 16, padding)
        assert found.numbers.shape == found.mask.shape == (16,)
        assert found.numbers.min() >= 0
        assert found.numbers.max() < n_frames
        assert found.mask[0]


def test_places_move_the_frames_and_padding_stays() -> None:
    late = sample_frames(np.arange(31) / 30, 4, places=lambda n: np.linspace(0.5, 1, n))
    assert late.numbers.tolist() == [15, 20, 25, 30]
    short = sample_frames(np.arange(3) / 30, 5, places=lambda n: np.ones(n))
    assert short.numbers.tolist() == [2] * 5
    assert short.mask.tolist() == [True, True, True, False, False]
    assert frames_at(np.array([7.0]), np.array([0.0, 0.5, 1.0])).tolist() == [0, 0, 0]
    assert frames_at(np.arange(5.0), np.array([-3.0, 9.0])).tolist() == [0, 4]


def test_offsets_look_at_other_frames_and_stay_inside() -> None:
    times = np.arange(61) / 30
    assert uniform_frames(times, 4).tolist() == [0, 20, 40, 60]
    assert uniform_frames(times, 4, offset=0.5).tolist() == [10, 30, 50, 60]
    assert uniform_frames(times, 4, offset=-0.5).tolist() == [0, 10, 30, 50]


def test_bad_arguments_are_named() -> None:
    times = np.arange(3.0)
    with pytest.raises(ValueError, match="times must be one number a frame and at least one"):
        sample_frames(np.zeros(0))
    with pytest.raises(ValueError, match="count must be an integer of at least 1, got 0"):
        sample_frames(times, 0)
    with pytest.raises(ValueError, match=r"offset must be in \[-1, 1\], got 2"):
        uniform_frames(times, 2, offset=2)


def test_normalised_frames_have_the_statistics_of_imagenet() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (2, 5, 6, 7, 3), dtype=np.uint8)
    found = normalise(pixels)
    assert found.shape == (2, 5, 3, 6, 7)
    assert found.dtype == torch.float32
    expected = (pixels / 255 - np.array(IMAGENET_MEAN)) / np.array(IMAGENET_STD)
    assert np.allclose(found.movedim(-3, -1).numpy(), expected, atol=1e-5)
    assert np.array_equal(to_pixels(found), pixels)
    assert np.allclose(to_unit(found).movedim(-3, -1).numpy(), pixels / 255, atol=1e-6)
    assert torch.equal(normalise(torch.from_numpy(pixels)), found)


def test_frames_are_normalised_without_being_changed_whatever_their_memory() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (3, 4, 5, 3), dtype=np.uint8)
    before = pixels.copy()
    locked, backwards = pixels.copy(), pixels[:, :, ::-1]
    locked.flags.writeable = False
    assert torch.equal(normalise(locked), normalise(pixels))
    assert torch.equal(normalise(backwards), normalise(pixels).flip(-1))
    assert np.array_equal(pixels, before)
    with pytest.raises(ValueError, match=r"frames must be RGB pictures.*got torch.float32 \(1, 2, 2, 3\)"):
        normalise(np.zeros((1, 2, 2, 3), dtype=np.float32))
