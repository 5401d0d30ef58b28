"""Training by a recipe: stopped and resumed equals never stopped, what the folder holds, what is refused."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from coursepkg.app.training_run import Trained
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.data.label_mapping import read_label_mapping
from coursepkg.projects.sign_language.inference import predict_clips
from coursepkg.projects.sign_language.recipe import Recipe
from coursepkg.projects.sign_language.recognizer import read_model
from coursepkg.projects.sign_language.training import Validation, train
from coursepkg.training.saved_model import restore
from tests.projects.sign_language.blocks import COUNTS, FAST, equal, weights


def quietly(recipe: Recipe, corpus: SignCorpus, out: Path, **options: Any) -> Trained:
    return train(recipe, corpus, out, **{"log": lambda line: None, "progress": False, **options})


@pytest.mark.parametrize("schedule", ["cosine", "plateau"])
def test_stopped_and_resumed_equals_never_stopped(blocks: SignCorpus, tmp_path: Path, schedule: str) -> None:
    recipe = replace(FAST, schedule=schedule, mix="mixup", max_epochs=3)
    whole = quietly(recipe, blocks, tmp_path / "whole")
    cut = quietly(replace(recipe, max_seconds=1e-9), blocks, tmp_path / "cut")
    assert (cut.history.step, cut.history.stopped) == (1, "max_seconds")
    resumed = quietly(recipe, blocks, tmp_path / "cut", resume=True)
    assert (resumed.history.first_step, resumed.history.step) == (1, 9)
    assert equal(weights(whole.model), weights(resumed.model))
    assert whole.card == resumed.card
    for name in ("log.csv", "validation.csv"):
        assert (tmp_path / "whole/run" / name).read_bytes() == (tmp_path / "cut/run" / name).read_bytes()
    # The best weights may be early ones, so the last ones are compared, too.
    for trained, folder in ((whole, "whole"), (resumed, "cut")):
        restore(trained.model, tmp_path / folder / "run", "last")
    assert equal(weights(whole.model), weights(resumed.model))


def test_a_seed_decides_everything(blocks: SignCorpus, tmp_path: Path) -> None:
    recipe = replace(FAST, max_epochs=1)
    one, same, other = (
        quietly(recipe, blocks, tmp_path / str(i), seed=seed) for i, seed in enumerate((0, 0, 1))
    )
    assert equal(weights(one.model), weights(same.model))
    assert not equal(weights(one.model), weights(other.model))


def test_the_folder_tells_what_was_trained_and_gives_it_back(blocks: SignCorpus, tmp_path: Path) -> None:
    said: list[str] = []
    trained = quietly(FAST, blocks, tmp_path / "run", seed=3, log=said.append)
    assert said[0] == "note: 1 of 3 words with a single training clip, too few to learn from: xuống"
    assert said[-1].endswith(" parameters, 3 words")
    card = json.loads((tmp_path / "run/recipe.json").read_text("utf-8"))
    assert (card["recipe"], card["seed"], card["start"]) == (FAST.described(), 3, None)
    assert card["data"]["clips"] == {"train": 10, "dev": 6, "test": 6}
    assert read_label_mapping(tmp_path / "run/labels.json").words == blocks.labels
    (call,) = json.loads((tmp_path / "run/calls.json").read_text("utf-8"))
    assert call["cpu_seconds"] > 0
    assert call["peak_memory"] > 2**20
    stored = read_model(tmp_path / "run")
    assert equal(weights(stored.model), weights(trained.model))
    assert (stored.labels, stored.counts, stored.recipe) == (blocks.labels, COUNTS, FAST)
    again, before = (
        predict_clips(m, blocks.part("test"), FAST).probabilities for m in (stored.model, trained.model)
    )
    assert (again == before).all()


def test_the_best_validation_is_kept(blocks: SignCorpus, tmp_path: Path) -> None:
    trained = quietly(replace(FAST, max_epochs=4, select_by="loss"), blocks, tmp_path / "run")
    found = [(row["loss"], row["step"]) for row in trained.history.validations]
    assert trained.card["dev_loss"] == min(found)[0]
    assert (trained.card["steps"], trained.card["n_dev"]) == (min(found)[1], 6)
    validate = Validation(FAST, blocks.part("dev"), blocks.mapping)
    assert validate(trained.model)["macro_f1"] == trained.card["dev_macro_f1"]


def test_a_model_to_begin_with_gives_its_weights(blocks: SignCorpus, tmp_path: Path) -> None:
    first = quietly(replace(FAST, max_epochs=1), blocks, tmp_path / "first")
    still = replace(FAST, max_epochs=1, learning_rate=0.0, ema=0.0)
    second = quietly(still, blocks, tmp_path / "second", start=tmp_path / "first", seed=9)
    expected = dict(first.model.named_parameters())
    assert all(torch.equal(value, expected[name]) for name, value in second.model.named_parameters())
    assert second.card["start"] == "first"
    more = replace(blocks, labels=("lên", "ngủ", "nằm", "xuống"))
    with pytest.raises(
        ValueError, match=r"--start .*first names 3 words, other ones than the 4 .* it lacks 'ngủ'"
    ):
        quietly(FAST, more, tmp_path / "third", start=tmp_path / "first")
    with pytest.raises(ValueError, match="holds a model of other sizes than the recipe asks for"):
        quietly(replace(FAST, d_model=8), blocks, tmp_path / "third", start=tmp_path / "first")
    assert not (tmp_path / "third").exists()


def test_without_a_dev_part_the_last_weights_are_kept(blocks: SignCorpus, tmp_path: Path) -> None:
    said: list[str] = []
    trained = quietly(FAST, replace(blocks, dev=None), tmp_path / "run", log=said.append)
    assert said[1] == "note: there is no dev part to choose by; the last weights are kept"
    assert (trained.card["steps"], trained.card["dev_macro_f1"], trained.card["n_dev"]) == (6, None, 0)
    assert trained.history.validations == []
    last = quietly(FAST, replace(blocks, dev=None), tmp_path / "run", resume=True)
    assert equal(weights(trained.model), weights(last.model))


def test_data_that_cannot_be_learnt_from_are_refused(blocks: SignCorpus, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(ValueError, match=r"--data blocks has no clip in its train part \(parted by signer\)"):
        quietly(FAST, replace(blocks, train=None), out)
    more = replace(blocks, labels=("lên", "ngủ", "nằm", "xuống"))
    for changes, flag in (({"loss": "weighted"}, "--loss weighted"), ({"adjust": 1.0}, "--adjust 1")):
        with pytest.raises(
            ValueError, match=f"{flag} needs a training clip of every word, but 'ngủ' has none"
        ):
            quietly(replace(FAST, **changes), more, out)
    with pytest.raises(ValueError, match="'xuống' is none of the 2 words"):
        quietly(FAST, replace(blocks, labels=("lên", "nằm")), out)
    with pytest.raises(ValueError, match="--schedule plateau goes by the dev part, which has no clip"):
        quietly(replace(FAST, schedule="plateau"), replace(blocks, dev=None), out)
    assert not out.exists()


def test_another_run_in_the_folder_is_refused(blocks: SignCorpus, tmp_path: Path) -> None:
    recipe = replace(FAST, max_epochs=1)
    quietly(recipe, blocks, tmp_path / "run")
    with pytest.raises(ValueError, match="holds a run already; add --resume to go on with it"):
        quietly(recipe, blocks, tmp_path / "run")
    fewer = replace(blocks, test=None)
    for options, corpus, named in (({"seed": 1}, blocks, "seed"), ({}, fewer, "data")):
        with pytest.raises(ValueError, match=rf"is of another run \(it differs in {named}\)"):
            quietly(recipe, corpus, tmp_path / "run", resume=True, **options)
