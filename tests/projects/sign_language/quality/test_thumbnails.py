"""Means over cells: exact, whatever the sizes."""

import numpy as np
import pytest

from coursepkg.projects.sign_language.data.clip import brightness, mean_weights, shrink, thumbnails
from tests.projects.sign_language.quality.scenes import as_clip, scene


@pytest.mark.parametrize(("cells", "pixels"), [(4, 8), (3, 7), (32, 224), (17, 32), (5, 3), (1, 9), (1, 1)])
def test_every_cell_weighs_one_and_every_pixel_the_same(cells: int, pixels: int) -> None:
    weights = mean_weights(cells, pixels)
    assert weights.shape == (cells, pixels)
    assert np.allclose(weights.sum(axis=1), 1, atol=1e-6)
    assert np.allclose(weights.sum(axis=0), cells / pixels, atol=1e-5)


def test_cells_are_means_of_their_pixels() -> None:
    frames = np.random.Generator(np.random.PCG64(3)).integers(0, 256, (40, 12, 20, 3)).astype(np.uint8)
    expected = frames.reshape(40, 4, 3, 5, 4, 3).mean(axis=(2, 4))
    assert np.allclose(shrink(frames, 4, 5), expected, atol=1e-3)


def test_fewer_pixels_than_cells_are_repeated() -> None:
    frames = np.arange(12, dtype=np.uint8).reshape(1, 2, 2, 3)
    assert np.array_equal(shrink(frames, 4, 4), frames.repeat(2, axis=1).repeat(2, axis=2))


def test_thumbnails_of_a_clip_and_their_brightness() -> None:
    thumbs = thumbnails(as_clip(scene(1)))
    assert thumbs.shape == (24, 32, 32, 3)
    assert thumbs.dtype == np.float32
    white = brightness(np.full((2, 3), 255, dtype=np.float32))
    assert np.allclose(white, 255)
    with pytest.raises(ValueError, match="cells must be an integer of at least 1"):
        mean_weights(0, 3)
