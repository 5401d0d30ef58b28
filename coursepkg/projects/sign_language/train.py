"""Train a recogniser of signs by a recipe; one folder holds everything about it.

OUT/recipe.json     recipe, data and seed
OUT/labels.json     the words and their class numbers
OUT/calls.json      how long each call trained, with how much memory, and on what machine
OUT/run/            logs and checkpoints, see `coursepkg.training.loop`
OUT/model/          the finished model: the weights of the best validation, and its card
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from coursepkg.arguments import check_count
from coursepkg.bench.machine import circumstances
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.data.batches import DrawPlaces
from coursepkg.projects.sign_language.learning import (
    MODES,
    Validation,
    make_batches,
    make_task,
    train_config,
)
from coursepkg.projects.sign_language.model.build import build_model
from coursepkg.projects.sign_language.model.classifier import ClipClassifier
from coursepkg.projects.sign_language.recipe import Recipe
from coursepkg.projects.sign_language.trained_model import read_model
from coursepkg.training.call_log import add_call
from coursepkg.training.dropout import draw_bytewise
from coursepkg.training.finish import restore_best, store_model, take_weights
from coursepkg.training.loop import History, fit
from coursepkg.training.run_card import begun_run
from coursepkg.training.saved_model import restore
from coursepkg.training.seed import set_seed
from coursepkg.training.weights import parameter_counts

LABELS = "labels.json"
"""In the folder of a run: word -> class number."""
CHANGEABLE = ("max_epochs", "max_seconds", "patience", "views")
"""Settings of a recipe that may change when a run goes on."""


@dataclass(frozen=True, eq=False)
class Trained:
    """What a training run leaves behind."""

    model: ClipClassifier
    """With the best weights, in evaluation mode."""
    labels: tuple[str, ...]
    """The words, in the order of their class numbers."""
    history: History
    card: dict[str, Any]
    """What is stored beside the weights."""


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
    say: Callable[[str], None] = print,
    progress: bool = True,
) -> Trained:
    """Train on a corpus, choose by its dev part, and store the model in `out`.

    Stopped anywhere and called again with `resume`, it goes on; `out` then holds the same model as if it had never
    been stopped, on a CPU bit by bit, unless the limit was `max_seconds`. Where the corpus has no dev part, nothing is
    chosen and the last weights are kept.

    Args:
        recipe: clips, model and training.
        corpus: what to learn.
        out: folder, which must not hold another run.
        start: folder of a finished model of the same words whose weights to begin with.
        seed: of weights, order and chance.
        resume: go on with the run in `out`.
        clock: what `recipe.max_seconds` counts: `wall`, or `cpu` for CPU time, which other programs do not use up.
        draw_places: moves the places where training frames are taken, instead of the recipe's warp.
        say: receives one line at a time.
        progress: show a progress bar.

    Raises:
        ValueError: `out` holds a run already, or another one; the data or the model to begin with do not fit.
        OSError: `out` cannot be written.
        ImportError: the recipe needs a package that is not installed.
    """
    check_count("--seed", seed, least=0, most=2**32 - 1)
    out = Path(out)
    batches = make_batches(recipe, corpus, seed, draw_places)
    _check_words(recipe, corpus, say)
    facts = {"data": corpus.described(), "seed": seed, "start": None if start is None else Path(start).name}
    card: dict[str, Any] = {"recipe": recipe.described(), "labels": list(corpus.labels), **facts}
    with begun_run(out, card, resume, changeable=CHANGEABLE):
        set_seed(seed)
        model = _first_model(recipe, corpus.labels, start)
        validate = None
        if corpus.dev is not None:
            validate = Validation(recipe, corpus.dev, corpus.mapping, corpus.counts)
        config = train_config(
            recipe,
            model,
            epoch_steps=len(batches.epoch(0)),
            seed=seed,
            progress=progress,
            clock=clock,
            validated=validate is not None,
        )
        task = make_task(recipe, corpus.counts)
    corpus.mapping.write(out / LABELS)
    say(f"{parameter_counts(model)['total']:,} parameters, {len(corpus.labels)} words")
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    history = fit(model, task, batches, config=config, out=out / "run", validate=validate, resume=resume)
    add_call(out, history, **circumstances())
    step, scores = _best(model, out / "run", history, validate, recipe)
    card |= {"counts": list(corpus.counts), "steps": step, "epochs": step / len(batches.epoch(0)), **scores}
    store_model(out / "model", model, card)
    return Trained(model.eval(), corpus.labels, history, card)


def _first_model(recipe: Recipe, labels: Sequence[str], start: Path | None) -> ClipClassifier:
    model = build_model(recipe, len(labels), pretrained=start is None)
    draw_bytewise(model)
    if start is None:
        return model
    begun = read_model(start)
    _check_labels(start, begun.labels, labels)
    take_weights(model, begun.model, Path(start))
    return model


def _check_labels(start: Path, known: Sequence[str], wanted: Sequence[str]) -> None:
    """Raises a ValueError unless a model to begin with has the words of the data, in their order."""
    if tuple(known) == tuple(wanted):
        return
    new, gone = sorted(set(wanted) - set(known)), sorted(set(known) - set(wanted))
    differ = [f"it lacks {new[0]!r}"] if new else []
    differ += [f"it has {gone[0]!r}, which the data lack"] if gone else []
    raise ValueError(
        f"--start {start} names {len(known)} words, other ones than the {len(wanted)} of the data: "
        f"{' and '.join(differ) or 'their order differs'}; begin without it, or with a model of these words"
    )


def _best(
    model: ClipClassifier, run: Path, history: History, validate: Validation | None, recipe: Recipe
) -> tuple[int, dict[str, Any]]:
    """Load the best weights; their step, and what the dev part says of them."""
    if validate is None:
        return restore(model, run, "last"), {"dev_macro_f1": None, "n_dev": 0}
    judge = validate

    def score_of(network: nn.Module) -> float:
        return judge(network.eval())[recipe.select_by]

    step, _ = restore_best(model, run, history, score_of, MODES[recipe.select_by])
    found = validate(model.eval())
    return step, {f"dev_{name}": value for name, value in found.items()} | {"n_dev": len(validate.clips)}


def _check_words(recipe: Recipe, corpus: SignCorpus, say: Callable[[str], None]) -> None:
    """Say which words are hard to learn or cannot be judged; refuse what needs a clip of each word.

    Raises:
        ValueError: the recipe goes by the number of clips of a word, and a word has none.
    """
    missing = corpus.absent("train")
    by_counts = recipe.loss in ("weighted", "weighted-focal", "logit-adjusted") or recipe.adjust > 0
    if missing and by_counts:
        what = f"--adjust {recipe.adjust:g}" if recipe.adjust > 0 else f"--loss {recipe.loss}"
        raise ValueError(
            f"{what} needs a training clip of every word, but {missing[0]!r} has none ({len(missing)} such words); "
            "choose another loss, or leave the word out of the label mapping"
        )
    once = [word for word, count in zip(corpus.labels, corpus.counts, strict=True) if count == 1]
    for words, what in (
        (missing, "without a training clip, which cannot be learnt"),
        (once, "with a single training clip, too few to learn from"),
        (corpus.absent("dev") if corpus.dev is not None else (), "without a dev clip, which count 0 there"),
    ):
        if words:
            named = f"{', '.join(words[:8])}{', ...' if len(words) > 8 else ''}"
            say(f"note: {len(words)} of {len(corpus.labels)} words {what}: {named}")
    if corpus.dev is None:
        say("note: there is no dev part to choose by; the last weights are kept")
