"""The rows of a CSV table with the lines where they begin."""

import csv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any


def csv_rows(
    path: Path,
    needed: Sequence[str],
    kind: str,
    *,
    empty: str | None = None,
    longest: int | None = None,
    delimiters: str = ",",
    rename: Callable[[Sequence[str]], Sequence[str]] | None = None,
) -> Iterator[tuple[int, dict[Any, Any]]]:
    """The rows of a file whose first line names the columns.

    A row with more cells than columns has the others under the key None, as
    `csv.DictReader` gives them. Empty lines are left out.

    Args:
        path: of the file, in UTF-8 with or without a byte order mark.
        needed: columns that it must have.
        kind: what the file is, for the message about a missing column, such as "a table
            of clips".
        empty: stands for the cells that a short row lacks; None tells them from cells
            that are there and empty.
        longest: most characters of a cell; None leaves the limit of `csv`, 131,072.
        delimiters: signs that may separate columns; the one that the first line has
            most often does.
        rename: gets the names of the columns as the file has them, and gives those
            that rows and `needed` go by, as many; it may refuse them.

    Yields:
        The line where a row begins, from 1, and the row by columns.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no UTF-8, no CSV, lacks a needed column or has it twice; the
            line is named.
    """
    limit = csv.field_size_limit() if longest is None else csv.field_size_limit(longest)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            sign = max(delimiters, key=file.readline().count)
            file.seek(0)
            reader = csv.reader(file, strict=True, delimiter=sign)
            columns: Sequence[str] = next(reader, [])
            if rename is not None:
                columns = rename(columns)
            missing = [name for name in needed if name not in columns]
            if missing:
                raise ValueError(
                    f"{path}, line 1: no column {', '.join(missing)}; {kind} has"
                    f" {', '.join(needed)}"
                )
            twice = [name for name in needed if columns.count(name) > 1]
            if twice:
                raise ValueError(
                    f"{path}, line 1: several columns are called {', '.join(twice)};"
                    " keep one of each"
                )
            line = reader.line_num + 1
            for cells in reader:
                if cells:  # an empty line is no row
                    yield line, _row(columns, cells, empty)
                line = reader.line_num + 1
    except UnicodeDecodeError as reason:
        raise ValueError(
            f"{path}: not UTF-8 ({reason.reason} in line {_undecodable_line(path)});"
            " save the table as UTF-8"
        ) from None
    except csv.Error as reason:
        raise ValueError(
            f"{path}, line {reader.line_num}: no CSV ({reason}); copy the table again"
        ) from None
    finally:
        csv.field_size_limit(limit)


def _row(
    columns: Sequence[str], cells: Sequence[str], empty: str | None
) -> dict[Any, Any]:
    row: dict[Any, Any] = dict(zip(columns, cells, strict=False))
    row |= dict.fromkeys(columns[len(cells) :], empty)
    if len(cells) > len(columns):
        row[None] = cells[len(columns) :]
    return row


def _undecodable_line(path: Path) -> int:
    """The first line that is no UTF-8; reading by blocks does not tell it."""
    content = path.read_bytes()
    try:
        content.decode()
    except UnicodeDecodeError as reason:
        return content[: reason.start].count(b"\n") + 1
    return 1
