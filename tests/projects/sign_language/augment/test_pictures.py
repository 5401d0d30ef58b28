"""One draw a clip, the same for all of its frames, a function of its chance alone."""

import sys

import numpy as np
import pytest
import torch

from coursepkg.projects.sign_language.augmentation import (
    PictureAugmentation,
    PictureConfig,
    build_geometry,
    import_kornia,
)

pytest.importorskip("kornia")

IDLE = {"crop": 1.0, "rotation": 0.0, "brightness": 0.0, "contrast": 0.0, "saturation": 0.0}
ALONE = {
    "crop": {"crop": 0.6},
    "rotation": {"rotation": 20.0},
    "brightness": {"brightness": 0.4},
    "contrast": {"contrast": 0.4},
    "saturation": {"saturation": 0.8},
    "flip": {"flip": 0.5},
    "all": {
        "crop": 0.6,
        "rotation": 20.0,
        "brightness": 0.4,
        "contrast": 0.4,
        "saturation": 0.8,
        "flip": 0.5,
    },
}


def chance(number: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64([9, number]))


def picture(height: int = 24, width: int = 24) -> np.ndarray:
    """A coloured picture without symmetry, uint8 (height, width, 3), away from black and white."""
    coarse = np.random.Generator(np.random.PCG64(2)).integers(60, 190, (height // 4, width // 4, 3))
    return np.kron(coarse, np.ones((4, 4, 1))).astype(np.uint8)


def still_clip(n_frames: int = 5) -> np.ndarray:
    return np.repeat(picture()[None], n_frames, axis=0)


@pytest.mark.parametrize("kind", list(ALONE))
def test_all_frames_of_a_clip_get_the_same_draw(kind: str) -> None:
    augment = PictureAugmentation(PictureConfig(**{**IDLE, **ALONE[kind]}))
    frames = still_clip()
    outcomes = [augment(frames, chance(number)) for number in range(8)]
    for changed in outcomes:
        assert (changed.shape, changed.dtype) == (frames.shape, np.uint8)
        assert (changed == changed[:1]).all()
    # The draws themselves differ, or the equality above would say nothing.
    assert len({changed[0].tobytes() for changed in outcomes}) > 1
    assert any((changed != frames).any() for changed in outcomes)


@pytest.mark.parametrize("kind", ["crop", "rotation"])
def test_without_same_on_frame_frames_would_differ(kind: str) -> None:
    config = PictureConfig(**{**IDLE, **ALONE[kind]})
    pictures = torch.from_numpy(still_clip()).permute(0, 3, 1, 2)[None].float() / 255
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(3)
        same = build_geometry(import_kornia(), config, 24, 24)(pictures)
        other = build_geometry(import_kornia(), config, 24, 24, same_on_frame=False)(pictures)
    assert torch.equal(same, same[:, :1].expand_as(same))
    assert not torch.equal(other, other[:, :1].expand_as(other))


def test_contrast_turns_about_the_mean_of_the_clip_and_not_of_a_frame() -> None:
    """A frame with a bright hand and one without: what both show changes alike."""
    frames = still_clip(2)
    frames[1, :12, :12] = 250
    config = PictureConfig(**{**IDLE, "contrast": 0.6})
    for number in range(4):
        whole = PictureAugmentation(config)(frames, chance(number))
        assert (whole[0, 12:] == whole[1, 12:]).all()
        assert (whole[0, 12:] != frames[0, 12:]).any()
        alone = [PictureAugmentation(config)(frames[i : i + 1], chance(number))[0, 12:] for i in (0, 1)]
        assert (alone[0] != alone[1]).any()


@pytest.mark.parametrize("number", range(6))
def test_brightness_scales_and_saturation_moves_from_gray(number: int) -> None:
    frames = still_clip(2)
    bright = PictureAugmentation(PictureConfig(**{**IDLE, "brightness": 0.3}))(frames, chance(number))
    factor = float(bright.mean() / frames.mean())
    assert 0.7 <= factor <= 1.3
    assert np.abs(bright - frames * factor).max() <= 1.5
    gray = np.repeat(frames[..., :1], 3, axis=-1)
    saturated = PictureAugmentation(PictureConfig(**{**IDLE, "saturation": 0.8}))
    assert np.abs(saturated(gray, chance(number)).astype(int) - gray).max() <= 1
    assert (saturated(frames, chance(number)) != frames).any()


def test_the_same_chance_gives_the_same_clip_whatever_came_before() -> None:
    augment = PictureAugmentation(PictureConfig(flip=0.5))
    first = augment(still_clip(), chance(1))
    augment(still_clip(3), chance(2))
    torch.manual_seed(11)
    assert np.array_equal(PictureAugmentation(PictureConfig(flip=0.5))(still_clip(), chance(1)), first)
    assert np.array_equal(augment(still_clip(), chance(1)), first)


def test_random_numbers_of_torch_stay_where_they_are() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    PictureAugmentation(PictureConfig())(still_clip(), chance(1))
    assert torch.equal(torch.rand(3), expected)


def test_a_flip_exchanges_left_and_right() -> None:
    augment = PictureAugmentation(PictureConfig(**{**IDLE, "flip": 1.0}))
    frames = still_clip()
    assert np.array_equal(augment(frames, chance(1)), frames[:, :, ::-1])


def test_a_crop_keeps_what_the_config_says() -> None:
    """Of a ramp, the steps become smaller by the share that is kept, and nothing from outside comes in."""
    ramp = np.repeat(np.arange(0, 240, 4, dtype=np.uint8)[None, None, :, None], 60, axis=1).repeat(3, axis=3)
    augment = PictureAugmentation(PictureConfig(**{**IDLE, "crop": 0.7}))
    spans = [int(np.ptp(augment(ramp, chance(number)).astype(int))) for number in range(30)]
    assert min(spans) >= 0.7 * 236 - 8
    assert max(spans) <= 236
    assert min(spans) < 0.85 * 236


def test_rotation_leaves_no_black_corners() -> None:
    frames = np.full((2, 24, 24, 3), 200, dtype=np.uint8)
    augment = PictureAugmentation(PictureConfig(**{**IDLE, "rotation": 30.0}))
    assert augment(frames, chance(1)).min() >= 199


def test_an_idle_config_gives_the_frames_back_and_needs_no_kornia(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kornia", None)
    frames = still_clip()
    assert PictureAugmentation(PictureConfig(**IDLE))(frames, chance(1)) is frames
    with pytest.raises(ImportError, match=r"augmenting clips needs kornia: pip install 'coursepkg\[video\]'"):
        PictureAugmentation(PictureConfig())


@pytest.mark.parametrize(
    ("field", "value"), [("crop", 0.0), ("crop", 1.1), ("rotation", 90.0), ("flip", -0.1), ("contrast", 2.0)]
)
def test_fields_out_of_range_are_named(field: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"--{field} must be in"):
        PictureConfig(**{field: value})


def test_what_is_no_clip_is_refused() -> None:
    with pytest.raises(ValueError, match="frames must be RGB"):
        PictureAugmentation(PictureConfig())(np.zeros((4, 8, 8), dtype=np.uint8), chance(1))
