"""Rows of the ladder are made once, stored, compared on the same clips, and added to."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coursepkg.app.ladder import LadderRun
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.inference import predict_clips
from coursepkg.projects.sign_language.ladder import (
    LADDER,
    NEEDS,
    ROWS,
    LadderOptions,
    RowMaker,
    base_of,
    headline,
    ladder_command,
    ladder_lines,
    read_rows,
)
from coursepkg.projects.sign_language.options import Common
from coursepkg.projects.sign_language.recipe import PRESETS, Recipe
from coursepkg.projects.sign_language.recognizer import read_model
from coursepkg.projects.sign_language.scoring import evaluate
from tests.projects.sign_language.blocks import FAST

BASE = replace(FAST, max_epochs=1, patience=1)


def maker_in(
    folder: Path, corpus: SignCorpus, base: Recipe = BASE, **options: object
) -> tuple[RowMaker, list[str]]:
    lines: list[str] = []
    places = folder / "runs", folder / "results"
    run = LadderRun(LADDER, base, "blocks", *places, NEEDS, "dev", lines.append)
    return RowMaker(run, lambda recipe: corpus, **options), lines  # type: ignore[arg-type]


def make_rows(maker: RowMaker, names: tuple[str, ...]) -> list[dict]:
    return maker.run.make(names, 0, maker, headline)


def test_rows_are_made_once_and_added_to(blocks: SignCorpus, tmp_path: Path) -> None:
    maker, said = maker_in(tmp_path, blocks)
    assert make_rows(maker, ("lstm-last", "improved")) == []
    before = {path: path.read_bytes() for path in (tmp_path / "results").rglob("*.json")}
    assert sorted(path.name for path in before) == ["improved.seed0.json", "lstm-last.seed0.json"]
    said.clear()
    assert make_rows(maker, ("improved", "test-time", "ensemble")) == []
    assert said[0] == "improved: stored already"
    assert [line.partition(",")[0] for line in said if ", seed 0: " in line] == [
        "test-time",
        "second-seed",
        "ensemble",
    ]
    assert {path: path.read_bytes() for path in before} == before
    rows = {row["row"]: row for row in read_rows(tmp_path / "results")}
    assert list(rows) == ["lstm-last", "improved", "test-time", "second-seed", "ensemble"]
    first, improved, both = rows["lstm-last"], rows["improved"], rows["ensemble"]
    assert (improved["clips"], first["clips"], improved["steps_taken"]) == (10, 10, 3)
    assert improved["peak_memory"] > 2**20
    assert improved["peak_memory"] > 2**20
    assert (first["against"], set(improved["against"])) == ({}, {"lstm-last"})
    gained = improved["against"]["lstm-last"]["difference"]
    scores = [one["scores"]["macro_f1"]["value"] for one in (improved, first)]
    assert gained == pytest.approx(scores[0] - scores[1])
    assert both["parameters"] == 2 * improved["parameters"]
    assert "answers" not in both["scores"]
    assert set(both["against"]) == {"improved", "lstm-last"}
    _check_ensemble(maker, both["scores"]["macro_f1"]["value"])


def _check_ensemble(maker: RowMaker, value: float) -> None:
    """The score of the ensemble is that of the mean of its two networks."""
    corpus = maker.load(BASE)
    clips = corpus.part("dev")
    one, other = (read_model(maker.run.folder(name, 0)).model for name in ("improved", "second-seed"))
    said = predict_clips(one, clips, BASE, models=[other])
    assert evaluate(said, clips, corpus.labels, corpus.counts).macro_f1.value == value


def test_a_table_shows_what_is_stored(blocks: SignCorpus, tmp_path: Path) -> None:
    maker, _ = maker_in(tmp_path, blocks)
    make_rows(maker, ("lstm-last", "lstm-mean"))
    title, head, first, second, _ = ladder_lines(read_rows(tmp_path / "results"))
    assert title.startswith("blocks_dev, ")
    assert head.split()[:3] == ["row", "seed", "parameters"]
    assert first.startswith("lstm-last ")
    assert second.split()[0] == "lstm-mean"
    assert "lstm-last" in second


def test_plain_resampling_takes_other_frames_than_the_warp(blocks: SignCorpus, tmp_path: Path) -> None:
    maker, _ = maker_in(tmp_path, blocks)
    assert make_rows(maker, ("no-warp", "resampling")) == []
    still, played = (
        read_model(maker.run.folder(name, 0)).model.state_dict() for name in ("no-warp", "resampling")
    )
    assert any(not still[name].equal(played[name]) for name in still)
    (row,) = (one for one in read_rows(tmp_path / "results") if one["row"] == "resampling")
    assert (row["speed"], row["changes"], row["recipe"]["warp"]) == (0.3, {}, 0.0)


def test_rows_of_other_settings_are_refused(blocks: SignCorpus, tmp_path: Path) -> None:
    maker, _ = maker_in(tmp_path, blocks)
    make_rows(maker, ("lstm-last",))
    other, _ = maker_in(tmp_path, blocks, base=replace(BASE, dropout=0.3))
    with pytest.raises(
        ValueError, match=r"with other settings \(it differs in dropout\); choose another --results"
    ):
        other.run.stored(ROWS["lstm-last"], 0)
    assert maker.run.stored(ROWS["lstm-mean"], 0) is None


def test_a_row_that_cannot_be_made_stops_those_alone_that_need_it(blocks: SignCorpus, tmp_path: Path) -> None:
    more = replace(blocks, labels=("lên", "ngủ", "nằm", "xuống"))
    maker, _ = maker_in(tmp_path, more)
    failed = make_rows(maker, ("weighted", "post-hoc"))
    assert [one["row"] for one in failed] == ["weighted", "post-hoc"]
    assert all("'ngủ'" in one["error"] or "at least 1" in one["error"] for one in failed)
    assert [path.name for path in (tmp_path / "results").rglob("*.json")] == ["plain-sampler.seed0.json"]


def test_seconds_of_a_row_that_was_cut_off_begin_again(blocks: SignCorpus, tmp_path: Path) -> None:
    maker, _ = maker_in(tmp_path, blocks, base=replace(BASE, max_seconds=1e-9), timed=True, clock="cpu")
    run = maker.run.folder("lstm-last", 0)
    run.mkdir(parents=True)
    (run / "recipe.json").write_text("{}", "utf-8")
    assert make_rows(maker, ("lstm-last",)) == []
    (stored,) = read_rows(tmp_path / "results")
    assert (stored["stopped"], stored["steps_taken"], stored["clips"]) == ("max_seconds", 1, 4)
    assert json.loads((run / "recipe.json").read_text("utf-8"))["seed"] == 0


def test_options_are_checked_and_no_row_stops_early() -> None:
    base = base_of(LadderOptions(epochs=7))
    assert (base.max_epochs, base.patience) == (7, 7)
    assert base_of(LadderOptions()).max_epochs == PRESETS["tiny"].max_epochs
    for options, said in (
        ({"seconds": -1.0}, "--seconds must be at least 0, got -1"),
        ({"clock": "cpu"}, "--clock cpu counts the time of all threads together"),
        ({"rows": ("best",)}, "--rows must be of lstm-last"),
        ({"epochs": -1}, "--epochs must be an integer of at least 0"),
    ):
        with pytest.raises(ValueError, match=said):
            LadderOptions(**options)  # type: ignore[arg-type]


def test_the_list_names_every_row_and_what_is_stored(
    blocks: SignCorpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    maker, _ = maker_in(tmp_path, blocks)
    make_rows(maker, ("lstm-last",))
    options = LadderOptions(list=True, results=tmp_path / "results", common=Common(json=True))
    assert ladder_command(options) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines[: len(ROWS)]] == list(ROWS)
    assert any(line.startswith("blocks_dev, ") for line in lines)
    told = json.loads(lines[-1])
    assert [row["row"] for row in told["rows"]] == ["lstm-last"]
    assert [row["name"] for row in told["known"]] == list(ROWS)


def test_a_row_stores_its_score_within_pairs(
    blocks: SignCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = (tuple(blocks.labels[:2]),)
    monkeypatch.setattr("coursepkg.projects.sign_language.ladder.order_pairs", lambda name: pairs)
    maker, _ = maker_in(tmp_path, blocks)
    assert make_rows(maker, ("lstm-last",)) == []
    stored = read_rows(tmp_path / "results")
    within = stored[0]["order_pairs"]
    assert list(within["pairs"]) == ["/".join(pairs[0])]
    assert within["n"] == sum(one.label in pairs[0] for one in blocks.part("dev").clips)
    _, head, row, *_ = ladder_lines(stored)
    assert head.split().index("pairs") < head.split().index("against")
    assert f"{within['accuracy']['value']:.3f}" in row
