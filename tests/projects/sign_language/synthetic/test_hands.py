"""Hands: turning keeps lengths, shapes blend, and the back of a hand is its mirror image."""

import numpy as np
import pytest

from coursepkg.projects.sign_language.synthetic.motion import (
    FINGERS,
    PALM,
    ROOTS,
    SHAPES,
    between,
    finger_bones,
    turned,
)

NAMES = sorted(SHAPES)


def _lengths(name: str, degrees: float, facing: float = 1.0) -> np.ndarray:
    roots, tips = finger_bones(SHAPES[name][None], np.array([degrees]), np.array([facing]))
    return np.asarray(np.linalg.norm(tips - roots, axis=-1)[0])


def test_every_shape_has_five_fingers() -> None:
    assert len(FINGERS) == 5
    assert all(shape.shape == (5, 2) and (shape[:, 1] > 0).all() for shape in SHAPES.values())


def test_directions_are_those_of_the_words() -> None:
    up, inwards, down = np.array([0.0]), np.array([90.0]), np.array([180.0])
    finger, thumb = np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]])
    np.testing.assert_allclose(turned(finger, up)[0, 0], [0, 1], atol=1e-12)
    np.testing.assert_allclose(turned(finger, inwards)[0, 0], [-1, 0], atol=1e-12)
    np.testing.assert_allclose(turned(finger, down)[0, 0], [0, -1], atol=1e-12)
    # With the palm to the camera the thumb of a raised hand points to the middle of the body.
    np.testing.assert_allclose(turned(thumb, up)[0, 0], [-1, 0], atol=1e-12)


@pytest.mark.parametrize("degrees", [-85.0, 0.0, 33.0, 180.0])
@pytest.mark.parametrize("name", NAMES)
def test_turning_changes_no_length(name: str, degrees: float) -> None:
    np.testing.assert_allclose(_lengths(name, degrees), SHAPES[name][:, 1])
    np.testing.assert_allclose(_lengths(name, degrees, -1.0), SHAPES[name][:, 1])
    palm = turned(PALM, np.array([degrees]))[0]
    np.testing.assert_allclose(np.linalg.norm(palm, axis=1), np.linalg.norm(PALM, axis=1))


def test_the_back_of_a_raised_hand_is_its_mirror_image() -> None:
    shape, up = SHAPES["spread"][None], np.array([0.0])
    for seen, mirrored in zip(
        finger_bones(shape, up, np.array([1.0])), finger_bones(shape, up, np.array([-1.0])), strict=True
    ):
        np.testing.assert_allclose(mirrored, seen * [-1, 1], atol=1e-12)


def test_a_hand_from_its_edge_is_narrow() -> None:
    shape = np.stack([SHAPES["spread"]] * 3)
    _, tips = finger_bones(shape, np.zeros(3), np.array([1.0, 0.5, 0.0]))
    np.testing.assert_allclose(np.ptp(tips[..., 0], axis=1), np.ptp(tips[0, :, 0]) * np.array([1, 0.5, 0]))
    np.testing.assert_allclose(tips[2, :, 1], tips[0, :, 1])


def test_shapes_blend_from_one_to_the_other() -> None:
    way = between(SHAPES["spread"], SHAPES["fist"], np.array([0.0, 0.5, 1.0]))
    np.testing.assert_allclose(way[0], SHAPES["spread"])
    np.testing.assert_allclose(way[2], SHAPES["fist"])
    np.testing.assert_allclose(way[1], (way[0] + way[2]) / 2)


def test_shapes_look_different() -> None:
    def tips(name: str) -> np.ndarray:
        return finger_bones(SHAPES[name][None], np.array([0.0]), np.array([1.0]))[1]

    signed = [name for name in NAMES if name != "relaxed"]
    for i, first in enumerate(signed):
        for second in signed[i + 1 :]:
            # Some fingertip is elsewhere by a fifth of the hand: eight pixels of a picture of 224.
            assert np.linalg.norm(tips(first) - tips(second), axis=-1).max() > 0.2, (first, second)


def test_the_tips_of_a_bunched_hand_meet() -> None:
    _, tips = finger_bones(SHAPES["pinch"][None], np.array([0.0]), np.array([1.0]))
    assert np.ptp(tips[0, :, 0]) < 0.15
    _, apart = finger_bones(SHAPES["spread"][None], np.array([0.0]), np.array([1.0]))
    assert np.ptp(apart[0, :, 0]) > 0.7
    assert ROOTS.shape == (5, 2)
