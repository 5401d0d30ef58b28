"""The ablation ladder as a command: each row one change, all of one budget.

    coursepkg translation ladder --preset plain --rows modern bpe-dropout --seeds 0 1 2

Or each row until its dev BLEU stops rising, with a learning rate chosen for it:

    coursepkg translation ladder --preset plain --converged --tune-rate --rows modern
    coursepkg translation ladder --preset plain --converged --rows modern --seeds 0 1 2

Runs go into --out, numbers into --results. What is stored there already is not run
again, so that a later call adds rows, seeds and budgets to what is there. A converged
row that was cut off goes on where it was.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from coursepkg.app import ladder
from coursepkg.app.ladder import LadderRun, results_folder
from coursepkg.app.options import RUNS
from coursepkg.app.output import check_out_folder, print_json
from coursepkg.app.report import markdown_table
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.ladder.comparison import verdict_lines
from coursepkg.projects.translation.ladder.rates import (
    SEED,
    Rates,
    choose_rate,
    rates_table,
    read_rates,
)
from coursepkg.projects.translation.ladder.rows import (
    LADDER,
    ROWS,
    converged_ladder,
    without_limit,
)
from coursepkg.projects.translation.ladder.run import (
    RowMaker,
    check_same_data,
    fingerprint_of,
    is_finished,
)
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
from coursepkg.validation import one_line

if TYPE_CHECKING:
    from coursepkg.projects.translation.study_commands import Ladder


def ladder_command(options: "Ladder") -> int:
    """Make what is not stored and print the table; 1 where a row could not be made."""
    results, common = results_of(options), options.common
    if options.list:
        return print_rows(results, as_json=common.json)
    check_out_folder(common.out)
    if options.threads:
        torch.set_num_threads(options.threads)
    parts = common.parts()
    if options.tune_rate:
        return tune_rates(options, parts, results)
    run, rates = run_of(options, parts, results)
    run.check_comparable(options.rows, options.seeds)
    maker = RowMaker(run, parts, options.clock, options.converged, rates)
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
    print("\n".join(verdict_lines(stored)))
    if common.json:
        print_json({"results": str(results), "rows": stored, "failed": failed})
    return int(bool(failed))


def results_of(options: "Ladder") -> Path:
    """The folder of stored rows, see `app.ladder.results_folder`."""
    return results_folder(options.results, RESULTS, "", only_reads=options.list)


def run_of(options: "Ladder", parts: Parts, results: Path) -> tuple[LadderRun, Rates]:
    """What the rows of a call share, and how their learning rates were chosen.

    Raises:
        ValueError: a stored row is of data that have changed since.
    """
    conditions = conditions_of(options, parts)
    rates = read_rates(results / conditions) if options.converged else {}
    chosen = {name: one["learning_rate"] for name, one in rates.items()}
    ladder = converged_ladder(chosen) if options.converged else LADDER
    runs = options.common.out or RUNS / "ladder"
    run = LadderRun(ladder, base_of(options), conditions, runs, results, NEEDS)
    data = fingerprint_of(parts)
    for one in run.read():
        check_same_data(run.file(one["row"], one["seed"]), one, data)
    return run, rates


def tune_rates(options: "Ladder", parts: Parts, results: Path) -> int:
    """Choose the learning rates of rows, print the trials; 1 where a row failed.

    A row comes after those whose recipe it changes, and begins with their rates. A row
    with stored numbers keeps the rate that it had.

    Raises:
        ValueError: a stored row below one of them has other settings, or one is of
            other data.
    """
    failed = []
    names = _tuned(options.rows)
    run_of(options, parts, results)[0].check_comparable(names, [SEED])
    for name in names:
        run, rates = run_of(options, parts, results)
        row = run.ladder.row(name)
        if row.name in rates:
            run.log(f"{row.name}: its rate is stored already")
            continue
        if run.files(row.name):
            run.log(f"{row.name}: stored already, so its rate stays")
            continue
        if not run.ladder.is_new(row, run.base):
            run.log(f"{row.name}: this is {row.builds_on} already, with these settings")
            continue
        run.log(f"{row.name}: trying learning rates")
        try:
            choose_rate(run, row, parts)
        except (ValueError, torch.OutOfMemoryError) as reason:
            failed.append({"row": row.name, "error": one_line(reason)})
            run.log(f"  error: {failed[-1]['error']}")
    run, rates = run_of(options, parts, results)
    print(rates_table(rates))
    if options.common.json:
        print_json({"results": str(results), "rates": rates, "failed": failed})
    return int(bool(failed))


def _tuned(names: Sequence[str]) -> list[str]:
    """These names in the ladder's order; none takes all rows that train."""
    chosen = names or [row.name for row in ROWS.values() if row.trains]
    return [name for name in ROWS if name in chosen]


def base_of(options: "Ladder") -> Recipe:
    """The recipe that rows begin with: preset, --set and budget."""
    preset = PRESETS[options.common.preset or "tiny"]
    fixed = parse_fixed(options.fixed)
    if options.converged:
        return dataclasses.replace(without_limit(preset), **fixed)
    return dataclasses.replace(preset, **(fixed | {"max_seconds": options.seconds}))


def conditions_of(options: "Ladder", parts: Parts) -> str:
    """The name of what rows must share to be held against one another."""
    budget = f"{options.seconds:g}s" + ("-of-cpu" if options.clock == "cpu" else "")
    budget = "converged" if options.converged else budget
    direction, preset = f"{parts.source}2{parts.target}", options.common.preset
    shared = (parts.corpus, direction, preset or "tiny", budget)
    return ladder.conditions_of(*shared, timed=not options.converged)


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
