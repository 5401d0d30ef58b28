"""Train a recogniser by a recipe; one folder holds everything about it.

OUT/vocabulary.json    the characters

beside what `app.training_run` writes: recipe, logs, checkpoints and model.

    loss = cross-entropy of the decoder (label smoothing) + ctc_weight * CTC loss

Both are summed over the lines of the batch. The decoder learns to spell, CTC ties the
encoder to where letters stand: early in training most of what the CNN learns comes from
it. A network that learns `ctc` alone has the CTC loss only, and one that learns its
decoder alone only the cross-entropy: CTC alone takes three quarters of a step's time.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.app.report import character_name
from coursepkg.app.training_run import (
    BestWeights,
    TrainingSetup,
    first_model,
    train_in_folder,
    training_config,
)
from coursepkg.blocks.norm import to_float32
from coursepkg.projects.ocr.data.batches import (
    Augment,
    LineBatch,
    LineBatches,
    character_vocabulary,
    characters_outside,
)
from coursepkg.projects.ocr.data.images import fit_image, width_at
from coursepkg.projects.ocr.decode import encode_lines
from coursepkg.projects.ocr.evaluation import evaluate
from coursepkg.projects.ocr.line import TextLine, decode_text
from coursepkg.projects.ocr.model.backbone import put_channels_last
from coursepkg.projects.ocr.model.recognizer import (
    LineTransformer,
    build_model,
    rebuild,
)
from coursepkg.projects.ocr.predict import VOCABULARY
from coursepkg.projects.ocr.readers import Reader, read_encoded
from coursepkg.projects.ocr.recipe import ADDED_SETTINGS, Recipe
from coursepkg.projects.ocr.synthetic.effects import jitter
from coursepkg.text.vocabulary import BOS, EOS, PAD, UNK, Vocabulary
from coursepkg.training import task as training_task
from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import History
from coursepkg.training.losses import label_smoothed_cross_entropy
from coursepkg.training.saved_model import load_model
from coursepkg.training.seed import set_seed
from coursepkg.training.task import Batches
from coursepkg.training.weights import parameter_counts
from coursepkg.validation import check_count, counted


@dataclass
class LineTask:
    """Predict every character from picture and prefix, and the whole text by CTC.

    Losses are sums over the target tokens of a batch, EOS included.
    """

    label_smoothing: float = 0.1
    """Share of the target distribution that goes to other characters, in [0, 1)."""
    token_mask: float = 0.05
    """Share of the decoder's inputs that are hidden behind UNK, in [0, 1), in training
    mode only: the decoder then cannot go by the spelling alone. VietOCR does so."""
    ctc_weight: float = 0.5
    """Weight of the CTC loss, at least 0."""

    def __post_init__(self) -> None:
        for name in ("label_smoothing", "token_mask"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(
                    f"{name} must be at least 0 and below 1, got {getattr(self, name)}"
                )
        if not 0 <= self.ctc_weight < float("inf"):
            raise ValueError(
                f"ctc_weight must be at least 0 and finite, got {self.ctc_weight}"
            )

    def count(self, batch: LineBatch) -> int:
        """Target tokens of the batch, EOS included."""
        return batch.n_tokens

    def loss(self, model: Any, batch: LineBatch) -> Tensor:
        """Summed loss of a batch.

        Args:
            model: `LineTransformer`, bare or wrapped by Fabric.
            batch: on the device of the model.
        """
        if model.learns == "ctc":
            found = model(batch.images, batch.widths, None)
            return ctc_loss(found.ctc, found.n_columns, batch.tgt_out)
        tgt_in = (
            mask_tokens(batch.tgt_in, self.token_mask)
            if model.training
            else batch.tgt_in
        )
        found = model(batch.images, batch.widths, tgt_in)
        loss = label_smoothed_cross_entropy(
            found.attention, batch.tgt_out, self.label_smoothing
        )
        if not self.ctc_weight or model.learns == "decoder":
            return loss
        return loss + self.ctc_weight * ctc_loss(
            found.ctc, found.n_columns, batch.tgt_out
        )


def ctc_loss(logits: Tensor, n_columns: Tensor, tgt_out: Tensor) -> Tensor:
    """Negative log-likelihood of the texts by CTC, summed over the batch.

    A line whose text needs more columns than it has (very narrow print) has no path; it
    adds nothing here, and the decoder alone learns from it.

    Args:
        logits: (B, columns, V); class 0 is the blank.
        n_columns: (B,) columns that count.
        tgt_out: ids (B, T), each text ends with EOS.
    """
    lengths = (tgt_out != PAD).sum(dim=1) - 1  # without EOS
    # (columns, B, V)
    log_probs = to_float32(logits).log_softmax(dim=-1).transpose(0, 1)
    texts = tgt_out.masked_fill(tgt_out == EOS, PAD)
    return F.ctc_loss(
        log_probs,
        texts,
        n_columns,
        lengths,
        blank=PAD,
        reduction="sum",
        zero_infinity=True,
    )


def mask_tokens(tgt_in: Tensor, share: float) -> Tensor:
    """The inputs (B, T) with a share of the characters hidden behind UNK."""
    if share == 0.0:
        return tgt_in
    hidden = torch.rand(tgt_in.shape, device=tgt_in.device) < share
    return tgt_in.masked_fill(hidden & (tgt_in != BOS) & (tgt_in != PAD), UNK)


def mean_loss(model: nn.Module, batches: Iterable[LineBatch]) -> float:
    """Cross-entropy of the decoder a token in nats, without smoothing.

    Of a network that learns by CTC alone it is the CTC loss.

    Raises:
        ValueError: there is no batch.
    """
    return training_task.mean_loss(model, LineTask(0.0, 0.0, 0.0), batches)


class Validation:
    """Loss, CER and share of right lines on some lines; what `fit` calls.

    Args:
        recipe: how to read.
        lines: what to read.
        vocabulary: of the model.
    """

    def __init__(
        self, recipe: Recipe, lines: Sequence[TextLine], vocabulary: Vocabulary
    ) -> None:
        self.reader, self.vocabulary, self.lines = Reader.of(recipe), vocabulary, lines
        self.batches = LineBatches(
            lines, vocabulary, shuffle=False, **picture_options(recipe)
        )
        self.images = [
            fit_image(line.image, recipe.height, recipe.box_width, line.name)
            for line in lines
        ]
        self.order = sorted(range(len(lines)), key=lambda i: self.images[i].shape[1])

    def __call__(self, model: Any) -> dict[str, float]:
        """loss (nats a character), cer, accuracy; the network is in evaluation mode."""
        predictions = [""] * len(self.lines)
        for first in range(0, len(self.order), 64):
            chosen = self.order[first : first + 64]
            memory = encode_lines(model, [self.images[i] for i in chosen])
            readings = read_encoded(model, memory, self.reader)
            for i, found in zip(chosen, readings, strict=True):
                predictions[i] = decode_text(found[0].ids, self.vocabulary)
        texts = [line.text for line in self.lines]
        scores = evaluate(predictions, texts, n_resamples=0)
        loss = mean_loss(model, self.batches.epoch(0))
        return {"loss": loss, "cer": scores.cer.value, "accuracy": scores.accuracy}


def fits(recipe: Recipe, line: TextLine) -> bool:
    """Whether a model of the recipe can train on a line."""
    width = width_at(line.width, line.height, recipe.height, recipe.box_width)
    is_short = width <= recipe.widest_line and len(line.text) < recipe.max_len
    return bool(line.text) and is_short


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


def train_config(
    recipe: Recipe, seed: int, progress: bool, epoch_steps: int
) -> TrainConfig:
    """How `fit` is to train."""
    return training_config(
        recipe,
        epoch_steps=epoch_steps,
        select_by="cer",
        mode="min",
        clock=recipe.clock,
        clip_norm=recipe.clip_norm,
        validate_every=recipe.validate_every or None,
        checkpoint_every=recipe.validate_every or None,
        seed=seed,
        progress=progress,
    )


CHANGEABLE = (
    *("max_epochs", "max_seconds", "clock", "patience"),
    *("reader", "beam_size", "length_penalty", "ctc_share"),
)
"""Settings of a recipe that may change when a run goes on."""
N_VALIDATED = 1000
"""Lines of the dev part that each validation reads."""


@dataclass(frozen=True, eq=False)
class Trained:
    """What a training run leaves behind."""

    model: LineTransformer
    """With the best weights, in evaluation mode."""
    vocabulary: Vocabulary
    history: History
    card: dict[str, Any]
    """What is stored beside the weights."""


def train(
    recipe: Recipe,
    lines: Sequence[TextLine] | Batches,
    dev: Sequence[TextLine],
    out: Path,
    *,
    vocabulary: Vocabulary | None = None,
    data: dict[str, Any] | None = None,
    start: Path | None = None,
    seed: int = 0,
    resume: bool = False,
    log: Callable[[str], None] = print,
    progress: bool = True,
) -> Trained:
    """Train on lines, choose by CER on the dev part, and store the model in `out`.

    Stopped anywhere and called again with `resume`, it goes on; `out` then holds the
    same model as if it had never been stopped, on a CPU bit by bit, unless the limit
    was `max_seconds`.

    Args:
        recipe: text, model and training.
        lines: the training part; or batches of one's own, which need a vocabulary
            beside them.
        dev: lines that choose the best weights, which are never trained on.
        out: folder, which must not hold another run.
        vocabulary: characters; None takes those of the training lines and the declared
            Vietnamese alphabet.
        data: what the lines are, as JSON can hold it; it is stored with the model.
        start: folder of a finished model whose weights and vocabulary to begin with.
        seed: of weights, order, dropout.
        resume: go on with the run in `out`.
        log: receives one line at a time about what is done and left out.
        progress: show a progress bar.

    Raises:
        ValueError: `out` holds a run already, or another one; the data do not fit the
            recipe.
    """
    check_count("--seed", seed, least=0, most=2**32 - 1)
    out = Path(out)
    vocabulary = _vocabulary(lines, vocabulary, start)
    kept_dev = _fitting(recipe, dev, "dev", log)[:N_VALIDATED]
    batches = _batches(recipe, lines, vocabulary, seed, log)
    own = [] if isinstance(lines, Batches) else lines
    _name_unknown([line.text for line in (*own, *dev)], vocabulary, log)
    card = {
        "recipe": recipe.described(),
        "vocabulary": vocabulary.fingerprint,
        "data": data or {},
        "seed": seed,
        "start": None if start is None else start.resolve().name,
    }

    def prepare() -> TrainingSetup:
        vocabulary.save(out / VOCABULARY)
        set_seed(seed)
        model = build_model(recipe, len(vocabulary), pretrained=start is None)
        first_model(
            model, start, lambda folder: load_model(folder / "model", rebuild)[0]
        )
        put_channels_last(model.backbone)
        model.set_trainable(recipe.learns)
        n_parameters = parameter_counts(model)["total"]
        log(f"{n_parameters:,} parameters, {len(vocabulary)} characters")
        validate = Validation(recipe, kept_dev, vocabulary)
        config = train_config(recipe, seed, progress, len(batches.epoch(0)))
        task = LineTask(recipe.label_smoothing, recipe.token_mask, recipe.ctc_weight)
        return TrainingSetup(model, task, batches, config, validate)

    def describe(best: BestWeights) -> dict[str, Any]:
        return {"dev_cer": best.score, "n_dev": len(kept_dev)}

    found = train_in_folder(
        out,
        card,
        prepare,
        describe,
        resume=resume,
        changeable=CHANGEABLE,
        added=ADDED_SETTINGS,
    )
    model = cast(LineTransformer, found.model)
    return Trained(model, vocabulary, found.history, found.card)


def _vocabulary(
    lines: Sequence[TextLine] | Batches,
    vocabulary: Vocabulary | None,
    start: Path | None,
) -> Vocabulary:
    if start is not None:
        return Vocabulary.load(start / VOCABULARY)
    if vocabulary is not None:
        return vocabulary
    if isinstance(lines, Batches):
        raise ValueError("vocabulary must be given with batches of one's own")
    return character_vocabulary(line.text for line in lines)


def _name_unknown(
    texts: Sequence[str], vocabulary: Vocabulary, log: Callable[[str], None]
) -> None:
    """Count and name the characters that the model can neither read nor learn."""
    found = characters_outside(texts, vocabulary)
    if not found:
        return
    unknown = {one.character for one in found}
    n_lines = sum(not unknown.isdisjoint(text) for text in texts)
    first = ", ".join(f"{character_name(c.character)} x {c.count}" for c in found[:5])
    log(
        f"note: {counted(n_lines, 'line')} of train and dev with characters that the"
        f" model does not have, and reads as unknown:"
        f" {first}{', ...' if len(found) > 5 else ''}"
    )


def _batches(
    recipe: Recipe,
    lines: Sequence[TextLine] | Batches,
    vocabulary: Vocabulary,
    seed: int,
    log: Callable[[str], None],
) -> Batches:
    if isinstance(lines, Batches):
        return lines
    kept = _fitting(recipe, lines, "train", log)
    return LineBatches(
        kept,
        vocabulary,
        seed=seed,
        augment=augmentation(recipe),
        **picture_options(recipe),
    )


def _fitting(
    recipe: Recipe, lines: Sequence[TextLine], part: str, log: Callable[[str], None]
) -> list[TextLine]:
    """Lines that fit the model; the others are counted and named."""
    if not lines:
        raise ValueError(f"there is no {part} line whose picture can be read")
    kept = [line for line in lines if fits(recipe, line)]
    left = [line.name for line in lines if not fits(recipe, line)]
    more = ", ..." if len(left) > 5 else ""
    names = f" ({', '.join(left[:5])}{more})" if left else ""
    log(
        f"{part}: {counted(len(kept), 'line')}; {len(left):,} of {len(lines):,} left"
        f" out as too long, too wide or empty{names}"
    )
    if not kept:
        raise ValueError(
            f"--max-width {recipe.max_width} and --max-len {recipe.max_len} leave no"
            f" {part} line"
        )
    return kept
