"""What a row of the ladder does with a trained model: another search, draws, repairs, or another model's choice.

Each function scores the whole dev part and returns what a reader of the score must know.
"""

from collections.abc import Mapping
from pathlib import Path

from coursepkg.decoding.rerank import Scorer
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.ensemble import together
from coursepkg.projects.translation.errors.dictionary import RARE, Dictionary
from coursepkg.projects.translation.errors.postprocess import PostProcessor
from coursepkg.projects.translation.evaluate import Evaluation, translate_pairs
from coursepkg.projects.translation.halves import cross_chosen
from coursepkg.projects.translation.ladder.row import LadderRow
from coursepkg.projects.translation.neighbours import build_datastore, with_neighbours
from coursepkg.projects.translation.neighbours_study import K
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.projects.translation.reranking.language_model import train_language_model
from coursepkg.projects.translation.reranking.language_recipe import LanguageRecipe
from coursepkg.projects.translation.reranking.lists import NBestLists, scorers_of
from coursepkg.projects.translation.studies.decoding_methods import Decoder, Method
from coursepkg.projects.translation.studies.measured_run import score_dev, score_lines
from coursepkg.projects.translation.tokenizers import cut_sources
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
) -> Scored:
    """Decode the dev part as a row asks for.

    Args:
        row: its `decoding`.
        translator: the trained model.
        parts: the corpus.
        recipe: of the row; its search settings count.
        seed: of draws and of the language model.
        out: folder for what has to be trained.
        clock: what the budget of a further model counts, see `TrainConfig`.
    """
    if row.decoding == "sample":
        return drawn(translator, parts, Method(sample=True, seed=seed, **row.draws))
    if row.decoding == "repairs":
        return repaired(translator, parts)
    if row.decoding == "language-model":
        budget = LanguageRecipe(max_seconds=recipe.max_seconds / 2)
        alpha = recipe.length_penalty
        return reranked(
            translator, parts, out / "language-model", recipe=budget, seed=seed, alpha=alpha, clock=clock
        )
    if row.decoding == "noisy-channel":
        return translated_back(translator, parts, recipe.length_penalty)
    if row.decoding == "neighbours":
        return looked_up(translator, parts)
    if row.decoding == "ensemble":
        return voted(translator, parts, recipe, out / "second", seed=seed + OTHER_SEED, clock=clock)
    return score_dev(translator, parts, beam_size=recipe.beam_size, length_penalty=recipe.length_penalty)


def drawn(translator: Translator, parts: Parts, method: Method) -> Scored:
    """Draw the tokens instead of searching."""
    texts = [p.source for p in parts.dev]
    ids, _ = cut_sources(translator.subwords, texts, parts.source, parts.target, translator.longest)
    found = Decoder(translator).decode(ids, method)
    lines = [translator.subwords.target.decode(one.ids) for one in found]
    return score_lines(lines, parts, f"{parts.corpus} dev, {method}"), []


def repaired(translator: Translator, parts: Parts) -> Scored:
    """Repair numbers, terms and repetitions by rules and a dictionary of the training part."""
    words = [(p.source.split(), p.target.split()) for p in parts.train]
    repair = PostProcessor(
        parts.source,
        parts.target,
        Dictionary.learn(words, RARE),
        underscores=translator.recipe.underscores == "keep",
    )
    found, notes = translate_pairs(translator, parts.dev, parts.source, parts.target)
    lines, note = repair.lines([p.source for p in parts.dev], [one.line for one in found])
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
    """Choose among the n best translations by log p(y) of a language model of the training part's targets."""
    model, _, _ = train_language_model(
        translator, parts, out, recipe=recipe, seed=seed, clock=clock, progress=False
    )
    note = (
        f"the language model was trained for up to {recipe.max_seconds:g} seconds more than the other rows have, and "
        "stopped by its perplexity on one half"
    )
    return chosen_by(
        "lm", scorers_of(translator, model, None, parts.dev, parts), translator, parts, note, alpha
    )


def translated_back(translator: Translator, parts: Parts, alpha: float | None = None) -> Scored:
    """Choose among the n best translations by log p(x | y) of the model itself, which must know both directions."""
    scorers = scorers_of(translator, None, translator, parts.dev, parts)
    return chosen_by(
        "reverse", scorers, translator, parts, "scored by the same model, translating back", alpha
    )


def looked_up(translator: Translator, parts: Parts) -> Scored:
    """Mix in the neighbours of the training part; the weight of each half of dev is the best one of the other half."""
    store = build_datastore(translator, parts)
    k = min(K, len(store))
    chosen: dict[float, list[str]] = {}
    notes: list[str] = []
    for weight in NEIGHBOUR_WEIGHTS:
        system = with_neighbours(translator, store, weight, TEMPERATURE, k)
        found, notes = translate_pairs(system, parts.dev, parts.source, parts.target)
        chosen[weight] = [one.line for one in found]
    lines, weights = cross_chosen(chosen, parts)
    note = (
        f"{k} neighbours of {len(store)} states at temperature {TEMPERATURE:g}; weights {weights[0]:g} and "
        f"{weights[1]:g}, each chosen on the other half of dev"
    )
    protocol = f"{parts.corpus} dev, beam {translator.recipe.beam_size}, neighbours"
    return score_lines(lines, parts, protocol), [*notes, note]


def voted(
    translator: Translator, parts: Parts, recipe: Recipe, out: Path, *, seed: int, clock: str = "wall"
) -> Scored:
    """Decode together with a second model, which differs in its seed alone."""
    second = train(recipe, parts, out, seed=seed, clock=clock, say=lambda line: None, progress=False)
    other = Translator(second.model, second.subwords, recipe, second.card["directions"], second.card)
    result, notes = score_dev(together([translator, other]), parts)
    note = f"the second model, of seed {seed}, was trained for up to {recipe.max_seconds:g} seconds more"
    return result, [*notes, note]


def chosen_by(
    name: str,
    scorers: Mapping[str, Scorer],
    translator: Translator,
    parts: Parts,
    note: str,
    alpha: float | None = None,
) -> Scored:
    """Choose among the n best translations with the score of another model, see `NBestLists.reranked`.

    The penalty is the search's own, so that a weight of 0 is the plain search with as many beams. Dev is cut in two;
    the weight of each half is the one that is best on the other half.

    Args:
        name: of the other model.
        scorers: it, by its name.
        translator: the system.
        parts: the corpus.
        note: what else is to be said.
        alpha: exponent of the length penalty; None takes the model's recipe.
    """
    alpha = translator.recipe.length_penalty if alpha is None else alpha
    lists = NBestLists(translator, parts.dev, parts, scorers, N_BEST, alpha)
    chosen = {weight: lists.reranked({name: weight}, alpha=alpha) for weight in WEIGHTS}
    lines, weights = cross_chosen(chosen, parts)
    note = f"{N_BEST} best; weights {weights[0]:g} and {weights[1]:g}, each chosen on the other half of dev; {note}"
    return score_lines(lines, parts, f"{parts.corpus} dev, beam {N_BEST}, reranked"), [note]
