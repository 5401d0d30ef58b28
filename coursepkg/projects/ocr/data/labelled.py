"""Pictures of single lines with their texts, in a folder of the user.

FOLDER/labels.tsv   path, tab, text; no header
FOLDER/labels.csv   or a table: its first line names the columns

Paths are those in the folder. A fault of the file stops with the line that has it; a
picture that is missing or damaged is named, and the others are read.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from coursepkg.data.csv_rows import csv_rows
from coursepkg.files import file_sha256
from coursepkg.projects.ocr.data.images import check_size, read_gray
from coursepkg.projects.ocr.data.table_row import Fault
from coursepkg.projects.ocr.line import TextLine, Unreadable

LABELS, LABELS_CSV = "labels.tsv", "labels.csv"
PICTURE_COLUMNS = ("file", "path", "image")
"""Names of the column with the path of the picture; a table has one of them."""
TEXT_COLUMNS = ("text", "transcription", "label")
"""Names of the column with what the line says."""
RECEIPT_COLUMN = "receipt"
"""A column that a table may have: lines with the same entry are never cut apart."""


@dataclass(frozen=True)
class LabelledPicture:
    """One row of a label file."""

    path: str
    """Of the picture, relative to the folder, with forward slashes."""
    text: str
    """In Unicode form NFC."""
    line: int
    """In the label file, from 1."""
    receipt: str = ""
    """What the table names its receipt; empty where it names none."""

    @property
    def group(self) -> str:
        """Its receipt, else its folder: lines of one document usually lie together."""
        return self.receipt or str(PurePosixPath(self.path).parent)

    @property
    def name(self) -> str:
        """What the line is called."""
        return self.path


@dataclass(frozen=True)
class LabelledFolder:
    """Line pictures with their texts, read one at a time."""

    folder: Path
    file: str
    """Name of the label file."""
    sha256: str
    """Of the label file."""
    pictures: tuple[LabelledPicture, ...]

    def __len__(self) -> int:
        return len(self.pictures)

    def chosen(self, numbers: Sequence[int]) -> "LabelledFolder":
        """Some of its pictures, by their numbers from 0."""
        return replace(self, pictures=tuple(self.pictures[i] for i in numbers))

    def missing(self) -> list[Fault]:
        """The pictures that are not there."""
        told = f"not in {self.folder}"
        return [
            Fault("missing image", one.line, one.path, -1, told)
            for one in self.pictures
            if not (self.folder / one.path).is_file()
        ]

    def lines(self) -> Iterator[TextLine | Unreadable]:
        """Every picture in the file's order; one that cannot be read says why."""
        for one in self.pictures:
            try:
                image = read_gray(self.folder / one.path, one.path)
                check_size(image, one.path)
            except (ValueError, OSError) as reason:
                yield Unreadable(one.path, one.text, one.group, str(reason))
            else:
                yield TextLine(image, one.text, one.group, one.name)


class Row(NamedTuple):
    """What a line of a label file says."""

    line: int
    """From 1."""
    picture: str
    text: str
    receipt: str = ""


def has_labels(folder: Path) -> bool:
    """Whether a folder holds a label file."""
    return any((folder / name).is_file() for name in (LABELS, LABELS_CSV))


def read_labels(folder: str | Path) -> LabelledFolder:
    """Read the label file of a folder, or a label file by its own name.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: there are two label files; or a line is not UTF-8, not NFC, has no
            tab or no text, leads out of the folder, or names a picture again; or a
            table lacks a column. The message has the number of the line.
    """
    path = Path(folder)
    if path.is_dir() and (path / LABELS).is_file() and (path / LABELS_CSV).is_file():
        raise ValueError(
            f"{path}: both {LABELS} and {LABELS_CSV} are there; keep one of the two"
        )
    if path.is_dir():
        is_table = (path / LABELS_CSV).is_file()
        path = path / (LABELS_CSV if is_table else LABELS)
    is_table = path.suffix.lower() == ".csv"
    pictures: list[LabelledPicture] = []
    seen: dict[str, int] = {}
    for row in _table_rows(path) if is_table else _rows(path):
        place = f"{path}, line {row.line}"
        _check(row, place)
        if row.picture in seen:
            raise ValueError(
                f"{place}: {row.picture} stands in line {seen[row.picture]} already;"
                " keep one of the two"
            )
        seen[row.picture] = row.line
        one = LabelledPicture(row.picture, row.text, row.line, row.receipt)
        pictures.append(one)
    if not pictures:
        form = "a line with file,text, then lines" if is_table else "path, tab, text"
        raise ValueError(f"{path}: empty; a label file has at least one line: {form}")
    found = path.parent, path.name, file_sha256(path)
    return LabelledFolder(*found, tuple(pictures))


def _rows(path: Path) -> Iterator[Row]:
    """The lines of a file with a tab between path and text."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            place = f"{path}, line {number}"
            try:
                row = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as reason:
                raise ValueError(
                    f"{place}: not UTF-8 ({reason.reason} at byte {reason.start}); save"
                    " the file as UTF-8"
                ) from None
            picture, tab, text = row.rstrip("\r\n").partition("\t")
            if not tab or not picture:
                raise ValueError(
                    f"{place}: no tab between path and text; write path, tab, text"
                )
            if "\t" in text:
                raise ValueError(
                    f"{place}: a second tab in {text[:40]!r}; a line has one, between"
                    " path and text"
                )
            yield Row(number, picture, text)


def _table_rows(path: Path) -> Iterator[Row]:
    """The rows of a table whose first line names the columns."""
    for line, cells in csv_rows(path, (), "a table of lines", empty=""):
        picture = _column(path, cells, PICTURE_COLUMNS)
        text = _column(path, cells, TEXT_COLUMNS)
        place = f"{path}, line {line}"
        if None in cells:
            raise ValueError(
                f"{place}: more cells than columns; put a text with a comma between"
                " quotation marks"
            )
        if not cells[picture]:
            raise ValueError(f"{place}: no {picture}; add it or remove the line")
        receipt = cells.get(RECEIPT_COLUMN, "")
        yield Row(line, cells[picture], cells[text], receipt)


def _column(path: Path, cells: Mapping[str, Any], names: Sequence[str]) -> str:
    """The one of these columns that a table has."""
    found = [name for name in names if name in cells]
    if len(found) > 1:
        raise ValueError(
            f"{path}, line 1: both {found[0]} and {found[1]} are columns; keep one of"
            " the two"
        )
    if not found:
        there = ", ".join(repr(name) for name in cells if name is not None)
        raise ValueError(
            f"{path}, line 1: no column {', '.join(names[:-1])} or {names[-1]} among"
            f" {there}; name it so, with commas between columns"
        )
    return found[0]


def _check(row: Row, place: str) -> None:
    """Raises a ValueError where the text or the path cannot be used."""
    picture, text = row.picture, row.text
    if not text.strip():
        raise ValueError(f"{place}: no text for {picture}; add it or remove the line")
    if any(sign in text for sign in "\t\r\n"):
        raise ValueError(
            f"{place}: a tab or a line break in {text[:40]!r}; a picture shows one line"
            " of text"
        )
    if not unicodedata.is_normalized("NFC", text):
        raise ValueError(
            f"{place}: the text {text[:40]!r} is not in Unicode form NFC; save the file"
            " composed"
        )
    inside = PurePosixPath(picture)
    if inside.is_absolute() or ".." in inside.parts or "\\" in picture:
        raise ValueError(
            f"{place}: {picture} leads out of the folder; write a path inside it, with"
            " forward slashes"
        )
