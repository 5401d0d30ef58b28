"""The room: the camera keeps shapes, light multiplies, and backgrounds fill the picture."""

import numpy as np
import pytest

from coursepkg.projects.sign_language.synthetic.room import (
    Camera,
    Light,
    draw_background,
    draw_camera,
    draw_light,
    noise_field,
)
from coursepkg.projects.sign_language.synthetic.signer import make_signer


def _rng(number: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(number))


def test_a_camera_without_a_turn_scales_and_shifts() -> None:
    camera = Camera(0.2, (0.5, 0.4), 0.0, np.array([[0.0, 0.0], [0.01, 0.0]]))
    placed = camera.place(np.array([[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]] * 2), 100)
    np.testing.assert_allclose(placed[0], [[50, 40], [70, 40], [50, 60]])
    np.testing.assert_allclose(placed[1], placed[0] + [1, 0])


def test_cameras_keep_shapes() -> None:
    camera = draw_camera(make_signer(0, 0), 6, _rng(3))
    points = _rng(1).normal(size=(6, 10, 2))
    placed = camera.place(points, 224)
    before = np.linalg.norm(points[:, :, None] - points[:, None], axis=-1)
    after = np.linalg.norm(placed[:, :, None] - placed[:, None], axis=-1)
    np.testing.assert_allclose(after, before * camera.scale * 224)


def test_a_turned_camera_turns_clockwise() -> None:
    camera = Camera(1.0, (0.0, 0.0), 90.0, np.zeros((1, 2)))
    np.testing.assert_allclose(camera.place(np.array([[[1.0, 0.0]]]), 1), [[[0.0, 1.0]]], atol=1e-12)


def test_signers_sway_but_little() -> None:
    for number in range(20):
        drift = draw_camera(make_signer(0, number), 30, _rng(number)).drift
        # A living body moves in every frame, by less than five pixels of a picture of 224.
        assert np.linalg.norm(np.diff(drift, axis=0), axis=1).min() > 0
        assert np.abs(drift).max() < 0.02


def test_light_multiplies_and_noise_has_its_strength() -> None:
    gain = np.full((64, 64, 3), 0.5, np.float32)
    frame = np.full((64, 64, 3), 120, np.uint8)
    assert (Light(gain, 0.0).shine(frame, _rng(0)) == 60).all()
    noisy = Light(gain, 4.0).shine(frame, _rng(0)).astype(float)
    assert noisy.std() == pytest.approx(4.0, rel=0.1)
    # The grain of a sensor is gray: all colours of a pixel move together.
    assert (np.ptp(noisy, axis=-1) == 0).all()
    # Two frames have different grain.
    rng = _rng(0)
    light = Light(gain, 4.0)
    assert (light.shine(frame, rng) != light.shine(frame, rng)).any()


def test_bright_pixels_stay_in_range() -> None:
    light = Light(np.full((8, 8, 3), 3.0, np.float32), 2.0)
    assert (light.shine(np.full((8, 8, 3), 200, np.uint8), _rng(0)) == 255).all()


def test_light_and_rooms_vary() -> None:
    lights = np.array([draw_light(32, _rng(n)).gain.mean() for n in range(40)])
    assert lights.min() < 0.75
    assert lights.max() > 1.0
    assert all((draw_light(32, _rng(n)).gain > 0).all() for n in range(40))
    rooms = [draw_background(48, _rng(n)) for n in range(40)]
    assert all(room.size == (48, 48) and room.mode == "RGB" for room in rooms)
    assert len({room.tobytes() for room in rooms}) == 40
    colours = [len(room.getcolors(48 * 48) or ()) for room in rooms]
    # Some are a plain wall, others are full of things.
    assert min(colours) <= 48
    assert max(colours) > 15


def test_the_field_of_noise_is_the_same_every_time() -> None:
    field = noise_field()
    assert field.std() == pytest.approx(1, abs=0.01)
    noise_field.cache_clear()
    np.testing.assert_array_equal(noise_field(), field)
