"""The log of a run: two CSV files, one row a training step and one row a validation.

They hold nothing that depends on the clock, so that a run which was stopped and resumed
leaves the same bytes as one that was not.
"""

import csv
import io
import os
from collections.abc import Iterable
from pathlib import Path

from coursepkg.files import whole_file

Row = dict[str, int | float]
STEP_COLUMNS = ("step", "epoch", "loss", "learning_rate", "grad_norm", "units")
WHOLE = ("step", "epoch", "units")
"""Columns of integers; all others are floats."""


class CsvLog:
    """Rows of equal columns in memory and, where there is a path, in a CSV file."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.rows: list[Row] = []

    def add(self, row: Row) -> None:
        """Append a row; it is in the file when this returns, though not yet synced.

        Raises:
            ValueError: the row has other columns than those before it.
            OSError: the file cannot be written, as on a full disk; a half-written row
                goes when the run is resumed.
        """
        if self.rows and row.keys() != self.rows[0].keys():
            raise ValueError(
                f"every row must have the columns {', '.join(self.rows[0])}, got"
                f" {', '.join(row)}"
            )
        self.rows.append(row)
        if self.path is None:
            return
        try:
            with self.path.open("a", encoding="utf-8", newline="") as file:
                file.write(_as_csv([row], header=len(self.rows) == 1))
        except OSError as reason:
            raise OSError(
                f"{self.path} could not be written: {reason}; free some space and"
                " resume"
            ) from reason

    def sync(self) -> None:
        """Wait until the file is on the disk."""
        if self.path is not None and self.path.exists():
            with self.path.open("rb") as file:
                os.fsync(file.fileno())

    def cut_back(self, step: int) -> None:
        """Read the file and drop the rows after `step` and an incomplete last row."""
        assert self.path is not None
        if not self.path.exists():
            return
        lines = _read(self.path).splitlines(keepends=True)
        whole = [line for line in lines if line.endswith("\n")]
        self.rows = [row for row in _parse(self.path, whole) if row["step"] <= step]
        with whole_file(self.path) as file:
            file.write(_as_csv(self.rows, header=bool(self.rows)).encode())


def read_log(path: str | Path) -> list[Row]:
    """The rows of a log file.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no log.
    """
    return _parse(Path(path), _read(Path(path)).splitlines())


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as reason:
        raise ValueError(
            f"{path} must be a log written by fit, but: {reason}"
        ) from reason


def _parse(path: Path, lines: Iterable[str]) -> list[Row]:
    reader = csv.DictReader(lines)
    try:
        if "step" not in (reader.fieldnames or ("step",)):
            raise ValueError("it has no column step")
        return [
            {
                name: int(value) if name in WHOLE else float(value)
                for name, value in row.items()
            }
            for row in reader
        ]
    except (TypeError, ValueError) as reason:
        raise ValueError(
            f"{path} must be a log written by fit, but: {reason}"
        ) from reason


def _as_csv(rows: list[Row], *, header: bool) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(
        text, rows[0].keys() if rows else STEP_COLUMNS, lineterminator="\n"
    )
    if header:
        writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
