"""Train a translation model by a recipe; one folder holds everything about it.

OUT/recipe.json           recipe, directions, corpora, seed
OUT/*.model               the vocabulary
OUT/calls.json            how long each call trained, and on what machine
OUT/run/                  logs and checkpoints, see `coursepkg.training.loop`
OUT/model/                the finished model: the weights of the best validation
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from coursepkg.arguments import check_count
from coursepkg.bench.machine import circumstances
from coursepkg.metrics.scoring import score
from coursepkg.projects.translation.contrastive.task import WithProjection
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair, pair_keys, to_scorer
from coursepkg.projects.translation.decode import search
from coursepkg.projects.translation.evaluate import bleu_of
from coursepkg.projects.translation.examples import fitting
from coursepkg.projects.translation.learning import learning_of, train_config
from coursepkg.projects.translation.models import build_model, count_parameters, rebuilder
from coursepkg.projects.translation.recipe import LATER, Recipe
from coursepkg.projects.translation.run_folder import CHANGEABLE, Corpora, card_of, vocabulary_of
from coursepkg.projects.translation.tokenizers import Subwords, cut_sources
from coursepkg.training.call_log import add_call
from coursepkg.training.dropout import draw_bytewise
from coursepkg.training.finish import restore_best, store_model, take_weights
from coursepkg.training.loop import History, fit
from coursepkg.training.run_card import begun_run
from coursepkg.training.saved_model import load_model
from coursepkg.training.seed import set_seed

N_VALIDATED = 400
"""Sentences of the dev part that each validation translates."""


@dataclass(frozen=True)
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
    parts: Parts | Sequence[Parts],
    out: Path,
    *,
    seed: int = 0,
    extra: Sequence[SentencePair] = (),
    start: Path | None = None,
    round_trips: Sequence[SentencePair] = (),
    resume: bool = False,
    contest_rules: bool = False,
    clock: str = "wall",
    say: Callable[[str], None] = print,
    progress: bool = True,
) -> Trained:
    """Train on the train part, choose by BLEU on the dev part, and store the model in `out`.

    Stopped anywhere and called again with `resume`, it goes on; `out` then holds the same model as if it had never
    been stopped, on a CPU bit by bit, unless the limit was `max_seconds`.

    Args:
        recipe: text, model and training.
        parts: the corpus in the direction to learn, or several; the first one's dev part chooses.
        out: folder, which must not hold another run.
        seed: of weights, order, dropout.
        extra: further training pairs in the first direction, such as back-translations; those with a sentence of
            a dev or test part are left out and counted. The vocabulary is not learnt from them.
        start: folder of a finished model whose weights and vocabulary to begin with.
        round_trips: for each training pair what came back for both sides, see `Recipe.versions`.
        resume: go on with the run in `out`.
        contest_rules: note that the data were checked by `contest.check_contest_rules`.
        clock: what the limit in seconds counts, see `TrainConfig`.
        say: receives one line at a time about what is done and left out.
        progress: show a progress bar.

    Raises:
        ValueError: `out` holds a run already, or another one; the data do not fit the recipe.
    """
    check_count("--seed", seed, least=0, most=2**32 - 1)
    out, corpora = Path(out), [parts] if isinstance(parts, Parts) else list(parts)
    extra, held = _not_held_out(extra, corpora)
    more: dict[str, Any] = {"n_extra": len(extra), "start": None if start is None else start.name}
    more |= {"contest_rules": True} if contest_rules else {}
    card = card_of(recipe, corpora, seed, **more)
    with begun_run(out, card, resume, changeable=CHANGEABLE, later=LATER):
        for note in _notes(recipe, corpora, held):
            say(f"note: {note}")
        learnt: Corpora = [((one.source, one.target), one.train) for one in corpora]
        subwords = vocabulary_of(recipe, learnt, out, start)
        kept = _fitting(recipe, corpora, subwords, extra, say)
        set_seed(seed)
        model = _first_model(recipe, subwords, start)
        say(f"{count_parameters(model):,} parameters")
        learning = learning_of(recipe, model, kept, subwords, seed, round_trips)
    learning.network.to("cuda" if torch.cuda.is_available() else "cpu")
    history = fit(
        learning.network,
        learning.task,
        learning.batches,
        config=train_config(recipe, seed, progress, learning.n_steps, clock),
        out=out / "run",
        validate=lambda network: validate(_translator(network), recipe, subwords, corpora[0]),
        resume=resume,
    )
    add_call(out, history, **circumstances())
    step, bleu = restore_best(
        learning.network,
        out / "run",
        history,
        lambda network: validate(_translator(network), recipe, subwords, corpora[0])["bleu"],
        "max",
    )
    model = _translator(learning.network)
    card |= {"vocabulary": subwords.fingerprints, "dev_bleu": bleu, "steps": step}
    store_model(out / "model", model, card)
    return Trained(model.eval(), subwords, history, card)


def _notes(recipe: Recipe, corpora: Sequence[Parts], held: int) -> list[str]:
    """What a reader of the run must know before it begins."""
    notes = [note for one in corpora for note in one.notes]
    if held:
        notes.append(f"{held} further pairs left out, whose sentences are in dev or test")
    if recipe.reverse_fault != "none":
        fault = f"--reverse-fault {recipe.reverse_fault}"
        notes.append(f"{fault} is a negative control, to show what the fault costs")
    return notes


def validate(network: nn.Module, recipe: Recipe, subwords: Subwords, parts: Parts) -> dict[str, float]:
    """BLEU of greedy translations of the first sentences of the dev part, against the references as they stand.

    A source that is longer than the model takes is cut here; `evaluate` counts and names such sources.
    """
    chosen = parts.dev[:N_VALIDATED]
    texts = [p.source for p in chosen]
    ids, _ = cut_sources(subwords, texts, parts.source, parts.target, recipe.max_len - 1)
    found = search(network, ids, max_len=recipe.max_len, beam_size=1)
    said = [to_scorer(subwords.target.decode(best.ids), parts.target) for best, *_ in found]
    references = [to_scorer(p.target, parts.target) for p in chosen]
    bleu = score(bleu_of(parts.target), said, references)
    return {"bleu": float(bleu.value)}


def _fitting(
    recipe: Recipe,
    corpora: Sequence[Parts],
    subwords: Subwords,
    extra: Sequence[SentencePair],
    say: Callable[[str], None],
) -> Corpora:
    """The training pairs of each corpus that fit the model; what is left out is said."""
    found: Corpora = []
    for i, one in enumerate(corpora):
        languages = (one.source, one.target)
        pairs = [*one.train, *(extra if i == 0 else ())]
        kept = fitting(pairs, subwords, languages, recipe.max_len, both_ways=recipe.reads_both)
        say(f"{one.corpus}, {one.source} to {one.target}: {len(kept.pairs)} training pairs; {kept}")
        if not kept.pairs:
            raise ValueError(f"--max-len {recipe.max_len} leaves no pair of {one.corpus}; raise it")
        found.append((languages, kept.pairs))
    return found


def _not_held_out(extra: Sequence[SentencePair], corpora: Sequence[Parts]) -> tuple[list[SentencePair], int]:
    """The further pairs that share no sentence on either side with a dev or test part, and how many do."""
    if not extra:
        return [], 0
    held = {
        key
        for one in corpora
        for pair in (*one.dev, *one.test)
        for key in pair_keys(pair, one.source, one.target)
    }
    languages = corpora[0].source, corpora[0].target
    kept = [pair for pair in extra if held.isdisjoint(pair_keys(pair, *languages))]
    return kept, len(extra) - len(kept)


def _first_model(recipe: Recipe, subwords: Subwords, start: Path | None) -> nn.Module:
    model = build_model(recipe, len(subwords.source), len(subwords.target))
    draw_bytewise(model)
    if start is None:
        return model
    begun = load_model(start / "model", rebuilder(recipe), vocabulary=subwords.fingerprints)[0]
    return take_weights(model, begun, start)


def _translator(network: nn.Module) -> nn.Module:
    """The translator inside a network of the contrastive stage, or the network itself."""
    return network.transformer if isinstance(network, WithProjection) else network
