"""Stages of training: in order, stopped and continued; and the folder that ships."""

import dataclasses
import json
from pathlib import Path

import pytest
import torch
from ocr_curriculum import Stage, calls_of, is_done, run_stages, usual_stages
from ocr_publish import publish
from ocr_shards import Shards

from coursepkg.projects.ocr.data.batches import character_vocabulary
from coursepkg.projects.ocr.data.packed import pack_lines
from coursepkg.projects.ocr.predict import Recognizer
from coursepkg.projects.ocr.recipe import PRESETS, Recipe
from coursepkg.training import saved_model
from tests.projects.ocr.drawn import SMALL, drawn_lines

RECIPE = dataclasses.replace(
    PRESETS["tiny"], **SMALL, batch_columns=512, learning_rate=1e-2, ema=0.0, reader="joint"
)
DEV = drawn_lines(2, seed=1, longest=2)
STAGES = usual_stages(RECIPE, short_epochs=1, epochs=2, decoder_epochs=1, together_epochs=1)
QUIET = {"log": lambda line: None, "progress": False}


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Shards:
    folder = tmp_path_factory.mktemp("lines")
    halves = drawn_lines(8, longest=5), drawn_lines(6, seed=2, longest=1)
    return Shards([pack_lines(half, folder / str(n), heights=(32,)) for n, half in enumerate(halves)])


@pytest.fixture(scope="module")
def finished(lines: Shards, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run")
    found = run_stages(STAGES, lines, DEV, out, vocabulary=character_vocabulary(lines.texts), **QUIET)
    assert found is not None
    return out


def test_stages_are_short_lines_all_lines_and_the_decoder() -> None:
    assert [stage.recipe.learns for stage in STAGES] == ["ctc", "ctc", "decoder", "all"]
    assert [stage.most_width for stage in STAGES] == [256, 480, 480, 480]
    assert [stage.recipe.max_epochs for stage in STAGES] == [1, 2, 1, 1]
    only = usual_stages(Recipe(), short_epochs=0, epochs=4, decoder_epochs=0)
    assert [(stage.name, stage.recipe.reader) for stage in only] == [("2-all", "ctc")]


def test_each_stage_goes_on_from_the_one_before(finished: Path) -> None:
    models = [Recognizer.load(finished / stage.name).model.state_dict() for stage in STAGES]
    assert not models[0]["ctc_head.weight"].equal(models[1]["ctc_head.weight"])
    assert models[1]["ctc_head.weight"].equal(models[2]["ctc_head.weight"])
    assert models[0]["output.weight"].equal(models[1]["output.weight"])
    assert not models[1]["output.weight"].equal(models[2]["output.weight"])
    assert not any(models[2][name].equal(models[3][name]) for name in ("ctc_head.weight", "output.weight"))
    assert list(calls_of(finished, STAGES[:2])) == ["1-short", "2-all"]
    assert all(is_done(finished / stage.name) for stage in STAGES)


def test_stopped_anywhere_it_goes_on_to_the_same_weights(
    lines: Shards, finished: Path, tmp_path: Path
) -> None:
    vocabulary = character_vocabulary(lines.texts)
    said: list[str] = []
    options = QUIET | {"log": said.append, "vocabulary": vocabulary}
    for _ in range(2):
        assert run_stages(STAGES, lines, DEV, tmp_path, max_seconds=0.01, **options) is None
    assert any("the same command goes on" in line for line in said)
    assert run_stages(STAGES, lines, DEV, tmp_path, **options) is not None
    for stage in STAGES:
        one, other = (Recognizer.load(out / stage.name).model.state_dict() for out in (finished, tmp_path))
        assert all(one[name].equal(other[name]) for name in one)
        assert is_done(tmp_path / stage.name)
    assert run_stages(STAGES, lines, DEV, tmp_path, max_seconds=0, **options) is None


def test_what_cannot_be_trained_is_said(lines: Shards, finished: Path) -> None:
    vocabulary = character_vocabulary(lines.texts)
    with pytest.raises(ValueError, match="at least one stage"):
        run_stages([], lines, DEV, finished, vocabulary=vocabulary)
    other = Stage("2-all", dataclasses.replace(STAGES[1].recipe, d_ff=32), 480)
    with pytest.raises(ValueError, match="is of another run"):
        run_stages([other], lines, DEV, finished, vocabulary=vocabulary, **QUIET)


def test_the_shipped_folder_is_halved_and_measured(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    (folder / "old").touch()
    scores = publish(finished / "3-decoder", folder, parts={"dev": DEV}, facts={"fonts": ["DejaVu Sans"]})
    assert sorted(path.name for path in folder.iterdir()) == ["model", "vocabulary.json"]
    card = json.loads((folder / "model" / "model.json").read_text())["meta"]
    assert card["fonts"] == ["DejaVu Sans"]
    assert card["scores"]["dev"]["cer"]["value"] == scores["dev"].cer.value
    assert {"machine", "versions", "commit"} <= card["made"].keys()
    read = Recognizer.load(folder)
    assert read.recipe.reader == "joint"
    whole = Recognizer.load(finished / "3-decoder").model.state_dict()
    for name, weight in read.model.state_dict().items():
        torch.testing.assert_close(weight, whole[name], atol=1e-2, rtol=1e-2)
    monkeypatch.setattr(saved_model, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="would weigh"):
        publish(finished / "3-decoder", folder, parts={})
    assert Recognizer.load(folder).fingerprint == read.fingerprint
    assert not list(tmp_path.glob("*.part"))
    with pytest.raises(FileNotFoundError, match="no finished model"):
        publish(tmp_path, folder, parts={})
