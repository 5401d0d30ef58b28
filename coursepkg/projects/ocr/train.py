"""Train a recogniser by a recipe; one folder holds everything about it.

OUT/recipe.json        recipe, data and seed
OUT/vocabulary.json    the characters
OUT/calls.json         how long each call trained, and on what machine
OUT/run/               logs and checkpoints, see `coursepkg.training.loop`
OUT/model/             the finished model: the weights of the best validation
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from coursepkg.arguments import check_count
from coursepkg.bench.machine import circumstances
from coursepkg.projects.ocr.data.alphabet import character_vocabulary
from coursepkg.projects.ocr.data.batches import LineBatches
from coursepkg.projects.ocr.learning import Validation, augmentation, fits, picture_options, train_config
from coursepkg.projects.ocr.line import TextLine
from coursepkg.projects.ocr.model.build import build_model, rebuild
from coursepkg.projects.ocr.model.columns import put_channels_last
from coursepkg.projects.ocr.model.recognizer import LineTransformer
from coursepkg.projects.ocr.predict import VOCABULARY
from coursepkg.projects.ocr.recipe import LATER, Recipe
from coursepkg.projects.ocr.task import LineTask
from coursepkg.text.vocabulary import Vocabulary
from coursepkg.training.call_log import add_call
from coursepkg.training.dropout import draw_bytewise
from coursepkg.training.finish import restore_best, store_model, take_weights
from coursepkg.training.loop import History, fit
from coursepkg.training.run_card import open_run
from coursepkg.training.saved_model import load_model
from coursepkg.training.seed import set_seed
from coursepkg.training.task import Batches
from coursepkg.training.weights import parameter_counts
from coursepkg.wording import counted

CHANGEABLE = (
    *("max_epochs", "max_seconds", "clock", "patience"),
    *("reader", "beam_size", "length_penalty", "ctc_share"),
)
"""Settings of a recipe that may change when a run goes on."""
N_VALIDATED = 1000
"""Lines of the dev part that each validation reads."""


@dataclass(frozen=True)
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
    say: Callable[[str], None] = print,
    progress: bool = True,
) -> Trained:
    """Train on lines, choose by CER on the dev part, and store the model in `out`.

    Stopped anywhere and called again with `resume`, it goes on; `out` then holds the same model as if it had never
    been stopped, on a CPU bit by bit, unless the limit was `max_seconds`.

    Args:
        recipe: text, model and training.
        lines: the training part; or batches of one's own, which need a vocabulary beside them.
        dev: lines that choose the best weights, which are never trained on.
        out: folder, which must not hold another run.
        vocabulary: characters; None takes those of the training lines and the declared Vietnamese alphabet.
        data: what the lines are, as JSON can hold it; it is stored with the model.
        start: folder of a finished model whose weights and vocabulary to begin with.
        seed: of weights, order, dropout.
        resume: go on with the run in `out`.
        say: receives one line at a time about what is done and left out.
        progress: show a progress bar.

    Raises:
        ValueError: `out` holds a run already, or another one; the data do not fit the recipe.
    """
    check_count("--seed", seed, least=0, most=2**32 - 1)
    out = Path(out)
    vocabulary = _vocabulary(lines, vocabulary, start)
    kept_dev = _fitting(recipe, dev, "dev", say)[:N_VALIDATED]
    batches = _batches(recipe, lines, vocabulary, seed, say)
    card = _card(recipe, vocabulary, data, seed, start)
    open_run(out, card, resume, changeable=CHANGEABLE, later=LATER)
    vocabulary.save(out / VOCABULARY)
    set_seed(seed)
    model = _first_model(recipe, len(vocabulary), start)
    say(f"{parameter_counts(model)['total']:,} parameters, {len(vocabulary)} characters")
    validate = Validation(recipe, kept_dev, vocabulary)
    config = train_config(recipe, seed, progress, len(batches.epoch(0)))
    task = LineTask(recipe.label_smoothing, recipe.token_mask, recipe.ctc_weight)
    history = fit(model, task, batches, config=config, out=out / "run", validate=validate, resume=resume)
    add_call(out, history, **circumstances())
    step, cer = restore_best(
        model, out / "run", history, lambda network: validate(network.eval())["cer"], "min"
    )
    card |= {"dev_cer": cer, "n_dev": len(kept_dev), "steps": step}
    store_model(out / "model", model, card)
    return Trained(model.eval(), vocabulary, history, card)


def _card(
    recipe: Recipe, vocabulary: Vocabulary, data: dict[str, Any] | None, seed: int, start: Path | None
) -> dict[str, Any]:
    """What is known of a run before it begins, and must be the same when it goes on."""
    return {
        "recipe": recipe.described(),
        "vocabulary": vocabulary.fingerprint,
        "data": data or {},
        "seed": seed,
        "start": None if start is None else start.name,
    }


def _vocabulary(
    lines: Sequence[TextLine] | Batches, vocabulary: Vocabulary | None, start: Path | None
) -> Vocabulary:
    if start is not None:
        return Vocabulary.load(start / VOCABULARY)
    if vocabulary is not None:
        return vocabulary
    if isinstance(lines, Batches):
        raise ValueError("vocabulary must be given with batches of one's own")
    return character_vocabulary(line.text for line in lines)


def _batches(
    recipe: Recipe,
    lines: Sequence[TextLine] | Batches,
    vocabulary: Vocabulary,
    seed: int,
    say: Callable[[str], None],
) -> Batches:
    if isinstance(lines, Batches):
        return lines
    kept = _fitting(recipe, lines, "train", say)
    return LineBatches(kept, vocabulary, seed=seed, augment=augmentation(recipe), **picture_options(recipe))


def _fitting(
    recipe: Recipe, lines: Sequence[TextLine], part: str, say: Callable[[str], None]
) -> list[TextLine]:
    """Lines that fit the model; the others are counted and named."""
    kept, left = [], []
    for line in lines:
        if fits(recipe, line):
            kept.append(line)
        else:
            left.append(line.name)
    names = f" ({', '.join(left[:5])}{', ...' if len(left) > 5 else ''})" if left else ""
    say(
        f"{part}: {counted(len(kept), 'line')}; {len(left):,} of {len(lines):,} left out as too long, too wide "
        f"or empty{names}"
    )
    if not kept:
        raise ValueError(
            f"--max-width {recipe.max_width} and --max-len {recipe.max_len} leave no {part} line"
        )
    return kept


def _first_model(recipe: Recipe, vocab_size: int, start: Path | None) -> LineTransformer:
    """The network that training begins with, on its device."""
    model = build_model(recipe, vocab_size, pretrained=start is None)
    draw_bytewise(model)
    put_channels_last(model.backbone)
    if start is not None:
        take_weights(model, load_model(start / "model", rebuild)[0], start)
    model.let_learn(recipe.learns)
    return model.to("cuda" if torch.cuda.is_available() else "cpu")
