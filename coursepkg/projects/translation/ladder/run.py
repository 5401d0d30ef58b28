"""One row of the ladder: its data prepared, trained or decoded, scored on dev.

What a row of the ladder does to its training data before training.
"""

import random
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursepkg.app.output import Log
from coursepkg.bench.machine import circumstances
from coursepkg.files import read_json, write_json
from coursepkg.metrics.scoring import sentence_scores
from coursepkg.projects.translation.back_translation.files import (
    LANGUAGES_OF,
    mono_text,
)
from coursepkg.projects.translation.back_translation.generate import (
    back_translate,
    round_trip,
)
from coursepkg.projects.translation.corpora import Parts, random_split
from coursepkg.projects.translation.corpus import SentencePair, pair_keys, to_scorer
from coursepkg.projects.translation.evaluate import Evaluation, bleu_of, translate_pairs
from coursepkg.projects.translation.ladder.decoding import decode_row
from coursepkg.projects.translation.ladder.rows import (
    LadderRow,
    recipe_of,
    row_named,
    trained_row,
)
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.published_results import (
    NEEDS,
    check_same_recipe,
    keep_sentences,
)
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.projects.translation.studies.decoding_study import Method
from coursepkg.projects.translation.studies.measured_run import train_and_score
from coursepkg.projects.translation.task import fitting

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
    """Sentences of another corpus, with sources that the model wrote."""
    languages = (parts.source, parts.target)
    others = [
        corpus
        for corpus, has in LANGUAGES_OF.items()
        if parts.target in has and not parts.corpus.startswith(corpus)
    ]
    lines, name, notes = mono_text((*others, "phrasebook")[0], *languages)
    # What the row is scored on; what other corpora hold out is not in their training
    # parts anyway.
    held = {
        key for pair in (*parts.dev, *parts.test) for key in pair_keys(pair, *languages)
    }
    made = back_translate(
        translator,
        lines[:MOST_LINES],
        *languages,
        method=Method(),
        held_out=held,
        name=name,
    )
    return Prepared(parts, tuple(made.pairs), notes=(*notes, f"{name}: {made}"))


def round_trips_of(parts: Parts, translator: Translator) -> Prepared:
    """What comes back for each training pair that fits the model."""
    languages = (parts.source, parts.target)
    kept = fitting(
        parts.train,
        translator.subwords,
        languages,
        translator.recipe.max_len,
        both_ways=True,
    )
    made = round_trip(translator, kept.pairs, *languages, method=Method())
    return Prepared(
        parts, round_trips=tuple(made.pairs), notes=(f"round trips: {made}",)
    )


def hard_examples(parts: Parts, translator: Translator) -> Prepared:
    """The training pairs of lowest sentence BLEU once more."""
    numbers = random.Random(0).sample(
        range(len(parts.train)), min(MOST_JUDGED, len(parts.train))
    )
    pairs = [parts.train[i] for i in sorted(numbers)]
    found, _ = translate_pairs(
        translator, pairs, parts.source, parts.target, beam_size=1
    )
    predictions = [to_scorer(one.n_best[0].line, parts.target) for one in found]
    true = [to_scorer(pair.target, parts.target) for pair in pairs]
    bleu = sentence_scores(
        bleu_of(parts.target, sentence=True), predictions, true
    ).tolist()
    order = sorted(range(len(pairs)), key=lambda i: (bleu[i], i))
    worst = order[: round(HARD_SHARE * len(pairs))]
    note = (
        f"{len(worst)} of {len(pairs)} training pairs once more, with a sentence BLEU"
        f" up to {bleu[worst[-1]]:.1f}"
    )
    return Prepared(parts, tuple(pairs[i] for i in worst), notes=(note,))


NUMBERS = "numbers.json"
"""In the folder of a run that is finished: its document."""

NOT_OF_THE_MODEL = ("max_seconds", "max_epochs", "patience")
"""Limits that are part of the conditions and not of what a row changes."""


@dataclass(frozen=True)
class LadderSetup:
    """What all rows of a ladder share."""

    base: Recipe
    """The recipe of the preset, with the budget."""
    parts: Parts
    conditions: str
    """Name of corpus, direction, preset, budget and device."""
    out: Path
    """Folder of the runs."""
    clock: str = "wall"
    """What the budget counts, see `TrainConfig`."""
    log: Log = print

    def folder(self, row: str, seed: int) -> Path:
        """Folder of the run of a row."""
        return self.out / self.conditions / f"{row}.seed{seed}"

    def is_finished(self, row: str, seed: int) -> bool:
        """Whether the run of a row is there."""
        return (self.folder(row, seed) / NUMBERS).is_file()


def make_row(setup: LadderSetup, row: LadderRow, seed: int) -> dict[str, Any]:
    """The document of a row, from its finished run or from a run now.

    The rows it needs must be finished.

    Raises:
        ValueError: the row cannot be trained, or there is a run with other settings.
    """
    folder, recipe = setup.folder(row.name, seed), recipe_of(row, setup.base)
    if setup.is_finished(row.name, seed):
        document = read_json(folder / NUMBERS, needs=NEEDS)
        check_same_recipe(folder / NUMBERS, document, recipe)
        return {name: value for name, value in document.items() if name != "format"}
    if folder.exists():
        shutil.rmtree(
            folder
        )  # cut off half-way: it begins again, so that each row has the same budget
    run = _decode if row.decoding else _train
    numbers, result = run(setup, row, recipe, seed)
    notes = numbers.pop("notes")
    document = {
        "row": row.name,
        "about": row.about,
        "seed": seed,
        "conditions": setup.conditions,
        "builds_on": row.builds_on,
        "changes": changes_of(row, setup.base),
        "start": row.start,
        "preparation": row.preparation,
        "decoding": row.decoding,
        "recipe": recipe.described(),
        "clock": setup.clock,
        **numbers,
        **circumstances(),
        "note": "; ".join(notes),
    }
    folder.mkdir(parents=True, exist_ok=True)
    keep_sentences(folder, result)
    write_json(folder / NUMBERS, document)
    return document


def changes_of(row: LadderRow, base: Recipe) -> dict[str, Any]:
    """What a row's recipe has other than that of the row below, by field."""
    if not row.builds_on:
        return {}
    own, below = (
        recipe_of(one, base).described() for one in (row, row_named(row.builds_on))
    )
    return {
        name: value
        for name, value in own.items()
        if value != below[name] and name not in NOT_OF_THE_MODEL
    }


def is_new(row: LadderRow, base: Recipe) -> bool:
    """Whether a row is another system than the one below, with this preset."""
    apart = (
        row.start,
        row.preparation,
        row.decoding not in ("", "search"),
        not row.builds_on,
    )
    try:
        return any(apart) or bool(changes_of(row, base))
    except ValueError:
        return True  # the base does not go with the row, which `make_row` will say


def _train(
    setup: LadderSetup, row: LadderRow, recipe: Recipe, seed: int
) -> tuple[dict[str, Any], Evaluation]:
    start = setup.folder(row.start, seed) if row.start else None
    data = prepare(row, setup.parts, start)
    for note in data.notes:
        setup.log(f"note: {note}")
    measured, result = train_and_score(
        recipe,
        data.parts,
        setup.folder(row.name, seed),
        seed=seed,
        extra=data.extra,
        start=start,
        round_trips=data.round_trips,
        clock=setup.clock,
        log=lambda line: None,
    )
    numbers = measured.as_json()
    more = data.parts.notes if row.preparation == "random-split" else ()
    return numbers | {"notes": [*numbers["notes"], *more, *data.notes]}, result


def _decode(
    setup: LadderSetup, row: LadderRow, recipe: Recipe, seed: int
) -> tuple[dict[str, Any], Evaluation]:
    """The trained model below the row, its translations found in another way."""
    below = setup.folder(trained_row(row).name, seed)
    trained = read_json(below / NUMBERS, needs=NEEDS)
    translator = Translator.load(below)
    begin = time.monotonic()
    folder = setup.folder(row.name, seed)
    result, notes = decode_row(
        row, translator, setup.parts, recipe, seed=seed, out=folder, clock=setup.clock
    )
    names = (
        "parameters",
        "steps",
        "steps_taken",
        "epochs",
        "seconds",
        "cpu_seconds",
        "stopped",
    )
    numbers = {name: trained[name] for name in names if name in trained}
    numbers["decoding_seconds"] = round(time.monotonic() - begin, 1)
    return (
        numbers
        | {"scores": result.as_json()["scores"], "notes": [*result.notes, *notes]},
        result,
    )
