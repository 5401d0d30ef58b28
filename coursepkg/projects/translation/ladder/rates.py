"""The learning rate of each row that trains until dev stops rising.

    RESULTS/CONDITIONS/ROW.rates.json     three rates, their dev BLEU, the chosen one

A rate that suits one model is too high for another. Each row is therefore tried with a
third, once and three times the rate it would have, for the same few epochs, with seed
0; the rate of the highest BLEU on dev trains the row, with every seed. The test part is
never looked at. A row that was not tried takes the rate of the row whose recipe it
changes.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coursepkg.app.ladder import LadderRow, LadderRun
from coursepkg.app.report import markdown_table
from coursepkg.bench.machine import circumstances
from coursepkg.files import read_json, write_json
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.ladder.run import is_finished, prepare
from coursepkg.projects.translation.published_results import headline, with_interval
from coursepkg.projects.translation.studies.config_search import run_trial

FACTORS = (1 / 3, 1.0, 3.0)
"""What the learning rate of a row is multiplied by in its trials."""
TRIAL_EPOCHS = 6
"""Passes over the data of each trial."""
SEED = 0
"""Of every trial."""
ENDING = ".rates.json"
NEEDS = {"row": str, "learning_rate": float, "trials": list}

Rates = dict[str, dict[str, Any]]
"""By row how its learning rate was chosen."""


def read_rates(folder: Path) -> Rates:
    """The rates that were chosen under some conditions; empty where none were.

    Args:
        folder: of the stored rows of these conditions.

    Raises:
        ValueError: a file is damaged.
    """
    files = sorted(folder.glob(f"*{ENDING}"))
    found = [read_json(path, needs=NEEDS) for path in files]
    return {one.pop("row"): one for one in found if one.pop("format")}


def choose_rate(run: LadderRun, row: LadderRow, parts: Parts) -> dict[str, Any]:
    """Try the rates of a row and store the choice; trials that are there are kept.

    Raises:
        ValueError: the row trains nothing, the model that it begins with is not there,
            or no trial could be trained.
    """
    if not row.trains:
        raise ValueError(f"--tune-rate: {row.name} trains nothing; leave it out")
    begun = row.settings["start"]
    start = run.folder(begun, SEED) if begun else None
    if start is not None and not is_finished(start):
        raise ValueError(
            f"--tune-rate: {row.name} begins with the model of {begun}; make that row"
            " first"
        )
    recipe = run.ladder.recipe(row, run.base)
    recipe = dataclasses.replace(recipe, max_epochs=TRIAL_EPOCHS)
    data, folder = prepare(row, parts, start), run.folder(row.name, SEED)
    trials = [
        run_trial(
            recipe,
            {"learning_rate": float(f"{factor * recipe.learning_rate:.3g}")},
            data.parts,
            folder.with_name(f"{row.name}.rates"),
            SEED,
            extra=data.extra,
            start=start,
            round_trips=data.round_trips,
        )
        for factor in FACTORS
    ]
    document = chosen_of(row.name, trials)
    path = run.results / run.conditions / f"{row.name}{ENDING}"
    write_json(path, document)
    return document


def chosen_of(row: str, trials: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The choice among the trials of a row, with their scores on dev.

    Args:
        row: its name.
        trials: as `run_trial` returns them, by rising rate.

    Raises:
        ValueError: none of them could be trained.
    """
    best = max(trials, key=headline)
    if "error" in best:
        raise ValueError(f"{row} trains with none of its rates: {best['error']}")
    rate = best["settings"]["learning_rate"]
    ends = [trials[i]["settings"]["learning_rate"] for i in (0, -1)]
    told = [
        {
            "learning_rate": one["settings"]["learning_rate"],
            **({"error": one["error"]} if "error" in one else _scored(one)),
        }
        for one in trials
    ]
    return {
        "row": row,
        "learning_rate": rate,
        "on_grid_boundary": rate in ends,
        "epochs": TRIAL_EPOCHS,
        "seed": SEED,
        "trials": told,
        **circumstances(),
    }


def _scored(trial: dict[str, Any]) -> dict[str, Any]:
    names = ("scores", "steps", "epochs", "cpu_seconds", "stopped")
    return {name: trial[name] for name in names}


def rates_table(rates: Rates) -> str:
    """The trials of every row as Markdown, the chosen rate marked."""
    lines = []
    for name, one in rates.items():
        for trial in one["trials"]:
            rate = trial["learning_rate"]
            is_chosen = rate == one["learning_rate"]
            edge = ", the end of the range" if one["on_grid_boundary"] else ""
            bleu = trial.get("error") or with_interval(trial)
            told = f"chosen{edge}" if is_chosen else ""
            lines.append((name, f"{rate:g}", bleu, told))
    head = ("row", "learning rate", f"dev BLEU after {TRIAL_EPOCHS} epochs", "")
    return markdown_table(head, lines, right=(1,))
