"""Rows of the ladder are made once, stored, compared on the same clips, and added to."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coursepkg.projects.sign_language.command_options import Common
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.evaluate import evaluate
from coursepkg.projects.sign_language.inference import predict_clips
from coursepkg.projects.sign_language.ladder import Bench, stored_row
from coursepkg.projects.sign_language.ladder_command import Ladder, base_of, make_rows
from coursepkg.projects.sign_language.ladder_rows import ROWS
from coursepkg.projects.sign_language.ladder_table import ladder_lines, read_rows
from coursepkg.projects.sign_language.recipe import PRESETS
from coursepkg.projects.sign_language.trained_model import read_model
from tests.projects.sign_language.blocks import FAST

BASE = replace(FAST, max_epochs=1, patience=1)


def bench_in(folder: Path, corpus: SignCorpus, **options: object) -> tuple[Bench, list[str]]:
    said: list[str] = []
    places = {"runs": folder / "runs", "results": folder / "results", "say": said.append}
    return Bench(**({"base": BASE, "corpus": corpus, "conditions": "blocks"} | places | options)), said  # type: ignore[arg-type]


def test_rows_are_made_once_and_added_to(blocks: SignCorpus, tmp_path: Path) -> None:
    bench, said = bench_in(tmp_path, blocks)
    assert make_rows(bench, ("lstm-last", "improved")) == []
    before = {path: path.read_bytes() for path in (tmp_path / "results").rglob("*.json")}
    assert sorted(path.name for path in before) == ["improved.seed0.json", "lstm-last.seed0.json"]
    said.clear()
    assert make_rows(bench, ("improved", "test-time", "ensemble")) == []
    assert said[0] == "improved: stored already"
    assert [line.partition(",")[0] for line in said if ", seed 0: " in line] == [
        "test-time",
        "second-seed",
        "ensemble",
    ]
    assert {path: path.read_bytes() for path in before} == before
    rows = {row["row"]: row for row in read_rows(tmp_path / "results", list(ROWS))}
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
    _check_ensemble(bench, both["scores"]["macro_f1"]["value"])


def _check_ensemble(bench: Bench, value: float) -> None:
    """The score of the ensemble is that of the mean of its two networks."""
    clips = bench.corpus.part("dev")
    one, other = (read_model(bench.run(name)).model for name in ("improved", "second-seed"))
    said = predict_clips(one, clips, BASE, models=[other])
    assert evaluate(said, clips, bench.corpus.labels, bench.corpus.counts).macro_f1.value == value


def test_a_table_shows_what_is_stored(blocks: SignCorpus, tmp_path: Path) -> None:
    bench, _ = bench_in(tmp_path, blocks)
    make_rows(bench, ("lstm-last", "lstm-mean"))
    title, head, first, second, _ = ladder_lines(read_rows(tmp_path / "results", list(ROWS)))
    assert title.startswith("blocks_dev, ")
    assert head.split()[:3] == ["row", "seed", "parameters"]
    assert first.startswith("lstm-last ")
    assert second.split()[0] == "lstm-mean"
    assert "lstm-last" in second


def test_plain_resampling_takes_other_frames_than_the_warp(blocks: SignCorpus, tmp_path: Path) -> None:
    bench, _ = bench_in(tmp_path, blocks)
    assert make_rows(bench, ("no-warp", "resampling")) == []
    still, played = (read_model(bench.run(name)).model.state_dict() for name in ("no-warp", "resampling"))
    assert any(not still[name].equal(played[name]) for name in still)
    (row,) = (one for one in read_rows(tmp_path / "results", list(ROWS)) if one["row"] == "resampling")
    assert (row["speed"], row["changes"], row["recipe"]["warp"]) == (0.3, {}, 0.0)


def test_rows_of_other_settings_are_refused(blocks: SignCorpus, tmp_path: Path) -> None:
    bench, _ = bench_in(tmp_path, blocks)
    make_rows(bench, ("lstm-last",))
    other, _ = bench_in(tmp_path, blocks, base=replace(BASE, dropout=0.3))
    with pytest.raises(
        ValueError, match=r"with other settings \(it differs in dropout\); choose another --results"
    ):
        stored_row(other, ROWS["lstm-last"])
    assert stored_row(bench, ROWS["lstm-mean"]) is None


def test_a_row_that_cannot_be_made_stops_those_alone_that_need_it(blocks: SignCorpus, tmp_path: Path) -> None:
    more = replace(blocks, labels=("lên", "ngủ", "nằm", "xuống"))
    bench, _ = bench_in(tmp_path, more)
    failed = make_rows(bench, ("weighted", "post-hoc"))
    assert [one["row"] for one in failed] == ["weighted", "post-hoc"]
    assert all("'ngủ'" in one["error"] or "at least 1" in one["error"] for one in failed)
    assert [path.name for path in (tmp_path / "results").rglob("*.json")] == ["plain-sampler.seed0.json"]


def test_seconds_of_a_row_that_was_cut_off_begin_again(blocks: SignCorpus, tmp_path: Path) -> None:
    bench, _ = bench_in(tmp_path, blocks, base=replace(BASE, max_seconds=1e-9), timed=True, clock="cpu")
    run = bench.run("lstm-last")
    run.mkdir(parents=True)
    (run / "recipe.json").write_text("{}", "utf-8")
    assert make_rows(bench, ("lstm-last",)) == []
    (stored,) = read_rows(tmp_path / "results", list(ROWS))
    assert (stored["stopped"], stored["steps_taken"], stored["clips"]) == ("max_seconds", 1, 4)
    assert json.loads((run / "recipe.json").read_text("utf-8"))["seed"] == 0


def test_options_are_checked_and_no_row_stops_early() -> None:
    base = base_of(Ladder(epochs=7))
    assert (base.max_epochs, base.patience) == (7, 7)
    assert base_of(Ladder()).max_epochs == PRESETS["tiny"].max_epochs
    for options, said in (
        ({"seconds": -1.0}, "--seconds must be at least 0, got -1"),
        ({"clock": "cpu"}, "--clock cpu counts the time of all threads together"),
        ({"rows": ("best",)}, "--rows must be of lstm-last"),
        ({"epochs": -1}, "--epochs must be an integer of at least 0"),
    ):
        with pytest.raises(ValueError, match=said):
            Ladder(**options)  # type: ignore[arg-type]


def test_the_list_names_every_row_and_what_is_stored(
    blocks: SignCorpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench, _ = bench_in(tmp_path, blocks)
    make_rows(bench, ("lstm-last",))
    assert Ladder(list=True, results=tmp_path / "results", common=Common(json=True)).run() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines[: len(ROWS)]] == list(ROWS)
    assert any(line.startswith("blocks_dev, ") for line in lines)
    told = json.loads(lines[-1])
    assert [row["row"] for row in told["rows"]] == ["lstm-last"]
    assert [row["name"] for row in told["known"]] == list(ROWS)
