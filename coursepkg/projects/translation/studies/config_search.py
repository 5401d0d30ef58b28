"""Configuration search: train many recipes for a short while each, and order them by their score on dev.

OUT/trials/<key>/            one training run a combination; key is a hash of all that decides it
OUT/trials/<key>/trial.json  its numbers, once it is finished
OUT/results.json, .md        the table of this search, best first

Source: Olympiad tutorials, first tutorial, section VI.1, which would compare on the public test set. Whatever is
chosen on a set is flattered by it, so this search never looks at the test part.
"""

import dataclasses
import hashlib
import json
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import torch
import tyro

from coursepkg.arguments import check_count
from coursepkg.bench.machine import circumstances
from coursepkg.documents import print_json
from coursepkg.projects.options import RUNS
from coursepkg.projects.translation.commands import Common, CommonOptions
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.recipe import PRESETS, Recipe
from coursepkg.projects.translation.studies.measured_run import (
    headline,
    markdown_table,
    train_and_score,
    with_interval,
    write_text,
)
from coursepkg.projects.translation.studies.search_space import (
    Settings,
    all_combinations,
    described,
    drawn,
    parse_fixed,
    parse_grid,
    parse_ranges,
    spelt_value,
)
from coursepkg.training.files import read_json, write_json
from coursepkg.wording import one_line

TRIAL = "trial.json"


@dataclass(frozen=True)
class ConfigSearch:
    """Try many settings of a recipe, each in a short training run, and order them by BLEU on the dev part."""

    common: CommonOptions = field(default_factory=Common)
    grid: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE,VALUE...")] = ()
    """Values to try in every combination, such as vocab-size=4000,8000 d-model=192,256."""
    random: int = 0
    """Draw this many combinations from --grid and --range instead; 0 takes every combination of --grid."""
    ranges: Annotated[tuple[str, ...], tyro.conf.arg(name="range", metavar="NAME=LOW..HIGH[:log]")] = ()
    """Ranges to draw from, such as learning-rate=3e-4..3e-3:log dropout=0.1..0.4; they need --random."""
    fixed: Annotated[tuple[str, ...], tyro.conf.arg(name="set", metavar="NAME=VALUE")] = ()
    """Settings that differ from the preset in every trial."""
    max_seconds: float | None = None
    """Wall-clock seconds of training for each trial. Without it the preset's."""
    max_epochs: int | None = None
    """Most epochs of each trial. Without it the preset's."""
    seed: int = 0
    """Of the drawn combinations, and of every training run."""
    threads: int = 0
    """CPU threads; 0 leaves it to torch."""

    def __post_init__(self) -> None:
        check_count("--random", self.random, least=0)
        check_count("--seed", self.seed, least=0)
        check_count("--threads", self.threads, least=0)

    def run(self) -> int:
        """Run what has not been run, print the table, and return 1 where no trial could be trained."""
        return search(self)


def search(options: ConfigSearch) -> int:
    """Run the trials of a search, store and print the table; 1 where none of them could be trained.

    Raises:
        ValueError: an option does not fit.
    """
    if options.threads:
        torch.set_num_threads(options.threads)
    combinations, base = combinations_of(options), base_of(options)
    common = options.common
    parts = common.parts()
    out = common.out or RUNS / f"search-{common.preset or 'tiny'}-{common.source}-{common.target}"
    trials = []
    for number, settings in enumerate(combinations, start=1):
        print(f"trial {number} of {len(combinations)}: {described(settings) or 'the preset as it is'}")
        trials.append(run_trial(base, settings, parts, out / "trials", options.seed))
        said = trials[-1].get("error") or f"BLEU {with_interval(trials[-1])}"
        print(f"  {said}", flush=True)
    document = _document(options, base, parts, sorted(trials, key=headline, reverse=True))
    out.mkdir(parents=True, exist_ok=True)
    table = results_table(document)
    write_json(out / "results.json", document)
    write_text(out / "results.md", table)
    print(table)
    if common.json:
        print_json({"out": str(out), **document})
    return int(all("error" in trial for trial in trials))


def combinations_of(options: ConfigSearch) -> list[Settings]:
    """What a search tries, in order.

    Raises:
        ValueError: there is nothing to try, or an option has no effect.
    """
    grid, ranges = parse_grid(options.grid), parse_ranges(options.ranges)
    fixed = parse_fixed(options.fixed)
    twice = sorted((grid.keys() & ranges.keys()) | (fixed.keys() & (grid.keys() | ranges.keys())))
    if twice:
        raise ValueError(
            f"{twice[0].replace('_', '-')} is in two of --grid, --range and --set; leave one out"
        )
    if ranges and not options.random:
        raise ValueError("--range needs --random N, the number of combinations to draw")
    if not grid and not ranges:
        raise ValueError("give settings to try: --grid NAME=VALUE,VALUE or --random N --range NAME=LOW..HIGH")
    return drawn(grid, ranges, options.random, options.seed) if options.random else all_combinations(grid)


def base_of(options: ConfigSearch) -> Recipe:
    """The recipe that every trial changes: preset, budget and --set."""
    budget = {"max_seconds": options.max_seconds, "max_epochs": options.max_epochs}
    given: Settings = {name: value for name, value in budget.items() if value is not None}
    return dataclasses.replace(
        PRESETS[options.common.preset or "tiny"], **(given | parse_fixed(options.fixed))
    )


def run_trial(base: Recipe, settings: Settings, parts: Parts, trials: Path, seed: int) -> dict[str, Any]:
    """The numbers of a trial: stored ones, or those of a run now.

    A run that was cut off begins again, so that each trial has the same budget. What cannot be trained comes back
    with its `error` and is tried again next time.
    """
    try:
        recipe = dataclasses.replace(base, **settings)
    except ValueError as reason:
        return {"settings": settings, "error": str(reason)}
    folder = trials / trial_key(recipe, parts, seed)
    if (folder / TRIAL).exists():
        return read_json(folder / TRIAL, needs={"scores": dict, "settings": dict}) | {"settings": settings}
    if folder.exists():
        shutil.rmtree(folder)
    try:
        measured, _ = train_and_score(recipe, parts, folder, seed=seed, say=lambda line: None)
    except (ValueError, torch.OutOfMemoryError) as reason:
        return {"settings": settings, "error": one_line(reason)}
    document = {
        "settings": settings,
        "key": folder.name,
        "recipe": recipe.described(),
        "seed": seed,
        **measured.as_json(),
        **circumstances(),
    }
    write_json(folder / TRIAL, document)
    return document


def trial_key(recipe: Recipe, parts: Parts, seed: int) -> str:
    """Twelve hexadecimal digits of the SHA-256 of all that decides a trial."""
    decides = [recipe.decisive(), parts.corpus, parts.source, parts.target, len(parts.train), seed]
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:12]


def results_table(document: dict[str, Any]) -> str:
    """The trials as Markdown, in the order of the document; their settings take one column each."""
    trials = document["trials"]
    names = list(dict.fromkeys(name for trial in trials for name in trial["settings"]))
    head = [*(name.replace("_", "-") for name in names), "parameters", "epochs", "seconds", "dev BLEU"]
    rows = [
        [*(spelt_value(trial["settings"].get(name, "")) for name in names), *_numbers(trial)]
        for trial in trials
    ]
    done = [trial for trial in trials if "error" not in trial]
    machines = sorted({f"{t['machine']['name']}, {t['machine']['threads']} thread(s)" for t in done})
    lines = [
        f"Preset {document['preset']}"
        + (f" with {described(document['set'])}" if document["set"] else "")
        + f", {document['corpus']} {document['from']} to {document['to']}, seed {document['seed']}; each trial at most "
        f"{document['budget']['max_seconds']:g} s and {document['budget']['max_epochs']} epochs on "
        f"{' and '.join(machines) or 'no machine'}.",
        "",
        markdown_table(head, rows, right=range(len(names), len(head) - 1)),
    ]
    if done:
        best = shlex.join(
            word
            for name, value in done[0]["settings"].items()
            for word in _as_flag(name, value)  # the settings that won, ready for `train`
        )
        lines += [
            "",
            f"Signature of the best: {done[0]['scores']['BLEU']['signature']}",
            "",
            f"Best settings: `{best}`",
        ]
    return "\n".join(lines) + "\n"


def _numbers(trial: dict[str, Any]) -> list[str]:
    if "error" in trial:
        return ["", "", "", f"error: {trial['error']}"]
    return [f"{trial['parameters']:,}", str(trial["epochs"]), f"{trial['seconds']:.0f}", with_interval(trial)]


def _as_flag(name: str, value: Any) -> list[str]:
    flag = name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--no-{flag}"]
    return [f"--{flag}", spelt_value(value)]


def _document(
    options: ConfigSearch, base: Recipe, parts: Parts, trials: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "preset": options.common.preset or "tiny",
        "set": parse_fixed(options.fixed),
        "base": base.described(),
        "budget": {"max_seconds": base.max_seconds, "max_epochs": base.max_epochs},
        "corpus": parts.corpus,
        "from": parts.source,
        "to": parts.target,
        "seed": options.seed,
        "trials": list(trials),
    }
