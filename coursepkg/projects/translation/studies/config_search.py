"""Configuration search: many recipes, each trained shortly, ordered by dev score.

    grid    vocab-size=4000,8000 d-model=192,256     4 combinations, in order
    random  learning-rate=3e-4..3e-3:log dropout=0.1..0.4     drawn evenly

Random search tries more values of the settings that matter than a grid of the same
size: Bergstra and Bengio (JMLR 2012).

OUT/trials/<key>/            one run a combination; key is a hash of all it depends on
OUT/trials/<key>/trial.json  its numbers, once it is finished
OUT/results.json, .md        the table of this search, best first

Source: Olympiad tutorials, first tutorial, section VI.1, which would compare on the
public test set. Whatever is chosen on a set is flattered by it, so this search never
looks at the test part.
"""

import dataclasses
import hashlib
import itertools
import json
import math
import random
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import torch

from coursepkg.app.options import RUNS
from coursepkg.app.output import check_out_folder, print_json, write_texts
from coursepkg.app.report import markdown_table
from coursepkg.bench.machine import circumstances
from coursepkg.files import read_json, write_json
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.published_results import headline, with_interval
from coursepkg.projects.translation.recipe import PRESETS, Recipe
from coursepkg.projects.translation.studies.measured_run import train_and_score
from coursepkg.validation import one_line

if TYPE_CHECKING:
    from coursepkg.projects.translation.study_commands import ConfigSearch

Settings = dict[str, Any]
"""By field of the recipe the value that a trial takes."""

FIELDS = get_type_hints(Recipe)
SWITCH = dict.fromkeys(("true", "on", "yes"), True)
SWITCH |= dict.fromkeys(("false", "off", "no"), False)
READERS: dict[Any, tuple[Callable[[str], Any], str]] = {
    int: (int, "an integer"),
    float: (float, "a number"),
    bool: (lambda text: SWITCH[text.lower()], "true or false"),
}
"""By the type of a field how a text becomes its value, and what it must be."""


@dataclass(frozen=True)
class Range:
    """Numbers from low to high, both ends included."""

    low: int | float
    high: int | float
    log: bool = False
    """Draw the logarithm evenly, so that every factor is as probable as any other."""

    def draw(self, random_state: random.Random) -> int | float:
        """One number; of real ones four significant digits, as a table shows."""
        if isinstance(self.low, int) and not self.log:
            return random_state.randint(self.low, int(self.high))
        ends = (self.low, self.high)
        low, high = map(math.log, ends) if self.log else ends
        value = random_state.uniform(low, high)
        value = math.exp(value) if self.log else value
        is_integer = isinstance(self.low, int)
        rounded = round(value) if is_integer else float(f"{value:.4g}")
        return min(max(rounded, self.low), self.high)


def parse_fixed(texts: Sequence[str]) -> Settings:
    """Settings from `name=value` texts.

    Raises:
        ValueError: a text has another form, a name is no field of the recipe or comes
            twice, or a value does not fit.
    """
    return {n: parse_value(n, text, "--set") for n, text in _named(texts, "--set")}


def parse_grid(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Lists of values from `name=value,value,...` texts.

    Raises:
        ValueError: as `parse_fixed`; or a value comes twice.
    """
    found = {}
    for name, values in _named(texts, "--grid"):
        found[name] = [
            parse_value(name, value, "--grid") for value in values.split(",")
        ]
        if len(set(found[name])) < len(found[name]):
            raise ValueError(
                f"--grid {_spelt(name)} must have different values, got {values}"
            )
    return found


def parse_ranges(texts: Sequence[str]) -> dict[str, Range]:
    """Ranges from `name=low..high` texts, `:log` behind them for a logarithmic scale.

    Raises:
        ValueError: as `parse_fixed`; or the field is no number, or the ends are out of
            order or not above 0 for a logarithm.
    """
    found = {}
    for name, text in _named(texts, "--range"):
        ends, _, scale = text.partition(":")
        low, dots, high = ends.partition("..")
        if not dots or scale not in ("", "log") or FIELDS[name] not in (int, float):
            raise ValueError(
                f"--range {_spelt(name)}={text}: write low..high or low..high:log, for"
                " a setting that is a number"
            )
        one = Range(
            parse_value(name, low, "--range"),
            parse_value(name, high, "--range"),
            scale == "log",
        )
        if not one.low < one.high:
            raise ValueError(
                f"--range {_spelt(name)} must go from a smaller to a larger number, got"
                f" {text}"
            )
        if one.log and one.low <= 0:
            raise ValueError(
                f"--range {_spelt(name)} must be above 0 for :log, got {text}"
            )
        found[name] = one
    return found


def parse_value(name: str, text: str, flag: str) -> Any:
    """A value of a field of the recipe.

    Raises:
        ValueError: the text is no value of its kind. Whether it is in range, `Recipe`
            says.
    """
    read, wanted = READERS.get(FIELDS[name], (str, ""))
    try:
        return read(text.strip())
    except (ValueError, KeyError):
        raise ValueError(
            f"{flag} {_spelt(name)} must be {wanted}, got {text.strip()!r}"
        ) from None


def all_combinations(grid: Mapping[str, Sequence[Any]]) -> list[Settings]:
    """Every combination of the values, the last name changing fastest."""
    return [
        dict(zip(grid, values, strict=True))
        for values in itertools.product(*grid.values())
    ]


def drawn(
    grid: Mapping[str, Sequence[Any]], ranges: Mapping[str, Range], n: int, seed: int
) -> list[Settings]:
    """N different combinations, each value drawn from its list or its range.

    The first ones stay the same where n grows, so a search that is called again with a
    larger n adds to what it has.

    Raises:
        ValueError: there are not n different combinations, as far as 100 draws for each
            can tell.
    """
    random_state = random.Random(seed)
    found: list[Settings] = []
    for _ in range(100 * n):
        one = {name: random_state.choice(list(values)) for name, values in grid.items()}
        one |= {name: values.draw(random_state) for name, values in ranges.items()}
        if one not in found:
            found.append(one)
        if len(found) == n:
            return found
    raise ValueError(
        f"--random {n}: only {len(found)} different combinations; ask for fewer, or"
        " give more values"
    )


def described(settings: Mapping[str, Any]) -> str:
    """Settings as they are written on a command line."""
    return " ".join(
        f"{_spelt(name)}={spelt_value(value)}" for name, value in settings.items()
    )


def spelt_value(value: Any) -> str:
    """A value as a table and a command line show it."""
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


def _named(texts: Sequence[str], flag: str) -> list[tuple[str, str]]:
    """Field names and what stands behind the sign of equality."""
    found: dict[str, str] = {}
    for text in texts:
        spelt, equals, value = text.partition("=")
        name = spelt.strip().removeprefix("--").replace("-", "_")
        if not equals or not value:
            raise ValueError(f"{flag} takes name=value, got {text!r}")
        if name not in FIELDS:
            known = ", ".join(_spelt(field) for field in FIELDS)
            raise ValueError(
                f"{flag} {spelt}: no setting of a recipe; use one of {known}"
            )
        if name in found:
            raise ValueError(f"{flag} {_spelt(name)} is given twice; give it once")
        found[name] = value
    return list(found.items())


def _spelt(name: str) -> str:
    return name.replace("_", "-")


TRIAL = "trial.json"


def search(options: "ConfigSearch") -> int:
    """Run the trials of a search; 1 where none of them could be trained.

    Raises:
        ValueError: an option does not fit.
    """
    if options.threads:
        torch.set_num_threads(options.threads)
    combinations, base = combinations_of(options), base_of(options)
    common = options.common
    check_out_folder(common.out)
    parts = common.parts()
    out = (
        common.out
        or RUNS / f"search-{common.preset or 'tiny'}-{common.source}-{common.target}"
    )
    trials = []
    for number, settings in enumerate(combinations, start=1):
        print(
            f"trial {number} of {len(combinations)}:"
            f" {described(settings) or 'the preset as it is'}"
        )
        trials.append(run_trial(base, settings, parts, out / "trials", options.seed))
        outcome = trials[-1].get("error") or f"BLEU {with_interval(trials[-1])}"
        print(f"  {outcome}", flush=True)
    document = {
        "preset": common.preset or "tiny",
        "set": parse_fixed(options.fixed),
        "base": base.described(),
        "budget": {"max_seconds": base.max_seconds, "max_epochs": base.max_epochs},
        "corpus": parts.corpus,
        "from": parts.source,
        "to": parts.target,
        "seed": options.seed,
        "trials": sorted(trials, key=headline, reverse=True),
    }
    table = results_table(document)
    write_json(out / "results.json", document)
    write_texts(out, {"results.md": table})
    print(table)
    if common.json:
        print_json({"out": str(out), **document})
    return int(all("error" in trial for trial in trials))


def combinations_of(options: "ConfigSearch") -> list[Settings]:
    """What a search tries, in order.

    Raises:
        ValueError: there is nothing to try, or an option has no effect.
    """
    grid, ranges = parse_grid(options.grid), parse_ranges(options.ranges)
    fixed = parse_fixed(options.fixed)
    twice = sorted(
        (grid.keys() & ranges.keys()) | (fixed.keys() & (grid.keys() | ranges.keys()))
    )
    if twice:
        raise ValueError(
            f"{_spelt(twice[0])} is in two of --grid, --range and --set; leave one out"
        )
    if ranges and not options.random:
        raise ValueError("--range needs --random N, the number of combinations to draw")
    if not grid and not ranges:
        raise ValueError(
            "give settings to try: --grid NAME=VALUE,VALUE or --random N --range"
            " NAME=LOW..HIGH"
        )
    return (
        drawn(grid, ranges, options.random, options.seed)
        if options.random
        else all_combinations(grid)
    )


def base_of(options: "ConfigSearch") -> Recipe:
    """The recipe that every trial changes: preset, budget and --set."""
    budget: Settings = {n: getattr(options, n) for n in ("max_seconds", "max_epochs")}
    given = {name: value for name, value in budget.items() if value is not None}
    return dataclasses.replace(
        PRESETS[options.common.preset or "tiny"], **(given | parse_fixed(options.fixed))
    )


def run_trial(
    base: Recipe,
    settings: Settings,
    parts: Parts,
    trials: Path,
    seed: int,
    **options: Any,
) -> dict[str, Any]:
    """The numbers of a trial: stored ones, or those of a run now.

    A run that was cut off begins again, so that each trial has the same budget. What
    cannot be trained comes back with its `error` and is tried again next time.

    Args:
        **options: of `train`; the key of a trial does not tell them apart.
    """
    try:
        recipe = dataclasses.replace(base, **settings)
    except ValueError as reason:
        return {"settings": settings, "error": str(reason)}
    folder = trials / trial_key(recipe, parts, seed)
    if (folder / TRIAL).exists():
        return read_json(folder / TRIAL, needs={"scores": dict, "settings": dict}) | {
            "settings": settings
        }
    if folder.exists():
        shutil.rmtree(folder)
    try:
        measured, _ = train_and_score(
            recipe, parts, folder, seed=seed, log=lambda line: None, **options
        )
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
    decides = [
        recipe.decisive(),
        parts.corpus,
        parts.source,
        parts.target,
        len(parts.train),
        seed,
    ]
    if parts.corpus.startswith(("folder ", "file ")):
        # Text of the user's, which may have changed under the same name.
        decides.append([pair[:2] for pair in (*parts.train, *parts.dev)])
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:12]


def results_table(document: dict[str, Any]) -> str:
    """The trials as Markdown, one column for each setting."""
    trials = document["trials"]
    names = list(dict.fromkeys(name for trial in trials for name in trial["settings"]))
    head = [*map(_spelt, names), "parameters", "epochs", "seconds", "dev BLEU"]
    rows = [
        [*(spelt_value(t["settings"].get(name, "")) for name in names), *_numbers(t)]
        for t in trials
    ]
    done = [trial for trial in trials if "error" not in trial]
    machines = sorted(
        {f"{t['machine']['name']}, {t['machine']['threads']} thread(s)" for t in done}
    )
    lines = [
        f"Preset {document['preset']}"
        + (f" with {described(document['set'])}" if document["set"] else "")
        + f", {document['corpus']} {document['from']} to {document['to']}, seed"
        f" {document['seed']}; each trial at most"
        f" {document['budget']['max_seconds']:g} s and"
        f" {document['budget']['max_epochs']} epochs on"
        f" {' and '.join(machines) or 'no machine'}.",
        "",
        markdown_table(head, rows, right=range(len(names), len(head) - 1)),
    ]
    if done:
        # As `train` takes them.
        flags = [_as_flag(name, value) for name, value in done[0]["settings"].items()]
        lines += [
            "",
            f"Signature of the best: {done[0]['scores']['BLEU']['signature']}",
            "",
            f"Best settings: `{shlex.join(itertools.chain.from_iterable(flags))}`",
        ]
    return "\n".join(lines) + "\n"


def _numbers(trial: dict[str, Any]) -> list[str]:
    if "error" in trial:
        return ["", "", "", f"error: {trial['error']}"]
    parameters, seconds = f"{trial['parameters']:,}", f"{trial['seconds']:.0f}"
    return [parameters, str(trial["epochs"]), seconds, with_interval(trial)]


def _as_flag(name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [f"--{'' if value else 'no-'}{_spelt(name)}"]
    return [f"--{_spelt(name)}", spelt_value(value)]
