"""Train a translation model by a recipe; one folder holds everything about it.

OUT/recipe.json           recipe, languages, corpus, seed
OUT/*.model               the vocabulary
OUT/run/                  logs and checkpoints, see `coursepkg.training.loop`
OUT/model/                the finished model: the weights of the best validation
"""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from coursepkg.files import whole_file
from coursepkg.metrics.bleu import BLEU
from coursepkg.metrics.scoring import score
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair, to_scorer
from coursepkg.projects.translation.decode import search
from coursepkg.projects.translation.examples import TranslationBatches, fitting
from coursepkg.projects.translation.models import build_model, count_parameters
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.projects.translation.task import TranslationTask
from coursepkg.projects.translation.tokenizers import Subwords
from coursepkg.training import schedules
from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import History, fit
from coursepkg.training.saved_model import restore, save_model
from coursepkg.training.schedules import Formula
from coursepkg.training.seed import set_seed

N_VALIDATED = 400
"""Sentences of the dev part that each validation translates."""

Say = Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class Trained:
    """What a training run leaves behind."""

    model: nn.Module
    """With the best weights, in evaluation mode."""
    subwords: Subwords
    history: History
    card: dict[str, Any]
    """What is stored beside the weights."""


def train(
    recipe: Recipe,
    parts: Parts,
    out: Path,
    *,
    seed: int = 0,
    resume: bool = False,
    say: Say = print,
    progress: bool = True,
    start: Path | None = None,
) -> Trained:
    """Train on `parts.train`, choose by BLEU on `parts.dev`, and store the model in `out`.

    Stopped anywhere and called again with `resume`, it goes on; `out` then holds the same model as if it had never
    been stopped, on a CPU bit by bit, unless the limit was `max_seconds`.

    Args:
        recipe: text, model and training.
        parts: the corpus in the direction to learn.
        out: folder, which must not hold another run.
        seed: of weights, order, dropout.
        resume: go on with the run in `out`.
        say: receives one line at a time about what is done and left out.
        progress: show a progress bar.
        start: folder of a finished model whose weights and vocabulary to begin with.

    Raises:
        ValueError: `out` holds a run already, or another one; the data do not fit the recipe.
    """
    out = Path(out)
    card = _card(recipe, parts, seed, start)
    _open(out, card, resume)
    for note in parts.notes:
        say(f"note: {note}")
    subwords = _subwords(recipe, parts, out, start)
    kept = fitting(parts.train, subwords, (parts.source, parts.target), recipe.max_len)
    say(f"{len(kept.pairs)} training pairs; {kept}")
    batches = TranslationBatches(kept.pairs, subwords, (parts.source, parts.target), recipe, seed)
    set_seed(seed)
    model = build_model(recipe, len(subwords.source), len(subwords.target))
    if start is not None:
        restore(model, start / "run")
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    say(f"{count_parameters(model):,} parameters")
    history = fit(
        model,
        task_of(recipe, subwords),
        batches,
        config=train_config(recipe, seed, progress, len(batches.epoch(0))),
        out=out / "run",
        validate=lambda network: validate(network, recipe, subwords, parts),
        resume=resume,
    )
    restore(model, out / "run")
    card |= {"vocabulary": subwords.fingerprints, "dev_bleu": history.best_score, "steps": history.best_step}
    if not (out / "model").exists():
        save_model(out / "model", model, **card)
    return Trained(model.eval(), subwords, history, card)


def validate(network: nn.Module, recipe: Recipe, subwords: Subwords, parts: Parts) -> dict[str, float]:
    """BLEU of greedy translations of the first sentences of the dev part, against the references as they stand."""
    chosen = parts.dev[:N_VALIDATED]
    said = translate_plainly(network, recipe, subwords, chosen, parts.source, parts.target, beam_size=1)
    references = [to_scorer(p.target, parts.target) for p in chosen]
    bleu = score(BLEU(tokenize="zh" if parts.target == "zh" else "13a"), said, references)
    return {"bleu": float(bleu.value)}


def translate_plainly(
    network: nn.Module,
    recipe: Recipe,
    subwords: Subwords,
    pairs: tuple[SentencePair, ...],
    source: str,
    target: str,
    *,
    beam_size: int,
) -> list[str]:
    """The best translation of each pair's source, in the form that is scored."""
    ids = subwords.encode_sources([p.source for p in pairs], source, target)
    ids = [i[: recipe.max_len - 1] for i in ids]
    found = search(
        network, ids, max_len=recipe.max_len, beam_size=beam_size, length_penalty=recipe.length_penalty
    )
    return [to_scorer(subwords.target.decode(best.ids), target) for best, *_ in found]


def task_of(recipe: Recipe, subwords: Subwords) -> TranslationTask:
    """The loss that a recipe asks for."""
    forced = recipe.teacher_forcing
    return TranslationTask(
        label_smoothing=recipe.label_smoothing,
        convention=recipe.smoothing_convention,
        r_drop_alpha=recipe.r_drop,
        scheduled_sampling=None if forced == 1.0 else schedules.constant(forced),
    )


def train_config(recipe: Recipe, seed: int, progress: bool, epoch_steps: int) -> TrainConfig:
    """How `fit` is to train."""
    return TrainConfig(
        max_epochs=recipe.max_epochs,
        max_seconds=recipe.max_seconds,
        learning_rate=_schedule(recipe, epoch_steps),
        weight_decay=recipe.weight_decay,
        precision=recipe.precision,
        ema_decay=recipe.ema or None,
        sam_rho=recipe.sam_rho or None,
        select_by="bleu",
        mode="max",
        patience=recipe.patience,
        seed=seed,
        progress=progress,
    )


def _schedule(recipe: Recipe, epoch_steps: int) -> Formula:
    rate, warmup, total = recipe.learning_rate, recipe.warmup, recipe.max_epochs * epoch_steps
    if recipe.schedule == "constant":
        return schedules.constant(rate)
    if recipe.schedule == "inverse-sqrt":
        return schedules.inverse_sqrt(rate, warmup)
    if recipe.schedule == "noam":
        return schedules.noam(recipe.d_model, warmup, rate)
    if recipe.schedule == "staircase":
        return schedules.staircase(rate, recipe.d_model, warmup, 2 * epoch_steps, 0.8)
    return schedules.cosine(rate, min(warmup, total - 1), total)


def _card(recipe: Recipe, parts: Parts, seed: int, start: Path | None) -> dict[str, Any]:
    directions = [[parts.source, parts.target]]
    if recipe.reverse:
        directions.append([parts.target, parts.source])
    return {
        "recipe": recipe.described(),
        "directions": directions,
        "corpus": parts.corpus,
        "n_train": len(parts.train),
        "seed": seed,
        "start": None if start is None else start.name,
    }


def _open(out: Path, card: dict[str, Any], resume: bool) -> None:
    path = out / "recipe.json"
    if path.exists():
        if not resume:
            raise ValueError(
                f"{out} holds a run already; add --resume to go on with it, or choose another --out"
            )
        stored = json.loads(path.read_text("utf-8"))
        differ = [name for name in card if _fixed(name, card[name]) != _fixed(name, stored.get(name))]
        if differ:
            raise ValueError(
                f"{path} is of another run (it differs in {', '.join(differ)}); repeat the options of that run, or "
                "choose another --out"
            )
        return
    out.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write((json.dumps(card, indent=2) + "\n").encode())


def _fixed(name: str, value: Any) -> Any:
    """What must not change when a run is resumed: all but how long it may go on."""
    if name == "recipe" and isinstance(value, dict):
        return {key: v for key, v in value.items() if key not in ("max_epochs", "max_seconds")}
    return value


def _subwords(recipe: Recipe, parts: Parts, out: Path, start: Path | None) -> Subwords:
    if start is not None or (out / "target.model").exists():
        subwords = Subwords.load(out if start is None else start, recipe.underscores)
    else:
        subwords = Subwords.train(parts.train, parts.source, parts.target, recipe)
    subwords.save(out)
    return subwords
