"""Training by a recipe, stopped and resumed; what a folder refuses; and reading with what was trained."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from coursepkg.projects.ocr.data.batches import character_vocabulary
from coursepkg.projects.ocr.line import TextLine
from coursepkg.projects.ocr.predict import VOCABULARY, Recognizer
from coursepkg.projects.ocr.recipe import PRESETS, Recipe
from coursepkg.projects.ocr.training import Trained, train
from coursepkg.training.saved_model import restore, save_model
from coursepkg.training.weights import in_half
from tests.projects.ocr.drawn import SMALL, draw, drawn_lines

LINES, DEV = drawn_lines(16, longest=2), drawn_lines(3, seed=1, longest=2)
FAST = dataclasses.replace(
    PRESETS["tiny"], **SMALL, max_epochs=2, batch_columns=512, warmup=2, learning_rate=1e-2
)


def quietly(recipe: Recipe, out: Path, **options: object) -> Trained:
    settings = {"log": lambda line: None, "progress": False} | options
    return train(recipe, LINES, DEV, out, **settings)


def weights(trained: Trained) -> dict[str, torch.Tensor]:
    return trained.model.state_dict()


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(one[name].equal(other[name]) for name in one)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Trained, Path]:
    out = tmp_path_factory.mktemp("ocr") / "run"
    return quietly(dataclasses.replace(FAST, max_epochs=3), out), out


def test_the_loss_falls(trained: tuple[Trained, Path]) -> None:
    history = trained[0].history
    losses = [row["loss"] for row in history.steps]
    assert sum(losses[-3:]) < 0.8 * sum(losses[:3])
    assert {"loss", "cer", "accuracy"} <= history.validations[0].keys()


def test_stopped_and_resumed_equals_never_stopped(trained: tuple[Trained, Path], tmp_path: Path) -> None:
    quietly(dataclasses.replace(FAST, max_epochs=1), tmp_path / "parts")
    resumed = quietly(dataclasses.replace(FAST, max_epochs=3), tmp_path / "parts", resume=True)
    assert equal(weights(trained[0]), weights(resumed))
    assert trained[0].card == resumed.card
    stored = Recognizer.load(tmp_path / "parts")
    assert equal(weights(resumed), stored.model.state_dict())
    # The best weights may be early ones, so the last ones are compared, too.
    models = [found.model for found in (trained[0], resumed)]
    for model, run in zip(models, (trained[1], tmp_path / "parts"), strict=True):
        restore(model, run / "run", "last")
    assert equal(models[0].state_dict(), models[1].state_dict())
    restore(models[0], trained[1] / "run", "best")


def test_a_folder_takes_one_run(trained: tuple[Trained, Path]) -> None:
    out = trained[1]
    with pytest.raises(ValueError, match="holds a run already; add --resume"):
        quietly(FAST, out)
    with pytest.raises(ValueError, match=r"is of another run \(it differs in d_ff, seed"):
        quietly(dataclasses.replace(FAST, d_ff=32), out, resume=True, seed=5)


def test_the_folder_tells_what_was_trained(trained: tuple[Trained, Path]) -> None:
    found, out = trained
    card = json.loads((out / "recipe.json").read_text("utf-8"))
    assert Recipe.of(card["recipe"]) == dataclasses.replace(FAST, max_epochs=3)
    assert card["vocabulary"] == found.vocabulary.fingerprint == found.card["vocabulary"]
    assert 0 < found.card["dev_cer"] == found.history.best_score


def test_what_does_not_fit_is_left_out_and_said(tmp_path: Path) -> None:
    said: list[str] = []
    long = TextLine(draw("sữa " * 30), "sữa " * 30, "g", "long one")
    train(FAST, [*LINES, long], DEV, tmp_path / "run", log=said.append, progress=False)
    assert any("train: 16 lines; 1 of 17 left out" in line and "long one" in line for line in said)
    with pytest.raises(ValueError, match="leave no train line"):
        train(FAST, [long], DEV, tmp_path / "other", log=said.append, progress=False)


def test_a_run_may_begin_with_a_finished_model(
    trained: tuple[Trained, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trained[1])
    begun = quietly(dataclasses.replace(FAST, learning_rate=0.0, ema=0.0), tmp_path / "run", start=Path("."))
    assert begun.card["start"] == trained[1].name
    mine, theirs = weights(begun), weights(trained[0])
    assert mine["output.weight"].equal(theirs["output.weight"])
    assert begun.vocabulary == trained[0].vocabulary
    with pytest.raises(ValueError, match="holds a model of other sizes"):
        quietly(dataclasses.replace(FAST, d_ff=32), tmp_path / "other", start=trained[1])


def test_batches_of_ones_own_need_a_vocabulary(tmp_path: Path) -> None:
    from coursepkg.projects.ocr.data.batches import LineBatches

    vocabulary = character_vocabulary(line.text for line in LINES)
    batches = LineBatches(LINES, vocabulary, height=32, max_columns=512)
    with pytest.raises(ValueError, match="vocabulary must be given"):
        train(FAST, batches, DEV, tmp_path / "a", log=lambda line: None, progress=False)
    found = train(
        FAST, batches, DEV, tmp_path / "b", vocabulary=vocabulary, log=lambda line: None, progress=False
    )
    assert found.history.step == 2 * len(batches.epoch(0))


def test_lines_are_read_in_order_whatever_their_batch(trained: tuple[Trained, Path], tmp_path: Path) -> None:
    recognizer = Recognizer.load(trained[1])
    images = [line.image for line in LINES[:7]]
    Image.fromarray(images[4]).save(tmp_path / "four.png")
    pictures = [*images[:4], tmp_path / "four.png", *images[5:]]
    together = recognizer.read_lines(pictures)
    alone = [recognizer.read_lines([picture])[0] for picture in pictures]
    in_pairs = recognizer.read_lines(pictures, batch_size=2)
    for one, other, third in zip(together, alone, in_pairs, strict=True):
        assert one.text == other.text == third.text
        assert one.confidence == pytest.approx(other.confidence, abs=1e-4)
        assert one.confidence == pytest.approx(third.confidence, abs=1e-4)
    assert recognizer.read_lines([]) == []


def test_any_size_is_read(trained: tuple[Trained, Path]) -> None:
    recognizer = Recognizer.load(trained[1])
    shapes = [(2, 2), (7, 900), (32, 1), (300, 40), (32, 512), (32, 513), (64, 20_000)]
    pictures = [np.full(shape, 250, dtype=np.uint8) for shape in shapes if min(shape) > 1]
    for reader in ("ctc", "attention", "joint"):
        assert len(recognizer.read_lines(pictures, reader=reader, n_best=2)) == len(pictures)
    with pytest.raises(ValueError, match="picture 1: 1 x 32 pixels hold no text"):
        recognizer.read_lines([np.zeros((32, 1), dtype=np.uint8)])


def test_a_bad_picture_stops_or_is_named(trained: tuple[Trained, Path], tmp_path: Path) -> None:
    recognizer = Recognizer.load(trained[1])
    (tmp_path / "bad.png").write_bytes(b"nothing")
    pictures = [LINES[0].image, tmp_path / "bad.png", tmp_path / "none.png"]
    with pytest.raises(ValueError, match=r"bad\.png"):
        recognizer.read_lines(pictures)
    found = recognizer.read_lines(pictures, keep_going=True)
    assert [one.error is None for one in found] == [True, False, False]
    assert (found[1].text, found[1].confidence) == ("", 0.0)
    assert "none.png" in str(found[2].error)


def test_n_best_are_different_and_ranked(trained: tuple[Trained, Path]) -> None:
    found = Recognizer.load(trained[1]).read_lines([LINES[0].image], n_best=4)[0]
    assert 1 < len(found.n_best) <= 4
    assert len({one.text for one in found.n_best}) == len(found.n_best)
    assert [one.score for one in found.n_best] == sorted((one.score for one in found.n_best), reverse=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_best": 0}, "n_best"),
        ({"batch_size": 0}, "batch_size"),
        ({"reader": "eyes"}, "reader must be one of"),
    ],
)
def test_bad_options_are_named(trained: tuple[Trained, Path], options: dict, message: str) -> None:
    recognizer = Recognizer.load(trained[1])
    with pytest.raises(ValueError, match=message):
        recognizer.read_lines([LINES[0].image], **options)
    with pytest.raises(ValueError, match="put it into a list"):
        recognizer.read_lines("line.png")  # type: ignore[arg-type]


def test_a_model_stored_in_half_precision_is_read_back(trained: tuple[Trained, Path], tmp_path: Path) -> None:
    found, _ = trained
    found.vocabulary.save(tmp_path / VOCABULARY)
    save_model(tmp_path / "model", in_half(found.model), **found.card)
    small = Recognizer.load(tmp_path)
    assert {p.dtype for p in small.model.parameters()} == {torch.float32}
    whole = sum(t.numel() * 4 for t in found.model.state_dict().values())
    assert (tmp_path / "model" / "model.safetensors").stat().st_size < 0.75 * whole
    assert small.fingerprint != Recognizer(found.model, found.vocabulary, small.recipe).fingerprint


def test_an_unfinished_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no finished model in it; train one there first"):
        Recognizer.load(tmp_path)
    (tmp_path / "run").mkdir()
    with pytest.raises(FileNotFoundError, match="add --resume"):
        Recognizer.load(tmp_path)


def test_a_recipe_may_disturb_its_training_pictures(trained: tuple[Trained, Path], tmp_path: Path) -> None:
    recipe = dataclasses.replace(FAST, max_epochs=3, augment=True)
    disturbed = quietly(recipe, tmp_path / "run")
    assert not equal(weights(trained[0]), weights(disturbed))
    assert disturbed.card["recipe"]["augment"] is True
    # What was trained before there was the setting goes on as what it was.
    card_file = tmp_path / "old" / "recipe.json"
    quietly(dataclasses.replace(FAST, max_epochs=1), card_file.parent)
    card = json.loads(card_file.read_text("utf-8"))
    del card["recipe"]["augment"]
    card_file.write_text(json.dumps(card), "utf-8")
    resumed = quietly(dataclasses.replace(FAST, max_epochs=3), card_file.parent, resume=True)
    assert equal(weights(trained[0]), weights(resumed))
    with pytest.raises(ValueError, match="differs in augment"):
        quietly(recipe, card_file.parent, resume=True)
