"""A table of clips: CSV with the columns path and label, where known also signer and group."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from coursepkg.data.csv_rows import csv_rows
from coursepkg.projects.sign_language.clip import ClipFile
from coursepkg.projects.sign_language.data.problems import Problem, composed_label
from coursepkg.text.vietnamese import compose

NEEDED = ("path", "label")

Row = Mapping[str, str]


def read_clip_table(path: Path) -> tuple[list[ClipFile], list[Row], list[Problem]]:
    """The clips that a table names, their rows with all columns, and the rows that cannot be used.

    Paths are relative to the table's folder, with forward slashes.

    Raises:
        ValueError: it is no UTF-8, no CSV, or lacks a column; the line is named.
    """
    files: list[ClipFile] = []
    rows: list[Row] = []
    problems: list[Problem] = []
    seen: dict[Path, int] = {}
    for line, row in csv_rows(path, NEEDED, "a table of clips", empty=""):
        place = f"{path}, line {line}"
        fault = _fault(row)
        if fault:
            problems.append(Problem("bad row", place, fault))
            continue
        where = path.parent / _spelled(path.parent, row["path"])
        word = compose(row["label"].strip())
        if where in seen:
            told = f"{row['path']} stands in line {seen[where]} already; the row is left out"
            problems.append(Problem("repeated row", place, told))
        elif not where.is_file():
            told = f"there is no {row['path']}; copy the file, or remove the row"
            problems.append(Problem("missing file", place, told))
        else:
            seen[where] = line
            if not where.stat().st_size:
                problems.append(Problem("empty file", place, f"{row['path']} has 0 bytes; copy it again"))
            problems += composed_label(row["label"].strip(), word, place)
            problems += _other_folder(row, word, place)
            files.append(ClipFile(where, word, compose(row.get("signer", "")), row.get("group", "")))
            rows.append(row)
    return files, rows, problems


def _fault(row: Row) -> str:
    """Why a row cannot be used; empty where it can."""
    if None in row:
        return "it has more columns than the first line; quote texts that hold commas"
    inside = PurePosixPath(row["path"])
    if not row["path"].strip():
        return "no path; add it, or remove the row"
    if inside.is_absolute() or ".." in inside.parts or "\\" in row["path"] or ":" in inside.parts[0]:
        return f"{row['path']} leads out of the folder; write a path inside it, with forward slashes"
    if "\0" in row["path"]:
        return "its path has a zero byte; copy the table again"
    return ""


def _spelled(folder: Path, name: str) -> str:
    """The path as the file system has it: archives of a Mac unpack names decomposed, tables are mostly composed."""
    if (folder / name).exists():
        return name
    found: list[str] = []
    for part in PurePosixPath(name).parts:
        here = folder.joinpath(*found)
        wanted = compose(part)
        inside = here.iterdir() if here.is_dir() else ()
        found.append(next((one.name for one in inside if compose(one.name) == wanted), part))
    return "/".join(found)


def _other_folder(row: Row, word: str, place: str) -> list[Problem]:
    """The contest's layout names the word in the folder as well: where both are given they should agree."""
    parts = PurePosixPath(row["path"]).parts
    if len(parts) < 3 or parts[0] != "train" or compose(parts[-2]) == word:
        return []
    told = f"{row['path']} lies in the folder of {parts[-2]!r}, its row says {word!r}; the row is believed"
    return [Problem("label and folder", place, told)]
