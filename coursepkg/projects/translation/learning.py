"""From a recipe to what `fit` needs: the task, the batches, the settings, and the head of the contrastive stage."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import nn

from coursepkg.blocks.transformer import Transformer
from coursepkg.data.batching import Pair
from coursepkg.projects.translation.contrastive.batches import ContrastiveBatches
from coursepkg.projects.translation.contrastive.task import ContrastiveTask, ProjectionHead, WithProjection
from coursepkg.projects.translation.contrastive.views import (
    MaskedVersions,
    RoundTripVersions,
    Versions,
    dropout_versions,
)
from coursepkg.projects.translation.corpus import SentencePair, to_model
from coursepkg.projects.translation.examples import TranslationBatches
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.projects.translation.run_folder import Corpora
from coursepkg.projects.translation.task import TranslationTask
from coursepkg.projects.translation.tokenizers import Subwords, tag_of
from coursepkg.training import schedules
from coursepkg.training.config import TrainConfig
from coursepkg.training.engine import native_precision
from coursepkg.training.schedules import Formula
from coursepkg.training.task import Batches, Task


@dataclass(frozen=True)
class Learning:
    """What `fit` is to be called with."""

    network: nn.Module
    """The model, inside its projection head in the contrastive stage."""
    task: Task
    batches: Batches
    n_steps: int
    """Steps of an epoch."""


def learning_of(
    recipe: Recipe,
    model: nn.Module,
    corpora: Corpora,
    subwords: Subwords,
    seed: int,
    round_trips: Sequence[SentencePair] = (),
) -> Learning:
    """Put together model, loss and data. The contrastive stage translates the same examples, batched in its own way.

    Raises:
        ValueError: the recipe asks for a contrastive loss with another model than a Transformer, several corpora, or
            round trips that are not there.
    """
    task, plain = _translation_task(recipe), TranslationBatches(corpora, subwords, recipe, seed)
    if not (recipe.contrastive or recipe.self_contrastive):
        return Learning(model, task, plain, len(plain.epoch(0)))
    if not isinstance(model, Transformer) or len(corpora) > 1:
        raise ValueError(
            "--contrastive needs a Transformer and one corpus; choose --architecture modern, without --also"
        )
    tags = {language: subwords.source.encode("", tag=tag_of(language))[0] for language in corpora[0][0]}
    batches = ContrastiveBatches(
        _both_read(corpora[0], subwords),
        recipe.batch_tokens // 2,
        languages=corpora[0][0],
        tags=tags,
        seed=seed,
        versions=_versions(recipe, corpora[0], subwords, round_trips),
        examples=plain.of_pairs,
    )
    contrastive = ContrastiveTask(task, recipe.contrastive, recipe.temperature, recipe.self_contrastive)
    network = WithProjection(model, ProjectionHead(recipe.d_model), tags.values())
    return Learning(network, contrastive, batches, len(batches.epoch(0)))


def train_config(
    recipe: Recipe, seed: int, progress: bool, epoch_steps: int, clock: str = "wall"
) -> TrainConfig:
    """How `fit` is to train."""
    return TrainConfig(
        max_epochs=recipe.max_epochs,
        max_seconds=recipe.max_seconds,
        clock=clock,
        learning_rate=_schedule(recipe, epoch_steps),
        weight_decay=recipe.weight_decay,
        precision=native_precision() if recipe.precision == "auto" else recipe.precision,
        ema_decay=recipe.ema or None,
        sam_rho=recipe.sam_rho or None,
        select_by="bleu",
        mode="max",
        patience=recipe.patience,
        seed=seed,
        progress=progress,
    )


def _translation_task(recipe: Recipe) -> TranslationTask:
    forced = recipe.teacher_forcing
    return TranslationTask(
        label_smoothing=recipe.label_smoothing,
        convention=recipe.smoothing_convention,
        r_drop_alpha=recipe.r_drop,
        scheduled_sampling=None if forced == 1.0 else schedules.constant(forced),
    )


def _schedule(recipe: Recipe, epoch_steps: int) -> Formula:
    return schedules.by_name(
        recipe.schedule,
        recipe.learning_rate,
        warmup=recipe.warmup,
        d_model=recipe.d_model,
        epoch_steps=epoch_steps,
        total=recipe.max_epochs * epoch_steps,
    )


def _both_read(corpus: tuple[tuple[str, str], Sequence[SentencePair]], subwords: Subwords) -> list[Pair]:
    """Ids of both sides in the form that the encoder reads, without tags."""
    (source, target), pairs = corpus
    sources = subwords.source.encode_batch([to_model(p.source, source) for p in pairs])
    targets = subwords.source.encode_batch([to_model(p.target, target) for p in pairs])
    return list(zip(sources, targets, strict=True))


def _versions(
    recipe: Recipe,
    corpus: tuple[tuple[str, str], Sequence[SentencePair]],
    subwords: Subwords,
    round_trips: Sequence[SentencePair],
) -> Versions | None:
    if not recipe.self_contrastive:
        return None
    if recipe.versions == "mask":
        return MaskedVersions()
    if recipe.versions == "dropout":
        return dropout_versions
    if len(round_trips) != len(corpus[1]):
        raise ValueError(
            f"--versions round-trip needs --round-trips with {len(corpus[1])} pairs, one for each training pair that "
            f"fits the model, got {len(round_trips)}"
        )
    return RoundTripVersions(_both_read((corpus[0], round_trips), subwords))
