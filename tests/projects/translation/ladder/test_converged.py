"""Rows that train until dev stops rising: resumed where they were cut off, with a learning rate chosen on dev."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from coursepkg.app.ladder import LadderRow
from coursepkg.projects.translation import train
from coursepkg.projects.translation.ladder.rates import (
    FACTORS,
    TRIAL_EPOCHS,
    chosen_of,
    rates_table,
    read_rates,
)
from coursepkg.projects.translation.ladder.rows import (
    LADDER,
    MOST_EPOCHS,
    ROWS,
    converged_ladder,
    has_converged,
    without_limit,
)
from coursepkg.projects.translation.published_results import read_row
from coursepkg.projects.translation.recipe import PRESETS
from coursepkg.projects.translation.study_commands import Ladder
from tests.projects.translation.ladder.test_commands import SMALL
from tests.projects.translation.tiny import run_command

CONDITIONS = "zh-vi_zh2vi_tiny_converged_cpu"
BRIEF = [*(one for one in SMALL if not one.startswith("max-epochs")), "max-epochs=4", "patience=2"]
OF_TIME = ("seconds", "cpu_seconds", "decoding_seconds", "timed_steps", "note", "machine")


def ladder(folder: Path, *arguments: str, settings: list[str] = BRIEF) -> int:
    given = ["--data", "zh-vi", "--converged", "--out", str(folder / "out")]
    return run_command("ladder", *given, "--results", str(folder / "results"), "--set", *settings, *arguments)


def stored(folder: Path, row: str, seed: int = 0) -> dict[str, Any]:
    return read_row(folder / "results" / CONDITIONS / f"{row}.seed{seed}.json")


def cut_off(folder: Path, monkeypatch: pytest.MonkeyPatch, after: int, *arguments: str) -> None:
    """The command, as if the power went away in the validation behind so many."""
    whole, made = train.validate, []

    def validate(*args: Any, **options: Any) -> dict[str, float]:
        if len(made) == after:
            raise KeyboardInterrupt
        made.append(1)
        return whole(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(train, "validate", validate)
        with pytest.raises(KeyboardInterrupt):
            ladder(folder, *arguments)


def test_a_row_that_was_cut_off_goes_on_and_ends_with_the_same_numbers(
    zh_vi: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ladder(tmp_path / "whole", "--rows", "modern") == 0
    cut_off(tmp_path / "cut", monkeypatch, 2, "--rows", "modern")
    assert not (tmp_path / "cut" / "results").exists()
    assert ladder(tmp_path / "cut", "--rows", "modern") == 0
    one, other = (stored(tmp_path / name, "modern") for name in ("whole", "cut"))
    assert {n: v for n, v in one.items() if n not in OF_TIME} == {
        n: v for n, v in other.items() if n not in OF_TIME
    }
    assert one["timed_steps"] == one["steps_taken"] == one["curve"]["steps"][-1]
    assert len(one["curve"]["bleu"]) == one["epochs"]
    # The call that was killed left no time, which the row says.
    assert other["timed_steps"] < other["steps_taken"]
    assert f"those of {other['timed_steps']} of {other['steps_taken']} steps" in other["note"]


def test_a_row_says_whether_it_ended_by_itself(
    zh_vi: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = [*BRIEF[:-2], "learning-rate=0.0", "max-epochs=9", "patience=2"]
    settings = [one for one in settings if one != "learning-rate=0.01"]
    assert ladder(tmp_path / "patience", "--rows", "modern", settings=settings) == 0
    row = stored(tmp_path / "patience", "modern")
    assert (row["stopped"], row["converged"], row["epochs"]) == ("patience", True, 3)
    capsys.readouterr()
    settings = [*BRIEF[:-2], "max-epochs=1", "patience=2"]
    assert ladder(tmp_path / "cut", "--rows", "modern", "beam-1", settings=settings) == 0
    assert stored(tmp_path / "cut", "modern")["converged"] is False
    assert stored(tmp_path / "cut", "beam-1")["converged"] is False
    said = capsys.readouterr().out
    assert "| modern (unfinished) |" in said
    assert "unfinished: beam-1" in said


def test_both_splits_and_the_ensemble_are_made(
    zh_vi: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ladder(tmp_path, "--rows", "modern", "random-split") == 0
    grouped, random = (stored(tmp_path, name) for name in ("modern", "random-split"))
    assert grouped["recipe"] == random["recipe"]
    assert grouped["scores"]["BLEU"]["signature"] != random["scores"]["BLEU"]["signature"]
    assert "zh-vi-random dev" in random["scores"]["BLEU"]["signature"]
    cut_off(tmp_path, monkeypatch, 2, "--rows", "ensemble")
    second = tmp_path / "out" / CONDITIONS / "ensemble.seed0" / "second" / "run"
    assert second.is_dir()
    removed: list[Path] = []
    remove = shutil.rmtree
    monkeypatch.setattr(
        shutil, "rmtree", lambda path, **options: (removed.append(path), remove(path, **options))
    )
    assert ladder(tmp_path, "--rows", "ensemble") == 0
    assert second.parents[1] not in removed
    assert "was trained for longer" in stored(tmp_path, "ensemble")["note"]


@pytest.fixture
def short_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coursepkg.projects.translation.ladder.rates.TRIAL_EPOCHS", 1)


@pytest.mark.usefixtures("short_trials")
def test_the_rate_that_is_best_on_dev_trains_the_row(
    zh_vi: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ladder(tmp_path, "--tune-rate", "--rows", "modern", "vaswani2017", "--json") == 0
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    rates = read_rates(tmp_path / "results" / CONDITIONS)
    assert said["rates"] == rates
    assert list(rates) == ["modern", "vaswani2017"]
    tried = [one["learning_rate"] for one in rates["modern"]["trials"]]
    assert tried == [0.00333, 0.01, 0.03]
    scores = {one["learning_rate"]: one["scores"]["BLEU"]["value"] for one in rates["modern"]["trials"]}
    chosen = rates["modern"]["learning_rate"]
    assert scores[chosen] == max(scores.values())
    assert not list((tmp_path / "results" / CONDITIONS).glob("*.seed*"))
    assert ladder(tmp_path, "--tune-rate", "--rows", "modern") == 0
    assert "modern: its rate is stored already" in capsys.readouterr().out
    assert ladder(tmp_path, "--rows", "modern", "no-averaging", "--seeds", "1") == 0
    row = stored(tmp_path, "modern", seed=1)
    assert row["recipe"]["learning_rate"] == chosen
    assert row["rates"]["trials"] == rates["modern"]["trials"]
    # A row that was not tried takes the rate of the row that it changes.
    other = stored(tmp_path, "no-averaging", seed=1)
    assert other["recipe"]["learning_rate"] == chosen
    assert "rates" not in other
    assert other["changes"] == {"ema": 0.0}
    # What is stored keeps its rate, and nothing is tuned beside rows of other settings.
    assert ladder(tmp_path, "--tune-rate", "--rows", "no-averaging") == 0
    assert "no-averaging: stored already, so its rate stays" in capsys.readouterr().out
    with pytest.raises(
        ValueError, match=r"unigram is compared with modern, which .*differs in attention_dropout"
    ):
        ladder(tmp_path, "--tune-rate", "--rows", "unigram", settings=[*BRIEF, "attention-dropout=0.2"])


@pytest.mark.usefixtures("short_trials")
def test_rows_that_cannot_be_tried_are_named(
    zh_vi: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ladder(tmp_path, "--tune-rate", "--rows", "continued", "beam-1") == 1
    said = capsys.readouterr().out
    assert "continued begins with the model of both-ways; make that row first" in said
    assert "beam-1 trains nothing; leave it out" in said


def trial(rate: float, bleu: float | None) -> dict[str, Any]:
    if bleu is None:
        return {"settings": {"learning_rate": rate}, "error": "the loss is nan"}
    scores = {"BLEU": {"value": bleu, "interval": [bleu - 1, bleu + 1]}}
    return {
        "settings": {"learning_rate": rate},
        "scores": scores,
        "steps": 9,
        "epochs": 6,
        "cpu_seconds": 1.0,
        "stopped": "max_epochs",
    }


def test_a_choice_at_the_end_of_the_range_is_told_and_a_failed_trial_kept() -> None:
    middle = chosen_of("modern", [trial(0.1, 3.0), trial(0.3, 5.0), trial(0.9, None)])
    assert (middle["learning_rate"], middle["on_grid_boundary"]) == (0.3, False)
    assert middle["trials"][2] == {"learning_rate": 0.9, "error": "the loss is nan"}
    end = chosen_of("modern", [trial(0.1, 6.0), trial(0.3, 5.0), trial(0.9, 1.0)])
    assert (end["learning_rate"], end["on_grid_boundary"]) == (0.1, True)
    table = rates_table({"modern": end})
    assert "6.00 [5.00, 7.00]" in table
    assert table.count("chosen, the end of the range") == 1
    with pytest.raises(ValueError, match="modern trains with none of its rates: the loss is nan"):
        chosen_of("modern", [trial(0.1, None)])
    assert (FACTORS[1], TRIAL_EPOCHS) == (1.0, 6)


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_every_row_can_converge(row: LadderRow) -> None:
    base = without_limit(PRESETS["plain"])
    ladder = converged_ladder({})
    recipe = ladder.recipe(ladder.row(row.name), base)
    if row.name == "small":
        assert (recipe.max_epochs, recipe.schedule) == (PRESETS["small"].max_epochs, "cosine")
    else:
        assert (recipe.max_epochs, recipe.patience) == (MOST_EPOCHS, PRESETS["plain"].patience)
        assert recipe == LADDER.recipe(row, base)


def test_rates_go_down_the_ladder_until_a_row_begins_anew() -> None:
    ladder, base = converged_ladder({"gru-baseline": 0.5, "modern": 0.25}), without_limit(PRESETS["plain"])
    found = {name: ladder.recipe(ladder.row(name), base).learning_rate for name in ROWS}
    assert (found["gru-attention"], found["r-drop"], found["beam-1"]) == (0.5, 0.25, 0.25)
    assert found["continued"] == pytest.approx(0.3 * 0.25)
    assert found["vaswani2017"] == pytest.approx(PRESETS["plain"].learning_rate / 3)


def test_only_patience_and_the_end_of_a_cosine_are_an_end() -> None:
    plain, small = PRESETS["plain"], PRESETS["small"]
    assert has_converged(plain, "patience")
    assert has_converged(small, "max_epochs")
    assert not has_converged(plain, "max_epochs")
    assert not has_converged(small, "max_seconds")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"converged": True, "seconds": 60.0}, "--converged has no limit of time; leave --seconds out"),
        ({"tune_rate": True}, "--tune-rate needs --converged"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Ladder(**options)
