"""The ladder from the command line to its stored numbers: added to, never overwritten, and free of sentences."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from coursepkg.app.published_results import INSTALLED
from coursepkg.projects.translation.corpora import load_parts
from coursepkg.projects.translation.evaluate import compare_systems
from coursepkg.projects.translation.ladder.commands import conditions_of, results_of
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.published_results import read_ladder
from coursepkg.projects.translation.studies.measured_run import score_dev
from coursepkg.projects.translation.study_commands import Ladder
from tests.projects.translation.tiny import run_command, toy_parts, write_zh_vi

SMALL = ["vocab-size=170", "d-model=16", "d-ff=32", "n-heads=2", "n-encoder-layers=1", "n-decoder-layers=1"]
SMALL += ["max-len=24", "batch-tokens=512", "warmup=5", "ema=0.5", "learning-rate=0.01", "max-epochs=2"]
DEVICE = "cuda" if torch.cuda.is_available() else "cpu-1"
CONDITIONS = f"zh-vi_zh2vi_tiny_100s_{DEVICE}"


def ladder(folder: Path, *arguments: str, settings: list[str] = SMALL) -> int:
    given = ["--data", "zh-vi", "--seconds", "100", "--out", str(folder / "out")]
    given += ["--results", str(folder / "results"), "--set", *settings]
    return run_command("ladder", *given, *arguments)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ladder")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSEPKG_DATA", str(write_zh_vi(folder / "data")))
        assert ladder(folder, "--rows", "modern", "beam-1", "no-label-smoothing", "top-k", "vocab-16000") == 1
    return folder


@pytest.fixture
def copied(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COURSEPKG_DATA", str(made / "data"))
    shutil.copytree(made, tmp_path / "ladder")
    return tmp_path / "ladder"


def stored(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "results" / CONDITIONS).iterdir()}


def by_name(folder: Path) -> dict[str, dict]:
    return {row["row"]: row for row in read_ladder(folder / "results")}


def test_rows_are_stored_with_all_that_decides_them(made: Path) -> None:
    rows = by_name(made)
    # The vocabulary of 16,000 cannot be learnt from so little text; the other rows are there.
    assert list(rows) == ["modern", "no-label-smoothing", "beam-1", "top-k"]
    row = rows["no-label-smoothing"]
    assert (row["builds_on"], row["changes"], row["seed"]) == ("modern", {"label_smoothing": 0.0}, 0)
    assert row["recipe"]["label_smoothing"] == 0.0
    assert row["recipe"]["max_seconds"] == 100
    assert {"device", "name", "threads"} <= row["machine"].keys()
    assert {"python", "torch"} <= row["versions"].keys()
    assert {"commit", "parameters", "steps", "seconds", "cpu_seconds", "note", "conditions"} <= row.keys()
    assert row["clock"] == "wall"
    assert row["epochs"] == 2
    assert set(row["scores"]["BLEU"]) == {"value", "signature", "interval"}


def test_results_hold_no_sentence(made: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSEPKG_DATA", str(made / "data"))
        parts = load_parts("zh-vi", "zh", "vi")
    kept = (made / "out" / CONDITIONS / "modern.seed0" / "sentences.json").read_text("utf-8")
    wanted = json.loads(kept)
    assert len(wanted["hypotheses"]) == len(parts.dev)
    for content in stored(made).values():
        text = json.dumps(json.loads(content), ensure_ascii=False)
        assert not any(one in text for one in (*wanted["references"], *filter(None, wanted["hypotheses"])))
        assert text.isascii()


def test_a_decoding_row_is_another_search_with_the_same_model(copied: Path) -> None:
    parts, rows = load_parts("zh-vi", "zh", "vi"), by_name(copied)
    translator = Translator.load(copied / "out" / CONDITIONS / "modern.seed0")
    result, _ = score_dev(translator, parts, beam_size=1, length_penalty=1.0)
    assert rows["beam-1"]["scores"] == result.as_json()["scores"]
    assert rows["beam-1"]["steps"] == rows["modern"]["steps"]
    assert not (copied / "out" / CONDITIONS / "beam-1.seed0" / "model").exists()


def test_the_paired_comparison_is_that_of_the_two_systems(copied: Path) -> None:
    parts, row = load_parts("zh-vi", "zh", "vi"), by_name(copied)["no-label-smoothing"]
    systems = []
    for name in ("modern", "no-label-smoothing"):
        translator = Translator.load(copied / "out" / CONDITIONS / f"{name}.seed0")
        systems.append(score_dev(translator, parts)[0])
    wanted = compare_systems(*systems)
    assert row["against"]["row"] == "modern"
    assert row["against"]["difference"] == pytest.approx(wanted.system - wanted.baseline)
    assert row["against"]["interval"] == [wanted.difference.lower, wanted.difference.upper]


def test_another_architecture_and_the_negative_control_are_made(copied: Path) -> None:
    assert ladder(copied, "--rows", "decoder-only", "wrong-tags") == 0
    rows = by_name(copied)
    assert rows["decoder-only"]["changes"] == {"architecture": "decoder-only", "n_decoder_layers": 2}
    assert rows["wrong-tags"]["changes"] == {"reverse_fault": "unswapped"}
    assert Translator.load(copied / "out" / CONDITIONS / "wrong-tags.seed0").directions == [("zh", "vi")]


def test_a_row_that_is_the_one_below_is_skipped(
    tmp_path: Path, zh_vi: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--data", "zh-vi", "--preset", "small", "--rows", "small", "--out", str(tmp_path / "out")]
    assert run_command("ladder", *given, "--results", str(tmp_path / "results")) == 0
    assert "small: this is modern already, with these settings" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


def test_a_later_call_adds_seeds_and_leaves_what_is_there(
    copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = stored(copied)
    assert ladder(copied, "--rows", "modern", "beam-1", "--seeds", "0", "1", "--json") == 0
    after = stored(copied)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {"modern.seed1.json", "beam-1.seed1.json"}
    document = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [(row["row"], row["seed"]) for row in document["rows"]][:2] == [("modern", 0), ("modern", 1)]


def test_a_model_that_is_gone_is_trained_again_without_touching_its_row(copied: Path) -> None:
    shutil.rmtree(copied / "out")
    before = stored(copied)
    assert ladder(copied, "--rows", "length-0") == 0
    after = stored(copied)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {"length-0.seed0.json"}


def test_numbers_that_were_not_stored_come_from_the_finished_run(copied: Path) -> None:
    path = copied / "results" / CONDITIONS / "no-label-smoothing.seed0.json"
    before = path.read_bytes()
    path.unlink()
    assert ladder(copied, "--rows", "no-label-smoothing") == 0
    assert path.read_bytes() == before


def test_other_settings_are_refused_under_the_same_name(copied: Path) -> None:
    before = stored(copied)
    with pytest.raises(ValueError, match=r"modern.seed0.json holds this row with other settings .*dropout"):
        ladder(copied, "--rows", "modern", settings=[*SMALL, "dropout=0.2"])
    assert stored(copied) == before


def test_data_that_changed_under_their_name_are_refused(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSEPKG_DATA", str(write_zh_vi(tmp_path / "changed", n=200)))
    before = stored(copied)
    with pytest.raises(ValueError, match=r"modern.seed0.json holds this row with other data"):
        ladder(copied, "--rows", "beam-4", "--seeds", "1")
    assert stored(copied) == before
    # Nor does a finished run of other data become a row of these.
    shutil.rmtree(copied / "results")
    assert ladder(copied, "--rows", "modern") == 1
    assert not (copied / "results").exists()


def test_cpu_time_is_that_of_one_thread() -> None:
    with pytest.raises(ValueError, match=r"--clock cpu counts the time of all threads .*--threads 1"):
        Ladder(clock="cpu")
    parts = toy_parts()
    names = {conditions_of(Ladder(clock=clock, threads=1), parts) for clock in ("wall", "cpu")}
    assert len(names) == 2


def test_rows_of_an_installed_copy_need_a_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(
        "coursepkg.app.published_results.PublishedResults.folder", lambda results: tmp_path / INSTALLED
    )
    assert results_of(Ladder(list=True)) == tmp_path / INSTALLED
    assert results_of(Ladder(results=tmp_path)) == tmp_path
    with pytest.raises(ValueError, match=r"--results FOLDER is needed"):
        results_of(Ladder())


def test_a_row_without_the_model_it_needs_is_told(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = [one for one in SMALL if not one.startswith("d-model")] + ["d-model=15"]
    with pytest.raises(ValueError, match=r"both-ways is compared with modern, which .*differs in d_model"):
        ladder(copied, "--rows", "continued", "--seeds", "7", settings=settings)
    shutil.rmtree(copied / "results")  # nothing is there to be compared with
    assert ladder(copied, "--rows", "continued", "--seeds", "7", settings=settings) == 1
    said = capsys.readouterr().out
    assert "continued, seed 7" in said
    assert "error: it asks the network of both-ways, which could not be trained" in said


def test_rows_are_listed_with_what_is_stored(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ladder(made, "--list") == 0
    lines = {line.split("|")[1].strip(): line for line in capsys.readouterr().out.splitlines()}
    assert f"{CONDITIONS}: 0" in lines["modern"]
    assert CONDITIONS not in lines["vocab-16000"]
    assert "self-contrastive-round-trip" in lines
