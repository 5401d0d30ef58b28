"""What a folder of clips holds: the contest's layout, a folder a word, or a table; every oddity named.

    FOLDER/train/<word>/*.mp4  and label_mapping.pkl beside `train`, as the contest has it
    FOLDER/<word>/*.mp4        the same without the part's name
    FOLDER/manifest.csv        columns path and label, where known also signer and group; or signers.csv
    FOLDER/*.mp4               clips without a word, as the contest's test parts

No video is opened here; `problems.unreadable` does that.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from coursepkg.projects.sign_language.clip import ClipFile
from coursepkg.projects.sign_language.data.label_mapping import NAMES, LabelMapping, read_label_mapping
from coursepkg.projects.sign_language.data.problems import (
    Problem,
    composed_label,
    problems_of_classes,
    report_problems,
)
from coursepkg.text.vietnamese import compose

SUFFIXES = (".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".3gp")
"""Names of videos."""
TABLES = ("manifest.csv", "signers.csv")
"""Names of tables, in the order in which they are looked for."""
TEST_PARTS = ("public_test", "private_test")
"""Folders of clips without a word, each a data set of its own."""
_BESIDE = (*NAMES, *TABLES, "generator.json", "readme.md", "readme.txt", "license", "license.txt")
"""Files beside the clips that are none of them, in lower case."""


@dataclass(frozen=True)
class Scan:
    """The clips of a data set."""

    folder: Path
    files: tuple[ClipFile, ...]
    """Every clip that can be used, in an order that does not depend on the machine."""
    problems: tuple[Problem, ...]
    mapping: LabelMapping | None
    """The words that the data set came with; None where it has no label mapping."""
    rows: tuple[Mapping[str, str], ...] = field(default=(), repr=False)
    """For each clip its row of the table, with all columns; empty where there is no table."""

    @cached_property
    def words(self) -> LabelMapping:
        """The words and their class numbers: those that the data set came with, or its labels in order.

        Raises:
            ValueError: the clips have no labels and there is no mapping.
        """
        if self.mapping is not None:
            return self.mapping
        labels = {file.label for file in self.files if file.label}
        if not labels:
            raise ValueError(f"{self.folder}: no clip has a word, and there is no {' or '.join(NAMES)}")
        return LabelMapping.of_words(labels)

    def report(self) -> str:
        """What was found, for readers."""
        labels = {file.label for file in self.files} - {""}
        signers = {file.signer for file in self.files} - {""}
        told = f"{len(self.files):,} clips, {len(labels):,} words, {len(signers):,} signers"
        return "\n".join([f"{self.folder}: {told}", *report_problems(self.problems)])


def scan_clips(path: str | Path) -> Scan:
    """The clips of a folder, or of a table by its own name.

    Raises:
        FileNotFoundError: there is no such folder or table.
        ValueError: there is no clip in it, or its table or label mapping cannot be read.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such folder or table of clips")
    folder = path if path.is_dir() else path.parent
    has_mapping = any((folder / name).is_file() for name in NAMES)
    mapping = read_label_mapping(folder) if has_mapping else None
    table = (
        next((folder / name for name in TABLES if (folder / name).is_file()), None) if path.is_dir() else path
    )
    rows: list[Mapping[str, str]] = []
    if table is not None:
        from coursepkg.projects.sign_language.data.table import read_clip_table

        files, rows, problems = read_clip_table(table)
        problems += _beside_the_table(folder, files)
    elif (folder / "train").is_dir():
        files, problems = scan_classes(folder / "train")
        problems += _beside_train(folder)
    else:
        files, problems = scan_classes(folder)
    if mapping is not None:
        files, rows, outside = _inside(files, rows, mapping, folder)
        problems += outside
        problems += [
            one for word in mapping.composed for one in composed_label(word, compose(word), str(folder))
        ]
    if not files:
        first = f"; the first problem: {problems[0]}" if problems else ""
        raise ValueError(
            f"{folder} holds no clip; it must have train/<word>/*.mp4, <word>/*.mp4, or a {TABLES[0]}{first}"
        )
    problems += problems_of_classes(files, mapping)
    return Scan(folder, tuple(files), tuple(problems), mapping, tuple(rows))


def scan_classes(folder: Path) -> tuple[list[ClipFile], list[Problem]]:
    """The clips of a folder that has one folder a word; those that lie in it directly have no word."""
    files: list[ClipFile] = []
    problems: list[Problem] = []
    named: dict[str, Path] = {}
    for entry in _in_order(folder):
        if not entry.is_dir():
            files += _clip(entry, "", problems)
            continue
        if entry.name.startswith("."):
            problems.append(Problem("hidden file", str(entry), "a hidden folder, left out"))
            continue
        word = compose(entry.name)
        problems += composed_label(entry.name, word, str(entry))
        if word in named:
            told = f"the same word as {named[word].name!r} in another Unicode form; their clips are taken together"
            problems.append(Problem("one word, several folders", str(entry), told))
        named.setdefault(word, entry)
        found: list[ClipFile] = []
        for inner in _in_order(entry):
            if inner.is_dir():
                problems.append(
                    Problem("folder in a class", str(inner), "a folder where clips should lie, left out")
                )
            else:
                found += _clip(inner, word, problems)
        if not found:
            problems.append(Problem("empty class", str(entry), "the folder of a word without a clip"))
        files += found
    return files, problems


def _clip(path: Path, word: str, problems: list[Problem]) -> list[ClipFile]:
    """The clip that a file is; none where it cannot be one, and then the reason is added to the problems."""
    if path.name.startswith(".") or path.name.lower() in ("thumbs.db", "desktop.ini"):
        problems.append(Problem("hidden file", str(path), "made by the system, left out"))
    elif path.suffix.lower() not in SUFFIXES:
        if word or path.name.lower() not in _BESIDE:
            problems.append(Problem("no video", str(path), "no video by its name, left out"))
    else:
        if not path.stat().st_size:
            # It stays a clip, so that one that is scored counts as wrong, as others do that cannot be opened.
            problems.append(Problem("empty file", str(path), "0 bytes; copy it again"))
        return [ClipFile(path, word)]
    return []


def _in_order(folder: Path) -> list[Path]:
    """What a folder holds, in an order that is the same on every machine and in every Unicode form."""
    return sorted(folder.iterdir(), key=lambda path: (unicodedata.normalize("NFC", path.name), path.name))


def _beside_train(folder: Path) -> list[Problem]:
    """Folders of videos that are no part of the contest's layout: they may hold clips that somebody expects here."""
    found = []
    for entry in _in_order(folder):
        if entry.is_dir() and entry.name not in ("train", *TEST_PARTS):
            count = sum(path.suffix.lower() in SUFFIXES for path in entry.rglob("*"))
            told = (
                f"{count} videos that are not read; move them into train/<word>, or scan this folder itself"
            )
            found += [Problem("beside train", str(entry), told)] if count else []
    return found


def _beside_the_table(folder: Path, files: Sequence[ClipFile]) -> list[Problem]:
    known = {file.path for file in files}
    videos = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)
    return [
        Problem("not in the table", str(path), "the table has no row for this video, left out")
        for path in videos
        if path not in known and path.is_file()
    ]


def _inside(
    files: Sequence[ClipFile], rows: Sequence[Mapping[str, str]], mapping: LabelMapping, folder: Path
) -> tuple[list[ClipFile], list[Mapping[str, str]], list[Problem]]:
    """The clips whose word the mapping has, or that have none; the other words as problems."""
    outside = sorted({file.label for file in files if file.label and file.label not in mapping})
    kept = [i for i, file in enumerate(files) if file.label not in outside]
    problems = [
        Problem(
            "not in the mapping", word, f"{count} clips left out; add the word to the mapping of {folder}"
        )
        for word in outside
        if (count := sum(file.label == word for file in files))
    ]
    return [files[i] for i in kept], [rows[i] for i in kept] if rows else [], problems
