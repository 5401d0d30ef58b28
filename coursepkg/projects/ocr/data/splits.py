"""Three ways to part lines into training, validation and test; and labelled folders.

- `line`: any line anywhere, as the OCR report did (source 000). Lines of one receipt
  stand on both sides.
- `receipt`: whole receipts. A shop's name and address still stand on both sides.
- `seller`: whole shops. Receipts whose sellers are written alike stay together.

A labelled folder holds pictures of lines and a `labels.tsv`: path, tab, text.
"""

import hashlib
import random
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Literal

from coursepkg.data.split import group_records, grouped_split, split_fingerprint
from coursepkg.files import file_sha256
from coursepkg.projects.ocr.data.batches import seen_texts
from coursepkg.projects.ocr.data.images import check_size, read_gray
from coursepkg.projects.ocr.line import TextLine, Unreadable
from coursepkg.text.vietnamese import without_marks

PROTOCOLS = ("line", "receipt", "seller")
SHARES = {"train": 0.8, "dev": 0.1, "test": 0.1}


@dataclass(frozen=True)
class Split:
    """Which line is in which part, by its number from 0."""

    protocol: str
    """One of `PROTOCOLS`."""
    train: tuple[int, ...]
    dev: tuple[int, ...]
    test: tuple[int, ...]

    @property
    def parts(self) -> dict[str, tuple[int, ...]]:
        """The parts by their names."""
        return {"train": self.train, "dev": self.dev, "test": self.test}

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of which line is in which part."""
        return split_fingerprint(self.parts)

    def seen(
        self, texts: Sequence[str], part: Literal["dev", "test"] = "test"
    ) -> list[bool]:
        """For each line of a part whether the training part has its text, too."""
        own = [texts[i] for i in self.parts[part]]
        return seen_texts([texts[i] for i in self.train], own)


def split_lines(
    groups: Sequence[str],
    protocol: str = "receipt",
    *,
    sellers: Mapping[str, Collection[str]] | None = None,
    seed: int = 0,
) -> Split:
    """Part lines 80 to 10 to 10.

    `line` shuffles them and cuts, so its parts are exact. `receipt` places each receipt
    by its hash and meets the shares on average; where a set is so small that this
    leaves a part empty, it goes through the receipts in the order of their hashes and
    fills test, then validation, then training. `seller` goes through the shops in the
    same way: a few chains write most receipts, and those that would fill a third of a
    tenth go into training.

    Args:
        groups: for each line its receipt.
        protocol: one of `PROTOCOLS`: what must not be cut apart.
        sellers: for each receipt the texts that name its seller, for `seller` alone.
        seed: another seed gives another split.

    Raises:
        ValueError: there is no line, the protocol is unknown, or `seller` is asked for
            without sellers.
    """
    if protocol not in PROTOCOLS:
        raise ValueError(
            f"protocol must be one of {', '.join(PROTOCOLS)}, got {protocol!r}"
        )
    if not groups:
        raise ValueError("groups must hold at least one line, got none")
    if protocol == "line":
        parts = _by_line(len(groups), seed)
    elif protocol == "receipt":
        keys = [[("receipt", group)] for group in groups]
        parts = grouped_split(keys, SHARES, seed=seed)
        parts = parts if all(parts.values()) else _in_turn(groups, seed)
    else:
        if sellers is None:
            raise ValueError(
                "sellers must be given for the protocol 'seller', such as Table.sellers"
            )
        names = {
            group: {_seller_key(text) for text in found}
            for group, found in sellers.items()
        }
        keys = [
            [
                ("receipt", group),
                *(("seller", key) for key in sorted(names.get(group, ()))),
            ]
            for group in groups
        ]
        parts = _filled(group_records(keys), keys, seed)
    return Split(protocol, *(tuple(parts[name]) for name in SHARES))


def _by_line(count: int, seed: int) -> dict[str, list[int]]:
    order = list(range(count))
    random.Random(f"lines {seed}").shuffle(order)
    first = round(count * SHARES["train"])
    second = round(count * (SHARES["train"] + SHARES["dev"]))
    cut = {"train": order[:first], "dev": order[first:second], "test": order[second:]}
    return {name: sorted(records) for name, records in cut.items()}


def _in_turn(groups: Sequence[str], seed: int) -> dict[str, list[int]]:
    """Whole groups into test and validation until each has its share."""
    members: dict[str, list[int]] = {}
    for i, group in enumerate(groups):
        members.setdefault(group, []).append(i)
    order = sorted(
        members, key=lambda group: hashlib.sha256(f"{seed} {group}".encode()).digest()
    )
    parts: dict[str, list[int]] = {name: [] for name in SHARES}
    for place, group in enumerate(order):
        open_parts = [
            name
            for name in ("test", "dev")
            if len(parts[name]) < SHARES[name] * len(groups)
        ]
        is_last = place == len(order) - 1
        parts["train" if is_last or not open_parts else open_parts[0]] += members[group]
    return {name: sorted(records) for name, records in parts.items()}


def _filled(
    group_of: Sequence[int], keys: Sequence[Sequence[tuple[str, str]]], seed: int
) -> dict[str, list[int]]:
    """Whole groups into three parts, none larger than a third of the first two."""
    members: dict[int, list[int]] = {}
    for i, group in enumerate(group_of):
        members.setdefault(group, []).append(i)

    def place(records: list[int]) -> bytes:
        smallest = min(repr(key) for i in records for key in keys[i])
        return hashlib.sha256(f"{seed} {smallest}".encode()).digest()

    parts: dict[str, list[int]] = {name: [] for name in SHARES}
    for records in sorted(members.values(), key=place):
        open_parts = [
            name
            for name in ("test", "dev")
            if len(records) <= max(1, SHARES[name] * len(keys) / 3)
            and len(parts[name]) + len(records) <= SHARES[name] * len(keys)
        ]
        parts[open_parts[0] if open_parts else "train"] += records
    return {name: sorted(records) for name, records in parts.items()}


def _seller_key(text: str) -> str:
    """A seller's name without case, marks and punctuation."""
    return "".join(sign for sign in without_marks(text.casefold()) if sign.isalnum())


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
        """The picture's folder: lines of one document usually lie together."""
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
        """Every picture in the file's order; one that cannot be read says why."""
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
        ValueError: a line is not UTF-8, not NFC, has no tab or no text, leads out of
            the folder, or names a picture again; the message has its number.
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
                    f"{place}: {picture} stands in line {seen[picture]} already; keep"
                    " one of the two"
                )
            seen[picture] = number
            pictures.append(LabelledPicture(picture, text, number))
    if not pictures:
        raise ValueError(
            f"{path}: empty; a label file has at least one line: path, tab, text"
        )
    return LabelledFolder(path.parent, file_sha256(path), tuple(pictures))


def _cut(raw: bytes, number: int, place: str) -> tuple[str, str]:
    """Path and text of one line."""
    try:
        row = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as reason:
        raise ValueError(
            f"{place}: not UTF-8 ({reason.reason} at byte {reason.start}); save the"
            " file as UTF-8"
        ) from None
    picture, tab, text = row.partition("\t")
    if not tab or not picture:
        raise ValueError(
            f"{place}: no tab between path and text; write path, tab, text"
        )
    if not text.strip():
        raise ValueError(f"{place}: no text for {picture}; add it or remove the line")
    if "\t" in text:
        raise ValueError(
            f"{place}: a second tab in {text[:40]!r}; a line has one, between path and"
            " text"
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
    return picture, text
