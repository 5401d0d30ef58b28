"""Crops against plain slices, against each other, and what is refused."""

import numpy as np
import pytest

from coursepkg.projects.ocr.data.geometry import crop_corners, crop_polygons, perspective

PAGE = np.random.default_rng(0).integers(0, 256, (120, 200), dtype=np.uint8)
BOX = [(20, 10), (90, 10), (90, 40), (20, 40)]


def smooth_page() -> np.ndarray:
    """Waves, which survive being resampled."""
    y, x = np.mgrid[0:240, 0:320]
    return np.round(127 + 60 * np.sin(x / 9) + 60 * np.cos(y / 7)).astype(np.uint8)


def test_an_upright_rectangle_is_the_slice_itself() -> None:
    crop = crop_polygons(PAGE, [BOX])
    assert np.array_equal(crop.image, PAGE[10:40, 20:90])
    assert crop.notes == ()


@pytest.mark.parametrize("quarter", range(4))
def test_turned_text_comes_out_upright(quarter: int) -> None:
    crop = crop_polygons(PAGE, [BOX], quarter=quarter)
    assert np.array_equal(crop.image, np.rot90(PAGE[10:40, 20:90], quarter))


def test_a_skewed_line_is_straightened() -> None:
    page = smooth_page()
    angle = np.deg2rad(20)
    along, down = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    start = np.array([110.0, 60.0])
    corners = np.array([start, start + 80 * along, start + 80 * along + 30 * down, start + 30 * down])
    crop = crop_polygons(page, [corners])
    assert crop.image.shape == (30, 80)
    v, u = np.mgrid[0:30, 0:80] + 0.5
    x, y = (start[:, None, None] + along[:, None, None] * u + down[:, None, None] * v) - 0.5
    exact = 127 + 60 * np.sin(x / 9) + 60 * np.cos(y / 7)
    assert np.abs(crop.image - exact).max() < 3


def test_perspective_is_undone() -> None:
    corners = np.array([[30.0, 20.0], [170.0, 35.0], [160.0, 90.0], [25.0, 70.0]])
    a, b, c, d, e, f, g, h = perspective(corners, 140, 50).flat[:8]
    for (u, v), corner in zip(((0, 0), (140, 0), (140, 50), (0, 50)), corners, strict=True):
        below = g * u + h * v + 1
        assert [(a * u + b * v + c) / below, (d * u + e * v + f) / below] == pytest.approx(corner)


def test_polygons_of_one_line_are_cut_out_together() -> None:
    crop = crop_polygons(
        PAGE, [[(20, 10), (50, 10), (50, 40), (20, 40)], [(60, 10), (90, 10), (90, 40), (60, 40)]]
    )
    assert np.array_equal(crop.image, PAGE[10:40, 20:90])


def test_what_lies_outside_is_clipped_with_a_note() -> None:
    crop = crop_polygons(PAGE, [[(150, 100), (260, 100), (260, 160), (150, 160)]])
    assert np.array_equal(crop.image, PAGE[100:120, 150:200])
    assert crop.notes == ("clipped to the image",)


def test_a_margin_adds_paper_on_all_sides_and_white_outside_the_picture() -> None:
    crop = crop_polygons(PAGE, [BOX], margin=0.1)
    assert np.array_equal(crop.image, PAGE[7:43, 17:93])
    at_the_edge = crop_polygons(PAGE, [[(0, 0), (60, 0), (60, 20), (0, 20)]], margin=0.1)
    assert (at_the_edge.image[0] == 255).all()
    assert np.array_equal(at_the_edge.image[4:20, 4:60], PAGE[2:18, 2:58])


@pytest.mark.parametrize(
    ("polygon", "message"),
    [
        ([(500, 500), (600, 500), (600, 520), (500, 520)], "lies outside the image of 200 x 120"),
        ([(10, 10), (60, 10), (60, 11), (10, 11)], "50 x 1 pixels holds no text"),
        ([(10, 10), (10.4, 10), (10.4, 50), (10, 50)], "0 x 40 pixels holds no text"),
        ([(10, 10), (20, 20), (30, 30)], "line without area"),
    ],
)
def test_what_shows_no_text_is_refused_by_name(polygon: list[tuple[float, float]], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        crop_polygons(PAGE, [polygon], name="a.jpg, instance 3")
    assert str(caught.value).startswith("a.jpg, instance 3: ")


def test_corners_alone_are_enough_for_a_detector() -> None:
    corners = np.array([[20.0, 10.0], [90.0, 10.0], [90.0, 40.0], [20.0, 40.0]])
    assert np.array_equal(crop_corners(PAGE, corners), PAGE[10:40, 20:90])
    for bent in (
        [[0.0, 0.0], [50.0, 0.0], [100.0, 0.0], [50.0, 30.0]],
        [[0.0, 0.0], [90.0, 0.0], [30.0, 10.0], [0.0, 60.0]],
    ):
        with pytest.raises(ValueError, match="convex quadrilateral"):
            crop_corners(PAGE, np.array(bent))
