"""What a row of the ladder does with a trained model: another way to decode.

Each function scores the whole dev part and returns what a reader of the score must
know.
"""

from collections.abc import Mapping
from pathlib import Path

from coursepkg.app.ladder import LadderRow
from coursepkg.app.output import silent
from coursepkg.decoding.rerank import Scorer
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.ensemble import together
from coursepkg.projects.translation.errors.dictionary import RARE, learn_from
from coursepkg.projects.translation.errors.postprocess import PostProcessor
from coursepkg.projects.translation.evaluate import (
    Evaluation,
    dev_cross_validation,
    translate_pairs,
)
from coursepkg.projects.translation.knn_mt import build_datastore, with_neighbours
from coursepkg.projects.translation.ladder.rows import NO_LIMIT
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.recipe import LanguageRecipe, Recipe
from coursepkg.projects.translation.studies.decoding_study import Decoder, Method
from coursepkg.projects.translation.studies.language_model import (
    train_language_model,
)
from coursepkg.projects.translation.studies.measured_run import score_dev, score_lines
from coursepkg.projects.translation.studies.neighbours_study import K
from coursepkg.projects.translation.studies.reranking import NBestLists, scorers_of
from coursepkg.projects.translation.train import train

WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)
"""Of the other model's score beside log p(y | x)."""
N_BEST = 8
"""Translations of each sentence that the other model chooses among."""
NEIGHBOUR_WEIGHTS = (0.0, 0.2, 0.3, 0.4)
"""Of the neighbours; each takes a search of the whole dev part."""
TEMPERATURE = 10.0
"""Of their squared distances."""

OTHER_SEED = 1000
"""What the second model of an ensemble adds to the seed of the row."""

Scored = tuple[Evaluation, list[str]]


def decode_row(
    row: LadderRow,
    translator: Translator,
    parts: Parts,
    recipe: Recipe,
    *,
    seed: int,
    out: Path,
    clock: str = "wall",
    resume: bool = False,
) -> Scored:
    """Decode the dev part as a row asks for.

    Args:
        row: its setting `decoding`.
        translator: the trained model.
        recipe: of the row; its search settings count.
        seed: of draws and of the language model.
        out: folder for what has to be trained.
        clock: what the budget of a further model counts, see `TrainConfig`.
        resume: go on with the second model of an ensemble that is in `out`.
    """
    decoding = row.settings["decoding"]
    if decoding == "sample":
        return sampled(
            translator, parts, Method(sample=True, seed=seed, **row.settings["draws"])
        )
    if decoding == "repairs":
        return repaired(translator, parts)
    alpha = recipe.length_penalty
    if decoding == "language-model":
        return reranked(
            translator,
            parts,
            out / "language-model",
            recipe=LanguageRecipe(max_seconds=recipe.max_seconds / 2),
            seed=seed,
            alpha=alpha,
            clock=clock,
        )
    if decoding == "noisy-channel":
        return translated_back(translator, parts, alpha)
    if decoding == "neighbours":
        return with_knn_mt(translator, parts)
    if decoding == "ensemble":
        out, other = out / "second", seed + OTHER_SEED
        return ensembled(
            translator, parts, recipe, out, seed=other, clock=clock, resume=resume
        )
    return score_dev(
        translator, parts, beam_size=recipe.beam_size, length_penalty=alpha
    )


def sampled(translator: Translator, parts: Parts, method: Method) -> Scored:
    """Draw the tokens instead of searching."""
    texts, languages = [p.source for p in parts.dev], (parts.source, parts.target)
    decoder = Decoder(translator)
    masked, ids, _ = decoder.encoded(texts, *languages)
    lines = [*map(decoder.line, decoder.decode(ids, method), masked)]
    return score_lines(lines, parts, f"{parts.corpus} dev, {method}"), []


def repaired(translator: Translator, parts: Parts) -> Scored:
    """Repair by rules and a dictionary of the training part."""
    repair = PostProcessor(
        parts.source,
        parts.target,
        learn_from(parts, RARE),
        underscores=translator.recipe.underscores == "keep",
    )
    found, notes = translate_pairs(translator, parts.dev, parts.source, parts.target)
    sources = [p.source for p in parts.dev]
    lines, note = repair.lines(sources, [one.line for one in found])
    protocol = f"{parts.corpus} dev, beam {translator.recipe.beam_size}, repaired"
    return score_lines(lines, parts, protocol), [*notes, note]


def reranked(
    translator: Translator,
    parts: Parts,
    out: Path,
    *,
    recipe: LanguageRecipe,
    seed: int = 0,
    alpha: float | None = None,
    clock: str = "wall",
) -> Scored:
    """Rerank the n best by log p(y) of a language model of the training targets."""
    model, _, _ = train_language_model(
        translator, parts, out, recipe=recipe, seed=seed, clock=clock, progress=False
    )
    note = (
        f"the language model was trained {_how_long(recipe.max_seconds)} than the other"
        " rows have, and stopped by its perplexity on one half"
    )
    scorers = scorers_of(translator, model, None, parts.dev, parts)
    return reranked_by("lm", scorers, translator, parts, note, alpha)


def translated_back(
    translator: Translator, parts: Parts, alpha: float | None = None
) -> Scored:
    """Rerank the n best by log p(x | y) of the model, which knows both ways."""
    scorers = scorers_of(translator, None, translator, parts.dev, parts)
    note = "scored by the same model, translating back"
    return reranked_by("reverse", scorers, translator, parts, note, alpha)


def with_knn_mt(translator: Translator, parts: Parts) -> Scored:
    """Mix in neighbours; each half of dev takes the weight best on the other."""
    store = build_datastore(translator, parts)
    k = min(K, len(store))
    chosen: dict[float, list[str]] = {}
    notes: list[str] = []
    for weight in NEIGHBOUR_WEIGHTS:
        system = with_neighbours(translator, store, weight, TEMPERATURE, k)
        found, notes = translate_pairs(system, parts.dev, parts.source, parts.target)
        chosen[weight] = [one.line for one in found]
    lines, weights = dev_cross_validation(chosen, parts)
    note = (
        f"{k} neighbours of {len(store)} states at temperature {TEMPERATURE:g}; weights"
        f" {weights[0]:g} and {weights[1]:g}, each chosen on the other half of dev"
    )
    protocol = f"{parts.corpus} dev, beam {translator.recipe.beam_size}, neighbours"
    return score_lines(lines, parts, protocol), [*notes, note]


def ensembled(
    translator: Translator,
    parts: Parts,
    recipe: Recipe,
    out: Path,
    *,
    seed: int,
    clock: str = "wall",
    resume: bool = False,
) -> Scored:
    """Decode together with a second model, which differs in its seed alone."""
    second = train(
        recipe,
        parts,
        out,
        seed=seed,
        clock=clock,
        resume=resume,
        log=silent,
        progress=False,
    )
    both = together([translator, second.translator])
    result, notes = score_dev(both, parts)
    how_long = _how_long(recipe.max_seconds)
    note = f"the second model, of seed {seed}, was trained {how_long}"
    return result, [*notes, note]


def _how_long(seconds: float) -> str:
    """The budget of a further model in words."""
    is_limited = seconds < NO_LIMIT / 2
    return f"for up to {seconds:g} seconds more" if is_limited else "for longer"


def reranked_by(
    name: str,
    scorers: Mapping[str, Scorer],
    translator: Translator,
    parts: Parts,
    note: str,
    alpha: float | None = None,
) -> Scored:
    """Rerank the n best with the score of another model.

    The penalty is the search's own, so that a weight of 0 is the plain search with as
    many beams. Dev is cut in two; the weight of each half is the one that is best on
    the other half.

    Args:
        name: of the other model.
        note: what else is to be noted.
        alpha: exponent of the length penalty; None takes the model's recipe.
    """
    alpha = translator.recipe.length_penalty if alpha is None else alpha
    lists = NBestLists(translator, parts.dev, parts, scorers, N_BEST, alpha)
    chosen = {weight: lists.reranked({name: weight}, alpha=alpha) for weight in WEIGHTS}
    lines, weights = dev_cross_validation(chosen, parts)
    note = (
        f"{N_BEST} best; weights {weights[0]:g} and {weights[1]:g}, each chosen on the"
        f" other half of dev; {note}"
    )
    protocol = f"{parts.corpus} dev, beam {N_BEST}, reranked"
    return score_lines(lines, parts, protocol), [note]
