"""Stored rows of the ablation ladder: read them, and print them as a table."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coursepkg.bench.ladder import stored_rows

NEEDS: dict[str, type] = {
    "schema": str,
    "row": str,
    "seed": int,
    "conditions": str,
    "recipe": dict,
    "scores": dict,
    "machine": dict,
}
"""Entries that a stored row must have, and their kinds."""
HEAD = (
    "row",
    "seed",
    "parameters",
    "clips",
    "CPU s",
    "macro-F1",
    "head",
    "tail",
    "against",
    "difference",
    "p",
)
"""Columns of the table. The difference is to the row that is named before it; intervals draw signers."""


def read_rows(results: str | Path, order: Sequence[str]) -> list[dict[str, Any]]:
    """All stored rows under a folder: by conditions, then in an order of names, then by seed.

    Raises:
        ValueError: a file is damaged.
    """
    return stored_rows(results, order, NEEDS)


def ladder_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Stored rows as aligned lines, under a heading for each kind of conditions."""
    lines: list[str] = []
    for conditions in dict.fromkeys(row["conditions"] for row in rows):
        here = [row for row in rows if row["conditions"] == conditions]
        cells = [HEAD, *(_cells(row) for row in here)]
        widths = [max(len(line[column]) for line in cells) for column in range(len(HEAD))]
        machine = here[0]["machine"]
        lines.append(f"{conditions}, {machine['name']} with {machine['threads']} thread(s)")
        lines += ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in cells]
        lines.append("")
    return lines


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    scores, against = row["scores"], row["against"]
    # The row below, or else the first one, where it was made.
    name = row["builds_on"] if row["builds_on"] in against else next(iter(against), "")
    below = against.get(name)
    bands = [scores["bands"].get(band) for band in ("head", "tail")]
    return (
        row["row"],
        str(row["seed"]),
        f"{row['parameters']:,}",
        f"{row['clips']:,}" if "clips" in row else "",
        f"{row['cpu_seconds']:.0f}" if "cpu_seconds" in row else "",
        f"{scores['macro_f1']['value']:.4f}{_interval(scores['macro_f1']['interval'], '.3f')}",
        *("" if band is None else f"{band['value']:.3f}" for band in bands),
        name,
        "" if below is None else f"{below['difference']:+.4f}{_interval(below['interval'], '+.3f')}",
        "" if below is None else f"{below['p_value']:.3f}",
    )


def _interval(ends: Sequence[float] | None, form: str) -> str:
    return "" if ends is None else f" [{ends[0]:{form}}, {ends[1]:{form}}]"
