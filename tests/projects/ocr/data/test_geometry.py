"""Hull, rectangle, corners and clipping against independent computations and against what must hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from coursepkg.projects.ocr.data.geometry import (
    area,
    as_corners,
    clip_polygon,
    convex_hull,
    four_corners,
    in_reading_order,
    sides,
    smallest_rectangle,
)

seeds = st.integers(0, 10_000)


def cloud(seed: int, count: int = 12) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, 2)) * [60, 15] + 100


def rotated(corners: np.ndarray, degrees: float) -> np.ndarray:
    angle = np.deg2rad(degrees)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return corners @ turn


BOX = np.array([[0.0, 0.0], [80.0, 0.0], [80.0, 20.0], [0.0, 20.0]])


@settings(max_examples=15)
@given(seeds)
def test_hull_has_the_area_and_corners_of_scipys(seed: int) -> None:
    points = cloud(seed)
    known = ConvexHull(points)
    found = convex_hull(points)
    assert area(found) == pytest.approx(known.volume)
    assert {tuple(p) for p in found} == {tuple(p) for p in points[known.vertices]}


def test_points_on_an_edge_are_no_corners() -> None:
    with_middle = np.vstack([BOX, [[40.0, 0.0], [40.0, 10.0]]])
    assert len(convex_hull(with_middle)) == 4


@settings(max_examples=15)
@given(seeds)
def test_no_rectangle_at_any_angle_is_smaller(seed: int) -> None:
    points = cloud(seed)
    found = smallest_rectangle(points)
    tried = []
    for degrees in np.linspace(0, 90, 181):
        low, high = (extreme(rotated(points, degrees), axis=0) for extreme in (np.min, np.max))
        tried.append(float(np.prod(high - low)))
    assert area(found) <= min(tried) + 1e-6
    assert area(found) >= 0.9 * min(tried)


@settings(max_examples=15)
@given(seeds)
def test_the_rectangle_holds_all_points_and_is_one(seed: int) -> None:
    points = cloud(seed)
    found = smallest_rectangle(points)
    edges = np.roll(found, -1, axis=0) - found
    assert np.abs(np.sum(edges * np.roll(edges, -1, axis=0), axis=1)).max() < 1e-6 * area(found)
    assert area(convex_hull(np.vstack([points, found]))) == pytest.approx(area(found))


@pytest.mark.parametrize("degrees", range(-40, 41, 10))
@pytest.mark.parametrize("start", range(4))
@pytest.mark.parametrize("step", [1, -1])
def test_reading_order_does_not_depend_on_where_the_annotator_began(
    degrees: int, start: int, step: int
) -> None:
    turned = rotated(BOX, degrees)
    given_corners = np.roll(turned, start, axis=0)[::step]
    assert in_reading_order(given_corners) == pytest.approx(turned)


@pytest.mark.parametrize(("quarter", "first"), [(0, 0), (1, 1), (2, 2), (3, 3)])
def test_the_first_corner_of_turned_text(quarter: int, first: int) -> None:
    found = in_reading_order(BOX, quarter)
    assert found == pytest.approx(np.roll(BOX, -first, axis=0))
    assert sides(found) == ((80, 20) if quarter % 2 == 0 else (20, 80))


def test_four_corners_keep_the_perspective_of_a_trapezium() -> None:
    trapezium = np.array([[0.0, 0.0], [100.0, 8.0], [100.0, 28.0], [0.0, 30.0]])
    with_closing_point = np.vstack([trapezium, [[0.0, 1.5]]])
    for outline in (trapezium, with_closing_point):
        assert {tuple(p) for p in four_corners(outline)} == {tuple(p) for p in trapezium}


def test_many_corners_get_the_smallest_rectangle() -> None:
    around = np.array([[np.cos(a) * 50, np.sin(a) * 50] for a in np.linspace(0, 6.2, 24)])
    assert four_corners(around) == pytest.approx(smallest_rectangle(around))


@settings(max_examples=15)
@given(seeds)
def test_four_corners_lose_at_most_a_twentieth(seed: int) -> None:
    hull = convex_hull(cloud(seed, 7))
    assert area(four_corners(hull)) >= 0.95 * area(hull) - 1e-9


def test_clipping_cuts_and_says_so() -> None:
    found, was_cut = clip_polygon(np.array([[-10.0, 5.0], [20.0, 5.0], [20.0, 15.0], [-10.0, 15.0]]), 100, 50)
    assert was_cut
    assert area(found) == pytest.approx(200)
    assert clip_polygon(BOX, 80, 20) == (pytest.approx(BOX), False)
    outside, was_cut = clip_polygon(BOX + 500, 100, 50)
    assert (len(outside), was_cut) == (0, True)


@settings(max_examples=15)
@given(seeds)
def test_what_is_clipped_lies_inside_and_nothing_else_is_lost(seed: int) -> None:
    hull = convex_hull(cloud(seed))
    inside, _ = clip_polygon(hull, 120, 100)
    draw = np.random.default_rng(seed).uniform([0, 0], [120, 100], size=(4000, 2))
    assert len(inside) == 0 or (inside.min() >= -1e-9 and (inside <= [120 + 1e-9, 100 + 1e-9]).all())
    edges = np.roll(hull, -1, axis=0) - hull
    offset = draw[:, None] - hull
    in_hull = ((edges[:, 0] * offset[..., 1] - edges[:, 1] * offset[..., 0]) >= 0).all(axis=1)
    share = area(inside) / 12_000 if len(inside) > 2 else 0.0
    assert in_hull.mean() == pytest.approx(share, abs=0.04)


@pytest.mark.parametrize("bad", [[(0, 0), (1, 1)], [(0, 0), (1, 1), (float("nan"), 2)], [(0, 0, 1)] * 3])
def test_what_is_no_polygon_is_refused(bad: list[tuple[float, ...]]) -> None:
    with pytest.raises(ValueError, match="at least three finite corners"):
        as_corners(bad)
