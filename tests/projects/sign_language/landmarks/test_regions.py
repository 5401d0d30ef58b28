"""Turned squares: what is cut out lies where `to_frame` says, between pixels by bilinear means, at any angle."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.sign_language.landmarks.regions import Region, turned, upright_angle

ANGLES = st.floats(-10, 10)
SQUARES = st.builds(
    Region, x=st.floats(-50, 50), y=st.floats(-50, 50), side=st.floats(0, 80), angle=st.floats(-4, 4)
)


def picture(height: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def bilinear(frame: np.ndarray, region: Region, size: int, *, repeat_edge: bool) -> np.ndarray:
    """The definition, pixel by pixel; pixels lie at whole coordinates."""
    height, width = frame.shape[:2]
    out = np.empty((size, size, 3))
    cos, sin = math.cos(region.angle), math.sin(region.angle)
    for row in range(size):
        for column in range(size):
            u, v = column / size - 0.5, row / size - 0.5
            x = region.x + region.side * (cos * u - sin * v)
            y = region.y + region.side * (sin * u + cos * v)
            left, top = math.floor(x), math.floor(y)
            value = np.zeros(3)
            for i in (0, 1):
                for j in (0, 1):
                    share = (x - left if i else left + 1 - x) * (y - top if j else top + 1 - y)
                    inside = 0 <= left + i < width and 0 <= top + j < height
                    if repeat_edge or inside:
                        a, b = min(max(left + i, 0), width - 1), min(max(top + j, 0), height - 1)
                        value += share * frame[b, a]
            out[row, column] = value
    return out


@pytest.mark.parametrize("repeat_edge", [False, True])
@pytest.mark.parametrize(
    "region",
    [
        Region(20.0, 12.0, 16.0),
        Region(17.3, 11.8, 9.4, 0.7),
        Region(3.0, 20.0, 30.0, -2.5),
        Region(40.0, 24.0, 70.0, 3.0),
    ],
    ids=["upright", "turned", "over the edge", "larger than the picture"],
)
def test_a_cut_is_bilinear(region: Region, repeat_edge: bool) -> None:
    # Neighbours that differ little: OpenCV interpolates in steps of 1/32 pixel.
    y, x = np.mgrid[:24, :40]
    frame = np.stack([4 * x, 6 * y, 2 * x + 3 * y], axis=-1).astype(np.uint8)
    cut = region.crop(frame, 12, repeat_edge=repeat_edge)
    expected = bilinear(frame, region, 12, repeat_edge=repeat_edge)
    error = np.abs(cut.astype(float) - expected)
    # At the edge of a black border 1/32 pixel is worth 255/32 gray levels.
    assert error.max() < (1.5 if repeat_edge else 12)
    assert np.median(error) < 0.6


@pytest.mark.parametrize("quarter", range(4))
def test_quarter_turns_are_exact(quarter: int) -> None:
    frame = picture(8, 8)
    cut = Region(4.0, 4.0, 8.0, quarter * math.pi / 2).crop(frame, 8, repeat_edge=True)
    # Pixels have whole coordinates, so the cut begins at the last but one pixel on the sides that are turned round.
    rows, columns = np.mgrid[1:8, 1:8]
    places = [(rows, columns), (columns, 8 - rows), (8 - rows, 8 - columns), (8 - columns, rows)]
    assert np.array_equal(cut[1:, 1:], frame[places[quarter]])


def test_a_bright_point_is_found_where_the_map_back_says() -> None:
    frame = np.zeros((100, 160, 3), np.uint8)
    frame[60:63, 90:93] = 255
    for angle in (0.0, 0.5, math.pi / 2, -2.0):
        region = Region(85.0, 55.0, 64.0, angle)
        cut = region.crop(frame, 128, repeat_edge=False)[..., 0].astype(float)
        rows, columns = np.mgrid[:128, :128]
        share = np.array([(cut * columns).sum(), (cut * rows).sum()]) / cut.sum() / 128
        # Pixels 90 to 92: their mean index is 91.
        assert region.to_frame(share) == pytest.approx(np.array([91.0, 61.0]), abs=0.1)


@given(region=SQUARES, x=st.floats(-1, 2), y=st.floats(-1, 2))
def test_the_map_back_is_a_similarity(region: Region, x: float, y: float) -> None:
    middle = region.to_frame(np.array([0.5, 0.5]))
    assert middle == pytest.approx(np.array([region.x, region.y]))
    point = region.to_frame(np.array([x, y]))
    far = region.side * math.hypot(x - 0.5, y - 0.5)
    assert np.linalg.norm(point - middle) == pytest.approx(far, abs=1e-6)
    back = turned((point - middle), -region.angle)
    assert back == pytest.approx(region.side * np.array([x - 0.5, y - 0.5]), abs=1e-6)


def test_a_depth_is_scaled_and_not_turned() -> None:
    points = np.array([[0.5, 0.0, 0.25], [1.0, 0.5, -0.5]])
    found = Region(10.0, 20.0, 40.0, math.pi / 2).to_frame(points)
    assert found == pytest.approx(np.array([[30.0, 20.0, 10.0], [10.0, 40.0, -20.0]]))


@pytest.mark.parametrize(
    ("end", "degrees"),
    [((0, -1), 0), ((1, 0), 90), ((-1, 0), -90), ((1, -1), 45), ((-1, 1), -135), ((0, 1), -180)],
)
def test_the_upright_angle_by_hand(end: tuple[int, int], degrees: int) -> None:
    angle = upright_angle(np.zeros(2), np.array(end, float))
    assert math.degrees(angle) == pytest.approx(degrees)


@given(angle=ANGLES, x=st.floats(-100, 100), y=st.floats(-100, 100), length=st.floats(0.1, 100))
def test_a_square_at_the_upright_angle_shows_the_way_up(
    angle: float, x: float, y: float, length: float
) -> None:
    begin = np.array([x, y])
    end = begin + length * np.array([math.sin(angle), -math.cos(angle)])
    found = upright_angle(begin, end)
    assert -math.pi <= found < math.pi
    way = turned(end - begin, -found)
    assert way == pytest.approx(np.array([0.0, -length]), abs=1e-6 * (100 + length))


@given(one=SQUARES, other=SQUARES)
def test_overlap_is_symmetric_and_a_share(one: Region, other: Region) -> None:
    shared = one.overlap(other)
    assert 0 <= shared <= 1
    assert shared == pytest.approx(other.overlap(one))


def test_overlap_by_hand() -> None:
    square = Region(10.0, 10.0, 4.0)
    assert square.overlap(square) == 1
    assert square.overlap(Region(12.0, 10.0, 4.0)) == pytest.approx(8 / 24)
    assert square.overlap(Region(10.0, 10.0, 2.0)) == pytest.approx(4 / 16)
    assert square.overlap(Region(15.0, 10.0, 4.0)) == 0
    assert Region(1.0, 1.0, 0.0).overlap(Region(1.0, 1.0, 0.0)) == 0


def test_without_opencv_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(ImportError, match=r"^landmarks need OpenCV: pip install 'coursepkg\[landmarks\]'$"):
        Region(1.0, 1.0, 2.0).crop(picture(2, 2), 2, repeat_edge=True)
