"""Photographs whose fields somebody wrote down: the share that is read right.

    FOLDER/fields.csv
    file,total,date,seller,address
    a.jpg,45000,2021-01-16,Quán Phở,"12 đường Hoa Mai, Huế"

A picture is read by detector and recogniser, as `coursepkg ocr predict` reads it, and
its fields are found in what was read: end to end. The total is right as a number, the
date as a day, whatever their notation on the paper; seller and address but for case and
spaces. An empty cell says that the receipt does not show the field: right is then to
find none. The interval is Wilson's, which holds for few receipts, too.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from coursepkg.data.csv_rows import csv_rows
from coursepkg.files import file_sha256
from coursepkg.metrics.classification import Accuracy, wilson_interval
from coursepkg.metrics.scoring import signature
from coursepkg.projects.ocr.data.images import check_header, read_rgb
from coursepkg.projects.ocr.data.label_studio import find_export
from coursepkg.projects.ocr.data.mc_ocr import TABLE
from coursepkg.projects.ocr.detector.detector import open_detector
from coursepkg.projects.ocr.detector.engines import DetectorSettings
from coursepkg.projects.ocr.fields.rules import Fields
from coursepkg.projects.ocr.line import LineRecognizer
from coursepkg.projects.ocr.page.read import Page, read_page
from coursepkg.validation import counted

FIELDS_CSV = "fields.csv"
PICTURE = "file"
COLUMNS = ("total", "date", "seller", "address")
"""Columns of the table beside `PICTURE`; it has one of them at least."""


class LabelledPhoto(NamedTuple):
    """A row of the table."""

    path: Path
    """Of the picture."""
    name: str
    """As the table has it."""
    texts: Mapping[str, str]
    """What is right, by column; empty where the receipt does not show it."""


@dataclass(frozen=True)
class LabelledPhotos:
    """Photographs with their true fields."""

    name: str
    """Of the folder."""
    sha256: str
    """Of the table."""
    columns: tuple[str, ...]
    """Those of `COLUMNS` that the table has."""
    photos: tuple[LabelledPhoto, ...]


def has_fields(folder: Path) -> bool:
    """Whether a folder holds the table of photographs."""
    return (folder / FIELDS_CSV).is_file()


def read_labelled_photos(folder: Path) -> LabelledPhotos:
    """Read the table of a folder.

    Raises:
        ValueError: other labels lie beside it; a column is unknown, repeated or
            missing; or a row lacks cells, names no picture, one that is not there,
            cannot be read or was named before, or holds no whole number or no date.
            The line is named.
    """
    path = folder / FIELDS_CSV
    if (folder / TABLE).is_file() or _has_export(folder):
        raise ValueError(
            f"{folder}: other labels lie beside {FIELDS_CSV}; give each a folder of its"
            " own"
        )
    photos: list[LabelledPhoto] = []
    seen: dict[Path, int] = {}
    columns: tuple[str, ...] = ()
    kind = "a table of fields"
    rename = partial(_names, path)
    for line, cells in csv_rows(path, (PICTURE,), kind, rename=rename):
        where = f"{path}, line {line}"
        columns = columns or _columns(path, list(cells))
        if None in cells:
            raise ValueError(
                f"{where}: more cells than columns; put a text with a comma between"
                " quotation marks"
            )
        if None in cells.values():
            raise ValueError(
                f"{where}: fewer cells than columns; an empty cell needs its comma, too"
            )
        name = cells[PICTURE].strip()
        _check_picture(folder, name, where)
        picture = (folder / name).resolve()
        if picture in seen:
            raise ValueError(
                f"{where}: {name} stands in line {seen[picture]} already; keep one of"
                " the two"
            )
        seen[picture] = line
        texts = {one: _checked(one, cells[one].strip(), where) for one in columns}
        photos.append(LabelledPhoto(folder / name, name, texts))
    if not photos:
        raise ValueError(f"{path}: no receipt in it; add a line for each picture")
    found = folder.resolve().name, file_sha256(path), columns
    return LabelledPhotos(*found, tuple(photos))


def _has_export(folder: Path) -> bool:
    """Whether a JSON export of Label Studio lies there: a list, unlike a score."""
    export = find_export(folder)
    return export is not None and export.read_bytes().lstrip()[:1] == b"["


def _names(path: Path, given: Sequence[str]) -> list[str]:
    """The names of the columns without spaces around them.

    Raises:
        ValueError: one is empty or stands there twice.
    """
    names = [name.strip() for name in given]
    if "" in names:
        to_do = "name it" if names[-1] else "remove the last comma"
        raise ValueError(f"{path}, line 1: an empty column name; {to_do}")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"{path}, line 1: column {name} stands there twice; keep one of the two"
            )
    return names


def _columns(path: Path, names: Sequence[Any]) -> tuple[str, ...]:
    """The columns with fields, in the order of `COLUMNS`."""
    known = ", ".join((PICTURE, *COLUMNS))
    for name in names:
        if name is not None and name not in (PICTURE, *COLUMNS):
            raise ValueError(
                f"{path}, line 1: unknown column {name!r}; the columns are {known}"
            )
    found = tuple(one for one in COLUMNS if one in names)
    if not found:
        raise ValueError(f"{path}, line 1: no column {' or '.join(COLUMNS)}; add one")
    return found


def _check_picture(folder: Path, name: str, where: str) -> None:
    """Raises a ValueError unless the picture can be taken."""
    if not name:
        raise ValueError(f"{where}: no {PICTURE}; add it or remove the line")
    inside = PurePosixPath(name)
    if inside.is_absolute() or ".." in inside.parts or "\\" in name:
        raise ValueError(
            f"{where}: {name} leads out of the folder; write a path inside it, with"
            " forward slashes"
        )
    if not (folder / name).is_file():
        raise ValueError(
            f"{where}: there is no picture {name} in {folder}; add it or remove the"
            " line"
        )
    try:
        check_header(folder / name, name)
    except ValueError as reason:
        raise ValueError(f"{where}: {reason}") from None


def _checked(column: str, text: str, where: str) -> str:
    """A cell as it is compared.

    Raises:
        ValueError: a total is no whole number, or a date is none.
    """
    if not text:
        return ""
    if column == "total":
        if not re.fullmatch("[0-9]+", text):
            raise ValueError(
                f"{where}: total must be a whole number of dong such as 45000, got"
                f" {text[:40]!r}"
            )
        return str(int(text))
    if column == "date":
        if not _is_day(text):
            raise ValueError(
                f"{where}: date must be a day as 2021-01-16, got {text[:40]!r}"
            )
        return text
    return _plain(text)


def _is_day(text: str) -> bool:
    """Whether a text is a date as 2021-01-16; `fromisoformat` takes 20210116, too."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _found(fields: Fields, column: str) -> str:
    """What was found, as it is compared; empty where nothing was."""
    field = fields.timestamp if column == "date" else getattr(fields, column)
    if field.value is None:
        return ""
    text = str(field.value)
    return {"total": text, "date": text[:10]}.get(column, _plain(text))


def read_photos(
    photos: Sequence[LabelledPhoto], recognizer: LineRecognizer
) -> Iterator[Page]:
    """Read photographs one after another.

    Args:
        photos: from the table.
        recognizer: reads the lines.

    Raises:
        ImportError: the detector's packages are missing.
        ValueError: a picture cannot be read; it is named.
        OSError: the detector failed at one.
    """
    detector = open_detector(DetectorSettings(), cache=False)
    try:
        for photo in photos:
            name = str(photo.path)
            yield read_page(read_rgb(photo.path), detector, recognizer, name=name)
    finally:
        detector.close()


@dataclass(frozen=True)
class ShareRight:
    """How one field was read."""

    column: str
    """One of `COLUMNS`."""
    right: int
    """Receipts where what was found is right, or rightly nothing."""
    missed: tuple[str, ...]
    """Pictures where nothing was found, though the receipt shows it."""
    wrong: tuple[str, ...]
    """Pictures where something else was found."""
    signed: str
    """The signature."""

    @property
    def n(self) -> int:
        """Receipts."""
        return self.right + len(self.missed) + len(self.wrong)

    @property
    def value(self) -> float:
        """Share of the receipts where it is right."""
        return self.right / self.n

    @property
    def interval(self) -> tuple[float, float]:
        """Of 95%, by Wilson's formula."""
        return wilson_interval(self.right, self.n)

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.column} right: {self.right} of {counted(self.n, 'receipt')},"
            f" {self.value:.1%} [{low:.1%}, {high:.1%}]; not found"
            f" {len(self.missed)}, wrong {len(self.wrong)}\n  {self.signed}"
        )

    def as_json(self) -> dict[str, Any]:
        """All of it: numbers, and names of pictures."""
        return {
            "value": self.value,
            "interval": list(self.interval),
            "right": self.right,
            "n": self.n,
            "missed": list(self.missed),
            "wrong": list(self.wrong),
            "signature": self.signed,
        }


def shares_right(
    found: Sequence[Fields], labelled: LabelledPhotos, *, protocol: str = ""
) -> list[ShareRight]:
    """The share of each column that was found right.

    Args:
        found: fields, one a photograph, in order.
        labelled: what is right.
        protocol: how it was read and found, in a few words, for the signature.
    """
    return [_share(column, found, labelled, protocol) for column in labelled.columns]


def _share(
    column: str, found: Sequence[Fields], labelled: LabelledPhotos, protocol: str
) -> ShareRight:
    true = [photo.texts[column] for photo in labelled.photos]
    texts = [_found(fields, column) for fields in found]
    signed = signature(Accuracy(), true, n_in_file=len(true), protocol=protocol)
    cases = list(zip(labelled.photos, texts, true, strict=True))
    return ShareRight(
        column,
        sum(own == right for _, own, right in cases),
        tuple(photo.name for photo, own, right in cases if right and not own),
        tuple(photo.name for photo, own, right in cases if own and own != right),
        f"{column} {Accuracy.name}|{signed}",
    )


def score_photos(
    labelled: LabelledPhotos,
    recognizer: LineRecognizer,
    ways: Mapping[str, Callable[..., Fields]],
    *,
    protocol: str,
) -> dict[str, list[ShareRight]]:
    """Read photographs once, and score each way of finding the fields.

    Args:
        labelled: photographs with their true fields.
        recognizer: reads the lines.
        ways: by name, each from lines and the size of the picture to fields.
        protocol: how they are read, in a few words, for the signatures.
    """
    pages = list(read_photos(labelled.photos, recognizer))
    sizes = [(page.width, page.height) for page in pages]
    return {
        name: shares_right(
            [
                extract(page.lines, size)
                for page, size in zip(pages, sizes, strict=True)
            ],
            labelled,
            protocol=f"{protocol}, {name}",
        )
        for name, extract in ways.items()
    }
