"""Broken frames are found where they were put, and nowhere else."""

import numpy as np
import pytest

from coursepkg.projects.sign_language.data.clip import shrink
from coursepkg.projects.sign_language.quality.survey import BrokenFrames, find_broken, largest_changes
from coursepkg.projects.sign_language.recipe import BrokenThresholds
from coursepkg.validation import flag_of
from tests.projects.sign_language.quality.scenes import scene, times_of


def find(frames: np.ndarray, thresholds: BrokenThresholds | None = None) -> BrokenFrames:
    return find_broken(shrink(frames), times_of(len(frames)), thresholds)


def noisy(frames: np.ndarray, deviation: float) -> np.ndarray:
    noise = np.random.Generator(np.random.PCG64(5)).normal(0, deviation, frames.shape)
    return np.clip(frames + noise, 0, 255).astype(np.uint8)


def test_a_clip_that_moves_has_nothing_broken() -> None:
    for motion in range(4):
        found = find(scene(motion))
        assert (found.numbers, found.share, found.kinds) == ((), 0.0, {})


@pytest.mark.parametrize("colour", [(0, 0, 0), (255, 255, 255), (250, 214, 20), (16, 40, 200)])
def test_frames_in_one_colour_are_solid(colour: tuple[int, int, int]) -> None:
    frames = scene(1)
    frames[5:12] = colour
    found = find(frames)
    assert found.solid == tuple(range(5, 12))
    assert found.frozen == ()
    assert found.share == 7 / 24
    assert find(noisy(frames, 4.0)).solid == tuple(range(5, 12))


def test_a_line_of_garbage_makes_no_picture_and_a_hand_does() -> None:
    frames = scene(1)
    frames[5:9] = 0
    frames[5:9, -1:, :32] = (0, 255, 0)
    assert find(frames).solid == (5, 6, 7, 8)
    frames[5:9, 20:40, 20:40] = 200
    assert find(frames).solid == ()


def test_frames_that_stand_still_are_frozen_but_for_the_first() -> None:
    frames = scene(2)
    frames[8:15] = frames[7]
    assert find(frames).frozen == tuple(range(8, 15))
    assert find(frames).kinds == {"frozen": 7}


def test_short_runs_are_left_by_a_change_of_the_frame_rate() -> None:
    frames = scene(2).repeat(2, axis=0)
    assert find(frames).frozen == ()
    assert find(frames, BrokenThresholds(still_run=1, still_seconds=0.0, longest_rest=0.0)).frozen == tuple(
        range(1, 48, 2)
    )


def test_a_run_is_long_in_seconds_and_not_only_in_frames() -> None:
    frames = scene(2)
    frames[8:12] = frames[7]
    thumbs = shrink(frames)
    assert find_broken(thumbs, np.arange(24) / 12).frozen == (8, 9, 10, 11)
    assert find_broken(thumbs, np.arange(24) / 16).frozen == (8, 9, 10, 11)
    assert find_broken(thumbs, np.arange(24) / 30).frozen == ()


def test_hands_that_are_held_drift_and_a_frozen_picture_does_not() -> None:
    frames = scene(2, 30)
    frames[10:20] = frames[9]
    assert len(find(frames).frozen) == 10
    for t in range(10, 20):
        frames[t, 20:30, 20:30] += np.uint8(t - 9)
    assert find(frames).frozen == ()
    assert len(find(frames, BrokenThresholds(still_drift=12.0)).frozen) == 10


def test_rest_at_an_end_is_no_fault_until_it_is_long() -> None:
    frames = scene(2, 40)
    frames[-7:] = frames[-8]
    assert find(frames).frozen == ()
    assert find(frames, BrokenThresholds(longest_rest=0.0)).frozen == tuple(range(33, 40))
    frames[-15:] = frames[-16]
    assert find(frames).frozen == tuple(range(25, 40))


def test_a_clip_that_never_moves_is_frozen() -> None:
    frames = scene(2)
    frames[:] = frames[0]
    assert find(frames).frozen == tuple(range(1, 24))


def test_a_small_hand_is_motion_and_noise_of_a_camera_is_too() -> None:
    frames = np.full((24, 224, 224, 3), 120, dtype=np.uint8)
    frames[:, ::8] = 60
    for t in range(24):
        frames[t, 100:108, 4 * t : 4 * t + 8] = 220
    assert find(frames).frozen == ()
    still = np.repeat(frames[:1], 24, axis=0)
    assert len(find(still).frozen) == 23
    assert find(noisy(still, 8.0)).frozen == ()


def test_lost_frames_count_into_the_share() -> None:
    frames = scene(1, 20)
    frames[3:7] = 0
    found = find_broken(shrink(frames), times_of(20), undecodable=5)
    assert (found.n_broken, found.share) == (9, 9 / 25)
    assert found.kinds == {"solid": 4, "undecodable": 5}
    assert find(frames[:1]).frozen == ()


def test_changes_are_those_of_the_cell_that_changes_most() -> None:
    frames = np.zeros((3, 64, 64, 3), dtype=np.uint8)
    frames[1, 10:12, 20:22] = 100
    assert np.allclose(largest_changes(shrink(frames)), [100, 100], atol=1e-3)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("solid_spread", -1.0),
        ("solid_share", 0.2),
        ("still_change", 300.0),
        ("longest_rest", 1.5),
        ("still_seconds", -0.1),
        ("still_drift", -1.0),
        ("still_run", 0),
        ("solid_share", float("nan")),
    ],
)
def test_thresholds_out_of_range_are_named(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{flag_of(field)} must be"):
        BrokenThresholds(**{field: value})


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="frames must be"):
        find_broken(np.zeros((0, 32, 32, 3), dtype=np.float32), np.zeros(0))
    with pytest.raises(ValueError, match="undecodable"):
        find_broken(shrink(scene(1)), times_of(24), undecodable=-1)
