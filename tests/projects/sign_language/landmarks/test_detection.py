"""From the numbers of a detector to boxes: anchors by hand, suppression against a plain version of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from coursepkg.projects.sign_language.landmarks import hands, pose
from coursepkg.projects.sign_language.landmarks.detection import (
    Detector,
    boxes_of,
    grid_anchors,
    overlaps,
    suppress,
)
from coursepkg.projects.sign_language.landmarks.networks import Network


def test_anchors_of_palms_by_hand() -> None:
    """24 x 24 cells of 8 pixels with 2 anchors, 12 x 12 cells of 16 pixels with 6."""
    anchors = grid_anchors(192, hands.STRIDES)
    assert anchors.shape == (24 * 24 * 2 + 12 * 12 * 6, 2) == (2016, 2)
    assert anchors.dtype == np.float32
    assert anchors[:3] == pytest.approx(np.array([[0.5, 0.5], [0.5, 0.5], [1.5, 0.5]]) / 24)
    assert anchors[48] == pytest.approx(np.array([0.5, 1.5]) / 24)
    assert anchors[1152:1159] == pytest.approx(np.array([[0.5, 0.5]] * 6 + [[1.5, 0.5]]) / 12)
    assert anchors[-1] == pytest.approx(np.array([11.5, 11.5]) / 12)


def test_anchors_of_people_by_hand() -> None:
    """28 x 28 cells with 2 anchors, 14 x 14 with 2, 7 x 7 with 6."""
    anchors = grid_anchors(224, pose.STRIDES)
    assert anchors.shape == (28 * 28 * 2 + 14 * 14 * 2 + 7 * 7 * 6, 2) == (2254, 2)
    assert anchors[0] == pytest.approx(np.array([0.5, 0.5]) / 28)
    assert anchors[1568] == pytest.approx(np.array([0.5, 0.5]) / 14)
    assert anchors[-1] == pytest.approx(np.array([6.5, 6.5]) / 7)


def test_a_side_that_is_no_multiple_has_a_cell_more() -> None:
    assert len(grid_anchors(100, (32,))) == 2 * 4 * 4


def test_boxes_by_hand() -> None:
    offsets = np.array([[10.0, -20.0, 40.0, 20.0, 5.0, 0.0, 0.0, -10.0]], np.float32)
    (box,) = boxes_of(offsets, np.array([[0.5, 0.25]], np.float32), 100)
    # Middle (0.6, 0.05), 0.4 wide and 0.2 high.
    assert box[:2] == pytest.approx(np.array([[0.4, -0.05], [0.8, 0.15]]))
    assert box[2:] == pytest.approx(np.array([[0.55, 0.25], [0.5, 0.15]]))


def test_no_box_above_the_threshold_gives_none() -> None:
    boxes = boxes_of(np.zeros((0, 18), np.float32), np.zeros((0, 2), np.float32), 192)
    assert boxes.shape == (0, 9, 2)
    assert suppress(boxes, np.zeros(0, np.float32)) == []


def plain_overlap(a: np.ndarray, b: np.ndarray) -> float:
    width = min(a[1, 0], b[1, 0]) - max(a[0, 0], b[0, 0])
    height = min(a[1, 1], b[1, 1]) - max(a[0, 1], b[0, 1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    area = sum((box[1, 0] - box[0, 0]) * (box[1, 1] - box[0, 1]) for box in (a, b))
    return shared / (area - shared)


def plain_suppress(boxes: np.ndarray, scores: np.ndarray, most: float) -> list[tuple[float, np.ndarray]]:
    """Take the best that is left, average it with all that overlap it, drop them, go on."""
    left = sorted(range(len(boxes)), key=lambda i: -scores[i])
    found = []
    while left:
        best = left[0]
        same = [i for i in left if i == best or plain_overlap(boxes[i][:2], boxes[best][:2]) > most]
        total = sum(scores[i] for i in same)
        found.append((scores[best], sum(scores[i] * boxes[i] for i in same) / total))
        left = [i for i in left if i not in same]
    return found


@st.composite
def detections(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    n = draw(st.integers(1, 12))
    # Whole numbers on a small grid, so that boxes overlap and touch.
    corners = draw(arrays(np.float64, (n, 1, 2), elements=st.integers(0, 12).map(float)))
    sizes = draw(arrays(np.float64, (n, 1, 2), elements=st.integers(1, 8).map(float)))
    keypoints = draw(arrays(np.float64, (n, 3, 2), elements=st.floats(0, 20)))
    scores = draw(st.lists(st.integers(50, 100), min_size=n, max_size=n, unique=True))
    return np.concatenate([corners, corners + sizes, keypoints], axis=1), np.array(scores) / 100


@given(found=detections(), most=st.sampled_from([0.0, 0.3, 0.5, 0.99]))
def test_suppression_is_the_plain_one(found: tuple[np.ndarray, np.ndarray], most: float) -> None:
    ours, plain = suppress(*found, most), plain_suppress(*found, most)
    assert [score for score, _ in ours] == pytest.approx([score for score, _ in plain])
    for (_, box), (_, other) in zip(ours, plain, strict=True):
        assert box == pytest.approx(other)


@given(found=detections())
def test_groups_come_by_score_and_their_order_in_the_input_is_nothing(
    found: tuple[np.ndarray, np.ndarray],
) -> None:
    boxes, scores = found
    groups = suppress(boxes, scores)
    assert [score for score, _ in groups] == sorted((score for score, _ in groups), reverse=True)
    assert groups[0][0] == scores.max()
    order = np.random.default_rng(0).permutation(len(boxes))
    for (score, box), (other_score, other) in zip(groups, suppress(boxes[order], scores[order]), strict=True):
        assert score == other_score
        assert box == pytest.approx(other)


@given(found=detections())
def test_overlaps_are_shares_and_one_for_the_same(found: tuple[np.ndarray, np.ndarray]) -> None:
    boxes = found[0][:, :2]
    for i, box in enumerate(boxes):
        shares = overlaps(boxes, box)
        assert shares[i] == pytest.approx(1)
        assert shares == pytest.approx([plain_overlap(other, box) for other in boxes])


def test_boxes_without_area_overlap_nothing() -> None:
    point = np.zeros((1, 2, 2))
    assert overlaps(point, point[0]).tolist() == [0]
    assert len(suppress(np.zeros((1, 4, 2)), np.array([0.9]))) == 1


def test_nothing_is_found_in_a_plain_wall() -> None:
    detector = Detector(Network("palm_detection_full"), hands.STRIDES, low=0.0)
    for shape in ((1, 1, 3), (480, 640, 3), (90, 700, 3)):
        assert detector.detect(np.full(shape, 120, np.uint8)) == []
