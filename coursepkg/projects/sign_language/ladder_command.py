"""The ablation ladder as a command: named rows, each one change, all with the same budget and one seed.

    coursepkg sign-language ladder --preset small --rows lstm-last improved
    coursepkg sign-language ladder --preset small --rows lstm-last improved --part test     the target of the project

Runs go into --out, numbers into --results.
"""

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
import tyro

from coursepkg.arguments import check_count, check_finite
from coursepkg.documents import print_json
from coursepkg.projects.options import RUNS, Flag
from coursepkg.projects.sign_language.command_options import Common, CommonOptions
from coursepkg.projects.sign_language.corpora import load_corpus
from coursepkg.projects.sign_language.ladder import Bench, make_row, stored_row
from coursepkg.projects.sign_language.ladder_rows import ROWS, is_new, row_named, with_needed
from coursepkg.projects.sign_language.ladder_table import ladder_lines, read_rows
from coursepkg.projects.sign_language.recipe import PRESETS, Recipe
from coursepkg.projects.sign_language.stored import stored_folder
from coursepkg.stored import CHECKOUT, INSTALLED
from coursepkg.wording import one_line


@dataclass(frozen=True)
class Ladder:
    """Train the rows of the ablation ladder on equally many clips each, and say what each change gave."""

    common: CommonOptions = field(default_factory=Common)
    rows: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME...")] = ()
    """Rows to make, see --list; all of them if none is given. A row whose network another one asks comes with it."""
    seed: int = 0
    """Of weights, order and chance, in every row."""
    epochs: int = 0
    """Passes of each row over the training part; 0 takes those of the preset."""
    seconds: float = 0.0
    """Where above 0, each row trains at most so many seconds by the clock. A rate that falls by the step then ends
    wherever the time does: give so many --epochs as fit in."""
    clock: Literal["wall", "cpu"] = "wall"
    """What the seconds count: time on the wall, or CPU time, which other programs do not use up; with --threads 1."""
    part: Literal["dev", "test"] = "dev"
    """What is scored. Nothing may be chosen by scores of the test part."""
    results: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Where the numbers are stored, one file a row; in a checkout its own book/_data/sign_language/ladder. What is
    there is never overwritten."""
    list: Flag = False
    """Only print the rows and what each tries, and the table of what is stored."""
    threads: int = 0
    """CPU threads; 0 leaves it to torch."""

    def __post_init__(self) -> None:
        for name in ("seed", "epochs", "threads"):
            check_count(f"--{name}", getattr(self, name), least=0)
        check_finite("--seconds", self.seconds)
        if self.seconds < 0:
            raise ValueError(f"--seconds must be at least 0, got {self.seconds:g}")
        if self.clock == "cpu" and (self.threads != 1 or not self.seconds):
            raise ValueError(
                "--clock cpu counts the time of all threads together: give --seconds and --threads 1"
            )
        for name in self.rows:
            row_named(name)

    def run(self) -> int:
        """Make what is not stored, print the table, and return 1 where a row could not be made."""
        if self.list:
            return _list(self)
        if self.threads:
            torch.set_num_threads(self.threads)
        bench = bench_of(self)
        failed = make_rows(bench, self.rows)
        rows = [row for row in read_rows(bench.results, list(ROWS)) if row["conditions"] == bench.scored]
        print("\n".join(ladder_lines(rows)))
        if self.common.json:
            told = {"results": str(bench.results), "rows": rows, "failed": failed}
            print_json(told)
        return int(bool(failed))


def bench_of(options: Ladder) -> Bench:
    """What all rows share.

    Raises:
        ValueError: the numbers have no place to go, or the data cannot be read.
    """
    results, base = results_of(options), base_of(options)
    common = options.common
    corpus = load_corpus(common.corpus_name, base, split=common.protocol)
    budget = f"{base.max_epochs}epochs"
    budget += f"_{options.seconds:g}s-of-{options.clock}" if options.seconds else ""
    device = "cuda" if torch.cuda.is_available() else f"cpu-{torch.get_num_threads()}"
    name = Path(corpus.name).name
    return Bench(
        base=base,
        corpus=corpus,
        conditions=f"{name}_{corpus.protocol}_{common.preset or 'tiny'}_{budget}_{device}",
        runs=common.out or RUNS / "sign-language-ladder",
        results=results,
        part=options.part,
        clock=options.clock,
        timed=bool(options.seconds),
        seed=options.seed,
    )


def base_of(options: Ladder) -> Recipe:
    """The preset with the budget of a row: no row stops before the others."""
    preset = PRESETS[options.common.preset or "tiny"]
    epochs = options.epochs or preset.max_epochs
    seconds = options.seconds or Recipe().max_seconds
    return dataclasses.replace(preset, max_epochs=epochs, patience=epochs, max_seconds=seconds)


def results_of(options: Ladder) -> Path:
    """The folder of stored rows.

    Raises:
        ValueError: new rows of an installed copy have no place to go.
    """
    if options.results is not None:
        return options.results
    found = stored_folder() or (CHECKOUT / "sign_language" if CHECKOUT.is_dir() else None)
    if found is None or (found.name == INSTALLED and not options.list):
        raise ValueError("--results FOLDER is needed: this copy of coursepkg takes no new rows")
    return found / "ladder"


def make_rows(bench: Bench, names: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Make rows, each behind those whose networks it asks. A row that cannot be made stops no other but those.

    Returns:
        row and error of each that failed.
    """
    rows = with_needed(names or tuple(ROWS))
    there = {row.name: stored_row(bench, row) for row in rows}
    asked = {name for row in rows if there[row.name] is None for name in row.models}
    failed: dict[str, str] = {}
    for row in rows:
        if row.name in asked and not (bench.run(row.name) / "model").is_dir():
            pass  # whatever is stored of it, its network is needed
        elif there[row.name] is not None:
            bench.say(f"{row.name}: stored already")
            continue
        elif not is_new(row, bench.base):
            bench.say(f"{row.name}: this is {row.builds_on} already, with these settings")
            continue
        bench.say(f"{row.name}, seed {bench.seed}: {row.about}")
        try:
            gone = [name for name in row.models if name in failed]
            if gone:
                raise ValueError(f"it asks the network of {gone[0]}, which could not be trained")
            scores = make_row(bench, row)["scores"]
        except (ValueError, ImportError, torch.OutOfMemoryError) as reason:
            failed[row.name] = one_line(reason)
            bench.say(f"  error: {failed[row.name]}")
            continue
        bench.say(f"  macro-F1 {scores['macro_f1']['value']:.4f}")
    return [{"row": name, "seed": bench.seed, "error": error} for name, error in failed.items()]


def _list(options: Ladder) -> int:
    """Print every row, and what is stored."""
    for row in ROWS.values():
        print(f"{row.name}: {row.about}{f' (against {row.builds_on})' if row.builds_on else ''}")
    rows = read_rows(results_of(options), list(ROWS))
    print("\n".join(["", *ladder_lines(rows)]))
    if options.common.json:
        known = [dataclasses.asdict(row) for row in ROWS.values()]
        print_json({"known": known, "rows": rows})
    return 0
