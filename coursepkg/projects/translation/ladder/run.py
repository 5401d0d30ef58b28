"""One row of the ladder: its data prepared, trained or decoded, scored on dev."""

import random
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coursepkg.app.ladder import LadderRow, LadderRun
from coursepkg.app.output import silent
from coursepkg.bench.machine import circumstances
from coursepkg.data.registry import data_folder
from coursepkg.files import read_json, write_json
from coursepkg.metrics.scoring import data_hash, sentence_scores
from coursepkg.projects.translation.back_translation.files import (
    LANGUAGES_OF,
    mono_text,
)
from coursepkg.projects.translation.back_translation.generate import (
    back_translate,
    round_trip,
)
from coursepkg.projects.translation.corpora import Parts, random_split, scored_keys
from coursepkg.projects.translation.corpus import SentencePair, to_scorer
from coursepkg.projects.translation.evaluate import Evaluation, bleu_of, translate_pairs
from coursepkg.projects.translation.ladder.decoding import decode_row
from coursepkg.projects.translation.ladder.rows import has_converged, trained_row
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.published_results import (
    NEEDS,
    check_same_recipe,
    keep_sentences,
    store_row,
)
from coursepkg.projects.translation.readers.open_corpus import WIKIPEDIA
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
        row: its setting `preparation`.
        start: folder of the trained model that it begins with.

    Raises:
        ValueError: the model that it begins with does not translate both ways.
    """
    preparation = row.settings["preparation"]
    if preparation == "random-split":
        return Prepared(random_split(parts))
    makers: dict[str, Callable[[Parts, Translator], Prepared]] = {
        "back-translation": back_translations,
        "round-trips": round_trips_of,
        "hard-examples": hard_examples,
    }
    if preparation and start is not None:
        return makers[preparation](parts, Translator.load(start))
    return Prepared(parts)


def back_translations(parts: Parts, translator: Translator) -> Prepared:
    """Sentences of other text, with sources that the model wrote.

    Vietnamese ones are those of the Wikipedia, where it is; else another corpus serves.
    """
    languages = (parts.source, parts.target)
    known = (one for one, has in LANGUAGES_OF.items() if parts.target in has)
    other = next((o for o in known if not parts.corpus.startswith(o)), "phrasebook")
    if parts.target == "vi" and (data_folder() / "open" / WIKIPEDIA).is_file():
        other = "wikipedia"
    lines, name, notes = mono_text(other, *languages)
    # What the row is scored on; what other corpora hold out is not in their training
    # parts anyway.
    made = back_translate(
        translator,
        lines[:MOST_LINES],
        *languages,
        method=Method(),
        held_out=scored_keys(parts),
        name=name,
    )
    return Prepared(parts, tuple(made.pairs), notes=(*notes, f"{name}: {made}"))


def round_trips_of(parts: Parts, translator: Translator) -> Prepared:
    """What comes back for each training pair that fits the model."""
    languages = (parts.source, parts.target)
    most, subwords = translator.recipe.max_len, translator.subwords
    kept = fitting(parts.train, subwords, languages, most, both_ways=True)
    made = round_trip(translator, kept.pairs, *languages, method=Method())
    notes = (f"round trips: {made}",)
    return Prepared(parts, round_trips=tuple(made.pairs), notes=notes)


def hard_examples(parts: Parts, translator: Translator) -> Prepared:
    """The training pairs of lowest sentence BLEU once more."""
    n = len(parts.train)
    numbers = random.Random(0).sample(range(n), min(MOST_JUDGED, n))
    pairs = [parts.train[i] for i in sorted(numbers)]
    target = parts.target
    found, _ = translate_pairs(translator, pairs, parts.source, target, beam_size=1)
    predictions = [to_scorer(one.n_best[0].line, target) for one in found]
    true = [to_scorer(pair.target, target) for pair in pairs]
    metric = bleu_of(target, sentence=True)
    bleu = sentence_scores(metric, predictions, true).tolist()
    order = sorted(range(len(pairs)), key=lambda i: (bleu[i], i))
    worst = order[: round(HARD_SHARE * len(pairs))]
    note = (
        f"{len(worst)} of {len(pairs)} training pairs once more, with a sentence BLEU"
        f" up to {bleu[worst[-1]]:.1f}"
    )
    return Prepared(parts, tuple(pairs[i] for i in worst), notes=(note,))


NUMBERS = "numbers.json"
"""In the folder of a run that is finished: its document."""
OF_TRAINING = (
    *("parameters", "steps", "steps_taken", "epochs", "seconds", "cpu_seconds"),
    *("timed_steps", "stopped", "converged"),
)
"""What the document of a row that decodes takes from that of the trained model."""

Numbers = tuple[dict[str, Any], Evaluation]


def is_finished(folder: Path) -> bool:
    """Whether the run of a row is there."""
    return (folder / NUMBERS).is_file()


def fingerprint_of(parts: Parts) -> str:
    """The hash of all pairs of a corpus, part by part."""
    splits = (parts.train, parts.dev, parts.test)
    return data_hash([[f"{p.source}\t{p.target}" for p in one] for one in splits])


def check_same_data(path: Path, stored: Mapping[str, Any], data: str) -> None:
    """Check that a stored row has these data; one without their hash passes.

    Raises:
        ValueError: it has others.
    """
    if stored.get("data", data) != data:
        raise ValueError(
            f"{path} holds this row with other data: those of --data have changed"
            " since; choose another --out and another --results"
        )


@dataclass(frozen=True)
class RowMaker:
    """What makes the rows of a call, beside what all ladders have."""

    run: LadderRun
    parts: Parts
    clock: str = "wall"
    """What the budget counts, see `TrainConfig`."""
    converged: bool = False
    """Whether rows train until dev stops rising; a run that was cut off then goes on.
    With a budget it begins again, so that each row has the same."""
    rates: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By row how its learning rate was chosen, see `ladder.rates`."""

    def __call__(self, row: LadderRow, seed: int) -> dict[str, Any]:
        """Make a row, and store its numbers unless they are stored.

        The rows it needs must be finished.

        Raises:
            ValueError: the row cannot be trained, or its run has other settings or
                data.
        """
        document = self._made(row, seed)
        path = self.run.file(row.name, seed)
        if not path.exists():
            store_row(path, document)
        return document

    def _made(self, row: LadderRow, seed: int) -> dict[str, Any]:
        """The document of a row, from its finished run or from a run now."""
        folder, base = self.run.folder(row.name, seed), self.run.base
        ladder, data = self.run.ladder, fingerprint_of(self.parts)
        recipe = ladder.recipe(row, base)
        if is_finished(folder):
            document = read_json(folder / NUMBERS, needs=NEEDS)
            check_same_recipe(folder / NUMBERS, document, recipe)
            check_same_data(folder / NUMBERS, document, data)
            return {name: value for name, value in document.items() if name != "format"}
        if folder.exists() and not self._goes_on(row):
            shutil.rmtree(folder)
        make = self._train if row.trains else self._decode
        numbers, result = make(row, recipe, seed)
        notes = numbers.pop("notes")
        names = ("start", "preparation", "decoding")
        document = {
            "row": row.name,
            "about": row.about,
            "seed": seed,
            "conditions": self.run.conditions,
            "data": data,
            "builds_on": row.builds_on,
            "changes": ladder.changes(row, base) if row.builds_on else {},
            **{name: row.settings[name] for name in names},
            "recipe": recipe.described(),
            "clock": self.clock,
            **({"rates": self.rates[row.name]} if row.name in self.rates else {}),
            **numbers,
            **circumstances(),
            "note": "; ".join(notes),
        }
        keep_sentences(folder, result)
        write_json(folder / NUMBERS, document)
        return document

    def _goes_on(self, row: LadderRow) -> bool:
        """Whether a row that was cut off half-way goes on where it was."""
        trains = row.trains or row.settings["decoding"] == "ensemble"
        return self.converged and trains

    def _train(self, row: LadderRow, recipe: Recipe, seed: int) -> Numbers:
        begun = row.settings["start"]
        start = self.run.folder(begun, seed) if begun else None
        data = prepare(row, self.parts, start)
        for note in data.notes:
            self.run.log(f"note: {note}")
        measured, result = train_and_score(
            recipe,
            data.parts,
            self.run.folder(row.name, seed),
            seed=seed,
            extra=data.extra,
            start=start,
            round_trips=data.round_trips,
            clock=self.clock,
            resume=self.converged,
            log=silent,
        )
        numbers = measured.as_json()
        if self.converged:
            numbers["converged"] = has_converged(recipe, measured.stopped)
        is_split_anew = row.settings["preparation"] == "random-split"
        more = data.parts.notes if is_split_anew else ()
        return numbers | {"notes": [*numbers["notes"], *more, *data.notes]}, result

    def _decode(self, row: LadderRow, recipe: Recipe, seed: int) -> Numbers:
        """The trained model below the row, its translations found in another way."""
        below = self.run.folder(trained_row(row).name, seed)
        trained = read_json(below / NUMBERS, needs=NEEDS)
        translator = Translator.load(below)
        begin = time.monotonic()
        result, notes = decode_row(
            row,
            translator,
            self.parts,
            recipe,
            seed=seed,
            out=self.run.folder(row.name, seed),
            clock=self.clock,
            resume=self.converged,
        )
        numbers = {name: trained[name] for name in OF_TRAINING if name in trained}
        numbers |= {
            "decoding_seconds": round(time.monotonic() - begin, 1),
            "scores": result.as_json()["scores"],
            "notes": [*result.notes, *notes],
        }
        return numbers, result
