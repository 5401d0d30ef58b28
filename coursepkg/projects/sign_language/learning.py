"""What `fit` needs besides the network: its data, its settings, and the validation that it chooses by."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import torch
from torch import nn

from coursepkg.metrics.classification import MacroF1
from coursepkg.metrics.scoring import score
from coursepkg.projects.sign_language.augment.settings import AugmentSettings, batch_steps
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.data.batches import ClipBatches, DrawPlaces
from coursepkg.projects.sign_language.data.cache import CachedClips
from coursepkg.projects.sign_language.data.label_mapping import LabelMapping
from coursepkg.projects.sign_language.inference import adjust_probabilities, predict_clips
from coursepkg.projects.sign_language.model.classifier import ClipClassifier
from coursepkg.projects.sign_language.model.depth import learning_rate_factors
from coursepkg.projects.sign_language.recipe import Recipe
from coursepkg.projects.sign_language.task import ClipTask
from coursepkg.training import schedules
from coursepkg.training.config import TrainConfig
from coursepkg.training.engine import native_precision
from coursepkg.training.plateau import Plateau
from coursepkg.training.schedules import Schedule

MODES: dict[str, Literal["min", "max"]] = {"macro_f1": "max", "loss": "min"}
"""What is better of each score that a recipe may choose by."""


class Validation:
    """Loss, macro-F1 and accuracy on some clips; what `fit` calls.

    Clips are looked at once. The loss is plain cross-entropy in nats a clip, whatever training minimises; the other
    two are of the words that prediction would give, adjusted where the recipe adjusts.

    Args:
        recipe: how clips are looked at.
        clips: of the dev part.
        mapping: the words.
        counts: training clips of each word.
    """

    def __init__(
        self, recipe: Recipe, clips: CachedClips, mapping: LabelMapping, counts: Sequence[int] = ()
    ) -> None:
        self.recipe = replace(recipe, views=1, adjust=0.0)
        self.clips, self.counts, self.adjust = clips, tuple(counts), recipe.adjust
        self.truths = np.array([mapping.number(word) for word in clips.labels])
        self.metric = MacroF1(tuple(range(len(mapping))))

    def __call__(self, model: nn.Module) -> dict[str, float]:
        """loss, macro_f1 and accuracy of a network."""
        plain = torch.from_numpy(predict_clips(model, self.clips, self.recipe).probabilities)
        tiny = torch.finfo(torch.float32).tiny
        right = plain[torch.arange(len(self.truths)), torch.from_numpy(self.truths)]
        if self.adjust:
            plain = adjust_probabilities(plain, self.counts, self.adjust)
        said = plain.argmax(dim=1).numpy()
        return {
            "loss": -float(right.clamp_min(tiny).log().mean()),
            "macro_f1": score(self.metric, said.tolist(), self.truths.tolist()).value,
            "accuracy": float((said == self.truths).mean()),
        }


def make_task(recipe: Recipe, counts: Sequence[int]) -> ClipTask:
    """What the network learns."""
    return ClipTask(
        recipe.loss,
        recipe.label_smoothing,
        recipe.gamma,
        recipe.tau,
        tuple(counts) if recipe.loss in ("weighted", "weighted-focal", "logit-adjusted") else (),
    )


def make_batches(
    recipe: Recipe, corpus: SignCorpus, seed: int, draw_places: DrawPlaces | None = None
) -> ClipBatches:
    """The training part in batches, changed as the recipe says.

    Args:
        recipe: how clips are changed.
        corpus: whose training part.
        seed: of order and chance.
        draw_places: moves the places where frames are taken, instead of the recipe's warp.

    Raises:
        ValueError: the part has no clip, or clips of another size.
        ImportError: pictures are to be changed and kornia is not installed.
    """
    clips = corpus.part("train")
    if clips.size != recipe.size:
        raise ValueError(
            f"the clips have {clips.size} pixels and --size is {recipe.size}; give both the same"
        )
    steps: dict[str, Any] = batch_steps(AugmentSettings.of(recipe), len(corpus.labels))
    if draw_places is not None:
        steps["draw_places"] = draw_places
    return ClipBatches(
        clips,
        corpus.mapping,
        n_frames=recipe.n_frames,
        padding=recipe.padding,
        batch_clips=recipe.batch_clips,
        seed=seed,
        balanced=recipe.balanced,
        **steps,
    )


def train_config(
    recipe: Recipe,
    model: ClipClassifier,
    *,
    epoch_steps: int,
    seed: int = 0,
    progress: bool = True,
    clock: str = "wall",
    validated: bool = True,
) -> TrainConfig:
    """How `fit` is to train.

    Args:
        recipe: all that decides it.
        model: its parts have learning rates of their own where the recipe says so.
        epoch_steps: steps of an epoch.
        seed: of dropout.
        progress: show a progress bar.
        clock: what `max_seconds` counts, see `TrainConfig`.
        validated: whether there is a dev part; without one nothing is chosen.

    Raises:
        ValueError: the schedule goes by scores, and there are none.
    """
    if not validated and recipe.schedule == "plateau":
        raise ValueError(
            "--schedule plateau goes by the dev part, which has no clip; choose another schedule"
        )
    by_depth = (recipe.backbone_rate, recipe.layer_decay) != (1.0, 1.0)
    return TrainConfig(
        max_epochs=recipe.max_epochs,
        max_seconds=recipe.max_seconds,
        clock=clock,
        learning_rate=_schedule(recipe, epoch_steps),
        learning_rate_factors=learning_rate_factors(model, recipe.backbone_rate, recipe.layer_decay)
        if by_depth
        else {},
        weight_decay=recipe.weight_decay,
        clip_norm=recipe.clip_norm,
        precision=native_precision() if recipe.precision == "auto" else recipe.precision,
        ema_decay=recipe.ema or None,
        select_by=recipe.select_by,
        mode=MODES[recipe.select_by],
        patience=recipe.patience if validated else None,
        seed=seed,
        progress=progress,
    )


def _schedule(recipe: Recipe, epoch_steps: int) -> Schedule:
    if recipe.schedule == "plateau":
        # Source 002, section IV.3: halved when more than 3 epochs in a row were no better.
        mode = MODES[recipe.select_by]
        return Plateau(recipe.learning_rate, factor=0.5, patience=3, mode=mode, warmup=recipe.warmup)
    return schedules.by_name(
        recipe.schedule,
        recipe.learning_rate,
        warmup=recipe.warmup,
        d_model=recipe.d_model,
        epoch_steps=epoch_steps,
        total=max(2, recipe.max_epochs * epoch_steps),
    )
