"""Training a part of the network: what moves, what stays to the bit, and a run of such stages."""

import dataclasses
from pathlib import Path

import pytest
import torch

from coursepkg.projects.ocr.data.batches import LineBatches, character_vocabulary
from coursepkg.projects.ocr.model.recognizer import READING, WRITING
from coursepkg.projects.ocr.recipe import PRESETS, Recipe
from coursepkg.projects.ocr.training import LineTask, Trained, ctc_loss, mean_loss, train
from tests.projects.ocr.drawn import SMALL, drawn_lines, network

LINES, DEV = drawn_lines(8, longest=2), drawn_lines(2, seed=1, longest=2)
VOCABULARY = character_vocabulary((line.text for line in LINES), declared="")
STEPS = dataclasses.replace(
    PRESETS["tiny"], **SMALL, max_epochs=1, batch_columns=512, warmup=2, learning_rate=1e-2, ema=0.0
)


def moved(learns: str) -> set[str]:
    """Parts of a network whose weights or statistics a step of training changes."""
    batch = LineBatches(LINES, VOCABULARY, height=32, step=512).epoch(0)[0]
    batch = dataclasses.replace(batch, images=batch.images.double())
    model = network(vocab_size=len(VOCABULARY)).train()
    model.set_trainable(learns)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.1)
    LineTask().loss(model, batch).backward()
    optimizer.step()
    return {name.split(".")[0] for name, value in model.state_dict().items() if not value.equal(before[name])}


@pytest.mark.parametrize(
    ("learns", "parts"), [("all", {*READING, *WRITING}), ("ctc", set(READING)), ("decoder", set(WRITING))]
)
def test_only_the_chosen_parts_move(learns: str, parts: set[str]) -> None:
    assert moved(learns) == parts


def test_each_choice_has_its_loss() -> None:
    batch = LineBatches(LINES, VOCABULARY, height=32, step=512).epoch(0)[0]
    batch = dataclasses.replace(batch, images=batch.images.double())
    model, task = network(vocab_size=len(VOCABULARY)), LineTask(ctc_weight=0.5)
    found = model(batch.images, batch.widths, batch.tgt_in)
    ctc = ctc_loss(found.ctc, found.n_columns, batch.tgt_out).item()
    losses = {}
    for learns in ("all", "ctc", "decoder"):
        model.set_trainable(learns)
        losses[learns] = task.loss(model, batch).item()
        wanted = (
            ctc / batch.n_tokens
            if learns == "ctc"
            else LineTask(0.0, 0.0, 0.0).loss(model, batch).item() / batch.n_tokens
        )
        if learns != "all":
            assert mean_loss(model, [batch]) == pytest.approx(wanted, rel=1e-5)
    assert losses["ctc"] == pytest.approx(ctc)
    assert losses["all"] == pytest.approx(losses["decoder"] + 0.5 * ctc)
    assert model(batch.images, batch.widths, None).attention.shape == (8, 0, len(VOCABULARY))
    with pytest.raises(ValueError, match="learns must be one of all, ctc, decoder"):
        model.set_trainable("nothing")


def stage(recipe: Recipe, out: Path, **options: object) -> Trained:
    return train(recipe, LINES, DEV, out, log=lambda line: None, progress=False, **options)


def test_a_decoder_learns_behind_a_finished_encoder_and_is_resumed(tmp_path: Path) -> None:
    first = stage(dataclasses.replace(STEPS, learns="ctc", reader="ctc"), tmp_path / "1")
    behind = dataclasses.replace(STEPS, learns="decoder", reader="joint", max_epochs=2)
    whole = stage(behind, tmp_path / "2", start=tmp_path / "1")
    stage(dataclasses.replace(behind, max_epochs=1), tmp_path / "3", start=tmp_path / "1")
    parts = stage(behind, tmp_path / "3", start=tmp_path / "1", resume=True)
    begun, found, resumed = (one.model.state_dict() for one in (first, whole, parts))
    for name, value in begun.items():
        assert value.equal(found[name]) == (name.split(".")[0] in READING) or not value.any()
        assert found[name].equal(resumed[name])


def test_ctc_alone_is_read_by_ctc() -> None:
    with pytest.raises(ValueError, match="--learns ctc needs --reader ctc, got joint"):
        dataclasses.replace(Recipe(), learns="ctc")
