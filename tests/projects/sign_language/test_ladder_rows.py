"""The rows of the ladder: each one change, each behind what it builds on, the preset at the end of the first steps."""

from dataclasses import replace

import pytest

from coursepkg.projects.sign_language.ladder import LADDER, ROWS
from coursepkg.projects.sign_language.model.classifier import config_of
from coursepkg.projects.sign_language.recipe import PRESETS, Recipe

BASE = replace(PRESETS["small"], max_epochs=3)


def test_every_row_stands_behind_those_that_it_needs() -> None:
    seen: set[str] = set()
    for row in ROWS.values():
        assert {row.builds_on, *row.needs} - {""} <= seen
        assert all(ROWS[name].trains for name in row.needs)
        assert row.name == LADDER.first or row.builds_on
        seen.add(row.name)


def test_the_first_steps_lead_from_the_last_state_to_the_preset() -> None:
    assert LADDER.recipe(ROWS["improved"], BASE) == BASE
    first = LADDER.recipe(ROWS[LADDER.first], BASE)
    assert (first.temporal, first.pooling, first.n_convolutions) == ("lstm", "last", 0)
    # Nothing but what stands behind the backbone differs: sampler, augmentation, loss, budget are the same.
    assert set(LADDER.changes(ROWS[LADDER.first], BASE)) == {
        "temporal",
        "n_layers",
        "n_convolutions",
        "pooling",
    }
    steps = ("lstm-mean", "lstm-attention", "transformer", "improved")
    assert [LADDER.changes(ROWS[name], BASE) for name in steps] == [
        {"pooling": "mean"},
        {"pooling": "attention"},
        {"temporal": "transformer", "n_layers": 2},
        {"n_convolutions": 2},
    ]


def test_every_other_row_changes_what_it_says() -> None:
    changes = {name: LADDER.changes(row, BASE) for name, row in ROWS.items()}
    assert changes["flip"] == {"flip": 0.5}
    assert changes["no-augmentation"] == {"warp": 0.0}
    assert LADDER.recipe(ROWS["no-augmentation"], BASE).crop == 1.0
    assert changes["post-hoc"] == {"adjust": 1.0}
    assert not LADDER.recipe(ROWS["post-hoc"], BASE).balanced
    twice = LADDER.recipe(ROWS["sampler-and-weights"], BASE)
    assert (twice.balanced, twice.loss) == (True, "weighted")
    assert LADDER.recipe(ROWS["weighted"], BASE) == replace(twice, balanced=False)
    assert {
        LADDER.recipe(ROWS[name], BASE).mix for name in ("mixup", "mixup-time", "cutmix-space", "cutmix-time")
    } == {
        "mixup",
        "mixup-time",
        "cutmix-space",
        "cutmix-time",
    }
    assert changes["second-seed"] == changes["ensemble"] == changes["resampling"] == {}
    assert LADDER.recipe(ROWS["resampling"], BASE).warp == 0.0
    assert [row.name for row in ROWS.values() if row.settings.get("speed")] == ["resampling"]
    assert all(LADDER.is_new(row, BASE) for row in ROWS.values())
    # Every row builds a network, and all of pictures on the same backbone.
    configs = {name: config_of(LADDER.recipe(row, BASE), 24) for name, row in ROWS.items()}
    of_landmarks = [name for name, one in configs.items() if one.backbone == "landmarks"]
    assert of_landmarks == ["landmarks-lstm", "landmarks-transformer"]
    assert len({one.stage_channels for name, one in configs.items() if name not in of_landmarks}) == 1


def test_landmarks_take_the_place_of_pictures_and_nothing_else_changes() -> None:
    first, second = (ROWS[name] for name in ("landmarks-lstm", "landmarks-transformer"))
    assert LADDER.changes(first, BASE) == {"backbone": "landmarks"}
    assert LADDER.changes(second, BASE) == {"temporal": "transformer", "n_layers": 2, "pooling": "attention"}
    heads = [LADDER.recipe(ROWS[name], BASE) for name in ("landmarks-transformer", "transformer")]
    assert config_of(heads[0], 24) == replace(config_of(heads[1], 24), backbone="landmarks")


def test_a_row_that_a_preset_has_already_is_not_new() -> None:
    plain = replace(BASE, balanced=False)
    assert not LADDER.is_new(ROWS["plain-sampler"], plain)
    assert LADDER.is_new(ROWS["weighted"], plain)


def test_rows_bring_those_whose_networks_they_ask() -> None:
    assert [row.name for row in LADDER.with_needed(["ensemble", "post-hoc"])] == [
        "improved",
        "plain-sampler",
        "post-hoc",
        "second-seed",
        "ensemble",
    ]
    with pytest.raises(ValueError, match=r"--rows must be of lstm-last, .*, got best"):
        LADDER.row("best")
    assert isinstance(LADDER.recipe(LADDER.row("lstm-mean"), Recipe()), Recipe)
