"""Training by a recipe: stopped and resumed equals never stopped, fine-tuning, what a folder refuses.

From a recipe to task, batches and settings of `fit`.
"""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from coursepkg.blocks.transformer import Transformer
from coursepkg.projects.translation.contrastive.task import ContrastiveTask, WithProjection
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair
from coursepkg.projects.translation.models import build_model
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.projects.translation.task import TranslationBatches, TranslationTask
from coursepkg.projects.translation.train import PreparedTraining, prepare_training, train_config
from coursepkg.text.vocabulary import PAD
from coursepkg.training.saved_model import restore
from tests.projects.translation.tiny import fast, pairs, quietly, subwords, weights

CORPORA = [(("zh", "vi"), pairs("zh", "vi", 0, 40))]


def model(recipe: Recipe) -> nn.Module:
    return build_model(recipe, 170, 170)


def test_a_plain_recipe_trains_the_model_itself() -> None:
    recipe = fast(r_drop=0.5, label_smoothing=0.2, smoothing_convention="olympiad", teacher_forcing=0.3)
    network = model(recipe)
    found = prepare_training(recipe, network, CORPORA, subwords(), 0)
    assert found.network is network
    assert isinstance(found.task, TranslationTask)
    assert isinstance(found.batches, TranslationBatches)
    assert (found.task.r_drop_alpha, found.task.label_smoothing) == (0.5, 0.2)
    assert found.task.convention == "olympiad"
    assert found.task.scheduled_sampling is not None
    assert found.task.scheduled_sampling(1) == found.task.scheduled_sampling(900) == 0.3
    assert found.n_steps == len(found.batches.epoch(0))


def test_teacher_forcing_alone_samples_nothing() -> None:
    task = prepare_training(fast(), model(fast()), CORPORA, subwords(), 0).task
    assert isinstance(task, TranslationTask)
    assert task.scheduled_sampling is None


@pytest.mark.parametrize("weights", [{"contrastive": 0.1}, {"self_contrastive": 0.1, "versions": "dropout"}])
def test_the_contrastive_stage_wraps_model_and_task(weights: dict[str, object]) -> None:
    recipe = fast(**weights)
    network = model(recipe)
    found = prepare_training(recipe, network, CORPORA, subwords(), 0)
    assert isinstance(found.network, WithProjection)
    assert found.network.transformer is network
    assert isinstance(network, Transformer)
    assert isinstance(found.task, ContrastiveTask)
    assert found.n_steps == len(found.batches.epoch(0)) > 0


@pytest.mark.parametrize("noise", [{}, {"span_mask": 0.5}, {"subword_noise": 0.3}])
def test_the_contrastive_stage_translates_what_plain_training_does(noise: dict[str, float]) -> None:
    options = {"reverse": 0.7, "max_len": 40} | noise
    plain, staged = (
        prepare_training(chosen, model(chosen), CORPORA, subwords(), 3)
        for chosen in (fast(**options), fast(**options, contrastive=0.1))
    )

    def examples(found: PreparedTraining, epoch: int) -> Counter[tuple[tuple[int, ...], ...]]:
        texts = [getattr(batch, "text", batch) for batch in found.batches.epoch(epoch)]
        rows = [row for text in texts for row in zip(text.src.tolist(), text.tgt_out.tolist(), strict=True)]
        return Counter(tuple(tuple(i for i in ids if i != PAD) for ids in row) for row in rows)

    for epoch in (0, 2, 1):
        assert examples(staged, epoch) == examples(plain, epoch)
    assert examples(staged, 0) != examples(staged, 2)
    same = prepare_training(fast(**options, contrastive=0.1), model(fast()), CORPORA, subwords(), 3)
    assert same.batches.fingerprint == staged.batches.fingerprint


def test_the_contrastive_stage_refuses_what_it_cannot_take() -> None:
    gru = fast(architecture="gru", contrastive=0.1)
    with pytest.raises(ValueError, match="--contrastive needs a Transformer and one corpus"):
        prepare_training(gru, model(gru), CORPORA, subwords(), 0)
    plain = fast(contrastive=0.1)
    with pytest.raises(ValueError, match="without --also"):
        prepare_training(plain, model(plain), CORPORA * 2, subwords(), 0)
    trips = fast(self_contrastive=0.1, versions="round-trip")
    with pytest.raises(ValueError, match="--round-trips with 40 pairs"):
        prepare_training(trips, model(trips), CORPORA, subwords(), 0, pairs("zh", "vi", 0, 39))


def test_versions_that_no_loss_compares_are_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with pytest.raises(ValueError, match="--versions dropout has no use without --self-contrastive"):
        quietly(fast(versions="dropout"), run)
    trips = pairs("zh", "vi", 0, 39)
    with pytest.raises(ValueError, match="--round-trips has no use without --versions round-trip"):
        quietly(fast(self_contrastive=0.1), run, round_trips=trips)
    assert not run.exists()


def rate(step: int, **changes: object) -> float:
    schedule = train_config(fast(learning_rate=1e-2, warmup=10, **changes), 0, False, 5).learning_rate
    assert callable(schedule)
    return float(schedule(step))


def test_schedules_follow_the_recipe() -> None:
    assert rate(1, schedule="constant") == rate(500, schedule="constant") == 1e-2
    assert rate(10, schedule="inverse-sqrt") == pytest.approx(1e-2)
    assert rate(40, schedule="inverse-sqrt") == pytest.approx(5e-3)
    assert rate(5, schedule="inverse-sqrt") < 1e-2
    assert rate(10, schedule="noam") == pytest.approx(1e-2 * (16 * 10) ** -0.5)
    assert rate(10, schedule="cosine", max_epochs=8) == pytest.approx(1e-2)
    assert rate(39, schedule="cosine", max_epochs=8) < 1e-3


def test_settings_that_are_off_are_none() -> None:
    off = train_config(fast(ema=0.0), 3, False, 5)
    on = train_config(fast(ema=0.5, sam_rho=0.05, patience=4), 3, False, 5)
    assert (off.ema_decay, off.sam_rho, off.seed) == (None, None, 3)
    assert (on.ema_decay, on.sam_rho, on.patience) == (0.5, 0.05, 4)
    assert (on.select_by, on.mode) == ("bleu", "max")


PARTS = Parts("toy", "zh", "vi", pairs("zh", "vi", 0, 60), pairs("zh", "vi", 60, 64), (), ("one note",))
OPTIONS = {"reverse": 0.5, "span_mask": 0.1, "subword_noise": 0.1, "dropout": 0.1, "max_len": 40}


def equal(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(one[name].equal(other[name]) for name in one)


def test_stopped_and_resumed_equals_never_stopped(tmp_path: Path) -> None:
    whole = quietly(fast(**OPTIONS, max_epochs=3), tmp_path / "whole", PARTS)
    first = quietly(fast(**OPTIONS, max_epochs=1), tmp_path / "parts", PARTS)
    resumed = quietly(fast(**OPTIONS, max_epochs=3), tmp_path / "parts", PARTS, resume=True)
    assert equal(weights(whole), weights(resumed))
    assert len(first.history.steps) < len(whole.history.steps)
    # The best weights may be early ones, so the last ones are compared, too.
    for trained, folder in ((whole, "whole"), (resumed, "parts")):
        restore(trained.model, tmp_path / folder / "run", "last")
    assert equal(weights(whole), weights(resumed))
    restore(whole.model, tmp_path / "whole" / "run", "best")
    assert whole.card == resumed.card
    # What lies in the folder is the model that came back, not that of the shorter run.
    stored = Translator.load(tmp_path / "parts")
    assert stored.recipe.max_epochs == 3
    assert equal(stored.model.state_dict(), weights(whole))


def test_a_finished_run_is_left_as_it_is(tmp_path: Path) -> None:
    first = quietly(fast(), tmp_path / "run", PARTS)
    before = {path: path.read_bytes() for path in (tmp_path / "run" / "model").iterdir()}
    again = quietly(fast(), tmp_path / "run", PARTS, resume=True)
    assert equal(weights(first), weights(again))
    assert {path: path.read_bytes() for path in before} == before


def test_a_seed_decides_everything(tmp_path: Path) -> None:
    one, same, other = (
        quietly(fast(), tmp_path / str(i), PARTS, seed=seed) for i, seed in enumerate((0, 0, 1))
    )
    assert equal(weights(one), weights(same))
    assert not equal(weights(one), weights(other))


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    long = SentencePair(" ".join(p.source for p in PARTS.train[:20]), "Tôi", "part.zh", 9)
    parts = Parts("toy", "zh", "vi", (*PARTS.train, long), PARTS.dev, (), PARTS.notes)
    quietly(fast(max_epochs=1), tmp_path / "run", parts, log=said.append)
    assert said[0] == "note: one note"
    assert said[1] == "toy, zh to vi: 60 training pairs; 1 of 61 pairs left out as too long (part.zh:9)"
    assert said[2].endswith(" parameters")


def test_the_folder_tells_what_was_trained(tmp_path: Path) -> None:
    trained = quietly(fast(max_epochs=1, reverse=0.5), tmp_path / "run", PARTS, seed=3)
    card = json.loads((tmp_path / "run" / "recipe.json").read_text("utf-8"))
    assert card["recipe"] == fast(max_epochs=1, reverse=0.5).described()
    assert (card["directions"], card["corpora"]) == ([["zh", "vi"], ["vi", "zh"]], ["toy"])
    assert (card["n_train"], card["seed"], card["n_extra"], card["start"]) == (60, 3, 0, None)
    assert trained.card["vocabulary"] == trained.subwords.fingerprints
    assert trained.card["steps"] == trained.history.best_step


def test_only_what_was_trained_is_a_direction(tmp_path: Path) -> None:
    recipe = fast(max_epochs=1, reverse=0.0)
    for chosen in (recipe, fast(max_epochs=1, reverse=0.0, contrastive=0.1)):
        trained = quietly(chosen, tmp_path / str(chosen.contrastive), PARTS)
        assert trained.card["directions"] == [["zh", "vi"]]


def test_the_negative_control_is_told_and_knows_one_direction_alone(tmp_path: Path) -> None:
    said: list[str] = []
    recipe = fast(max_epochs=1, reverse=1.0, reverse_fault="unswapped")
    trained = quietly(recipe, tmp_path / "run", PARTS, log=said.append)
    assert trained.card["directions"] == [["zh", "vi"]]
    assert "note: --reverse-fault unswapped is a negative control, to show what the fault costs" in said


def test_a_run_from_before_a_setting_goes_on(tmp_path: Path) -> None:
    recipe, path = fast(max_epochs=1, reverse=1.0), tmp_path / "run" / "recipe.json"
    quietly(recipe, tmp_path / "run", PARTS)
    card = json.loads(path.read_text("utf-8"))
    del card["recipe"]["reverse_fault"]
    path.write_text(json.dumps(card), "utf-8")
    quietly(replace(recipe, max_epochs=2), tmp_path / "run", PARTS, resume=True)
    with pytest.raises(ValueError, match=r"it differs in directions, reverse_fault\)"):
        quietly(replace(recipe, reverse_fault="unswapped"), tmp_path / "run", PARTS, resume=True)


def test_another_run_in_the_folder_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "run"
    quietly(fast(max_epochs=1), out, PARTS)
    with pytest.raises(ValueError, match="holds a run already; add --resume to go on with it"):
        quietly(fast(max_epochs=1), out, PARTS)
    for changes, options, named in (
        ({"d_ff": 48}, {}, "d_ff"),
        ({}, {"seed": 1}, "seed"),
        ({}, {"extra": pairs("zh", "vi", 64, 70)}, "n_extra"),
    ):
        with pytest.raises(ValueError, match=rf"is of another run \(it differs in {named}\)"):
            quietly(fast(max_epochs=1, **changes), out, PARTS, resume=True, **options)


def test_start_begins_with_the_weights_and_the_vocabulary(tiny_run: Path, tmp_path: Path) -> None:
    begun = Translator.load(tiny_run)
    still = quietly(
        replace(begun.recipe, learning_rate=0.0, max_epochs=1), tmp_path / "run", PARTS, start=tiny_run
    )
    assert equal(weights(still), begun.model.state_dict())
    assert still.subwords.fingerprints == begun.subwords.fingerprints
    assert still.card["start"] == tiny_run.name


def test_start_refuses_other_sizes(tiny_run: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"--start \S+ holds a model of other sizes than the recipe asks for"
    ):
        quietly(fast(), tmp_path / "run", PARTS, start=tiny_run)


def test_further_pairs_are_trained_on_and_named(tmp_path: Path) -> None:
    said: list[str] = []
    extra = pairs("zh", "vi", 64, 80)
    trained = quietly(fast(max_epochs=1), tmp_path / "run", PARTS, extra=extra, log=said.append)
    assert "toy, zh to vi: 76 training pairs" in said[1]
    plain = quietly(fast(max_epochs=1), tmp_path / "plain", PARTS)
    assert trained.subwords.fingerprints == plain.subwords.fingerprints
    assert trained.card["n_extra"] == 16


def test_several_languages_in_one_model(tmp_path: Path) -> None:
    english = Parts("toy-en", "en", "vi", pairs("en", "vi", 0, 60), (), (), ())
    trained = quietly(fast(max_epochs=1, vocab_size=220, reverse=0.0), tmp_path / "run", [PARTS, english])
    assert trained.card["directions"] == [["zh", "vi"], ["en", "vi"]]
    assert trained.card["corpora"] == ["toy", "toy-en"]


@pytest.mark.parametrize("architecture", ["gru", "gru-attention", "vaswani2017", "decoder-only"])
def test_every_architecture_trains(tmp_path: Path, architecture: str) -> None:
    joint = architecture in ("vaswani2017", "decoder-only")
    recipe = fast(architecture=architecture, joint=joint, reverse=0.0, vocab_size=120, max_epochs=1)
    trained = quietly(recipe, tmp_path / "run", PARTS)
    found = Translator.load(tmp_path / "run").translate([PARTS.train[0].source], beam_size=1)
    assert found[0].n_best
    assert not trained.model.training


def test_a_limit_that_leaves_nothing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--max-len 3 leaves no pair of toy; raise it"):
        quietly(fast(max_len=3), tmp_path / "run", PARTS)


def test_a_pair_whose_tagged_target_is_too_long_is_left_out_both_ways(tmp_path: Path) -> None:
    said: list[str] = []
    options = {"max_epochs": 1, "vocab_size": 120, "underscores": "remove"}
    subwords = quietly(fast(**options), tmp_path / "wide", PARTS).subwords
    most = 1 + max(map(len, subwords.encode_targets([p.target for p in PARTS.train], "vi")))
    for share in (0.0, 1.0):
        quietly(fast(**options, reverse=share, max_len=most), tmp_path / str(share), PARTS, log=said.append)
    one_way, both_ways = (line for line in said if "training pairs" in line)
    assert " 0 of 60 pairs left out" in one_way
    assert " 0 of 60 pairs left out" not in both_ways
