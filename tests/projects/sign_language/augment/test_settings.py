"""Settings of a recipe become the steps that batches of clips take."""

import dataclasses
import inspect

import numpy as np
import pytest
import torch

from coursepkg.projects.sign_language.augmentation import DrawWarp, PictureAugmentation
from coursepkg.projects.sign_language.data.batches import ClipBatch, ClipBatches
from coursepkg.projects.sign_language.mixing import (
    NO_CHANGE,
    SOURCE_002,
    AugmentSettings,
    MixClips,
    batch_steps,
    pictures_of,
    stronger,
)

pytest.importorskip("kornia")

NAMES = ("draw_places", "change_frames", "change_strong", "mix_clips")


def test_steps_are_there_where_they_are_asked_for() -> None:
    assert batch_steps(NO_CHANGE, 3) == dict.fromkeys(NAMES)
    steps = batch_steps(AugmentSettings(mix="cutmix-time"), 3)
    assert isinstance(steps["draw_places"], DrawWarp)
    assert isinstance(steps["change_frames"], PictureAugmentation)
    assert isinstance(steps["change_strong"], PictureAugmentation)
    assert steps["change_strong"].config == pictures_of(stronger(AugmentSettings(mix="cutmix-time")))
    assert isinstance(steps["mix_clips"], MixClips)
    assert steps["mix_clips"].config.kinds == ("cutmix-time",)


def test_the_steps_have_the_names_that_batches_take() -> None:
    assert set(NAMES) <= set(inspect.signature(ClipBatches).parameters)
    assert set(batch_steps(NO_CHANGE, 3)) == set(NAMES)


def test_the_strengths_of_source_002() -> None:
    pictures = pictures_of(SOURCE_002)
    assert (pictures.crop, pictures.brightness, pictures.contrast, pictures.saturation) == (
        0.85,
        0.2,
        0.2,
        0.2,
    )
    assert (SOURCE_002.warp, pictures.flip, pictures.rotation) == (0.1, 0.0, 0.0)


def test_stronger_changes_more_and_begins_nothing_new() -> None:
    usual = AugmentSettings()
    more = stronger(usual)
    assert more.warp == usual.warp
    assert more.crop < usual.crop
    assert more.colour > usual.colour
    assert more.rotation > usual.rotation
    assert stronger(NO_CHANGE) == NO_CHANGE
    extreme = AugmentSettings(crop=0.3, colour=0.9, rotation=40.0)
    assert stronger(extreme) == extreme


def test_settings_are_read_from_a_recipe() -> None:
    fields = [(field.name, field.type) for field in dataclasses.fields(AugmentSettings)]
    recipe = dataclasses.make_dataclass("Recipe", [*fields, ("learning_rate", float)])
    found = AugmentSettings.of(recipe(0.2, 0.9, 0.1, 3.0, 0.5, "mixup", 0.3, 1e-3))
    assert found == AugmentSettings(0.2, 0.9, 0.1, 3.0, 0.5, "mixup", 0.3)


def test_the_steps_fit_a_batch_of_clips() -> None:
    steps = batch_steps(AugmentSettings(mix="mixup"), 3)
    rng = np.random.Generator(np.random.PCG64(1))
    assert steps["draw_places"](rng)(16).shape == (16,)
    frames = rng.integers(0, 256, (4, 16, 16, 3)).astype(np.uint8)
    assert steps["change_frames"](frames, rng).shape == frames.shape
    batch = ClipBatch(torch.rand(2, 4, 3, 16, 16), torch.ones(2, 4, dtype=torch.bool), torch.tensor([2, 0]))
    mixed = steps["mix_clips"](batch, rng)
    assert isinstance(mixed, ClipBatch)
    assert mixed.targets.shape == (2, 3)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("warp", 1.0),
        ("crop", 0.0),
        ("rotation", 60.0),
        ("flip", 2.0),
        ("colour", -0.1),
        ("mix", "some"),
        ("mix_alpha", 0.0),
    ],
)
def test_fields_out_of_range_are_named(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"--{field.replace('_', '-')} must be"):
        AugmentSettings(**{field: value})  # type: ignore[arg-type]
