"""A result as a table to read and as a document to store."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coursepkg.bench.machine import Device, commit, versions
from coursepkg.bench.race import Row


def document(suite: str, device: Device, rows: list[Row]) -> dict[str, Any]:
    """Everything a figure in the book must be able to cite: machine, versions, commit, rows."""
    return {
        "suite": suite,
        "machine": device.describe(),
        "versions": versions(),
        "commit": commit(),
        "rows": [{**asdict(row), "met": row.met} for row in rows],
    }


def table(result: dict[str, Any]) -> str:
    """The rows in columns, with the machine above them."""
    machine, found = result["machine"], result["versions"]
    head = (
        f"{result['suite']} on {machine['name']} ({machine['device']}, {machine['threads']} thread(s), "
        f"load {machine['load_average']}), "
        + ", ".join(f"{name} {version}" for name, version in found.items())
        + f", commit {result['commit']}"
    )
    cells: list[tuple[str, ...]] = [
        ("contest", "candidate", "against", "ratio", "min..max", "ms", "% of peak", "target", "")
    ]
    cells += [_cells(row) for row in result["rows"]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    return "\n".join([head, *lines])


def write(result: dict[str, Any], path: Path) -> None:
    """Store the document; the file appears whole or not at all."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    limit = "<=" if row["at_most"] else ">="
    met = {True: "met", False: "missed", None: ""}[row["met"]]
    bound = f"bound {row['bound']:.1f}x" if row["bound"] else ""
    return (
        row["contest"],
        row["candidate"],
        row["opponent"],
        _number(row["ratio"], "{:.3g}"),
        "" if row["low"] is None else f"{row['low']:.3g}..{row['high']:.3g}",
        _number(row["candidate_ms"], "{:.3f}"),
        _number(row["percent_of_peak"], "{:.0f}"),
        "" if row["target"] is None else f"{limit} {row['target']:g} {met}",
        ", ".join(part for part in (bound, row["note"]) if part),
    )


def _number(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)
