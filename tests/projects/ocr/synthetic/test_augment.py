"""Augmentation of real pictures: the size stays, chance is the generator's, and the letters stay where they are."""

import numpy as np
import pytest

from coursepkg.projects.ocr.synthetic.effects import REAL, jitter, preset
from tests.projects.ocr.drawn import draw


def chance(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


@pytest.mark.parametrize("shape", [(32, 1), (8, 300), (40, 2000), (3, 3)])
def test_no_picture_changes_its_size(shape: tuple[int, int]) -> None:
    image = np.full(shape, 230, np.uint8)
    for seed in range(20):
        changed = jitter(image, chance(seed))
        assert (changed.shape, changed.dtype) == (shape, np.uint8)


def test_pictures_differ_by_their_generator_alone() -> None:
    image = draw("Tổng cộng 45.000")
    before = image.copy()
    assert np.array_equal(jitter(image, chance(3)), jitter(image, chance(3)))
    assert len({jitter(image, chance(seed)).tobytes() for seed in range(20)}) > 10
    assert np.array_equal(image, before)


def test_letters_stay_where_they_are() -> None:
    image = draw("Phở bò tái 45.000")
    is_ink = image < 128
    for seed in range(30):
        changed = jitter(image, chance(seed)).astype(float)
        assert changed[is_ink].mean() + 20 < changed[~is_ink].mean()


def test_nothing_is_turned_and_all_is_weaker_than_for_clean_ink() -> None:
    assert REAL.warp == 0.0
    photo = preset("photo")
    assert REAL.contrast < photo.contrast
    assert REAL.noise_strength < photo.noise_strength
