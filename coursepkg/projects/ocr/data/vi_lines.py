"""A folder of line pictures with a `labels.tsv`: path, tab, text."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from coursepkg.files import file_sha256
from coursepkg.projects.ocr.data.images import check_size, read_gray
from coursepkg.projects.ocr.data.mc_ocr_lines import Unreadable
from coursepkg.projects.ocr.line import TextLine

LABELS = "labels.tsv"


@dataclass(frozen=True)
class LabelledPicture:
    """One row of a label file."""

    path: str
    """Of the picture, relative to the folder, with forward slashes."""
    text: str
    """In Unicode form NFC."""
    line: int
    """In the label file, from 1."""

    @property
    def group(self) -> str:
        """The picture's folder: lines of one document usually lie together, and nothing else tells them apart."""
        return str(PurePosixPath(self.path).parent)

    @property
    def name(self) -> str:
        """What the line is called."""
        return self.path


@dataclass(frozen=True)
class LabelledFolder:
    """Line pictures with their texts, read one at a time."""

    folder: Path
    sha256: str
    """Of the label file."""
    pictures: tuple[LabelledPicture, ...]

    def __len__(self) -> int:
        return len(self.pictures)

    def chosen(self, numbers: Sequence[int]) -> "LabelledFolder":
        """Some of its pictures, by their numbers from 0."""
        return replace(self, pictures=tuple(self.pictures[i] for i in numbers))

    def lines(self) -> Iterator[TextLine | Unreadable]:
        """Every picture in the order of the label file; one that cannot be read says why."""
        for one in self.pictures:
            try:
                image = read_gray(self.folder / one.path, one.path)
                check_size(image, one.path)
            except (ValueError, OSError) as reason:
                yield Unreadable(one.path, one.text, one.group, str(reason))
            else:
                yield TextLine(image, one.text, one.group, one.name)


def read_labels(folder: str | Path) -> LabelledFolder:
    """Read the label file of a folder, or a label file by its own name.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is not UTF-8, not NFC, has no tab or no text, leads out of the folder, or names a picture
            again; the message has its number.
    """
    path = Path(folder)
    path = path / LABELS if path.is_dir() else path
    pictures: list[LabelledPicture] = []
    seen: dict[str, int] = {}
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            place = f"{path}, line {number}"
            picture, text = _cut(raw, number, place)
            if picture in seen:
                raise ValueError(
                    f"{place}: {picture} stands in line {seen[picture]} already; keep one of the two"
                )
            seen[picture] = number
            pictures.append(LabelledPicture(picture, text, number))
    if not pictures:
        raise ValueError(f"{path}: empty; a label file has at least one line: path, tab, text")
    return LabelledFolder(path.parent, file_sha256(path), tuple(pictures))


def _cut(raw: bytes, number: int, place: str) -> tuple[str, str]:
    """Path and text of one line."""
    try:
        row = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as reason:
        raise ValueError(
            f"{place}: not UTF-8 ({reason.reason} at byte {reason.start}); save the file as UTF-8"
        ) from None
    picture, tab, text = row.partition("\t")
    if not tab or not picture:
        raise ValueError(f"{place}: no tab between path and text; write path, tab, text")
    if not text.strip():
        raise ValueError(f"{place}: no text for {picture}; add it or remove the line")
    if "\t" in text:
        raise ValueError(f"{place}: a second tab in {text[:40]!r}; a line has one, between path and text")
    if not unicodedata.is_normalized("NFC", text):
        raise ValueError(
            f"{place}: the text {text[:40]!r} is not in Unicode form NFC; save the file composed"
        )
    inside = PurePosixPath(picture)
    if inside.is_absolute() or ".." in inside.parts or "\\" in picture:
        raise ValueError(
            f"{place}: {picture} leads out of the folder; write a path inside it, with forward slashes"
        )
    return picture, text
