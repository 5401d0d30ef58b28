"""What `fit` needs besides the network: its settings, and the validation that it chooses by."""

from collections.abc import Sequence
from typing import Any

from coursepkg.projects.ocr.data.alphabet import decode_text
from coursepkg.projects.ocr.data.batches import Augment, LineBatches
from coursepkg.projects.ocr.data.images import fit_image, width_at
from coursepkg.projects.ocr.decode import encode_lines
from coursepkg.projects.ocr.evaluate import evaluate
from coursepkg.projects.ocr.line import TextLine
from coursepkg.projects.ocr.readers import Reader, read_encoded
from coursepkg.projects.ocr.recipe import Recipe
from coursepkg.projects.ocr.synthetic.augment import jitter
from coursepkg.projects.ocr.task import mean_loss
from coursepkg.text.vocabulary import Vocabulary
from coursepkg.training import schedules
from coursepkg.training.config import TrainConfig
from coursepkg.training.engine import native_precision
from coursepkg.training.schedules import Formula


class Validation:
    """Loss, CER and share of right lines on some lines; what `fit` calls.

    Args:
        recipe: how to read.
        lines: what to read.
        vocabulary: of the model.
    """

    def __init__(self, recipe: Recipe, lines: Sequence[TextLine], vocabulary: Vocabulary) -> None:
        self.reader, self.vocabulary, self.lines = Reader.of(recipe), vocabulary, lines
        self.batches = LineBatches(lines, vocabulary, shuffle=False, **picture_options(recipe))
        self.images = [fit_image(line.image, recipe.height, recipe.box_width, line.name) for line in lines]
        self.order = sorted(range(len(lines)), key=lambda i: self.images[i].shape[1])

    def __call__(self, model: Any) -> dict[str, float]:
        """loss (nats a character), cer, accuracy; the network is in evaluation mode."""
        said = [""] * len(self.lines)
        for first in range(0, len(self.order), 64):
            chosen = self.order[first : first + 64]
            memory = encode_lines(model, [self.images[i] for i in chosen])
            for i, found in zip(chosen, read_encoded(model, memory, self.reader), strict=True):
                said[i] = decode_text(found[0].ids, self.vocabulary)
        scores = evaluate(said, [line.text for line in self.lines], n_resamples=0)
        loss = mean_loss(model, self.batches.epoch(0))
        return {"loss": loss, "cer": scores.cer.value, "accuracy": scores.accuracy}


def fits(recipe: Recipe, line: TextLine) -> bool:
    """Whether a model of the recipe can train on a line: it has a text, and neither text nor picture is too long."""
    width = width_at(line.width, line.height, recipe.height, recipe.box_width)
    return bool(line.text) and width <= recipe.widest_line and len(line.text) < recipe.max_len


def augmentation(recipe: Recipe) -> Augment | None:
    """What changes the training pictures of a recipe; None where nothing does."""
    return jitter if recipe.augment else None


def picture_options(recipe: Recipe) -> dict[str, Any]:
    """What `LineBatches` is to make of the pictures."""
    return {
        "height": recipe.height,
        "box_width": recipe.box_width,
        "max_columns": recipe.batch_columns,
    }


def train_config(recipe: Recipe, seed: int, progress: bool, epoch_steps: int) -> TrainConfig:
    """How `fit` is to train."""
    return TrainConfig(
        max_epochs=recipe.max_epochs,
        max_seconds=recipe.max_seconds,
        clock=recipe.clock,
        learning_rate=_schedule(recipe, epoch_steps),
        weight_decay=recipe.weight_decay,
        clip_norm=recipe.clip_norm,
        precision=native_precision() if recipe.precision == "auto" else recipe.precision,
        ema_decay=recipe.ema or None,
        validate_every=recipe.validate_every or None,
        checkpoint_every=recipe.validate_every or None,
        select_by="cer",
        mode="min",
        patience=recipe.patience,
        seed=seed,
        progress=progress,
    )


def _schedule(recipe: Recipe, epoch_steps: int) -> Formula:
    return schedules.by_name(
        recipe.schedule,
        recipe.learning_rate,
        warmup=recipe.warmup,
        d_model=recipe.d_model,
        epoch_steps=epoch_steps,
        total=max(2, recipe.max_epochs * epoch_steps),
    )
