"""Outlines: limbs have their width everywhere, and turning is a turn."""

import numpy as np
import pytest

from coursepkg.projects.sign_language.synthetic.figure import Part, box, capsule, ellipse, rotated, still


def _area(points: np.ndarray) -> float:
    x, y = points[:, 0], points[:, 1]
    return abs(float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum())) / 2


@pytest.mark.parametrize("end", [(3.0, 0.0), (0.0, -2.0), (1.0, 1.0)])
def test_a_capsule_keeps_its_distance_from_its_bone(end: tuple[float, float]) -> None:
    begin, tip = np.zeros(2), np.array(end)
    points = capsule(begin, tip, 0.3, 0.3)
    share = np.clip((points @ tip) / (tip @ tip), 0, 1)
    np.testing.assert_allclose(np.linalg.norm(points - share[:, None] * tip, axis=1), 0.3)
    # A rectangle with two half discs, these as polygons of ten corners.
    disc = 5 * np.sin(2 * np.pi / 10) * 0.3**2
    assert _area(points) == pytest.approx(0.6 * np.linalg.norm(tip) + disc)


def test_capsules_are_made_many_at_once() -> None:
    begin, end = np.random.default_rng(0).normal(size=(2, 4, 5, 2))
    radii = np.linspace(0.1, 0.5, 5)
    together = capsule(begin, end, radii, 0.9 * radii)
    assert together.shape == (4, 5, 12, 2)
    for i in range(4):
        for j in range(5):
            alone = capsule(begin[i, j], end[i, j], radii[j], 0.9 * radii[j])
            np.testing.assert_allclose(together[i, j], alone)


def test_a_bone_without_length_is_a_disc() -> None:
    points = capsule(np.ones(2), np.ones(2), 0.2, 0.2)
    np.testing.assert_allclose(np.linalg.norm(points - 1, axis=1), 0.2)


def test_an_ellipse_and_a_box_have_their_extent() -> None:
    points = ellipse((1.0, -2.0), (0.5, 0.25))
    np.testing.assert_allclose(points.min(axis=0), [0.5, -2.25])
    np.testing.assert_allclose(points.max(axis=0), [1.5, -1.75])
    # Clockwise from the right, as y leads downwards: the lower half comes first.
    assert (ellipse((0.0, 0.0), (1.0, 1.0), 0.0, 180.0)[:, 1] >= -1e-9).all()
    assert _area(box(0.0, 1.0, 2.0, 4.0)) == pytest.approx(6)


def test_turning_clockwise_about_a_point() -> None:
    points = np.tile(np.array([[1.0, 0.0], [0.0, 0.0]]), (3, 1, 1))
    turned = rotated(points, np.array([0.0, 90.0, 180.0]), (0.0, 0.0))
    np.testing.assert_allclose(turned[:, 0], [[1, 0], [0, 1], [-1, 0]], atol=1e-12)
    np.testing.assert_allclose(rotated(points, np.array([10.0, 50.0, 70.0]), (1.0, 0.0))[:, 0], points[:, 0])


def test_a_still_part_is_the_same_in_every_frame() -> None:
    part = still((1, 2, 3), [(0, 0), (1, 0), (0, 1)], 5)
    assert isinstance(part, Part)
    assert part.points.shape == (5, 3, 2)
    assert (part.points == part.points[0]).all()
