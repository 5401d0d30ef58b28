"""The ablation ladder as a command: named rows, each one change, all with the same budget.

    coursepkg translation ladder --preset plain --rows modern bpe-dropout --seeds 0 1 2

Runs go into --out, numbers into --results. What is stored there already is not run again, so that a later call adds
rows, seeds and budgets to what is there.
"""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
import tyro

from coursepkg.arguments import check_count, check_finite
from coursepkg.documents import print_json
from coursepkg.projects.options import RUNS, Flag
from coursepkg.projects.translation.commands import Common, CommonOptions
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.ladder.rows import ROWS, recipe_of, row_named, with_needed
from coursepkg.projects.translation.ladder.run import Bench, is_new, make_row
from coursepkg.projects.translation.ladder.store import (
    add_comparison,
    check_same_recipe,
    ladder_table,
    read_ladder,
    read_row,
    row_file,
    store_row,
)
from coursepkg.projects.translation.recipe import PRESETS, Recipe
from coursepkg.projects.translation.stored import stored_folder
from coursepkg.projects.translation.studies.measured_run import markdown_table, with_interval
from coursepkg.projects.translation.studies.search_space import parse_fixed
from coursepkg.stored import INSTALLED
from coursepkg.wording import one_line


@dataclass(frozen=True)
class Ladder:
    """Train the rows of the ablation ladder for the same time each, and say what each change gave on the dev part."""

    common: CommonOptions = field(default_factory=Common)
    rows: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME...")] = ()
    """Rows to make, see --list; all of them if none is given. A row whose model another one needs comes with it."""
    seeds: Annotated[tuple[int, ...], tyro.conf.arg(metavar="SEED...")] = (0,)
    """Of weights, order and dropout; every row is made once for each."""
    seconds: float = 480.0
    """Seconds of training for each row, by the clock."""
    clock: Literal["wall", "cpu"] = "wall"
    """What the seconds count: time on the wall, or CPU time, which other programs do not use up; with --threads 1."""
    fixed: Annotated[tuple[str, ...], tyro.conf.arg(name="set", metavar="NAME=VALUE")] = ()
    """Settings that differ from the preset in every row that begins with it."""
    results: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Where the numbers are stored, one file a row and seed; in a checkout its own book/_data/translation. What is
    there is never overwritten."""
    list: Flag = False
    """Only print the rows, with what is stored of each."""
    threads: int = 0
    """CPU threads; 0 leaves it to torch."""

    def __post_init__(self) -> None:
        check_finite("--seconds", self.seconds)
        check_count("--threads", self.threads, least=0)
        if not self.seconds > 0:
            raise ValueError(f"--seconds must be above 0, got {self.seconds}")
        if self.clock == "cpu" and self.threads != 1:
            raise ValueError("--clock cpu counts the time of all threads together: give --threads 1 with it")
        if self.clock == "cpu" and torch.cuda.is_available():
            raise ValueError("--clock cpu counts nothing that a GPU does; leave it out here")
        if not self.seeds:
            raise ValueError("--seeds needs at least one seed")
        for seed in self.seeds:
            check_count("--seeds", seed, least=0)
        for name in self.rows:
            row_named(name)

    def run(self) -> int:
        """Make what is not stored, print the table, and return 1 where a row could not be made."""
        folder = results_of(self)
        return print_rows(folder, as_json=self.common.json) if self.list else ladder(self, folder)


def results_of(options: Ladder) -> Path:
    """The folder of stored rows.

    Raises:
        ValueError: new rows of an installed copy have no place to go.
    """
    found = options.results or stored_folder()
    if found is None or (options.results is None and not options.list and found.name == INSTALLED):
        raise ValueError(
            "--results FOLDER is needed: this copy of coursepkg is installed and takes no new rows"
        )
    return found


def ladder(options: Ladder, results: Path) -> int:
    """Make the rows and print their table; 1 where a row could not be made."""
    if options.threads:
        torch.set_num_threads(options.threads)
    common = options.common
    parts = common.parts()
    base = base_of(options)
    bench = Bench(base, parts, conditions_of(options, parts), common.out or RUNS / "ladder", options.clock)
    chosen = options.rows or tuple(ROWS)
    for name in [name for name in chosen if not is_new(row_named(name), base)]:
        print(f"{name}: this is {row_named(name).builds_on} already, with these settings")
    chosen = tuple(name for name in chosen if is_new(row_named(name), base))
    failed = [error for seed in options.seeds for error in make_rows(bench, chosen, seed, results)]
    _compare(bench, results)
    stored = [row for row in read_ladder(results) if row["conditions"] == bench.conditions]
    print(ladder_table(stored))
    if common.json:
        print_json({"results": str(results), "rows": stored, "failed": failed})
    return int(bool(failed))


def base_of(options: Ladder) -> Recipe:
    """The recipe that rows begin with: preset, --set and budget."""
    changes = parse_fixed(options.fixed) | {"max_seconds": options.seconds}
    return dataclasses.replace(PRESETS[options.common.preset or "tiny"], **changes)


def conditions_of(options: Ladder, parts: Parts) -> str:
    """The name of what rows must share to be held against one another."""
    budget = f"{options.seconds:g}s" + ("-of-cpu" if options.clock == "cpu" else "")
    device = "cuda" if torch.cuda.is_available() else f"cpu-{torch.get_num_threads()}"
    preset = options.common.preset or "tiny"
    return f"{parts.corpus}_{parts.source}2{parts.target}_{preset}_{budget}_{device}"


def make_rows(bench: Bench, names: Sequence[str], seed: int, results: Path) -> list[dict[str, Any]]:
    """Make the rows of one seed that are not stored, each after those whose models it needs.

    A row that cannot be made is told and stops no other, save those that need it.

    Returns:
        row, seed and error of each that failed.
    """
    paths = {name: row_file(results, bench.conditions, name, seed) for name in ROWS}
    for name in names:
        if paths[name].exists():
            recipe = recipe_of(row_named(name), bench.base)
            check_same_recipe(paths[name], read_row(paths[name]), recipe)
    failed: dict[str, str] = {}
    for row in with_needed([name for name in names if not paths[name].exists()]):
        print(f"{row.name}, seed {seed}: {row.about}", flush=True)
        try:
            if row.needs in failed:
                raise ValueError(f"needs the model of {row.needs}")
            document = make_row(bench, row, seed)
        except (ValueError, torch.OutOfMemoryError) as reason:
            failed[row.name] = one_line(reason)
            print(f"  error: {failed[row.name]}")
            continue
        if not paths[row.name].exists():
            store_row(paths[row.name], document)
        print(f"  BLEU {with_interval(document)}", flush=True)
    return [{"row": name, "seed": seed, "error": error} for name, error in failed.items()]


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
            "; ".join(f"{name}: {', '.join(seeds)}" for name, seeds in stored.get(row.name, {}).items()),
        )
        for row in ROWS.values()
    ]
    head = ("row", "builds on", "what it tries", "stored: seeds")
    print(markdown_table(head, lines))
    if as_json:
        print(
            json.dumps({"rows": [dict(zip(head, line, strict=True)) for line in lines]}, ensure_ascii=False)
        )
    return 0


def _compare(bench: Bench, results: Path) -> None:
    """Add paired comparisons to the rows whose sentences, and those of the row below, are there."""
    for one in read_ladder(results):
        if one["conditions"] != bench.conditions or not one["builds_on"]:
            continue
        path = row_file(results, bench.conditions, one["row"], one["seed"])
        runs = (bench.folder(name, one["seed"]) for name in (one["row"], one["builds_on"]))
        add_comparison(path, one["builds_on"], *runs)
