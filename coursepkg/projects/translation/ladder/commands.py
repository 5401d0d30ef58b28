"""The ablation ladder as a command: each row one change, all of one budget.

    coursepkg translation ladder --preset plain --rows modern bpe-dropout --seeds 0 1 2

Runs go into --out, numbers into --results. What is stored there already is not run
again, so that a later call adds rows, seeds and budgets to what is there.
"""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from coursepkg.app.options import RUNS
from coursepkg.app.output import print_json
from coursepkg.app.published_results import INSTALLED
from coursepkg.app.report import markdown_table
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.ladder.rows import (
    ROWS,
    recipe_of,
    row_named,
    with_needed,
)
from coursepkg.projects.translation.ladder.run import LadderSetup, is_new, make_row
from coursepkg.projects.translation.published_results import (
    add_comparison,
    check_same_recipe,
    ladder_table,
    read_ladder,
    read_row,
    row_file,
    store_row,
    stored_folder,
    with_interval,
)
from coursepkg.projects.translation.recipe import PRESETS, Recipe
from coursepkg.projects.translation.studies.config_search import parse_fixed
from coursepkg.validation import one_line

if TYPE_CHECKING:
    from coursepkg.projects.translation.study_commands import Ladder


def ladder_command(options: "Ladder") -> int:
    """Make what is not stored and print the table; 1 where a row could not be made."""
    folder = results_of(options)
    if options.list:
        return print_rows(folder, as_json=options.common.json)
    return ladder(options, folder)


def results_of(options: "Ladder") -> Path:
    """The folder of stored rows.

    Raises:
        ValueError: new rows of an installed copy have no place to go.
    """
    found = options.results or stored_folder()
    if found is None or (
        options.results is None and not options.list and found.name == INSTALLED
    ):
        raise ValueError(
            "--results FOLDER is needed: this copy of coursepkg is installed and takes"
            " no new rows"
        )
    return found


def ladder(options: "Ladder", results: Path) -> int:
    """Make the rows and print their table; 1 where a row could not be made."""
    if options.threads:
        torch.set_num_threads(options.threads)
    common = options.common
    parts = common.parts()
    base = base_of(options)
    setup = LadderSetup(
        base,
        parts,
        conditions_of(options, parts),
        common.out or RUNS / "ladder",
        options.clock,
    )
    chosen = options.rows or tuple(ROWS)
    for name in [name for name in chosen if not is_new(row_named(name), base)]:
        print(
            f"{name}: this is {row_named(name).builds_on} already, with these settings"
        )
    chosen = tuple(name for name in chosen if is_new(row_named(name), base))
    failed = [
        error
        for seed in options.seeds
        for error in make_rows(setup, chosen, seed, results)
    ]
    _compare(setup, results)
    stored = [
        row for row in read_ladder(results) if row["conditions"] == setup.conditions
    ]
    print(ladder_table(stored))
    if common.json:
        print_json({"results": str(results), "rows": stored, "failed": failed})
    return int(bool(failed))


def base_of(options: "Ladder") -> Recipe:
    """The recipe that rows begin with: preset, --set and budget."""
    changes = parse_fixed(options.fixed) | {"max_seconds": options.seconds}
    return dataclasses.replace(PRESETS[options.common.preset or "tiny"], **changes)


def conditions_of(options: "Ladder", parts: Parts) -> str:
    """The name of what rows must share to be held against one another."""
    budget = f"{options.seconds:g}s" + ("-of-cpu" if options.clock == "cpu" else "")
    device = "cuda" if torch.cuda.is_available() else f"cpu-{torch.get_num_threads()}"
    preset = options.common.preset or "tiny"
    return f"{parts.corpus}_{parts.source}2{parts.target}_{preset}_{budget}_{device}"


def make_rows(
    setup: LadderSetup, names: Sequence[str], seed: int, results: Path
) -> list[dict[str, Any]]:
    """Make the rows of one seed that are not stored, behind those they need.

    A row that cannot be made is told and stops no other, save those that need it.

    Returns:
        row, seed and error of each that failed.
    """
    paths = {name: row_file(results, setup.conditions, name, seed) for name in ROWS}
    for name in names:
        if paths[name].exists():
            recipe = recipe_of(row_named(name), setup.base)
            check_same_recipe(paths[name], read_row(paths[name]), recipe)
    failed: dict[str, str] = {}
    for row in with_needed([name for name in names if not paths[name].exists()]):
        print(f"{row.name}, seed {seed}: {row.about}", flush=True)
        try:
            if row.needs in failed:
                raise ValueError(f"needs the model of {row.needs}")
            document = make_row(setup, row, seed)
        except (ValueError, torch.OutOfMemoryError) as reason:
            failed[row.name] = one_line(reason)
            print(f"  error: {failed[row.name]}")
            continue
        if not paths[row.name].exists():
            store_row(paths[row.name], document)
        print(f"  BLEU {with_interval(document)}", flush=True)
    return [
        {"row": name, "seed": seed, "error": error} for name, error in failed.items()
    ]


def print_rows(results: Path, *, as_json: bool = False) -> int:
    """Print every row with its conditions and seeds that are stored."""
    stored: dict[str, dict[str, Sequence[str]]] = {}
    for one in read_ladder(results):
        seeds = stored.setdefault(one["row"], {})
        seeds[one["conditions"]] = [*seeds.get(one["conditions"], ()), str(one["seed"])]
    lines = [
        (
            row.name,
            row.builds_on,
            row.about,
            "; ".join(
                f"{name}: {', '.join(seeds)}"
                for name, seeds in stored.get(row.name, {}).items()
            ),
        )
        for row in ROWS.values()
    ]
    head = ("row", "builds on", "what it tries", "stored: seeds")
    print(markdown_table(head, lines))
    if as_json:
        print(
            json.dumps(
                {"rows": [dict(zip(head, line, strict=True)) for line in lines]},
                ensure_ascii=False,
            )
        )
    return 0


def _compare(setup: LadderSetup, results: Path) -> None:
    """Add paired comparisons to rows whose sentences are there."""
    for one in read_ladder(results):
        if one["conditions"] != setup.conditions or not one["builds_on"]:
            continue
        path = row_file(results, setup.conditions, one["row"], one["seed"])
        runs = (
            setup.folder(name, one["seed"]) for name in (one["row"], one["builds_on"])
        )
        add_comparison(path, one["builds_on"], *runs)
