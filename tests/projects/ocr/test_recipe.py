"""Recipes: the presets as they are described, and settings that are refused by the name of their flag."""

import dataclasses
import json

import pytest
import torch

from coursepkg.projects.ocr.model.recognizer import LineTransformer, config_of
from coursepkg.projects.ocr.recipe import ADDED_SETTINGS, PRESETS, Recipe
from coursepkg.projects.ocr.training import train_config


def test_presets_are_those_of_the_command_line() -> None:
    assert list(PRESETS) == ["tiny", "small", "report"]
    assert PRESETS["small"] == Recipe()


def test_a_preset_survives_json_and_makes_a_model() -> None:
    for recipe in PRESETS.values():
        assert Recipe.of(json.loads(json.dumps(recipe.described()))) == recipe
        assert config_of(recipe, 233).height == recipe.height


def test_the_report_trains_as_the_report_says() -> None:
    report = PRESETS["report"]
    assert (report.learning_rate, report.schedule, report.weight_decay) == (1e-4, "constant", 0.01)
    assert (report.max_epochs, report.clip_norm, report.ctc_weight) == (50, 1.0, 0.0)
    assert (report.reader, report.beam_size) == ("attention", 1)


def test_the_report_has_the_network_of_the_report() -> None:
    pytest.importorskip("transformers", reason="transformers is not installed; see the extra `t5`")
    report = PRESETS["report"]
    with torch.device("meta"):
        model = LineTransformer(config_of(report, 233))
        resnet = model.backbone.network
        # torchvision's ResNet-50 has 25,557,032 parameters, 2,049,000 of them in its classifier.
        assert sum(p.numel() for p in resnet.parameters()) == 25_557_032 - 2_049_000
        features, _ = model.backbone(torch.ones(2, 1, report.height, 320), None)
    assert features.shape == (2, 512, report.height // 8, 320 // 8)
    assert (report.d_model, report.n_heads, report.d_ff) == (512, 8, 1024)
    assert (report.n_encoder_layers, report.n_decoder_layers, report.norm_first) == (3, 3, False)
    sides = {"encoder": model.encoder, "decoder": model.decoder}
    assert {name: len(side.layers) for name, side in sides.items()} == {"encoder": 3, "decoder": 3}


def test_small_is_bounded_by_an_hour_and_the_report_by_a_day() -> None:
    assert (PRESETS["small"].max_seconds, PRESETS["report"].max_seconds) == (3600.0, 86400.0)


def test_a_busy_machine_makes_the_same_tiny_model() -> None:
    tiny = PRESETS["tiny"]
    config = train_config(tiny, seed=0, progress=False, epoch_steps=153)
    # Epochs end it; what bounds it beyond them is no clock that other programs use up.
    assert (config.max_epochs, config.clock) == (tiny.max_epochs, "cpu")
    assert tiny.max_epochs < 20
    assert Recipe().clock == "wall"


def test_settings_of_later_versions_are_what_they_were_before() -> None:
    described = Recipe().described()
    assert {name: described[name] for name in ADDED_SETTINGS} == ADDED_SETTINGS


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"height": 0}, "--height"),
        ({"d_model": -1}, "--d-model"),
        ({"dropout": 1.0}, "--dropout must be in [0, 1), got 1.0"),
        ({"token_mask": -0.1}, "--token-mask must be in [0, 1), got -0.1"),
        ({"ctc_share": 1.1}, "--ctc-share must be in [0, 1], got 1.1"),
        ({"ctc_weight": -1.0}, "--ctc-weight must be at least 0"),
        ({"learning_rate": float("nan")}, "--learning-rate"),
        ({"clip_norm": 0.0}, "--clip-norm must be above 0"),
        ({"ctc_weight": 0.0}, "--reader joint needs --ctc-weight above 0"),
        ({"pretrained": "microsoft/resnet-50"}, "--pretrained microsoft/resnet-50 needs --backbone resnet"),
        ({"validate_every": -1}, "--validate-every"),
    ],
)
def test_a_bad_setting_is_named_by_its_flag(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match="--") as caught:
        dataclasses.replace(Recipe(), **changes)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
