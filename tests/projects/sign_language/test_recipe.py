"""Recipes: the presets are those of the source, and settings that are refused by the name of their flag."""

import dataclasses
import json

import pytest

from coursepkg.projects.sign_language.data.clip import PADDINGS
from coursepkg.projects.sign_language.losses import LOSSES
from coursepkg.projects.sign_language.mixing import KINDS, NO_CHANGE, SOURCE_002, AugmentSettings
from coursepkg.projects.sign_language.recipe import ARCHITECTURES, PRESETS, Recipe


def test_presets_are_those_of_the_command_line() -> None:
    assert list(PRESETS) == ["tiny", "small", "crnn-baseline", "report"]
    assert PRESETS["small"] == Recipe()


def test_a_preset_survives_json() -> None:
    for recipe in PRESETS.values():
        assert Recipe.of(json.loads(json.dumps(recipe.described()))) == recipe


def test_choices_are_those_of_the_parts() -> None:
    choices = {field.name: getattr(field.type, "__args__", ()) for field in dataclasses.fields(Recipe)}
    assert choices["backbone"] == tuple(ARCHITECTURES)
    assert choices["loss"] == LOSSES
    assert choices["mix"] == ("none", *KINDS)
    assert choices["padding"] == PADDINGS


def test_every_preset_says_how_clips_are_changed() -> None:
    found = {name: AugmentSettings.of(recipe) for name, recipe in PRESETS.items()}
    assert found["crnn-baseline"] == NO_CHANGE
    assert found["report"] == SOURCE_002
    assert found["small"] == AugmentSettings(crop=0.8, colour=0.3)


def test_the_baseline_is_that_of_the_contest() -> None:
    baseline = PRESETS["crnn-baseline"]
    assert (baseline.size, baseline.n_frames, baseline.padding) == (224, 16, "repeat")
    assert (baseline.backbone, baseline.pretrained) == ("resnet-18", "microsoft/resnet-18")
    assert (baseline.temporal, baseline.d_model, baseline.pooling) == ("lstm", 256, "last")
    assert (baseline.loss, baseline.label_smoothing, baseline.balanced) == ("cross-entropy", 0.0, False)
    assert (baseline.learning_rate, baseline.weight_decay) == (1e-4, 1e-4)
    assert (baseline.schedule, baseline.max_epochs, baseline.batch_clips) == ("plateau", 10, 16)


def test_the_report_is_the_improved_model_of_the_source() -> None:
    report = PRESETS["report"]
    assert (report.backbone, report.temporal, report.pooling) == ("convnext-tiny", "transformer", "attention")
    assert (report.d_model, report.n_heads, report.n_layers, report.d_ff) == (768, 8, 2, 3072)
    assert (report.dropout, report.label_smoothing, report.balanced) == (0.3, 0.1, True)
    assert (report.crop, report.colour, report.warp) == (0.85, 0.2, 0.1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": 0}, "--size"),
        ({"n_frames": True}, "--n-frames must be an integer"),
        ({"dropout": 1.0}, "--dropout must be in [0, 1), got 1.0"),
        ({"crop": 0.0}, "--crop must be in [0.1, 1], got 0.0"),
        ({"warp": 1.0}, "--warp must be in [0, 0.9], got 1.0"),
        ({"rotation": 90.0}, "--rotation must be in [0, 45]"),
        ({"layer_decay": 1.1}, "--layer-decay must be above 0 and at most 1"),
        ({"flip": 1.1}, "--flip must be in [0, 1]"),
        ({"tau": -1.0}, "--tau must be at least 0"),
        ({"adjust": -0.5}, "--adjust must be at least 0"),
        ({"backbone_rate": 0.0}, "--backbone-rate must be above 0"),
        ({"learning_rate": float("nan")}, "--learning-rate"),
        ({"kernel_size": 4}, "--kernel-size must be odd, got 4"),
        ({"n_heads": 5}, "--n-heads must divide --d-model 192, got 5"),
        ({"pretrained": "microsoft/resnet-18"}, "needs a --backbone other than small"),
        ({"frozen": -1}, "--frozen"),
    ],
)
def test_a_bad_setting_is_named_by_its_flag(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match="--") as caught:
        dataclasses.replace(Recipe(), **changes)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
