"""Train a recogniser of signs by a recipe; one folder holds everything about it.

OUT/labels.json     the words and their class numbers

beside what `app.training_run` writes: recipe, logs, checkpoints and model.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn

from coursepkg.app.options import set_training_threads
from coursepkg.app.training_run import (
    BestWeights,
    Trained,
    TrainingSetup,
    first_model,
    train_in_folder,
    training_config,
)
from coursepkg.app.verbs import report_training
from coursepkg.metrics.classification import MacroF1
from coursepkg.metrics.scoring import score
from coursepkg.projects.sign_language.corpora import load_corpus
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.data.batches import ClipBatches, DrawPlaces
from coursepkg.projects.sign_language.data.cache import CachedClips
from coursepkg.projects.sign_language.data.label_mapping import LabelMapping
from coursepkg.projects.sign_language.inference import (
    adjust_probabilities,
    predict_clips,
)
from coursepkg.projects.sign_language.losses import ClipLoss
from coursepkg.projects.sign_language.mixing import AugmentSettings, batch_steps
from coursepkg.projects.sign_language.model.classifier import (
    ClipClassifier,
    build_model,
    learning_rate_factors,
)
from coursepkg.projects.sign_language.options import Train
from coursepkg.projects.sign_language.quality.plan import check_words
from coursepkg.projects.sign_language.recipe import Recipe, architecture_of
from coursepkg.projects.sign_language.recognizer import read_model
from coursepkg.projects.sign_language.scoring import evaluate
from coursepkg.training import task as training_task
from coursepkg.training.config import TrainConfig
from coursepkg.training.run_card import check_free
from coursepkg.training.schedules import Plateau
from coursepkg.training.seed import set_seed
from coursepkg.training.weights import parameter_counts
from coursepkg.validation import check_count


@runtime_checkable
class LabelledClips(Protocol):
    """What a batch of clips must have."""

    @property
    def frames(self) -> Tensor:
        """(B, T, 3, H, W), ImageNet-normalised, or landmarks (B, T, F)."""

    @property
    def mask(self) -> Tensor:
        """Bool (B, T), True at a real frame."""

    @property
    def targets(self) -> Tensor:
        """Class numbers (B,), or of mixed clips shares of the classes (B, V)."""


@dataclass
class ClipTask:
    """Name the word of every clip.

    Losses are sums over the clips of a batch. Smoothing, focus, weights and prior hold
    in training mode only, so that a validation loss is plain cross-entropy, whatever
    the training minimises.
    """

    loss_kind: str = "cross-entropy"
    """One of `losses.LOSSES`."""
    label_smoothing: float = 0.1
    """Share of the target that goes to all words alike, in [0, 1)."""
    gamma: float = 2.0
    """Exponent of the focal losses, at least 0."""
    tau: float = 1.0
    """Strength of logit adjustment, at least 0."""
    counts: tuple[int, ...] = ()
    """Training clips of each word; needed by the losses that go by them."""

    def __post_init__(self) -> None:
        self._training_loss = ClipLoss(
            self.loss_kind, self.counts, self.label_smoothing, self.gamma, self.tau
        )

    def count(self, batch: LabelledClips) -> int:
        """Clips of the batch."""
        return len(batch.targets)

    def loss(self, model: Any, batch: LabelledClips) -> Tensor:
        """Summed loss of a batch.

        Args:
            model: `ClipClassifier`, bare or wrapped by Fabric.
            batch: on the device of the model.
        """
        judge = self._training_loss if model.training else ClipLoss()
        return judge(model(batch.frames, batch.mask).logits, batch.targets)


def mean_loss(model: nn.Module, batches: Iterable[Any]) -> float:
    """Return the plain cross-entropy per clip over some batches, in nats.

    The network's mode stays as it was.

    Raises:
        ValueError: there is no batch.
    """
    return training_task.mean_loss(model, ClipTask(), batches)


MODES: dict[str, Literal["min", "max"]] = {"macro_f1": "max", "loss": "min"}
"""What is better of each score that a recipe may choose by."""


class Validation:
    """Loss, macro-F1 and accuracy on some clips; what `fit` calls.

    Clips are looked at once. The loss is plain cross-entropy in nats a clip, whatever
    training minimises; the other two are of the words that prediction would give,
    adjusted where the recipe adjusts.

    Args:
        recipe: how clips are looked at.
        clips: of the dev part.
        mapping: the words.
        counts: training clips of each word.
    """

    def __init__(
        self,
        recipe: Recipe,
        clips: CachedClips,
        mapping: LabelMapping,
        counts: Sequence[int] = (),
    ) -> None:
        self.recipe = replace(recipe, views=1, adjust=0.0)
        self.clips, self.counts, self.adjust = clips, tuple(counts), recipe.adjust
        self.truths = np.array([mapping.number(word) for word in clips.labels])
        self.metric = MacroF1(tuple(range(len(mapping))))

    def __call__(self, model: nn.Module) -> dict[str, float]:
        """loss, macro_f1 and accuracy of a network."""
        plain = torch.from_numpy(
            predict_clips(model, self.clips, self.recipe).probabilities
        )
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
        (
            tuple(counts)
            if recipe.loss in ("weighted", "weighted-focal", "logit-adjusted")
            else ()
        ),
    )


def make_batches(
    recipe: Recipe, corpus: SignCorpus, seed: int, draw_places: DrawPlaces | None = None
) -> ClipBatches:
    """The training part in batches, changed as the recipe says.

    Args:
        recipe: how clips are changed.
        corpus: whose training part.
        seed: of order and chance.
        draw_places: moves the places where frames are taken, instead of the recipe's
            warp.

    Raises:
        ValueError: the part has no clip, or clips of another size.
        ImportError: pictures are to be changed and kornia is not installed.
    """
    clips = corpus.part("train")
    n_features = architecture_of(recipe.backbone).n_features
    if not n_features and clips.size != recipe.size:
        raise ValueError(
            f"the clips have {clips.size} pixels and --size is {recipe.size}; give both"
            " the same"
        )
    settings, n_words = AugmentSettings.of(recipe), len(corpus.labels)
    steps = batch_steps(settings, n_words, of_landmarks=n_features > 0)
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
            "--schedule plateau goes by the dev part, which has no clip; choose another"
            " schedule"
        )
    options: dict[str, Any] = {"patience": None} if not validated else {}
    if (recipe.backbone_rate, recipe.layer_decay) != (1.0, 1.0):
        rates = recipe.backbone_rate, recipe.layer_decay
        options["learning_rate_factors"] = learning_rate_factors(model, *rates)
    mode = MODES[recipe.select_by]
    # Source 002, section IV.3: halved when more than 3 epochs in a row were no better.
    plateau = Plateau(
        recipe.learning_rate, factor=0.5, patience=3, mode=mode, warmup=recipe.warmup
    )
    return training_config(
        recipe,
        epoch_steps=epoch_steps,
        select_by=recipe.select_by,
        mode=mode,
        learning_rate=plateau if recipe.schedule == "plateau" else None,
        clip_norm=recipe.clip_norm,
        clock=clock,
        seed=seed,
        progress=progress,
        **options,
    )


LABELS = "labels.json"
"""In the folder of a run: word -> class number."""
CHANGEABLE = ("max_epochs", "max_seconds", "patience", "views")
"""Settings of a recipe that may change when a run goes on."""


def train(
    recipe: Recipe,
    corpus: SignCorpus,
    out: str | Path,
    *,
    start: Path | None = None,
    seed: int = 0,
    resume: bool = False,
    clock: str = "wall",
    draw_places: DrawPlaces | None = None,
    log: Callable[[str], None] = print,
    progress: bool = True,
) -> Trained:
    """Train on a corpus, choose by its dev part, and store the model in `out`.

    Stopped anywhere and called again with `resume`, it goes on; `out` then holds the
    same model as if it had never been stopped, on a CPU bit by bit, unless the limit
    was `max_seconds`. Where the corpus has no dev part, nothing is chosen and the last
    weights are kept.

    Args:
        recipe: clips, model and training.
        corpus: what to learn.
        out: folder, which must not hold another run.
        start: folder of a finished model of the same words whose weights to begin with.
        seed: of weights, order and chance.
        resume: go on with the run in `out`.
        clock: what `recipe.max_seconds` counts: `wall`, or `cpu` for CPU time, which
            other programs do not use up.
        draw_places: moves the places where training frames are taken, instead of the
            recipe's warp.
        log: receives one line at a time.
        progress: show a progress bar.

    Raises:
        ValueError: `out` holds a run already, or another one; the data or the model to
            begin with do not fit.
        OSError: `out` cannot be written.
        ImportError: the recipe needs a package that is not installed.
    """
    check_count("--seed", seed, least=0, most=2**32 - 1)
    out = Path(out)
    batches = make_batches(recipe, corpus, seed, draw_places)
    _check_words(recipe, corpus, log)
    card: dict[str, Any] = {
        "recipe": recipe.described(),
        "labels": list(corpus.labels),
        "data": corpus.described(),
        "seed": seed,
        "start": None if start is None else Path(start).name,
    }
    epoch_steps = len(batches.epoch(0))
    validate = None
    if corpus.dev is not None:
        validate = Validation(recipe, corpus.dev, corpus.mapping, corpus.counts)

    def prepare() -> TrainingSetup:
        set_seed(seed)
        model = build_model(recipe, len(corpus.labels), pretrained=start is None)
        first_model(model, start, partial(_model_of, corpus.labels))
        config = train_config(
            recipe,
            model,
            epoch_steps=epoch_steps,
            seed=seed,
            progress=progress,
            clock=clock,
            validated=validate is not None,
        )
        n_parameters = parameter_counts(model)["total"]
        corpus.mapping.write(out / LABELS)
        log(f"{n_parameters:,} parameters, {len(corpus.labels)} words")
        task = make_task(recipe, corpus.counts)
        return TrainingSetup(model, task, batches, config, validate)

    def describe(best: BestWeights) -> dict[str, Any]:
        told = {"counts": list(corpus.counts), "epochs": best.step / epoch_steps}
        if validate is None:
            return told | {"dev_macro_f1": None, "n_dev": 0}
        found = validate(best.network)
        dev = {f"dev_{name}": value for name, value in found.items()}
        return told | dev | {"n_dev": len(validate.clips)}

    return train_in_folder(
        out, card, prepare, describe, resume=resume, changeable=CHANGEABLE
    )


def _model_of(labels: Sequence[str], start: Path) -> ClipClassifier:
    begun = read_model(start)
    _check_labels(start, begun.labels, labels)
    return begun.model


def _check_labels(start: Path, known: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise a ValueError unless the start model has the data's words in their order."""
    if tuple(known) == tuple(wanted):
        return
    new, gone = sorted(set(wanted) - set(known)), sorted(set(known) - set(wanted))
    differ = [f"it lacks {new[0]!r}"] if new else []
    differ += [f"it has {gone[0]!r}, which the data lack"] if gone else []
    raise ValueError(
        f"--start {start} names {len(known)} words, other ones than the {len(wanted)}"
        f" of the data: {' and '.join(differ) or 'their order differs'}; begin without"
        " it, or with a model of these words"
    )


def _check_words(
    recipe: Recipe, corpus: SignCorpus, log: Callable[[str], None]
) -> None:
    """Log words that are hard to learn or cannot be judged.

    A recipe that needs a clip of each word is refused where one has none.

    Raises:
        ValueError: the recipe goes by the number of clips of a word, and a word has
            none.
    """
    missing = corpus.absent("train")
    by_counts = (
        recipe.loss in ("weighted", "weighted-focal", "logit-adjusted")
        or recipe.adjust > 0
    )
    if missing and by_counts:
        what = (
            f"--adjust {recipe.adjust:g}"
            if recipe.adjust > 0
            else f"--loss {recipe.loss}"
        )
        raise ValueError(
            f"{what} needs a training clip of every word, but {missing[0]!r} has none"
            f" ({len(missing)} such words); choose another loss, or leave the word out"
            " of the label mapping"
        )
    once = [
        word
        for word, count in zip(corpus.labels, corpus.counts, strict=True)
        if count == 1
    ]
    for words, what in (
        (missing, "without a training clip, which cannot be learnt"),
        (once, "with a single training clip, too few to learn from"),
        (
            corpus.absent("dev") if corpus.dev is not None else (),
            "without a dev clip, which count 0 there",
        ),
    ):
        if words:
            named = f"{', '.join(words[:8])}{', ...' if len(words) > 8 else ''}"
            log(f"note: {len(words)} of {len(corpus.labels)} words {what}: {named}")
    if corpus.dev is None:
        log("note: there is no dev part to choose by; the last weights are kept")


def train_command(options: Train) -> int:
    """Train, score the dev part, and return the exit code."""
    common, recipe = options.common, options.recipe
    set_training_threads(options.threads, common.preset)
    out = common.out or common.run_folder
    check_free(out, options.resume)
    if options.start is not None:
        # A mistake is told before clips are decoded for minutes.
        read_model(options.start)
    corpus = load_corpus(common.corpus_name, recipe, split=common.protocol)
    check_words(corpus.name, corpus.part("train").labels)
    print("\n".join(corpus.report()))
    trained = train(
        recipe,
        corpus,
        out,
        start=options.start,
        seed=options.seed,
        resume=options.resume,
    )
    scores = None
    if corpus.dev is not None:
        found = predict_clips(trained.model, corpus.dev, recipe, counts=corpus.counts)
        protocol = f"{corpus.name} dev, split {corpus.protocol}"
        words = corpus.labels, corpus.counts
        scores = evaluate(found, corpus.dev, *words, protocol=protocol)
    part = "test" if corpus.test is not None else "train"
    score = f"coursepkg sign-language evaluate --model {out} --part {part}"
    then = f"score it with: {score}"
    return report_training(trained, scores, out=out, then=then, as_json=common.json)
