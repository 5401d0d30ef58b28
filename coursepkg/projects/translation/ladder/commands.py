"""The ablation ladder as a command: each row one change, all of one budget.

    coursepkg translation ladder --preset plain --rows modern bpe-dropout --seeds 0 1 2

Runs go into --out, numbers into --results. What is stored there already is not run
again, so that a later call adds rows, seeds and budgets to what is there.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from coursepkg.app import ladder
from coursepkg.app.ladder import LadderRun, results_folder
from coursepkg.app.options import RUNS
from coursepkg.app.output import print_json
from coursepkg.app.report import markdown_table
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.ladder.rows import LADDER, ROWS
from coursepkg.projects.translation.ladder.run import RowMaker, is_finished
from coursepkg.projects.translation.published_results import (
    NEEDS,
    RESULTS,
    add_comparison,
    ladder_table,
    read_ladder,
    with_interval,
)
from coursepkg.projects.translation.recipe import PRESETS, Recipe
from coursepkg.projects.translation.studies.config_search import parse_fixed

if TYPE_CHECKING:
    from coursepkg.projects.translation.study_commands import Ladder


def ladder_command(options: "Ladder") -> int:
    """Make what is not stored and print the table; 1 where a row could not be made."""
    results, common = results_of(options), options.common
    if options.list:
        return print_rows(results, as_json=common.json)
    if options.threads:
        torch.set_num_threads(options.threads)
    parts = common.parts()
    run = LadderRun(
        LADDER,
        base_of(options),
        conditions_of(options, parts),
        common.out or RUNS / "ladder",
        results,
        NEEDS,
    )
    maker = RowMaker(run, parts, options.clock)
    failed = [
        error
        for seed in options.seeds
        for error in run.make(
            options.rows,
            seed,
            maker,
            lambda document: f"BLEU {with_interval(document)}",
            is_made=is_finished,
        )
    ]
    _compare(run)
    stored = run.read()
    print(ladder_table(stored))
    if common.json:
        print_json({"results": str(results), "rows": stored, "failed": failed})
    return int(bool(failed))


def results_of(options: "Ladder") -> Path:
    """The folder of stored rows, see `app.ladder.results_folder`."""
    return results_folder(options.results, RESULTS, "", only_reads=options.list)


def base_of(options: "Ladder") -> Recipe:
    """The recipe that rows begin with: preset, --set and budget."""
    changes = parse_fixed(options.fixed) | {"max_seconds": options.seconds}
    return dataclasses.replace(PRESETS[options.common.preset or "tiny"], **changes)


def conditions_of(options: "Ladder", parts: Parts) -> str:
    """The name of what rows must share to be held against one another."""
    budget = f"{options.seconds:g}s" + ("-of-cpu" if options.clock == "cpu" else "")
    direction, preset = f"{parts.source}2{parts.target}", options.common.preset
    return ladder.conditions_of(parts.corpus, direction, preset or "tiny", budget)


def print_rows(results: Path, *, as_json: bool = False) -> int:
    """Print every row with its conditions and seeds that are stored."""
    stored: dict[str, dict[str, Sequence[str]]] = {}
    for one in read_ladder(results):
        seeds = stored.setdefault(one["row"], {})
        seeds[one["conditions"]] = [*seeds.get(one["conditions"], ()), str(one["seed"])]
    lines = []
    for row in ROWS.values():
        there = stored.get(row.name, {}).items()
        told = "; ".join(f"{name}: {', '.join(seeds)}" for name, seeds in there)
        lines.append((row.name, row.builds_on, row.about, told))
    head = ("row", "builds on", "what it tries", "stored: seeds")
    print(markdown_table(head, lines))
    if as_json:
        print_json({"rows": [dict(zip(head, line, strict=True)) for line in lines]})
    return 0


def _compare(run: LadderRun) -> None:
    """Add paired comparisons to rows whose sentences are there."""
    for one in run.read():
        below, seed = one["builds_on"], one["seed"]
        if below:
            folders = (run.folder(name, seed) for name in (one["row"], below))
            add_comparison(run.file(one["row"], seed), below, *folders)
