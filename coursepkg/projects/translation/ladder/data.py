"""What a row of the ladder does to its training data before training."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coursepkg.metrics.scoring import sentence_scores
from coursepkg.projects.translation.back_translation.files import mono_text
from coursepkg.projects.translation.back_translation.generate import back_translate, round_trip
from coursepkg.projects.translation.back_translation.held_out import LANGUAGES_OF
from coursepkg.projects.translation.corpora import Parts, random_split
from coursepkg.projects.translation.corpus import SentencePair, pair_keys, to_scorer
from coursepkg.projects.translation.evaluate import bleu_of, translate_pairs
from coursepkg.projects.translation.examples import fitting
from coursepkg.projects.translation.ladder.row import LadderRow
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.studies.decoding_methods import Method

MOST_LINES = 20_000
"""Sentences of the other corpus that are translated back, at most."""
MOST_JUDGED = 9_000
"""Training sentences that are translated to find hard ones, at most."""
HARD_SHARE = 1 / 3
"""Of these, the share that trains twice."""


@dataclass(frozen=True)
class Prepared:
    """The data of a row."""

    parts: Parts
    extra: tuple[SentencePair, ...] = ()
    """Further training pairs."""
    round_trips: tuple[SentencePair, ...] = ()
    """For each training pair that fits the model what came back."""
    notes: tuple[str, ...] = ()
    """What was done, one line each."""


def prepare(row: LadderRow, parts: Parts, start: Path | None) -> Prepared:
    """The data of a row.

    Args:
        row: its `preparation`.
        parts: the corpus.
        start: folder of the trained model that it begins with.

    Raises:
        ValueError: the model that it begins with does not translate both ways.
    """
    if row.preparation == "random-split":
        return Prepared(random_split(parts))
    makers: dict[str, Callable[[Parts, Translator], Prepared]] = {
        "back-translation": back_translations,
        "round-trips": round_trips_of,
        "hard-examples": hard_examples,
    }
    if row.preparation and start is not None:
        return makers[row.preparation](parts, Translator.load(start))
    return Prepared(parts)


def back_translations(parts: Parts, translator: Translator) -> Prepared:
    """Sentences of another corpus in the target language, with sources that the model wrote."""
    languages = (parts.source, parts.target)
    others = [
        corpus
        for corpus, has in LANGUAGES_OF.items()
        if parts.target in has and not parts.corpus.startswith(corpus)
    ]
    lines, name, notes = mono_text((*others, "phrasebook")[0], *languages)
    # What the row is scored on; what other corpora hold out is not in their training parts anyway.
    held = {key for pair in (*parts.dev, *parts.test) for key in pair_keys(pair, *languages)}
    made = back_translate(
        translator, lines[:MOST_LINES], *languages, method=Method(), held_out=held, name=name
    )
    return Prepared(parts, tuple(made.pairs), notes=(*notes, f"{name}: {made}"))


def round_trips_of(parts: Parts, translator: Translator) -> Prepared:
    """What comes back for each training pair that fits the model."""
    languages = (parts.source, parts.target)
    kept = fitting(parts.train, translator.subwords, languages, translator.recipe.max_len, both_ways=True)
    made = round_trip(translator, kept.pairs, *languages, method=Method())
    return Prepared(parts, round_trips=tuple(made.pairs), notes=(f"round trips: {made}",))


def hard_examples(parts: Parts, translator: Translator) -> Prepared:
    """The training pairs that the model translates worst, by sentence BLEU, once more."""
    numbers = random.Random(0).sample(range(len(parts.train)), min(MOST_JUDGED, len(parts.train)))
    pairs = [parts.train[i] for i in sorted(numbers)]
    found, _ = translate_pairs(translator, pairs, parts.source, parts.target, beam_size=1)
    said = [to_scorer(one.n_best[0].line, parts.target) for one in found]
    true = [to_scorer(pair.target, parts.target) for pair in pairs]
    bleu = sentence_scores(bleu_of(parts.target, sentence=True), said, true).tolist()
    order = sorted(range(len(pairs)), key=lambda i: (bleu[i], i))
    worst = order[: round(HARD_SHARE * len(pairs))]
    note = f"{len(worst)} of {len(pairs)} training pairs once more, with a sentence BLEU up to {bleu[worst[-1]]:.1f}"
    return Prepared(parts, tuple(pairs[i] for i in worst), notes=(note,))
