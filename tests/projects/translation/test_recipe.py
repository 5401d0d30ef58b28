"""Recipes: the presets as they are described, and settings that are refused by the name of their flag."""

import dataclasses
import json

import pytest

from coursepkg.projects.translation.models import build_model
from coursepkg.projects.translation.recipe import ADDED_SETTINGS, PRESETS, Recipe


def test_presets_are_those_of_the_command_line() -> None:
    assert list(PRESETS) == ["gru-baseline", "tiny", "plain", "small", "report"]
    assert PRESETS["plain"] == Recipe()


def test_a_preset_survives_json() -> None:
    for recipe in PRESETS.values():
        assert Recipe(**json.loads(json.dumps(recipe.described()))) == recipe


def test_a_field_that_came_later_decides_only_where_it_is_set() -> None:
    described = Recipe(reverse=1.0).described()
    added = {name: described.pop(name) for name in ADDED_SETTINGS}
    assert added == ADDED_SETTINGS
    assert Recipe(**described) == Recipe(reverse=1.0)
    assert Recipe(reverse=1.0).decisive() == described
    changed = {"reverse_fault": "unswapped", "norm_eps": 1e-8, "placeholders": "mask"}
    changed |= {"optimizer": "muon", "reverse_weight": 0.5, "split_sentences": True}
    assert changed.keys() == ADDED_SETTINGS.keys()
    spoilt = Recipe(reverse=1.0, **changed)
    assert spoilt.decisive() == spoilt.described()


def test_the_baseline_is_that_of_the_contest() -> None:
    baseline = PRESETS["gru-baseline"]
    assert (baseline.architecture, baseline.joint, baseline.vocab_size) == ("gru", False, 3000)
    assert (baseline.d_model, baseline.d_ff, baseline.teacher_forcing) == (64, 128, 0.3)
    assert baseline.beam_size == 1


def test_the_report_masks_reverses_and_filters_as_it_says() -> None:
    report = PRESETS["report"]
    assert (report.reverse, report.span_mask, report.max_len, report.rope_cross) == (0.7, 0.01, 32, True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vocab_size": 0}, "--vocab-size"),
        ({"n_kv_heads": -1}, "--n-kv-heads"),
        ({"max_epochs": 0}, "--max-epochs"),
        ({"beam_size": 0}, "--beam-size"),
        ({"dropout": 1.0}, "--dropout must be in [0, 1), got 1.0"),
        ({"ema": -0.1}, "--ema must be in [0, 1), got -0.1"),
        ({"reverse": 1.5}, "--reverse must be in [0, 1], got 1.5"),
        ({"span_mask": -0.1}, "--span-mask must be in [0, 1]"),
        ({"subword_noise": 2.0}, "--subword-noise must be in [0, 1]"),
        ({"teacher_forcing": 1.1}, "--teacher-forcing must be in [0, 1]"),
        ({"learning_rate": -1.0}, "--learning-rate must be at least 0"),
        ({"learning_rate": float("nan")}, "--learning-rate"),
        ({"max_seconds": 0.0}, "--max-seconds must be above 0"),
        ({"temperature": 0.0}, "--temperature must be above 0"),
        ({"joint": False, "reverse": 0.5}, "--reverse needs --joint"),
        ({"joint": False, "contrastive": 0.1}, "--contrastive needs --joint"),
        ({"reverse_fault": "unswapped"}, "--reverse-fault needs --reverse above 0"),
        ({"reverse_fault": "unswapped", "reverse": 1.0, "contrastive": 0.1}, "and no contrastive loss"),
    ],
)
def test_a_bad_setting_is_named_by_its_flag(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match="--") as caught:
        dataclasses.replace(Recipe(), **changes)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_width_that_heads_do_not_divide_is_refused() -> None:
    for changes in ({"n_heads": 7}, {"n_kv_heads": 3}):
        recipe = dataclasses.replace(Recipe(), **changes)
        with pytest.raises(ValueError, match="n_"):
            build_model(recipe, 100, 100)


@pytest.mark.parametrize(
    ("changes", "reads_both"),
    [
        ({}, False),
        ({"reverse": 0.1}, True),
        ({"contrastive": 0.1}, True),
        ({"self_contrastive": 0.1}, True),
        ({"span_mask": 0.1}, False),
    ],
)
def test_who_reads_targets(changes: dict[str, float], reads_both: bool) -> None:
    assert dataclasses.replace(Recipe(), **changes).reads_both is reads_both
