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
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a file whose first line names the columns.

    A row with more cells than columns has the others under the key None, as
    `csv.DictReader` gives them.

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
        ValueError: it is no UTF-8, no CSV, or lacks a column; the line is named.
    """
    limit = csv.field_size_limit() if longest is None else csv.field_size_limit(longest)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            sign = max(delimiters, key=file.readline().count)
            file.seek(0)
            reader = csv.DictReader(file, strict=True, restval=empty, delimiter=sign)
            columns = reader.fieldnames or ()
            if rename is not None:
                reader.fieldnames = columns = rename(columns)
            missing = [name for name in needed if name not in columns]
            if missing:
                raise ValueError(
                    f"{path}, line 1: no column {', '.join(missing)}; {kind} has"
                    f" {', '.join(needed)}"
                )
            line = reader.line_num + 1
            for row in reader:
                yield line, row
                line = reader.line_num + 1
    except UnicodeDecodeError as reason:
        raise ValueError(
            f"{path}: not UTF-8 ({reason.reason} at byte {reason.start}); save the"
            " table as UTF-8"
        ) from None
    except csv.Error as reason:
        # The line of a row that cannot be read is known to the reader inside alone.
        raise ValueError(
            f"{path}, line {reader.reader.line_num}: no CSV ({reason}); copy the table"
            " again"
        ) from None
    finally:
        csv.field_size_limit(limit)
