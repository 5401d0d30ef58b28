"""What ships names the clips that the run names, at half the size, and says what it scores."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from coursepkg.projects.sign_language.data.cache import CachedClips, cache_clips
from coursepkg.projects.sign_language.data.clip import ClipFile
from coursepkg.projects.sign_language.recognizer import SignRecognizer, TrainedModel
from coursepkg.training import saved_model
from coursepkg.training.weights import in_half
from tests.projects.sign_language.signed import (
    COUNTS,
    RECIPE,
    WORDS,
    recognizer,
    taught,
    word_of,
    write_films,
    write_model,
)

SCRIPT = Path(__file__).parents[3] / "scripts" / "train_sign_checkpoint.py"
_spec = importlib.util.spec_from_file_location("train_sign_checkpoint", SCRIPT)
assert _spec is not None
assert _spec.loader is not None
_script = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_script)
measure, publish, smaller = _script.measure, _script.publish, _script.smaller


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> CachedClips:
    folder = tmp_path_factory.mktemp("clips")
    films = write_films(folder / "films", 9)
    files = [ClipFile(film, word_of(film), f"S{number % 2}") for number, film in enumerate(films)]
    return cache_clips(files, folder / "cache", recognizer().cache_config)


def weight_of(folder: Path) -> int:
    return (folder / "model" / "model.safetensors").stat().st_size


def test_what_ships_is_smaller_and_says_the_same(clips: CachedClips, tmp_path: Path) -> None:
    run = write_model(tmp_path / "run")
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "old").write_text("of an older model")
    scores = publish(run, tmp_path / "checkpoint", parts={"test": clips}, facts={"calls": [1, 2]})
    assert [path.name for path in (tmp_path / "checkpoint").iterdir()] == ["model"]
    assert weight_of(tmp_path / "checkpoint") < 0.75 * weight_of(run)
    stored, before = SignRecognizer.load(tmp_path / "checkpoint"), SignRecognizer.load(run)
    assert next(stored.model.parameters()).dtype == torch.float32
    films = sorted(clips.folder.parent.glob("films/*.mp4"))
    for one, other in zip(stored.recognize(films), before.recognize(films), strict=True):
        assert one.label == other.label
        np.testing.assert_allclose(one.confidence, other.confidence, atol=5e-3)
    card = stored.card
    assert (card["stored_in"], card["answers_changed_by_float16"]) == ("float16", 0)
    assert card["calls"] == [1, 2]
    told = json.loads(json.dumps(scores["test"].as_json()))
    assert len(told.pop("answers")) == len(clips)  # what is said of each clip stays out of the card
    assert card["scores"]["test"] == told
    assert measure(stored, clips, "test").as_json() == scores["test"].as_json()
    assert set(card) > {"recipe", "labels", "counts", "seed", "made"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint", "run"]


def test_a_network_whose_answers_would_change_stays_as_it_is(clips: CachedClips) -> None:
    model = in_half(taught()).float()
    with torch.no_grad():
        # Words apart by less than float16 can tell near 1: equal once stored, and the first of equal ones is said.
        model.output.bias.zero_()
        model.output.weight.fill_(1.0)
        model.output.weight[1] += 1e-4
        model.output.weight[2] -= 1e-4
    trained = TrainedModel(model, WORDS, RECIPE, COUNTS, {})
    chosen, changed = smaller(trained, {"test": clips})
    assert changed == len(clips)
    assert chosen is model
    same, none = smaller(TrainedModel(taught(), WORDS, RECIPE, COUNTS, {}), {"test": clips})
    assert none == 0
    assert {parameter.dtype for parameter in same.parameters()} == {torch.float16, torch.float32}
    assert all(parameter.dim() > 1 for parameter in same.parameters() if parameter.dtype == torch.float16)


def test_what_float16_cannot_hold_is_refused() -> None:
    model = in_half(taught()).float()
    with torch.no_grad():
        model.output.weight[0, 0] = 1e6
    with pytest.raises(ValueError, match=r"output\.weight has a weight beyond float16's largest number"):
        in_half(model)


def test_what_is_too_heavy_or_unfinished_leaves_the_old_one(
    clips: CachedClips, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, folder = write_model(tmp_path / "run"), tmp_path / "checkpoint"
    folder.mkdir()
    monkeypatch.setattr(saved_model, "MOST_BYTES", 1000)
    with pytest.raises(ValueError, match=r"would weigh [\d,]+ bytes, more than 1,000"):
        publish(run, folder, parts={"test": clips})
    with pytest.raises(FileNotFoundError, match="no finished model in it"):
        publish(tmp_path / "none", folder, parts={"test": clips})
    with pytest.raises(ValueError, match="at least one part to measure on, got none"):
        publish(run, folder, parts={})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint", "run"]
    assert not list(folder.iterdir())


def test_the_defaults_are_those_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["train"])
    chosen = _script.options()
    assert chosen.checkpoint == _script.DEFAULT
    assert (chosen.preset, chosen.data, chosen.seed) == ("small", "signers", 0)
    assert _script.PRESETS[chosen.preset].pretrained == ""  # what ships comes from no other model
