"""What training is made of: the validation that chooses, the schedule, the rates by depth, the batches."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import f1_score
from torch.nn import functional as F

from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.data.batches import ClipBatches
from coursepkg.projects.sign_language.inference import adjusted
from coursepkg.projects.sign_language.model.classifier import learning_rate_factors
from coursepkg.projects.sign_language.training import Validation, make_batches, make_task, train_config
from coursepkg.training.schedules import Plateau
from tests.projects.sign_language.blocks import COUNTS, FAST, network


def dev_logits(model: torch.nn.Module, corpus: SignCorpus) -> tuple[torch.Tensor, torch.Tensor]:
    batches = ClipBatches(corpus.part("dev"), corpus.mapping, n_frames=FAST.n_frames, shuffle=False)
    (batch,) = batches.epoch(0)
    with torch.no_grad():
        return model(batch.frames, batch.mask).logits, batch.targets


@pytest.mark.parametrize("adjust", [0.0, 1.5])
def test_validation_says_what_the_words_of_a_plain_pass_are_worth(blocks: SignCorpus, adjust: float) -> None:
    recipe = replace(FAST, adjust=adjust, views=3, loss="focal", label_smoothing=0.3)
    validate = Validation(recipe, blocks.part("dev"), blocks.mapping, blocks.counts)
    for seed in range(3):
        model = network(seed)
        logits, truths = dev_logits(model, blocks)
        said = adjusted(logits, COUNTS, adjust).argmax(dim=1)
        found = validate(model)
        assert found["loss"] == pytest.approx(F.cross_entropy(logits, truths).item(), rel=1e-5)
        assert found["accuracy"] == pytest.approx((said == truths).float().mean().item())
        by_hand = f1_score(truths, said, labels=range(3), average="macro", zero_division=0)
        assert found["macro_f1"] == pytest.approx(by_hand)


def test_the_plateau_goes_by_what_chooses() -> None:
    for select_by, better in (("macro_f1", 0.9), ("loss", 0.1)):
        recipe = replace(FAST, schedule="plateau", select_by=select_by, warmup=2)
        config = train_config(recipe, network(), epoch_steps=3)
        assert (config.select_by, config.mode) == (select_by, "max" if select_by == "macro_f1" else "min")
        schedule = config.learning_rate
        assert isinstance(schedule, Plateau)
        assert [schedule(1), schedule(2), schedule(9)] == [5e-4, 1e-3, 1e-3]
        for score in (0.5, better, 0.5, 0.5, 0.5):
            schedule.update(score)
        assert schedule(9) == 1e-3
        schedule.update(0.5)
        assert schedule(9) == 5e-4


def test_the_rate_falls_to_nothing_where_training_ends() -> None:
    schedule = train_config(
        replace(FAST, schedule="cosine", max_epochs=5), network(), epoch_steps=3
    ).learning_rate
    assert callable(schedule)
    assert schedule(2) == pytest.approx(1e-3)
    assert schedule(15) == pytest.approx(0.0, abs=1e-9)


def test_parts_of_the_backbone_have_rates_of_their_own() -> None:
    model = network()
    assert train_config(FAST, model, epoch_steps=3).learning_rate_factors == {}
    recipe = replace(FAST, backbone_rate=0.1, layer_decay=0.5)
    factors = train_config(recipe, model, epoch_steps=3).learning_rate_factors
    assert factors == learning_rate_factors(model, 0.1, 0.5)
    assert factors["backbone.fold."] == pytest.approx(0.1)
    assert factors["backbone.stages.0."] == pytest.approx(0.025)


def test_without_a_dev_part_nothing_goes_by_it() -> None:
    config = train_config(FAST, network(), epoch_steps=3, validated=False)
    assert config.patience is None
    with pytest.raises(ValueError, match="--schedule plateau goes by the dev part, which has no clip"):
        train_config(replace(FAST, schedule="plateau"), network(), epoch_steps=3, validated=False)


def test_the_task_gets_counts_where_its_loss_needs_them(blocks: SignCorpus) -> None:
    assert make_task(FAST, COUNTS).counts == ()
    assert make_task(replace(FAST, loss="focal"), COUNTS).counts == ()
    task = make_task(replace(FAST, loss="weighted-focal", gamma=1.0, tau=0.5), COUNTS)
    assert (task.counts, task.loss_kind, task.gamma, task.tau) == (COUNTS, "weighted-focal", 1.0, 0.5)


def test_batches_are_those_of_the_recipe(blocks: SignCorpus) -> None:
    batches = make_batches(replace(FAST, mix="cutmix-time", balanced=False, padding="loop"), blocks, seed=3)
    assert (batches.n_frames, batches.padding, batches.batch_clips, batches.seed) == (6, "loop", 4, 3)
    assert (batches.balanced, tuple(batches.counts)) == (False, COUNTS)
    assert batches.draw_places is not None
    assert batches.change_frames is None
    (first, *_) = batches.epoch(0)
    assert first.targets.shape == (4, 3)
    np.testing.assert_allclose(first.targets.sum(dim=1), 1.0, atol=1e-6)
    with pytest.raises(ValueError, match="the clips have 16 pixels and --size is 32; give both the same"):
        make_batches(replace(FAST, size=32), blocks, seed=0)
