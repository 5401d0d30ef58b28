"""Make one row of the ladder: train or decode, score on dev, and put the numbers into a document."""

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursepkg.bench.machine import circumstances
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.evaluate import Evaluation
from coursepkg.projects.translation.ladder.data import prepare
from coursepkg.projects.translation.ladder.decoding import decode_row
from coursepkg.projects.translation.ladder.row import LadderRow
from coursepkg.projects.translation.ladder.rows import recipe_of, row_named, trained_row
from coursepkg.projects.translation.ladder.store import NEEDS, check_same_recipe, keep_sentences
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.projects.translation.studies.measured_run import train_and_score
from coursepkg.training.files import read_json, write_json

NUMBERS = "numbers.json"
"""In the folder of a run that is finished: its document."""

NOT_OF_THE_MODEL = ("max_seconds", "max_epochs", "patience")
"""Limits that are part of the conditions and not of what a row changes."""


@dataclass(frozen=True)
class Bench:
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
    say: Callable[[str], None] = print

    def folder(self, row: str, seed: int) -> Path:
        """Folder of the run of a row."""
        return self.out / self.conditions / f"{row}.seed{seed}"

    def is_finished(self, row: str, seed: int) -> bool:
        """Whether the run of a row is there."""
        return (self.folder(row, seed) / NUMBERS).is_file()


def make_row(bench: Bench, row: LadderRow, seed: int) -> dict[str, Any]:
    """The document of a row, from its finished run or from a run now. The rows it needs must be finished.

    Raises:
        ValueError: the row cannot be trained, or there is a run with other settings.
    """
    folder, recipe = bench.folder(row.name, seed), recipe_of(row, bench.base)
    if bench.is_finished(row.name, seed):
        document = read_json(folder / NUMBERS, needs=NEEDS)
        check_same_recipe(folder / NUMBERS, document, recipe)
        return {name: value for name, value in document.items() if name != "format"}
    if folder.exists():
        shutil.rmtree(folder)  # cut off half-way: it begins again, so that each row has the same budget
    run = _decode if row.decoding else _train
    numbers, result = run(bench, row, recipe, seed)
    notes = numbers.pop("notes")
    document = {
        "row": row.name,
        "about": row.about,
        "seed": seed,
        "conditions": bench.conditions,
        "builds_on": row.builds_on,
        "changes": changes_of(row, bench.base),
        "start": row.start,
        "preparation": row.preparation,
        "decoding": row.decoding,
        "recipe": recipe.described(),
        "clock": bench.clock,
        **numbers,
        **circumstances(),
        "note": "; ".join(notes),
    }
    folder.mkdir(parents=True, exist_ok=True)
    keep_sentences(folder, result)
    write_json(folder / NUMBERS, document)
    return document


def changes_of(row: LadderRow, base: Recipe) -> dict[str, Any]:
    """By field what a row's recipe has other than that of the row below; of the first row nothing."""
    if not row.builds_on:
        return {}
    own, below = (recipe_of(one, base).described() for one in (row, row_named(row.builds_on)))
    return {
        name: value for name, value in own.items() if value != below[name] and name not in NOT_OF_THE_MODEL
    }


def is_new(row: LadderRow, base: Recipe) -> bool:
    """Whether a row is another system than the one below; with some presets its setting is there already."""
    apart = (row.start, row.preparation, row.decoding not in ("", "search"), not row.builds_on)
    try:
        return any(apart) or bool(changes_of(row, base))
    except ValueError:
        return True  # the base does not go with the row, which `make_row` will say


def _train(bench: Bench, row: LadderRow, recipe: Recipe, seed: int) -> tuple[dict[str, Any], Evaluation]:
    start = bench.folder(row.start, seed) if row.start else None
    data = prepare(row, bench.parts, start)
    for note in data.notes:
        bench.say(f"note: {note}")
    measured, result = train_and_score(
        recipe,
        data.parts,
        bench.folder(row.name, seed),
        seed=seed,
        extra=data.extra,
        start=start,
        round_trips=data.round_trips,
        clock=bench.clock,
        say=lambda line: None,
    )
    numbers = measured.as_json()
    more = data.parts.notes if row.preparation == "random-split" else ()
    return numbers | {"notes": [*numbers["notes"], *more, *data.notes]}, result


def _decode(bench: Bench, row: LadderRow, recipe: Recipe, seed: int) -> tuple[dict[str, Any], Evaluation]:
    """The trained model below the row, its translations found in another way."""
    below = bench.folder(trained_row(row).name, seed)
    trained = read_json(below / NUMBERS, needs=NEEDS)
    translator = Translator.load(below)
    begin = time.monotonic()
    folder = bench.folder(row.name, seed)
    result, notes = decode_row(row, translator, bench.parts, recipe, seed=seed, out=folder, clock=bench.clock)
    names = ("parameters", "steps", "steps_taken", "epochs", "seconds", "cpu_seconds", "stopped")
    numbers = {name: trained[name] for name in names if name in trained}
    numbers["decoding_seconds"] = round(time.monotonic() - begin, 1)
    return numbers | {"scores": result.as_json()["scores"], "notes": [*result.notes, *notes]}, result
