"""Train a translation model by a recipe; one folder holds everything about it.

OUT/recipe.json           recipe, directions, corpora, seed
OUT/*.model               the vocabulary
OUT/calls.json            how long each call trained, and on what machine
OUT/run/                  logs and checkpoints, see `coursepkg.training.loop`
OUT/model/                the finished model: the weights of the best validation
OUT/ATTRIBUTION.txt       whose texts it learnt, where a licence asks for it
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from coursepkg.app import training_run
from coursepkg.app.model_folder import attribution_in, write_attribution
from coursepkg.app.output import Log
from coursepkg.app.training_run import training_config
from coursepkg.blocks.transformer import Transformer
from coursepkg.data.batching import Pair
from coursepkg.data.registry import attribution_of
from coursepkg.metrics.scoring import score
from coursepkg.projects.translation.contrastive.batches import (
    ContrastiveBatches,
    MaskedVersions,
    RoundTripVersions,
    Versions,
    dropout_versions,
)
from coursepkg.projects.translation.contrastive.task import (
    ContrastiveTask,
    ProjectionHead,
    WithProjection,
)
from coursepkg.projects.translation.corpora import Parts, scored_keys
from coursepkg.projects.translation.corpus import (
    SentencePair,
    pair_keys,
    to_model,
    to_scorer,
)
from coursepkg.projects.translation.evaluate import bleu_of
from coursepkg.projects.translation.models import (
    FILES,
    Subwords,
    build_model,
    count_parameters,
    cut_sources,
    rebuilder,
    search,
    tag_of,
)
from coursepkg.projects.translation.placeholders import mask_pair
from coursepkg.projects.translation.predict import DEFAULT, Translator
from coursepkg.projects.translation.recipe import ADDED_SETTINGS, Recipe
from coursepkg.projects.translation.task import (
    TranslationBatches,
    TranslationTask,
    fitting,
)
from coursepkg.training import schedules
from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import History
from coursepkg.training.saved_model import load_model
from coursepkg.training.seed import set_seed
from coursepkg.training.task import Batches, Task
from coursepkg.validation import check_count

CHANGEABLE = ("max_epochs", "max_seconds", "patience")
"""Settings of a recipe that may change when a run goes on."""

Corpora = list[tuple[tuple[str, str], Sequence[SentencePair]]]
"""For each pair of languages, of sources and targets, its training pairs."""


def card_of(
    recipe: Recipe, corpora: Sequence[Parts], seed: int, **more: Any
) -> dict[str, Any]:
    """What decides a run, as JSON holds it."""
    directions = [[parts.source, parts.target] for parts in corpora]
    if recipe.reverse and recipe.reverse_fault == "none":
        directions += [[parts.target, parts.source] for parts in corpora]
    return {
        "recipe": recipe.described(),
        "directions": directions,
        "corpora": [parts.corpus for parts in corpora],
        "n_train": sum(len(parts.train) for parts in corpora),
        "seed": seed,
        **more,
    }


def vocabulary_of(
    recipe: Recipe, corpora: Corpora, out: Path, start: Path | None
) -> Subwords:
    """The vocabulary of the run: learnt once, or that of the model to start from."""
    is_known = start is not None or (out / FILES[1]).exists()
    subwords = (
        Subwords.load(start or out, recipe.underscores)
        if is_known
        else Subwords.train(corpora, recipe)
    )
    subwords.save(out)
    return subwords


class PreparedTraining(NamedTuple):
    """What is trained, and on what."""

    network: nn.Module
    """The model, inside its projection head in the contrastive stage."""
    task: Task
    batches: Batches
    n_steps: int
    """Steps of an epoch."""


def prepare_training(
    recipe: Recipe,
    model: nn.Module,
    corpora: Corpora,
    subwords: Subwords,
    seed: int,
    round_trips: Sequence[SentencePair] = (),
) -> PreparedTraining:
    """Put together model, loss and data.

    The contrastive stage translates the same examples, batched in its own way.

    Raises:
        ValueError: the recipe asks for a contrastive loss with another model than a
            Transformer, several corpora, or round trips that are not there.
    """
    forced = recipe.teacher_forcing
    task = TranslationTask(
        label_smoothing=recipe.label_smoothing,
        convention=recipe.smoothing_convention,
        r_drop_alpha=recipe.r_drop,
        scheduled_sampling=None if forced == 1.0 else schedules.constant(forced),
    )
    plain = TranslationBatches(corpora, subwords, recipe, seed)
    if not (recipe.contrastive or recipe.self_contrastive):
        return PreparedTraining(model, task, plain, len(plain.epoch(0)))
    if not isinstance(model, Transformer) or len(corpora) > 1:
        raise ValueError(
            "--contrastive needs a Transformer and one corpus; choose --architecture"
            " modern, without --also"
        )
    tags = {
        language: subwords.source.encode("", tag=tag_of(language))[0]
        for language in corpora[0][0]
    }
    batches = ContrastiveBatches(
        _both_read(corpora[0], subwords),
        recipe.batch_tokens // 2,
        languages=corpora[0][0],
        tags=tags,
        seed=seed,
        versions=_versions(recipe, corpora[0], subwords, round_trips),
        examples=plain.of_pairs,
    )
    contrastive = ContrastiveTask(
        task, recipe.contrastive, recipe.temperature, recipe.self_contrastive
    )
    network = WithProjection(model, ProjectionHead(recipe.d_model), tags.values())
    return PreparedTraining(network, contrastive, batches, len(batches.epoch(0)))


def train_config(
    recipe: Recipe, seed: int, progress: bool, epoch_steps: int, clock: str = "wall"
) -> TrainConfig:
    """How `fit` is to train."""
    return training_config(
        recipe,
        epoch_steps=epoch_steps,
        select_by="bleu",
        mode="max",
        seed=seed,
        progress=progress,
        clock=clock,
        sam_rho=recipe.sam_rho or None,
        optimizer=recipe.optimizer,
    )


def _both_read(
    corpus: tuple[tuple[str, str], Sequence[SentencePair]], subwords: Subwords
) -> list[Pair]:
    """Ids of both sides in the form that the encoder reads, without tags."""
    (source, target), pairs = corpus
    sources = subwords.source.encode_batch([to_model(p.source, source) for p in pairs])
    targets = subwords.source.encode_batch([to_model(p.target, target) for p in pairs])
    return list(zip(sources, targets, strict=True))


def _check_compared(recipe: Recipe, round_trips: Sequence[SentencePair]) -> None:
    """Refuse versions of sentences without a loss that compares them."""
    if recipe.versions != "mask" and not recipe.self_contrastive:
        raise ValueError(
            f"--versions {recipe.versions} has no use without --self-contrastive; give"
            " it, too"
        )
    if round_trips and recipe.versions != "round-trip":
        raise ValueError(
            "--round-trips has no use without --versions round-trip; give it, too"
        )


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
            f"--versions round-trip needs --round-trips with {len(corpus[1])} pairs,"
            f" one for each training pair that fits the model, got {len(round_trips)}"
        )
    return RoundTripVersions(_both_read((corpus[0], round_trips), subwords))


OPEN_TEXT = ("open", "tatoeba")
"""Corpora, and beginnings of the names of their domains, under licences that ask for
attribution."""
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

    @property
    def translator(self) -> Translator:
        """The system that the run made."""
        recipe, directions = Recipe(**self.card["recipe"]), self.card["directions"]
        return Translator(self.model, self.subwords, recipe, directions, self.card)


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
    log: Log = print,
    progress: bool = True,
) -> Trained:
    """Train, choose by BLEU on the dev part, and store the model in `out`.

    Stopped and called again with `resume`, it goes on as if it had never been stopped,
    see `app.training_run.train_in_folder`.

    Args:
        parts: the corpus in the direction to learn, or several; the first one's dev
            part chooses.
        out: folder, which must not hold another run.
        extra: further training pairs in the first direction, such as back-translations;
            those with a sentence of a dev or test part are left out and counted. The
            vocabulary is not learnt from them.
        start: folder of a finished model whose weights and vocabulary to begin with.
        round_trips: for each training pair what came back for both sides, see
            `Recipe.versions`.
        contest_rules: note that `check_contest_rules` checked the data.
        clock: what the limit in seconds counts, see `TrainConfig`.
        log: receives one line at a time about what is done and left out.

    Raises:
        ValueError: `out` holds a run already, or another one; the data do not fit the
            recipe; or versions or round trips are given that no loss compares.
    """
    check_count("--seed", seed, least=0, most=2**32 - 1)
    _check_compared(recipe, round_trips)
    out, corpora = Path(out), [parts] if isinstance(parts, Parts) else list(parts)
    extra, held = _not_held_out(extra, corpora)
    if recipe.placeholders == "mask":
        corpora, extra = [_masked(one) for one in corpora], list(map(mask_pair, extra))
    begun = None if start is None else start.resolve().name
    begun = "default" if start == DEFAULT else begun
    card = card_of(recipe, corpora, seed, n_extra=len(extra), start=begun)
    card |= {"contest_rules": True} if contest_rules else {}
    subwords: Subwords

    def prepare() -> training_run.TrainingSetup:
        nonlocal subwords
        for note in _notes(recipe, corpora, held):
            log(f"note: {note}")
        learnt: Corpora = [((one.source, one.target), one.train) for one in corpora]
        subwords = vocabulary_of(recipe, learnt, out, start)
        kept = _fitting(recipe, corpora, subwords, extra, log)
        set_seed(seed)
        model = _first_model(recipe, subwords, start)
        log(f"{count_parameters(model):,} parameters")
        one = prepare_training(recipe, model, kept, subwords, seed, round_trips)
        return training_run.TrainingSetup(
            one.network,
            one.task,
            one.batches,
            train_config(recipe, seed, progress, one.n_steps, clock),
            partial(validate, recipe=recipe, subwords=subwords, parts=corpora[0]),
            stored=_transformer(one.network),
        )

    trained = training_run.train_in_folder(
        out,
        card,
        prepare,
        lambda best: {"vocabulary": subwords.fingerprints, "dev_bleu": best.score},
        resume=resume,
        changeable=CHANGEABLE,
        added=ADDED_SETTINGS,
    )
    write_attribution(out, _attribution(corpora, start))
    return Trained(trained.model, subwords, trained.history, trained.card)


def _attribution(corpora: Sequence[Parts], start: Path | None) -> str:
    """What the licences ask to stand beside the model."""
    told = "" if start is None else attribution_in(start)
    open_text = attribution_of("open")
    learnt = any(one.corpus.split("-")[0] in OPEN_TEXT for one in corpora)
    return told if not learnt or open_text in told else told + open_text


def _notes(recipe: Recipe, corpora: Sequence[Parts], held: int) -> list[str]:
    """What a reader of the run must know before it begins."""
    notes = [note for one in corpora for note in one.notes]
    if held:
        why = "whose sentences are in dev or test"
        notes.append(f"{held} further pairs left out, {why}")
    if recipe.reverse_fault != "none":
        fault = f"--reverse-fault {recipe.reverse_fault}"
        notes.append(f"{fault} is a negative control, to show what the fault costs")
    return notes


def validate(
    network: nn.Module, recipe: Recipe, subwords: Subwords, parts: Parts
) -> dict[str, float]:
    """BLEU of greedy translations of the first sentences of the dev part.

    A source that is longer than the model takes is cut here; `evaluate` counts and
    names such sources.
    """
    chosen = parts.dev[:N_VALIDATED]
    texts, languages = [p.source for p in chosen], (parts.source, parts.target)
    ids, _ = cut_sources(subwords, texts, *languages, recipe.max_len - 1)
    model = _transformer(network)
    found = search(model, ids, max_len=recipe.max_len, beam_size=1)
    predictions = [
        to_scorer(subwords.target.decode(best.ids), parts.target) for best, *_ in found
    ]
    references = [to_scorer(p.target, parts.target) for p in chosen]
    bleu = score(bleu_of(parts.target), predictions, references)
    return {"bleu": float(bleu.value)}


def _fitting(
    recipe: Recipe,
    corpora: Sequence[Parts],
    subwords: Subwords,
    extra: Sequence[SentencePair],
    log: Log,
) -> Corpora:
    """The training pairs of each corpus that fit the model."""
    found: Corpora = []
    for i, one in enumerate(corpora):
        languages = (one.source, one.target)
        pairs = [*one.train, *(extra if i == 0 else ())]
        kept = fitting(
            pairs, subwords, languages, recipe.max_len, both_ways=recipe.reads_both
        )
        log(
            f"{one.corpus}, {one.source} to {one.target}: {len(kept.pairs)} training"
            f" pairs; {kept}"
        )
        if not kept.pairs:
            raise ValueError(
                f"--max-len {recipe.max_len} leaves no pair of {one.corpus}; raise it"
            )
        found.append((languages, kept.pairs))
    return found


def _not_held_out(
    extra: Sequence[SentencePair], corpora: Sequence[Parts]
) -> tuple[list[SentencePair], int]:
    """Further pairs without a sentence of dev or test, and how many have one."""
    if not extra:
        return [], 0
    held = set().union(*map(scored_keys, corpora))
    languages = corpora[0].source, corpora[0].target
    kept = [pair for pair in extra if held.isdisjoint(pair_keys(pair, *languages))]
    return kept, len(extra) - len(kept)


def _masked(parts: Parts) -> Parts:
    """The corpus with marks in place of what is copied."""
    train, dev = (tuple(map(mask_pair, part)) for part in (parts.train, parts.dev))
    return replace(parts, train=train, dev=dev)


def _first_model(recipe: Recipe, subwords: Subwords, start: Path | None) -> nn.Module:
    def read(folder: Path) -> nn.Module:
        prints = subwords.fingerprints
        return load_model(folder / "model", rebuilder(recipe), vocabulary=prints)[0]

    model = build_model(recipe, len(subwords.source), len(subwords.target))
    return training_run.first_model(model, start, read)


def _transformer(network: nn.Module) -> nn.Module:
    """The model inside a network of the contrastive stage."""
    return network.transformer if isinstance(network, WithProjection) else network
