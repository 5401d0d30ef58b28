"""Squares around hands by hand, and hands that are followed, dropped and found again."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.sign_language.landmarks import hands
from coursepkg.projects.sign_language.landmarks.detection import Detection
from coursepkg.projects.sign_language.landmarks.hands import (
    Hand,
    HandTracker,
    region_of_hand,
    region_of_palm,
    without_repetition,
)
from coursepkg.projects.sign_language.landmarks.regions import Region, turned


def open_hand() -> np.ndarray:
    """21 landmarks of a hand whose fingers point up, wrist at (0, 0); about 2 wide and 2 high."""
    points = np.zeros((21, 2))
    for finger in range(5):
        x = -1 + 0.5 * finger
        for joint in range(4):
            points[1 + 4 * finger + joint] = x, -1 - 0.5 * joint
    return points


def palm_at(angle: float = 0.0) -> Detection:
    keypoints = np.zeros((7, 2), np.float32)
    keypoints[0], keypoints[2] = (0, 0), (math.sin(angle), -math.cos(angle))
    return Detection(0.9, np.array([90.0, 180.0, 110.0, 200.0], np.float32), keypoints)


def test_the_square_of_an_upright_palm_by_hand() -> None:
    region = region_of_palm(palm_at())
    # Middle (100, 190), half a palm of 20 upwards, 2.6 palms wide.
    assert (region.x, region.y, region.side, region.angle) == pytest.approx((100, 180, 52, 0))


@pytest.mark.parametrize("degrees", [90, -90, 30])
def test_the_square_of_a_turned_palm_lies_where_the_fingers_are(degrees: int) -> None:
    angle = math.radians(degrees)
    region = region_of_palm(palm_at(angle))
    assert region.angle == pytest.approx(angle)
    assert region.x == pytest.approx(100 + 10 * math.sin(angle))
    assert region.y == pytest.approx(190 - 10 * math.cos(angle))


def test_the_square_of_a_hand_by_hand() -> None:
    points = open_hand()
    region = region_of_hand(points)
    # Without fingertips x goes from -1 to 1 and y from 0 to -2, that of the thumb's last joint but one. The middle
    # moves up by a tenth of the height, the side is twice the longer one.
    assert (region.x, region.y, region.side) == pytest.approx((0, -1 - 0.2, 4))
    assert region.angle == pytest.approx(0)


@given(angle=st.floats(-3, 3), scale=st.floats(1, 500), x=st.floats(-500, 500), y=st.floats(-500, 500))
def test_the_square_turns_grows_and_moves_with_the_hand(
    angle: float, scale: float, x: float, y: float
) -> None:
    plain = region_of_hand(open_hand())
    region = region_of_hand(scale * turned(open_hand(), angle) + np.array([x, y]))
    assert region.angle == pytest.approx(angle, abs=1e-6)
    assert region.side == pytest.approx(scale * plain.side)
    middle = scale * turned(np.array([plain.x, plain.y]), angle) + np.array([x, y])
    assert (region.x, region.y) == pytest.approx(tuple(middle), abs=1e-6 * (scale + 1000))


def test_fingertips_do_not_move_the_square() -> None:
    moved = open_hand()
    moved[[4, 7, 8, 11, 12, 15, 16, 19, 20]] += 100
    assert region_of_hand(moved) == region_of_hand(open_hand())


def test_a_hand_without_extent_has_a_square_without_extent() -> None:
    region = region_of_hand(np.full((21, 3), 5.0, np.float32))
    assert (region.x, region.y, region.side) == (5, 5, 0)


def test_repetitions_give_way_to_what_comes_later() -> None:
    near, far = Region(10.0, 10.0, 10.0), Region(100.0, 10.0, 10.0)
    followed = Region(11.0, 10.0, 10.0)
    assert without_repetition([near, far, followed]) == [far, followed]
    assert without_repetition([]) == []
    half = Region(15.0, 10.0, 10.0)  # a third of the union is shared
    assert without_repetition([near, half]) == [near, half]


@given(
    squares=st.lists(
        st.builds(Region, x=st.floats(0, 30), y=st.floats(0, 30), side=st.floats(1, 20)), max_size=6
    )
)
def test_what_is_kept_does_not_overlap_and_covers_all(squares: list[Region]) -> None:
    kept = without_repetition(squares)
    for i, one in enumerate(kept):
        assert all(one.overlap(other) <= hands.SAME_HAND for other in kept[i + 1 :])
    assert kept[-1:] == squares[-1:]
    assert [one for one in squares if any(one is other for other in kept)] == kept


class Scripted(HandTracker):
    """A tracker whose networks are lists: palms, and the score of each square."""

    def __init__(self, palms: list[Detection], scores: dict[float, float]) -> None:
        self.most, self._regions, self.scores, self.detected, self.looked = 2, [], scores, 0, []
        tracker = self

        class Found:
            def detect(self, frame: np.ndarray) -> list[Detection]:
                tracker.detected += 1
                return palms

        self._detector = Found()

    def look(self, frame: np.ndarray, region: Region) -> Hand:
        self.looked.append(region)
        points = np.zeros((21, 3), np.float32)
        points[:, :2] = 10 * open_hand() + [region.x, region.y]
        score = min(self.scores.items(), key=lambda item: abs(item[0] - region.x))[1]
        return Hand(points, points, score, 0.5, region)


FRAME = np.zeros((4, 4, 3), np.uint8)


def test_two_followed_hands_are_not_detected_anew() -> None:
    tracker = Scripted([palm_at()], {0.0: 0.9, 300.0: 0.9})
    tracker.follow([Region(0.0, 0.0, 40.0), Region(300.0, 0.0, 40.0)])
    assert len(tracker.track(FRAME)) == 2
    assert tracker.detected == 0
    # The next squares follow the landmarks.
    assert [region.side for region in tracker._regions] == pytest.approx([40, 40])


def test_a_lost_hand_is_detected_in_the_next_frame() -> None:
    tracker = Scripted([palm_at()], {0.0: 0.9, 100.0: 0.8, 300.0: 0.4})
    tracker.follow([Region(0.0, 0.0, 40.0), Region(300.0, 0.0, 40.0)])
    assert len(tracker.track(FRAME)) == 1
    assert tracker.detected == 0
    assert [round(hand.region.x) for hand in tracker.track(FRAME)] == [100, 0]
    assert tracker.detected == 1
    tracker.reset()
    tracker.looked.clear()
    tracker.track(FRAME)
    assert [round(region.x) for region in tracker.looked] == [100]


def test_a_detected_palm_of_a_followed_hand_is_not_looked_at_twice() -> None:
    tracker = Scripted([palm_at()], {100.0: 0.9})
    tracker.follow([Region(101.0, 180.0, 52.0)])
    assert len(tracker.track(FRAME)) == 1
    assert [region.x for region in tracker.looked] == [101.0]


def test_no_hand_in_a_wall() -> None:
    tracker = HandTracker()
    assert tracker.track(np.full((90, 160, 3), 200, np.uint8)) == []
