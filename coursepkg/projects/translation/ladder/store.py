"""Stored rows of the ladder: one JSON file a row and seed, in a folder for all of the same conditions.

    RESULTS/zh-vi_zh2vi_small_480s-of-cpu_cpu-1/modern.seed0.json

The conditions are corpus, direction, preset, seconds of training with their clock, and device with its threads: only
rows under the same ones are held
against one another. A file is never overwritten. It holds numbers alone; sentences stay in the folder of the runs,
because the data's licence forbids to hand them on.
"""

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coursepkg.bench.ladder import check_same_settings, stored_rows
from coursepkg.files import check_new
from coursepkg.metrics.bootstrap import comparison_as_json
from coursepkg.projects.translation.evaluate import Evaluation, compare_systems
from coursepkg.projects.translation.ladder.rows import ROWS
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.projects.translation.studies.measured_run import HEADLINE, headline, markdown_table, write_text
from coursepkg.training.files import read_json, write_json

NEEDS: dict[str, type] = {
    "row": str,
    "seed": int,
    "conditions": str,
    "changes": dict,
    "recipe": dict,
    "scores": dict,
    "machine": dict,
}
"""Entries that a stored row must have, and their kinds."""

SENTENCES = "sentences.json"
"""Beside a run: what it wrote and against what it was scored."""


def row_file(results: Path, conditions: str, row: str, seed: int) -> Path:
    """Where the numbers of a row are stored."""
    return results / conditions / f"{row}.seed{seed}.json"


def read_row(path: Path) -> dict[str, Any]:
    """A stored row.

    Raises:
        FileNotFoundError: there is none.
        ValueError: the file is damaged.
    """
    return read_json(path, needs=NEEDS)


def read_ladder(folder: str | Path) -> list[dict[str, Any]]:
    """All stored rows under a folder: by conditions, in the order of `ROWS`, by seed.

    Raises:
        ValueError: a file is damaged.
    """
    return stored_rows(folder, list(ROWS), NEEDS)


def store_row(path: Path, document: Mapping[str, Any]) -> None:
    """Write a new row.

    Raises:
        ValueError: there is one already.
    """
    check_new(path, "a stored row is not overwritten: choose another --results")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, document)


def check_same_recipe(path: Path, stored: Mapping[str, Any], recipe: Recipe) -> None:
    """Raises a ValueError that names the settings in which a stored row differs from what is asked for.

    A setting that came into the recipe after the row was stored had its default then.
    """
    check_same_settings(path, stored["recipe"], recipe.described(), Recipe().described())


def keep_sentences(run: Path, result: Evaluation) -> None:
    """Store what was scored in the folder of the run, for paired comparisons later."""
    content = {
        "source": result.source,
        "target": result.target,
        "hypotheses": result.hypotheses,
        "references": result.references,
    }
    write_text(run / SENTENCES, json.dumps(content, ensure_ascii=False) + "\n")


def add_comparison(path: Path, below: str, run: Path, run_below: Path) -> None:
    """Add to a stored row the paired bootstrap against the row below, where the sentences of both are there.

    Rows on different sentences, such as those of another split, cannot be compared and stay without.
    """
    stored = read_row(path)
    files = [folder / SENTENCES for folder in (run, run_below)]
    if "against" in stored or not all(file.is_file() for file in files):
        return
    ours, theirs = (_kept(file) for file in files)
    if ours.references != theirs.references:
        return
    found = compare_systems(theirs, ours)  # first the one below, then this one
    stored["against"] = {"row": below, "seed": stored["seed"], **comparison_as_json(found)}
    write_json(path, {name: value for name, value in stored.items() if name != "format"})


def _kept(file: Path) -> Evaluation:
    content = json.loads(file.read_text("utf-8"))
    said, true = tuple(content["hypotheses"]), tuple(content["references"])
    return Evaluation(content["source"], content["target"], {}, None, (), said, true, ())


def ladder_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Stored rows as Markdown that is aligned as plain text, too; one table for each kind of conditions.

    BLEU of several seeds is their mean with the lowest and the highest; of one seed it has its bootstrap interval.
    The difference is to the row that it builds on, over the seeds that both have: their mean with the lowest and the
    highest, or for one seed with interval and p-value of the paired bootstrap, where that was made.
    """
    parts = []
    for conditions in dict.fromkeys(row["conditions"] for row in rows):
        here = [row for row in rows if row["conditions"] == conditions]
        names = list(dict.fromkeys(row["row"] for row in here))
        lines = [_cells([r for r in here if r["row"] == name], here) for name in names]
        head = ["row", "seeds", "parameters", "steps", "seconds", "dev BLEU", "against", "difference", "p"]
        parts += [f"{conditions}, {_machines(here)}", "", markdown_table(head, lines, right=(1, 2, 3, 4)), ""]
    return "\n".join(parts)


def differences_to(row: Sequence[Mapping[str, Any]], below: Sequence[Mapping[str, Any]]) -> list[float]:
    """Differences in BLEU for each seed that two rows share, where they were scored on the same sentences."""
    theirs = {one["seed"]: one for one in below}
    both = [(one, theirs[one["seed"]]) for one in row if one["seed"] in theirs]
    return [headline(a) - headline(b) for a, b in both if data_of(a) == data_of(b)]


def data_of(row: Mapping[str, Any]) -> str:
    """The hash of the references in the signature."""
    fields = row["scores"][HEADLINE]["signature"].split("|")
    return next(field for field in fields if field.startswith("data:"))


def _cells(row: Sequence[Mapping[str, Any]], everything: Sequence[Mapping[str, Any]]) -> list[str]:
    first = row[0]
    return [
        first["row"],
        str(len(row)),
        f"{first['parameters']:,}",
        f"{statistics.mean(r['steps'] for r in row):,.0f}",
        f"{statistics.mean(r['cpu_seconds' if r.get('clock') == 'cpu' else 'seconds'] for r in row):.0f}",
        bleu_of(row),
        first["builds_on"],
        *_change(row, [r for r in everything if r["row"] == first["builds_on"]]),
    ]


def _change(row: Sequence[Mapping[str, Any]], below: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The difference to the row below with its interval or range, and the p-value."""
    found = differences_to(row, below)
    if not found:
        return ("other sentences" if below and data_of(row[0]) != data_of(below[0]) else "", "")
    if len(found) > 1:
        return f"{statistics.mean(found):+.2f} ({min(found):+.2f} to {max(found):+.2f})", ""
    seeds = {one["seed"] for one in below}
    paired = next((one["against"] for one in row if "against" in one and one["seed"] in seeds), None)
    if paired is None:
        return f"{found[0]:+.2f}", ""
    return f"{found[0]:+.2f}{_interval(paired['interval'], '+')}", f"{paired['p_value']:.3f}"


def bleu_of(row: Sequence[Mapping[str, Any]]) -> str:
    """BLEU of a row over its seeds, with an interval or a range."""
    values = [headline(one) for one in row]
    if len(values) > 1:
        return f"{statistics.mean(values):.2f} ({min(values):.2f} to {max(values):.2f})"
    interval = row[0]["scores"][HEADLINE]["interval"]
    return f"{values[0]:.2f}" + (_interval(interval) if interval else "")


def _interval(ends: Sequence[float], sign: str = "") -> str:
    return f" [{ends[0]:{sign}.2f}, {ends[1]:{sign}.2f}]"


def _machines(rows: Sequence[Mapping[str, Any]]) -> str:
    return " and ".join(
        sorted({f"{r['machine']['name']} with {r['machine']['threads']} thread(s)" for r in rows})
    )
