import math

import numpy as np
import pytest

from coursepkg.projects.ocr.detector.lines import TextBox, check_rgb
from tests.projects.ocr.detector.pages import box


def test_sizes_direction_and_turns() -> None:
    one = box(10, 20, 100, 30)
    assert (one.width, one.height, one.angle) == (100, 30, 0)
    np.testing.assert_array_equal(one.center, [60, 35])
    # A quarter clockwise: the text runs downwards and begins at the upper right.
    down = one.turned(1)
    np.testing.assert_array_equal(down.corners[0], [110, 20])
    assert (down.width, down.height, down.angle) == (30, 100, pytest.approx(math.pi / 2))
    np.testing.assert_array_equal(one.turned(4).corners, one.corners)
    assert abs(one.turned(2).angle) == pytest.approx(math.pi)


def test_a_box_keeps_its_own_corners() -> None:
    corners = box(0, 0, 5).corners
    one = TextBox(corners, 1.0)
    corners[0] = 99
    assert one.corners[0, 0] == 0
    assert one.corners.dtype == np.float64


@pytest.mark.parametrize("corners", [np.zeros((3, 2)), np.zeros(8), np.full((4, 2), np.nan)])
def test_odd_corners_are_refused(corners: np.ndarray) -> None:
    with pytest.raises(ValueError, match="four finite points"):
        TextBox(corners, 0.5)


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan")])
def test_odd_scores_are_refused(score: float) -> None:
    with pytest.raises(ValueError, match=r"score of a box must be in \[0, 1\]"):
        TextBox(np.zeros((4, 2)), score)


def test_pages_are_in_colour() -> None:
    check_rgb(np.zeros((1, 1, 3), np.uint8), "page")
    for image in (np.zeros((4, 4), np.uint8), np.zeros((4, 4, 4), np.uint8), np.zeros((4, 4, 3), np.float32)):
        with pytest.raises(ValueError, match=r"^page: a page must be in colour"):
            check_rgb(image, "page")
