"""From a recipe to task, batches and settings of `fit`."""

from collections import Counter

import pytest
from torch import nn

from coursepkg.blocks.transformer import Transformer
from coursepkg.projects.translation.contrastive.task import ContrastiveTask, WithProjection
from coursepkg.projects.translation.examples import TranslationBatches
from coursepkg.projects.translation.learning import Learning, learning_of, train_config
from coursepkg.projects.translation.models import build_model
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.projects.translation.task import TranslationTask
from coursepkg.text.vocabulary import PAD
from tests.projects.translation.tiny import fast, pairs, subwords

CORPORA = [(("zh", "vi"), pairs("zh", "vi", 0, 40))]


def model(recipe: Recipe) -> nn.Module:
    return build_model(recipe, 170, 170)


def test_a_plain_recipe_trains_the_model_itself() -> None:
    recipe = fast(r_drop=0.5, label_smoothing=0.2, smoothing_convention="olympiad", teacher_forcing=0.3)
    network = model(recipe)
    found = learning_of(recipe, network, CORPORA, subwords(), 0)
    assert found.network is network
    assert isinstance(found.task, TranslationTask)
    assert isinstance(found.batches, TranslationBatches)
    assert (found.task.r_drop_alpha, found.task.label_smoothing) == (0.5, 0.2)
    assert found.task.convention == "olympiad"
    assert found.task.scheduled_sampling is not None
    assert found.task.scheduled_sampling(1) == found.task.scheduled_sampling(900) == 0.3
    assert found.n_steps == len(found.batches.epoch(0))


def test_teacher_forcing_alone_samples_nothing() -> None:
    task = learning_of(fast(), model(fast()), CORPORA, subwords(), 0).task
    assert isinstance(task, TranslationTask)
    assert task.scheduled_sampling is None


@pytest.mark.parametrize("weights", [{"contrastive": 0.1}, {"self_contrastive": 0.1, "versions": "dropout"}])
def test_the_contrastive_stage_wraps_model_and_task(weights: dict[str, object]) -> None:
    recipe = fast(**weights)
    network = model(recipe)
    found = learning_of(recipe, network, CORPORA, subwords(), 0)
    assert isinstance(found.network, WithProjection)
    assert found.network.transformer is network
    assert isinstance(network, Transformer)
    assert isinstance(found.task, ContrastiveTask)
    assert found.n_steps == len(found.batches.epoch(0)) > 0


@pytest.mark.parametrize("noise", [{}, {"span_mask": 0.5}, {"subword_noise": 0.3}])
def test_the_contrastive_stage_translates_what_plain_training_does(noise: dict[str, float]) -> None:
    options = {"reverse": 0.7, "max_len": 40} | noise
    plain, staged = (
        learning_of(chosen, model(chosen), CORPORA, subwords(), 3)
        for chosen in (fast(**options), fast(**options, contrastive=0.1))
    )

    def examples(found: Learning, epoch: int) -> Counter[tuple[tuple[int, ...], ...]]:
        texts = [getattr(batch, "text", batch) for batch in found.batches.epoch(epoch)]
        rows = [row for text in texts for row in zip(text.src.tolist(), text.tgt_out.tolist(), strict=True)]
        return Counter(tuple(tuple(i for i in ids if i != PAD) for ids in row) for row in rows)

    for epoch in (0, 2, 1):
        assert examples(staged, epoch) == examples(plain, epoch)
    assert examples(staged, 0) != examples(staged, 2)
    same = learning_of(fast(**options, contrastive=0.1), model(fast()), CORPORA, subwords(), 3)
    assert same.batches.fingerprint == staged.batches.fingerprint


def test_the_contrastive_stage_refuses_what_it_cannot_take() -> None:
    gru = fast(architecture="gru", contrastive=0.1)
    with pytest.raises(ValueError, match="--contrastive needs a Transformer and one corpus"):
        learning_of(gru, model(gru), CORPORA, subwords(), 0)
    plain = fast(contrastive=0.1)
    with pytest.raises(ValueError, match="without --also"):
        learning_of(plain, model(plain), CORPORA * 2, subwords(), 0)
    trips = fast(self_contrastive=0.1, versions="round-trip")
    with pytest.raises(ValueError, match="--round-trips with 40 pairs"):
        learning_of(trips, model(trips), CORPORA, subwords(), 0, pairs("zh", "vi", 0, 39))


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
