"""The ablation ladder: named rows, each one change, all made under the same conditions.

    RUNS/CONDITIONS/ROW.seedN/            the run of a row
    RESULTS/CONDITIONS/ROW.seedN.json     its numbers, never overwritten

A project brings the rows and what makes one of them. Rows are held against one another
under the same conditions and with the same settings only.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from coursepkg.app.output import Log
from coursepkg.app.published_results import INSTALLED, PublishedResults
from coursepkg.app.report import mean_interval, mean_text
from coursepkg.files import read_json
from coursepkg.validation import one_line

AS_PRESET = "as the preset"
"""Stands in `LadderRow.changes` for the value that the preset has."""


@dataclass(frozen=True)
class Times:
    """Stands in `LadderRow.changes` for the value that is there times a factor."""

    factor: float

    def of(self, value: int | float) -> int | float:
        """The product, an integer where the field is one."""
        product = value * self.factor
        return round(product) if isinstance(value, int) else product


@dataclass(frozen=True)
class LadderRow:
    """One row."""

    name: str
    """As `--rows` takes it."""
    about: str
    """What it tries, in a few words."""
    builds_on: str = ""
    """Row whose recipe it changes and that it is compared with; empty for the first."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the recipe; a value, `AS_PRESET` or `Times`."""
    preset: str = ""
    """Recipe to begin with instead of that of `builds_on`: a preset, or `base`."""
    needs: tuple[str, ...] = ()
    """Rows whose trained networks it begins with or asks."""
    trains: bool = True
    """Whether a network is trained for it."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What else is its own, as the project knows it."""


def ladder_row(name: str, about: str, builds_on: str, **fields: Any) -> LadderRow:
    """A row whose changes are written as plain keywords, beside fields of its own."""
    own = {one.name for one in dataclasses.fields(LadderRow)}
    given = {key: value for key, value in fields.items() if key in own}
    changes = {key: value for key, value in fields.items() if key not in own}
    changes = {**given.pop("changes", {}), **changes}
    return LadderRow(name, about, builds_on, changes, **given)


class Ladder:
    """The rows of a project, by name, each behind those that it builds on and needs.

    Args:
        rows: in the order of the table.
        presets: recipes that rows may begin with.
        limits: fields of a recipe that belong to the budget: a row that begins with a
            preset takes them from the base, and they are no change of a row.
        stands_apart: whether a row is another system than the one below it, whatever
            its recipe; None asks for settings of its own or several networks.
    """

    def __init__(
        self,
        rows: Iterable[LadderRow],
        *,
        presets: Mapping[str, Any] | None = None,
        limits: Sequence[str] = (),
        stands_apart: Callable[[LadderRow], bool] | None = None,
    ) -> None:
        self.rows = {row.name: row for row in rows}
        self.first = next(iter(self.rows))
        self.presets, self.limits = dict(presets or {}), tuple(limits)
        self.stands_apart = stands_apart or _has_settings

    def row(self, name: str) -> LadderRow:
        """A row.

        Raises:
            ValueError: there is none of that name.
        """
        if name not in self.rows:
            raise ValueError(f"--rows must be of {', '.join(self.rows)}, got {name}")
        return self.rows[name]

    def recipe(self, row: LadderRow, base: Any) -> Any:
        """The recipe of a row.

        Args:
            row: the row.
            base: the preset with its budget.

        Raises:
            ValueError: the changes do not fit the recipe that they change.
        """
        if row.preset and row.preset != "base":
            limits = {name: getattr(base, name) for name in self.limits}
            below = dataclasses.replace(self.presets[row.preset], **limits)
        elif row.preset or not row.builds_on:
            below = base
        else:
            below = self.recipe(self.row(row.builds_on), base)
        changes: dict[str, Any] = {}
        for name, value in row.changes.items():
            if value == AS_PRESET:
                value = getattr(base, name)
            changes[name] = (
                value.of(getattr(below, name)) if isinstance(value, Times) else value
            )
        return dataclasses.replace(below, **changes)

    def changes(self, row: LadderRow, base: Any) -> dict[str, Any]:
        """What a row's recipe has other than that of the row below, or the base."""
        below = self.recipe(self.row(row.builds_on), base) if row.builds_on else base
        own, other = self.recipe(row, base).described(), below.described()
        return {
            name: value
            for name, value in own.items()
            if value != other[name] and name not in self.limits
        }

    def is_new(self, row: LadderRow, base: Any) -> bool:
        """Whether a row differs from the one it is compared with, under this preset."""
        if not row.builds_on or self.stands_apart(row):
            return True
        try:
            return bool(self.changes(row, base))
        except ValueError:
            return True  # the base does not go with the row, which making it will say

    def with_needed(self, names: Sequence[str]) -> list[LadderRow]:
        """The rows by these names and those that they need, in the ladder's order.

        Raises:
            ValueError: there is no row of a name.
        """
        wanted: set[str] = set()
        rest = [self.row(name).name for name in names]
        while rest:
            name = rest.pop()
            if name not in wanted:
                wanted.add(name)
                rest += self.row(name).needs
        return [row for row in self.rows.values() if row.name in wanted]


@dataclass(frozen=True)
class LadderRun:
    """What all rows of a call share, and where their runs and numbers lie."""

    ladder: Ladder
    base: Any
    """The recipe of the preset, with the budget."""
    conditions: str
    """Name of data, preset, budget and device, see `conditions_of`."""
    runs: Path
    """Folder of the runs."""
    results: Path
    """Folder of the numbers."""
    needs: Mapping[str, type]
    """Entries that a stored row must have, with their kinds."""
    part: str = ""
    """What is scored, where it may be one part or another."""
    log: Log = print

    @property
    def scored(self) -> str:
        """The conditions with the part that is scored."""
        return f"{self.conditions}_{self.part}" if self.part else self.conditions

    def folder(self, row: str, seed: int) -> Path:
        """Folder of the run of a row."""
        return self.runs / self.conditions / f"{row}.seed{seed}"

    def file(self, row: str, seed: int) -> Path:
        """Where the numbers of a row are stored."""
        return self.results / self.scored / f"{row}.seed{seed}.json"

    def files(self, row: str) -> list[Path]:
        """The stored numbers of a row, one file a seed."""
        return sorted((self.results / self.scored).glob(f"{row}.seed*.json"))

    def stored(self, row: LadderRow, seed: int) -> dict[str, Any] | None:
        """The numbers of a row, or None where none are stored.

        A setting that came into the recipe later had its default.

        Raises:
            ValueError: they are those of other settings; these are named.
        """
        path = self.file(row.name, seed)
        if not path.exists():
            return None
        document = read_json(path, needs=self.needs)
        recipe = self.ladder.recipe(row, self.base)
        usual = type(recipe)().described()
        check_same_settings(path, document["recipe"], recipe.described(), usual)
        return document

    def check_comparable(self, names: Sequence[str], seeds: Sequence[int]) -> None:
        """Refuse new rows if the row that they are compared with has other settings.

        Args:
            names: of the rows, as `make` takes them; those that are stored are not new.
            seeds: of the rows.

        Raises:
            ValueError: a stored row below one of them differs; the settings are named.
        """
        for row in self.ladder.with_needed(names or tuple(self.ladder.rows)):
            is_new = any(not self.file(row.name, seed).exists() for seed in seeds)
            if is_new and row.builds_on:
                self._check_below(row)

    def _check_below(self, row: LadderRow) -> None:
        below = self.ladder.row(row.builds_on)
        recipe = self.ladder.recipe(below, self.base)
        now, usual = recipe.described(), type(recipe)().described()
        for path in self.files(below.name):
            stored = read_json(path, needs=self.needs)["recipe"]
            if differ := differing_settings(stored, now, usual):
                raise ValueError(
                    f"{row.name} is compared with {below.name}, which {path} holds with"
                    f" other settings (it differs in {', '.join(differ)}); choose"
                    " another --results"
                )

    def read(self) -> list[dict[str, Any]]:
        """The stored rows under these conditions, in the ladder's order."""
        rows = stored_rows(self.results, list(self.ladder.rows), self.needs)
        return [row for row in rows if row["conditions"] == self.scored]

    def make(
        self,
        names: Sequence[str],
        seed: int,
        make: Callable[[LadderRow, int], Mapping[str, Any]],
        headline: Callable[[Mapping[str, Any]], str],
        *,
        is_made: Callable[[Path], bool] = lambda run: (run / "model").is_dir(),
    ) -> list[dict[str, Any]]:
        """Make rows that are not stored, each behind those whose networks it needs.

        A row that cannot be made stops no other but those that need it.

        Args:
            names: of the rows; none takes all.
            seed: of every row.
            make: makes a row with a seed, stores its numbers and returns them.
            headline: what is said of the numbers of a row that was made.
            is_made: whether the folder of a run holds what other rows need.

        Returns:
            row, seed and error of each that failed.
        """
        ladder = self.ladder
        rows = ladder.with_needed(names or tuple(ladder.rows))
        there = {row.name: self.stored(row, seed) is not None for row in rows}
        needed = {name for row in rows if not there[row.name] for name in row.needs}
        failed: dict[str, str] = {}
        for row in rows:
            lacks = row.name in needed and not is_made(self.folder(row.name, seed))
            if there[row.name] and not lacks:
                self.log(f"{row.name}: stored already")
                continue
            if not lacks and not ladder.is_new(row, self.base):
                below = row.builds_on
                self.log(f"{row.name}: this is {below} already, with these settings")
                continue
            self.log(f"{row.name}, seed {seed}: {row.about}")
            try:
                gone = next((name for name in row.needs if name in failed), None)
                if gone:
                    raise ValueError(
                        f"it asks the network of {gone}, which could not be trained"
                    )
                self.log(f"  {headline(make(row, seed))}")
            except (ValueError, ImportError, torch.OutOfMemoryError) as reason:
                failed[row.name] = one_line(reason)
                self.log(f"  error: {failed[row.name]}")
        return [
            {"row": name, "seed": seed, "error": error}
            for name, error in failed.items()
        ]


def stored_rows(
    results: str | Path, order: Sequence[str], needs: Mapping[str, type]
) -> list[dict[str, Any]]:
    """All stored rows under a folder, by conditions, by an order of names, by seed.

    Args:
        results: the folder that holds a folder for each kind of conditions.
        order: names of rows; others come last, by name.
        needs: entries that a stored row must have, with their kinds.

    Raises:
        ValueError: a file is damaged.
    """
    files = sorted(Path(results).glob("*/*.seed*.json"))
    place = {name: i for i, name in enumerate(order)}

    def key(row: Mapping[str, Any]) -> tuple[str, int, str, int]:
        where = place.get(row["row"], len(place))
        return row["conditions"], where, row["row"], row["seed"]

    return sorted((read_json(path, needs=needs) for path in files), key=key)


def differing_settings(
    stored: Mapping[str, Any], now: Mapping[str, Any], usual: Mapping[str, Any]
) -> list[str]:
    """Names of the settings in which a stored row differs from what is asked for.

    Args:
        stored: settings of the stored row.
        now: those that are asked for.
        usual: defaults; a setting that came into being after the row was stored had
            its default then.
    """
    old = {**usual, **stored}
    return sorted(name for name in now if old[name] != now[name])


def check_same_settings(
    path: Path,
    stored: Mapping[str, Any],
    now: Mapping[str, Any],
    usual: Mapping[str, Any],
) -> None:
    """Refuse a stored row of other settings than are asked for.

    Args:
        path: of the stored row.
        stored: see `differing_settings`, as the rest.
        now: those that are asked for.
        usual: defaults.

    Raises:
        ValueError: they differ; the settings in which they do are named.
    """
    if differ := differing_settings(stored, now, usual):
        raise ValueError(
            f"{path} holds this row with other settings (it differs in "
            f"{', '.join(differ)}); choose another --results"
        )


def conditions_of(*parts: str, timed: bool = True) -> str:
    """The name of what rows must share: the parts, and the device.

    Args:
        *parts: such as corpus, preset and budget.
        timed: whether time ends the training; the threads of a CPU count then.
    """
    threads = f"-{torch.get_num_threads()}" if timed else ""
    device = "cuda" if torch.cuda.is_available() else f"cpu{threads}"
    return "_".join((*parts, device))


def results_folder(
    given: Path | None, published: PublishedResults, kind: str, *, only_reads: bool
) -> Path:
    """The folder of stored rows.

    Args:
        given: by `--results`.
        published: the measurements that come with the package.
        kind: name of the folder in them.
        only_reads: whether nothing is to be stored.

    Raises:
        ValueError: new rows of an installed copy have no place to go.
    """
    if given is not None:
        return given
    found = published.folder() or published.place_of_new_rows()
    if found is None or (found.name == INSTALLED and not only_reads):
        raise ValueError(
            "--results FOLDER is needed: this copy of coursepkg takes no new rows"
        )
    return found / kind


def by_conditions(
    rows: Sequence[Mapping[str, Any]],
) -> dict[str, list[Mapping[str, Any]]]:
    """Stored rows by a heading: their conditions and the machines that made them."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for conditions in dict.fromkeys(row["conditions"] for row in rows):
        here = [row for row in rows if row["conditions"] == conditions]
        machines = {
            f"{row['machine']['name']} with {row['machine']['threads']} thread(s)"
            for row in here
        }
        found[f"{conditions}, {' and '.join(sorted(machines))}"] = here
    return found


def verdict(interval: Sequence[float] | None, n_seeds: int) -> str:
    """What a difference says: up or down where its interval excludes 0, or undecided.

    One seed is undecided whatever its interval, which is that of the sentences or clips
    and holds nothing of the chance in training.

    Args:
        interval: of the difference; None where there is none.
        n_seeds: seeds that both rows were trained with.
    """
    if interval is None or n_seeds < 2:
        return "undecided"
    low, high = interval
    return "up" if low > 0 else "down" if high < 0 else "undecided"


def seed_lines(rows: Sequence[Mapping[str, Any]], first: str) -> list[str]:
    """What several seeds say of each row and its difference to the first one.

    A mean has the interval of Student's t over the seeds. A difference whose interval
    contains 0 is undecided. Rows of one seed say nothing of chance and are left out.

    Args:
        rows: of the same conditions, by macro-F1.
        first: name of the row that the others are held against.
    """
    by_name: dict[str, dict[int, float]] = {}
    for row in rows:
        value = row["scores"]["macro_f1"]["value"]
        by_name.setdefault(row["row"], {})[row["seed"]] = value
    base, lines = by_name.get(first, {}), []
    for name, values in by_name.items():
        if len(values) < 2:
            continue
        told = (
            f"{name}: macro-F1 over {len(values)} seeds {mean_text([*values.values()])}"
        )
        both = [seed for seed in values if seed in base]
        if name != first and len(both) > 1:
            differences = [values[seed] - base[seed] for seed in both]
            middle, half = mean_interval(differences)
            told += f"; to {first} {mean_text(differences, '+')}"
            word = verdict((middle - half, middle + half), len(differences))
            told += ", undecided" if word == "undecided" else ""
        lines.append(told)
    return lines


def _has_settings(row: LadderRow) -> bool:
    return bool(row.settings) or len(row.needs) > 1
