"""Effects: each changes what it says and nothing else, and the text stays in the picture."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from coursepkg.projects.ocr.data import geometry
from coursepkg.projects.ocr.synthetic import effects
from coursepkg.projects.ocr.synthetic.effects import PRESETS, EffectConfig, apply_effects, preset
from coursepkg.projects.ocr.synthetic.fonts import LineStyle, matplotlib_faces
from coursepkg.projects.ocr.synthetic.render import draw_line

FACE = next(face for face in matplotlib_faces() if (face.family, face.style) == ("DejaVu Sans", "Book"))
LINE = draw_line("Phở tái chín 45.000", LineStyle(face=FACE, size=30, margins=(6, 6, 6, 6)))
SHARES = [f.name for f in fields(EffectConfig) if f.default == 0.0 and f.name != "contrast"]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def test_clean_changes_nothing() -> None:
    assert np.array_equal(apply_effects(LINE, preset("clean"), rng()), LINE)


@pytest.mark.parametrize("name", SHARES)
def test_each_effect_alone_changes_the_picture(name: str) -> None:
    config = EffectConfig(**{name: 1.0})
    results = [apply_effects(LINE, config, rng(seed)) for seed in range(6)]
    least = 1e-4 if name == "specks" else 0.01
    assert any(r.shape != LINE.shape or (r != LINE).mean() > least for r in results)
    for result in results:
        assert result.dtype == np.uint8
        assert name == "warp" or result.shape == LINE.shape


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_the_same_generator_gives_the_same_picture(name: str) -> None:
    for seed in range(10):
        first = apply_effects(LINE, preset(name), rng(seed))
        assert np.array_equal(first, apply_effects(LINE, preset(name), rng(seed)))


@pytest.mark.parametrize("name", ["screen", "photo"])
def test_letters_stay_apart_from_the_paper(name: str) -> None:
    flat = [float(np.ptp(apply_effects(LINE, preset(name), rng(seed)).astype(int))) for seed in range(100)]
    assert min(flat) > 25


def test_inverted_lines_are_light_on_dark() -> None:
    result = apply_effects(LINE, EffectConfig(invert=1.0), rng())
    assert np.array_equal(result, 255 - LINE)


def test_contrast_keeps_its_limit() -> None:
    for seed in range(30):
        result = apply_effects(LINE, EffectConfig(contrast=0.6), rng(seed)).astype(int)
        assert np.ptp(result) >= 0.4 * 255 - 1


@pytest.mark.parametrize("shape", [(4, 4), (12, 3), (40, 2600), (300, 5000)])
def test_pictures_of_any_size(shape: tuple[int, int]) -> None:
    everything = replace(preset("photo"), **dict.fromkeys(SHARES, 1.0))
    result = apply_effects(np.full(shape, 200, np.uint8), everything, rng())
    assert result.ndim == 2
    assert min(result.shape) > 0


def test_a_turned_line_loses_no_ink() -> None:
    for seed in range(10):
        turned = effects.warp(LINE.astype(np.float32), rng(seed), degrees=4.0)
        assert (255 - turned).sum() == pytest.approx((255.0 - LINE).sum(), rel=0.12)


def test_motion_along_the_edge_keeps_a_flat_picture_flat() -> None:
    flat = np.full((20, 50), 77.0, np.float32)
    for seed in range(20):
        assert np.allclose(effects.blur(flat, rng(seed), strength=0.2), 77, atol=0.01)


def test_black_and_white_keeps_the_letters_in_a_shadow() -> None:
    plain = np.tile(LINE, (1, 3)).astype(np.float32)
    shade = np.where(np.arange(plain.shape[1]) < plain.shape[1] / 2, 1.0, 0.25).astype(np.float32)
    for seed in range(10):
        lit, shaded = (effects.binarise(picture, rng(seed)) < 128 for picture in (plain, plain * shade))
        far = np.abs(np.arange(plain.shape[1]) - plain.shape[1] / 2) > 2 * plain.shape[0]
        assert (lit[:, far] == shaded[:, far]).mean() > 0.97
        assert 0.03 < shaded[:, far].mean() < 0.4


def test_homography_takes_corners_to_corners() -> None:
    source = np.array([[0, 0], [100, 0], [100, 40], [0, 40]], float)
    target = np.array([[3, 5], [90, 12], [97, 60], [-4, 49]], float)
    matrix = geometry.homography(source, target)
    assert np.allclose(geometry.map_points(matrix, source), target)
    # The diagonals cross where they crossed before: what a perspective keeps and a bilinear map does not.
    a, b, c, d = target
    s, _ = np.linalg.solve(np.column_stack([c - a, b - d]), b - a)
    assert np.allclose(geometry.map_points(matrix, np.array([[50.0, 20.0]]))[0], a + s * (c - a))
    with pytest.raises(ValueError, match="lie on one line"):
        geometry.homography(np.array([[0, 0], [1, 1], [2, 2], [0, 4]], float), target)


def test_noise_has_the_deviation_it_says() -> None:
    cut = effects.normal_noise((200, 3000), rng(3))
    assert abs(float(cut.mean())) < 0.01
    assert float(cut.std()) == pytest.approx(1, abs=0.01)
    assert not np.array_equal(cut, effects.normal_noise((200, 3000), rng(4)))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"blur": 1.2}, r"blur must be in \[0, 1\], got 1.2"),
        ({"angle": 40.0}, r"angle must be in \[0, 15"),
        ({"jpeg_quality": 1}, r"jpeg_quality must be in \[5, 95\]"),
        ({"least_height": 2}, "least_height must be in"),
        ({"noise": float("nan")}, "noise must be a finite number"),
    ],
)
def test_faulty_settings(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EffectConfig(**wrong)


def test_an_unknown_preset() -> None:
    with pytest.raises(ValueError, match="unknown preset 'scan'; choose from clean, screen, photo"):
        preset("scan")


def test_faded_print_keeps_paper_and_a_quarter_of_its_ink() -> None:
    for seed in range(20):
        faded = effects.fade(LINE.astype(np.float32), rng(seed))
        assert (faded[LINE == 255] == 255).all()
        assert ((255 - faded) >= (255.0 - LINE) * 0.249).all()
        assert (faded >= LINE - 1e-3).all()


def test_specks_are_few_and_small() -> None:
    changed = [(effects.specks(LINE.astype(np.float32), rng(seed)) != LINE).sum() for seed in range(20)]
    assert sum(changed) > 0
    for seed in range(20):
        dirty = effects.specks(LINE.astype(np.float32), rng(seed))
        assert (dirty != LINE).sum() <= 4 * (4 + LINE.shape[1] // 40)
