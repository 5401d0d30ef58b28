"""Frames in one colour are left out, and time closes over them."""

import numpy as np

from coursepkg.projects.sign_language.data.clip import sample_frames
from coursepkg.projects.sign_language.data.video import CacheConfig, seen_frames, solid_frames, without_solid


def pictures(n: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 255, (n, 4, 4, 3), dtype=np.uint8).repeat(16, 1).repeat(16, 2)


def with_gap(begin: int, length: int, colour: int) -> tuple[np.ndarray, np.ndarray]:
    frames = pictures(12)
    gap = np.full((length, 64, 64, 3), colour, np.uint8)
    whole = np.concatenate([frames[:begin], gap, frames[begin:]])
    return whole, np.arange(len(whole)) / 10 + 0.5


def test_what_stands_round_a_gap_stays_and_is_evenly_spaced() -> None:
    for begin in (1, 5, 12):
        whole, times = with_gap(begin, 9, 250)
        frames, seen = without_solid(whole, times)
        np.testing.assert_array_equal(frames, pictures(12))
        np.testing.assert_allclose(seen, times[:12])


def test_a_gap_at_the_begin_keeps_the_time_of_the_first_picture() -> None:
    whole, times = with_gap(0, 9, 0)
    frames, seen = without_solid(whole, times)
    np.testing.assert_array_equal(frames, pictures(12))
    np.testing.assert_allclose(seen, times[9:])


def test_uneven_times_stay_uneven() -> None:
    whole, _ = with_gap(3, 2, 128)
    times = np.cumsum(np.arange(1, 15)) / 10.0
    _, seen = without_solid(whole, times)
    expected = np.delete(np.diff(times), [2, 3])
    np.testing.assert_allclose(np.diff(seen), expected)
    assert seen[0] == times[0]


def test_a_clip_without_a_gap_and_one_of_nothing_else_stay() -> None:
    for frames in (pictures(5), np.zeros((5, 32, 32, 3), np.uint8)):
        times = np.arange(5) / 7
        found = without_solid(frames, times)
        assert found[0] is frames
        assert found[1] is times


def test_a_clip_that_shows_nothing_is_told_from_one_that_does() -> None:
    assert solid_frames(np.full((5, 32, 32, 3), 200, np.uint8)).all()
    assert not solid_frames(with_gap(5, 9, 250)[0]).all()


def test_more_of_the_sign_is_sampled() -> None:
    whole, times = with_gap(6, 20, 250)
    shown = {}
    for skip in (False, True):
        frames, seen = seen_frames(whole, times, CacheConfig(skip_solid=skip))
        shown[skip] = sum(frames[i].std() > 1 for i in sample_frames(seen, 12).numbers)
    assert shown[False] < 6
    assert shown[True] == 12
