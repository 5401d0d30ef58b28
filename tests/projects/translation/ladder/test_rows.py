"""The rows of the ladder: each a valid recipe, one change from the row below, after the rows that it needs."""

import dataclasses

import pytest
import torch

from coursepkg.app.ladder import LadderRow, Times
from coursepkg.projects.translation.ladder.decoding import N_BEST
from coursepkg.projects.translation.ladder.rows import LADDER, ROWS, trained_row
from coursepkg.projects.translation.models import build_model, count_parameters
from coursepkg.projects.translation.recipe import PRESETS

BASE = PRESETS["plain"]


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
@pytest.mark.parametrize("preset", ["tiny", "plain"])
def test_every_row_is_a_valid_recipe_and_follows_what_it_needs(row: LadderRow, preset: str) -> None:
    order = list(ROWS)
    recipe = LADDER.recipe(row, PRESETS[preset])
    assert recipe.max_seconds == PRESETS[preset].max_seconds
    before = order[: order.index(row.name)]
    assert {row.builds_on, row.settings["start"]} - {""} <= set(before)
    assert not (row.settings["decoding"] and row.settings["start"])


@pytest.mark.parametrize("row", [row for row in ROWS.values() if row.builds_on and not row.preset], ids=str)
def test_a_row_changes_what_it_says_and_nothing_else(row: LadderRow) -> None:
    changed = LADDER.changes(row, BASE)
    assert set(changed) <= set(row.changes)
    for name, value in changed.items():
        wanted = row.changes[name]
        assert value == (wanted if not isinstance(wanted, Times) else getattr(LADDER.recipe(row, BASE), name))


def test_fine_tuning_rows_differ_from_the_control_by_their_own_change_alone() -> None:
    assert LADDER.changes(LADDER.row("contrastive"), BASE) == {"contrastive": 0.1}
    assert LADDER.changes(LADDER.row("back-translation"), BASE) == {}
    assert LADDER.changes(LADDER.row("hard-examples"), BASE) == {}
    assert LADDER.recipe(LADDER.row("continued"), BASE).reverse == 1.0
    assert LADDER.recipe(LADDER.row("continued"), BASE).learning_rate == pytest.approx(
        0.3 * BASE.learning_rate
    )


def test_the_transformers_are_of_one_size_and_the_baseline_is_the_contests() -> None:
    def size(name: str) -> int:
        recipe = LADDER.recipe(LADDER.row(name), BASE)
        with torch.device("meta"):
            return count_parameters(build_model(recipe, recipe.vocab_size, recipe.vocab_size))

    assert size("gru-baseline") == 919_992
    for name in ("vaswani2017", "decoder-only"):
        assert size(name) == pytest.approx(size("modern"), rel=0.02)


def test_the_base_reaches_rows_that_begin_with_it_and_its_budget_all_rows() -> None:
    base = dataclasses.replace(BASE, dropout=0.25, max_seconds=7.0)
    assert LADDER.recipe(LADDER.row("bpe-dropout"), base).dropout == 0.25
    assert LADDER.recipe(LADDER.row("gru-attention"), base).dropout == PRESETS["gru-baseline"].dropout
    assert LADDER.recipe(LADDER.row("gru-attention"), base).max_seconds == 7.0


def test_rows_that_change_nothing_are_known() -> None:
    assert not LADDER.is_new(LADDER.row("vocab-4000"), BASE)
    assert LADDER.is_new(LADDER.row("vocab-4000"), PRESETS["tiny"])
    assert {LADDER.is_new(LADDER.row(f"underscores-{what}"), BASE) for what in ("kept", "removed")} == {
        True,
        False,
    }
    assert all(
        LADDER.is_new(LADDER.row(name), BASE)
        for name in ("gru-baseline", "continued", "top-k", "hard-examples")
    )
    # A base that a row cannot build on is the row's own mistake, told when it is made.
    assert LADDER.is_new(LADDER.row("both-ways"), dataclasses.replace(BASE, joint=False))


@pytest.mark.parametrize(("name", "max_epochs"), [("small", 4), ("report", PRESETS["tiny"].max_epochs)])
def test_a_preset_is_a_row_where_the_ladder_begins_with_another_one(name: str, max_epochs: int) -> None:
    row = LADDER.row(name)
    assert LADDER.is_new(row, BASE)
    assert not LADDER.is_new(row, PRESETS[name])
    limits = {"max_seconds": 75.0, "max_epochs": max_epochs, "patience": PRESETS["tiny"].patience}
    assert LADDER.recipe(row, PRESETS["tiny"]) == dataclasses.replace(PRESETS[name], **limits)


def test_the_negative_control_is_the_row_below_with_the_fault_alone() -> None:
    assert LADDER.changes(LADDER.row("wrong-tags"), BASE) == {"reverse_fault": "unswapped"}
    assert LADDER.recipe(LADDER.row("wrong-tags"), BASE).reverse == 1.0
    faulty = [row.name for row in ROWS.values() if LADDER.recipe(row, BASE).reverse_fault != "none"]
    assert faulty == ["wrong-tags"]
    assert all(preset.reverse_fault == "none" for preset in PRESETS.values())


@pytest.mark.parametrize(("name", "trained"), [("language-model", "modern"), ("noisy-channel", "both-ways")])
def test_reranking_is_held_against_the_search_with_as_many_beams(name: str, trained: str) -> None:
    row = LADDER.row(name)
    assert LADDER.recipe(row, BASE).beam_size == N_BEST
    assert LADDER.changes(row, BASE) == {}
    assert LADDER.row(row.builds_on).settings["decoding"] == "search"
    assert trained_row(row).name == trained
    assert [one.name for one in LADDER.with_needed([name])] == [trained, row.builds_on, name]


def test_needed_rows_come_first_and_once() -> None:
    names = [row.name for row in LADDER.with_needed(["contrastive", "beam-1", "hard-examples", "modern"])]
    assert names == ["modern", "both-ways", "contrastive", "hard-examples", "beam-1"]
    with pytest.raises(ValueError, match=r"--rows must be of gru-baseline, .*, got modrn"):
        LADDER.with_needed(["modrn"])
