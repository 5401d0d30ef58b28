"""`coursepkg ocr`: its verbs, exit codes, JSON as the last line, one line for a mistake."""

import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from coursepkg.bench.machine import circumstances
from coursepkg.cli import COMMANDS
from coursepkg.command_table import Group
from coursepkg.projects.ocr import corpora
from coursepkg.projects.ocr.corpus import open_packed
from coursepkg.projects.ocr.predict import Recognizer
from coursepkg.projects.ocr.recipe import PRESETS, Recipe
from tests.projects.ocr.drawn import draw
from tests.projects.ocr.sets import QUICK, ocr, write_labelled

GROUP = COMMANDS["ocr"]
assert isinstance(GROUP, Group)


@pytest.mark.parametrize("verb", sorted(GROUP.verbs))
def test_every_verb_has_its_own_help(verb: str) -> None:
    said = ocr(verb, "--help")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"usage: coursepkg ocr {verb}")


def test_describe_counts_lines_and_parameters(labelled: Path) -> None:
    said = ocr("describe", "--data", labelled, "--json")
    assert said.code == 0
    found = said.document
    assert sum(found["parts"].values()) == found["lines"] == 40
    assert found["parameters"] == found["parameters by part"]["total"] > 500_000
    assert f"parameters: {found['parameters']:,}" in said.out
    assert Recipe.of(found["recipe"]) == PRESETS["tiny"]
    assert found["width at height 32"]["longest"] > 100


def test_the_report_has_the_size_of_its_resnet(labelled: Path) -> None:
    pytest.importorskip("transformers")
    found = ocr("describe", "--preset", "report", "--data", labelled, "--json").document
    assert (
        24e6 < found["parameters by part"]["backbone"] < 26e6
    )  # ResNet-50 and its reduction to 512 channels


def test_the_audit_exits_1_where_the_split_leaks(labelled: Path) -> None:
    clean, leaking = (
        ocr("audit", "--data", labelled, "--split", split, "--json") for split in ("auto", "line")
    )
    assert (clean.code, leaking.code) == (0, 1)
    assert (clean.document["leaks"], leaking.document["leaks"]) == (False, True)
    assert "leaks: none" in clean.out
    assert "note: parted by line, as the OCR report does" in leaking.out


def test_findings_go_into_the_file_that_out_names(labelled: Path, tmp_path: Path) -> None:
    for verb in ("audit", "describe"):
        out = tmp_path / f"{verb}.json"
        said = ocr(verb, "--data", labelled, "--out", out, "--json")
        assert said.code == 0
        assert f"written to {out}" in said.out
        assert json.loads(out.read_text("utf-8")) == said.document


@pytest.mark.parametrize(
    ("arguments", "data", "split"),
    [
        ((), "synthetic-tiny", "auto"),
        (("--preset", "small"), "synthetic", "auto"),
        (("--preset", "report"), "mc-ocr", "line"),
        (("--preset", "report", "--split", "receipt"), "mc-ocr", "receipt"),
        (("--preset", "report", "--data", "synthetic"), "synthetic", "auto"),
    ],
)
def test_each_preset_has_its_usual_data(
    arguments: tuple[str, ...], data: str, split: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(name: str, **options: object) -> None:
        raise ValueError(f"{name} by {options['split']}")

    monkeypatch.setattr(corpora, "load_corpus", stop)
    for verb in ("audit", "describe", "train"):
        assert f"{data} by {split}" in ocr(verb, *arguments).mistake


def test_train_resume_evaluate(labelled: Path, quick_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    train = ["train", "--data", labelled, "--out", out, *QUICK, "--json"]
    first = ocr(*train)
    assert first.code == 0
    assert first.document["card"]["data"]["name"] == "lines"
    assert first.document["card"]["data"]["n_lines"]["train"] > 20
    # It is said before a line is read.
    assert "holds a run already; add --resume" in ocr(*train).mistake
    assert ocr(*train, "--resume").document["card"]["steps"] == first.document["card"]["steps"]
    scored = ocr("evaluate", "--model", out, "--data", labelled, "--out", tmp_path / "eval", "--json")
    assert scored.document["cer"]["value"] == first.document["dev"]["cer"]["value"]
    stored = json.loads((tmp_path / "eval" / "evaluation.json").read_text("utf-8"))
    assert {name: stored[name] for name in scored.document} == scored.document
    assert stored["recipe"] == json.loads((out / "recipe.json").read_text("utf-8"))["recipe"]
    assert stored["training"]["data"]["source"] == stored["corpus"]["source"]
    assert stored["versions"] == circumstances()["versions"]
    assert Recognizer.load(out).fingerprint == stored["fingerprint"]
    # The same command makes the same model.
    assert Recognizer.load(quick_run).fingerprint == stored["fingerprint"]


def test_training_ends_with_the_command_that_scores_the_model(tmp_path: Path) -> None:
    folder, out, texts = write_labelled(tmp_path / "my lines"), tmp_path / "my run", tmp_path / "own.txt"
    texts.write_text("Cơm gà\nPhở bò\n", "utf-8")
    for arguments, part in (
        (("--data", folder, "--split", "line"), "my lines test"),
        (("--texts", texts, "--generate", "24"), "synthetic-tiny test"),
    ):
        said = ocr("train", *arguments, "--out", out, *QUICK)
        assert said.code == 0, said.err
        (advice,) = re.findall("score it with: coursepkg (.*)", said.out)
        scored = ocr(*shlex.split(advice)[1:], "--limit", "2")
        assert scored.code == 0, scored.err
        assert f"protocol:{part}, first 2" in scored.out
        assert "not told apart" not in scored.out
        shutil.rmtree(out)


def test_packed_lines_train_the_same_model(labelled: Path, quick_run: Path, tmp_path: Path) -> None:
    said = ocr("pack", "--data", labelled, "--out", tmp_path / "packed", "--json")
    assert said.code == 0
    assert "train: " in said.out
    assert any("packed at height 32" in note for note in open_packed(tmp_path / "packed").notes)
    trained = ocr("train", "--data", tmp_path / "packed", "--out", tmp_path / "run", *QUICK)
    assert trained.code == 0
    assert Recognizer.load(tmp_path / "run").fingerprint == Recognizer.load(quick_run).fingerprint


def test_a_fixed_width_goes_all_the_way(labelled: Path, tmp_path: Path) -> None:
    box = ["--box-width", "120"]
    assert ocr("pack", "--data", labelled, "--out", tmp_path / "packed", *box).code == 0
    assert {wide for wide, _ in open_packed(tmp_path / "packed").sizes()} == {120}
    done = ocr("train", "--data", tmp_path / "packed", "--out", tmp_path / "run", *QUICK, *box)
    assert done.code == 0
    assert Recognizer.load(tmp_path / "run").prepare(draw("Cơm gà")).shape == (32, 120)


def test_a_model_without_its_vocabulary_says_so(quick_run: Path, tmp_path: Path) -> None:
    shutil.copytree(quick_run / "model", tmp_path / "run" / "model")
    said = ocr("evaluate", "--model", tmp_path / "run").mistake
    assert f"{tmp_path / 'run'} has no vocabulary.json; copy the whole folder again" in said


def test_the_trained_model_reads(quick_run: Path) -> None:
    found = Recognizer.load(quick_run).read_lines([draw("Cơm gà"), np.full((20, 50), 255, np.uint8)])
    assert all(isinstance(one.text, str) and one.error is None for one in found)


def test_a_short_training_on_generated_lines_says_its_fonts(tmp_path: Path) -> None:
    said = ocr("train", "--generate", "24", "--out", tmp_path / "run", *QUICK, "--json")
    assert said.code == 0
    assert "note: 2 font families for training; held out for testing: DejaVu Serif" in said.out
    data = said.document["card"]["data"]
    assert (data["name"], data["generate"], data["n_lines"]["train"]) == ("synthetic-tiny", 24, 24)
    # Without --data a model is scored on lines of the set that it learnt from.
    scored = ocr("evaluate", "--model", tmp_path / "run", "--part", "test", "--limit", "9", "--json").document
    assert scored["corpus"] == data
    assert scored["n"] == 9
    assert scored["parts"].keys() == {"texts not seen in training"}


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["train", "--data", "nowhere"], "--data must be one of synthetic,"),
        (["train", "--dropout", "2"], "--dropout must be in [0, 1), got 2.0"),
        (["train", "--preset", "huge"], "--preset"),
        (["train", "--data", "vi-lines", "--split", "shop"], "--split"),
        (["train", "--threads", "-1"], "--threads"),
        (["train", "--generate", "-3"], "--generate"),
        (["evaluate", "--model", "nowhere"], "nowhere: no finished model in it; train one there first"),
        (["evaluate", "--limit", "-1"], "--limit"),
        (["evaluate", "--second-look", "1.5"], "--second-look must be in [0, 1], got 1.5"),
        (["evaluate", "--second-look", "nan"], "--second-look must be a finite number, got nan"),
        (["pack"], "--out FOLDER must be given"),
        (["pack", "--out", "x", "--height", "-8"], "--height"),
        (["export"], "--out FOLDER must be given"),
        (["evaluate", "--out", __file__], f"--out {__file__} is a file; name a folder"),
        (["train", "--texts", "none.txt"], "--texts none.txt: there is no such file"),
        (["train", "--data", "receipts", "--texts", "none.txt"], "--texts goes with --data synthetic or"),
        (["audit", "--out", "."], "--out . is a folder; name a file in it, such as audit.json"),
        (["describe", "--out", "."], "--out . is a folder; name a file in it, such as describe.json"),
        (["pack", "--out", __file__], f"--out {__file__} is a file; name a folder"),
        (["train", "--out", __file__], f"--out {__file__} is a file; name a folder"),
    ],
)
def test_a_mistake_gets_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], part: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert part in ocr(*arguments).mistake
    assert not list(tmp_path.iterdir())
