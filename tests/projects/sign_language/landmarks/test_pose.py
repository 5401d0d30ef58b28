"""The body's square by hand, landmarks refined by maps, and a person who is found, followed and lost."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.sign_language.landmarks.pose import (
    KERNEL,
    NOSE,
    Pose,
    PoseTracker,
    refine,
    region_of_circle,
)
from coursepkg.projects.sign_language.synthetic.clips import draw_clip
from coursepkg.projects.sign_language.synthetic.signer import SignersConfig

LOW, HIGH = -20.0, 20.0


def test_the_square_of_a_circle_by_hand() -> None:
    region = region_of_circle(np.array([50.0, 60.0]), np.array([50.0, 20.0]))
    assert (region.x, region.y, region.side, region.angle) == pytest.approx((50, 60, 100, 0))
    region = region_of_circle(np.array([50.0, 60.0]), np.array([90.0, 60.0]))
    assert (region.side, region.angle) == pytest.approx((100, math.pi / 2))


def blank(n: int = 1) -> np.ndarray:
    return np.full((64, 64, n), LOW, np.float32)


def test_a_landmark_moves_to_the_mean_of_its_map() -> None:
    maps = blank(2)
    maps[30, 33, 0] = maps[30, 34, 0] = HIGH
    maps[10, 10, 1] = HIGH
    found = refine(np.array([[32 / 64, 32 / 64], [10 / 64, 12 / 64]], np.float32), maps)
    assert found == pytest.approx(np.array([[33.5 / 64, 30 / 64], [10 / 64, 10 / 64]]), abs=1e-6)


def test_a_peak_out_of_reach_changes_nothing() -> None:
    maps = blank()
    maps[32, 32 + KERNEL // 2 + 1, 0] = HIGH
    points = np.array([[32 / 64, 32 / 64]], np.float32)
    assert np.array_equal(refine(points, maps), points)
    maps[32, 32 + KERNEL // 2, 0] = HIGH
    assert refine(points, maps)[0, 0] == pytest.approx((32 + KERNEL // 2) / 64)


def test_an_unsure_map_changes_nothing() -> None:
    maps = blank()
    maps[32, 33, 0] = -0.1
    points = np.array([[32.4 / 64, 32.7 / 64]], np.float32)
    assert np.array_equal(refine(points, maps), points)


@pytest.mark.parametrize("point", [(-0.1, 0.5), (0.5, -0.3), (1.0, 0.5), (0.5, 7.0)])
def test_a_landmark_outside_stays(point: tuple[float, float]) -> None:
    maps = np.full((64, 64, 1), HIGH, np.float32)
    points = np.array([point], np.float32)
    assert np.array_equal(refine(points, maps), points)


@pytest.mark.parametrize("point", [(0.0, 0.0), (0.999, 0.999)])
def test_at_the_edge_the_part_is_cut(point: tuple[float, float]) -> None:
    maps = np.full((64, 64, 1), HIGH, np.float32)
    (found,) = refine(np.array([point], np.float32), maps)
    # Five of nine cells are left along each side.
    assert found == pytest.approx((2 / 64, 2 / 64) if point[0] == 0 else (61 / 64, 61 / 64), abs=1e-6)


@given(x=st.floats(0, 0.999), y=st.floats(0, 0.999), seed=st.integers(0, 20))
def test_refined_landmarks_stay_near_and_order_is_nothing(x: float, y: float, seed: int) -> None:
    maps = np.random.default_rng(seed).normal(0, 3, (64, 64, 3)).astype(np.float32)
    points = np.array([[x, y], [0.5, 0.5], [y, x]], np.float32)
    found = refine(points, maps)
    assert np.abs(found - points).max() <= (KERNEL // 2 + 1) / 64
    order = [2, 0, 1]
    assert np.array_equal(refine(points[order], maps[..., order]), found[order])


def test_maps_of_any_size_overflow_nowhere() -> None:
    maps = np.full((64, 64, 1), -1e4, np.float32)
    maps[32, 32] = 1e4
    with np.errstate(all="raise", under="ignore"):
        assert refine(np.array([[0.5, 0.5]], np.float32), maps) == pytest.approx(np.array([[0.5, 0.5]]))


@pytest.fixture(scope="module")
def frames() -> np.ndarray:
    config = SignersConfig(size=224, least_frames=16, most_frames=16)
    return draw_clip("Tôi", 1, 0, 10, config).frames


def test_a_person_is_followed_lost_and_found(frames: np.ndarray) -> None:
    tracker = PoseTracker()
    first = tracker.track(frames[0], 12.0)
    assert isinstance(first, Pose)
    assert first.points.dtype == first.visibility.dtype == np.float32
    assert first.points.shape == (33, 3)
    assert 0.5 <= first.score <= 1
    assert 0 <= first.visibility.min() <= first.visibility.max() <= 1
    assert tracker.track(np.full_like(frames[0], 128), 12.0) is None
    # What was lost leaves nothing behind: the same frame gives the same.
    again = tracker.track(frames[0], 12.0)
    assert np.array_equal(again.points, first.points)
    assert np.array_equal(again.visibility, first.visibility)


def test_visibility_changes_slowly(frames: np.ndarray) -> None:
    tracker = PoseTracker()
    found = np.stack([tracker.track(frame, 12.0).visibility for frame in frames])
    assert np.abs(np.diff(found, axis=0)).max() <= 0.1


def test_a_higher_rate_smooths_more(frames: np.ndarray) -> None:
    """Between the same two frames less time has passed, so less of the way is believed."""
    ways = []
    for rate in (1.0, 1000.0):
        tracker = PoseTracker()
        before, after = (tracker.track(frame, rate).points[NOSE, :2] for frame in (frames[0], frames[5]))
        ways.append(np.linalg.norm(after - before))
    assert ways[0] >= ways[1]


def test_nobody_in_a_wall() -> None:
    tracker = PoseTracker()
    frame = np.full((120, 90, 3), 90, np.uint8)
    assert tracker.track(frame, 25.0) is None
    assert tracker.detect(frame) == []
