"""What a folder of clips holds: the contest's layout, a folder a word, or a table.

    FOLDER/train/<word>/*.mp4  and label_mapping.pkl beside it, as the contest has it
    FOLDER/<word>/*.mp4        the same without the part's name
    FOLDER/manifest.csv        columns path, label, and where known signer, group
    FOLDER/signers.csv         the same
    FOLDER/*.mp4               clips without a word, as the contest's test parts

Every oddity is named in one line. No video is opened here; `unreadable` does that.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import NamedTuple

from coursepkg.data.csv_rows import csv_rows
from coursepkg.projects.sign_language.data.clip import ClipFile
from coursepkg.projects.sign_language.data.label_mapping import (
    NAMES,
    LabelMapping,
    read_label_mapping,
)
from coursepkg.text.vietnamese import compose, unicode_form

_SHOWN = 5


class Problem(NamedTuple):
    """Something that a data set has and should not have."""

    kind: str
    """One of `KINDS`."""
    place: str
    """File, folder, line of a table, or word."""
    detail: str
    """What is wrong and what was done about it."""

    def __str__(self) -> str:
        return f"{self.place}: {self.detail}"


KINDS = {
    "label composed": "a word in another Unicode form than NFC, now composed",
    "one word, several folders": (
        "folders whose names differ in Unicode form only, taken together"
    ),
    "no video": "a file that is no video by its name, left out",
    "hidden file": "a file that the system made, left out",
    "folder in a class": "a folder below the folder of a word, left out",
    "empty file": "a video of no bytes, which counts as one that cannot be opened",
    "beside train": "a folder of videos beside `train`, not read",
    "empty class": "a folder of a word without a video",
    "one clip": "a word with a single clip: it cannot be both learnt and tested",
    "not in the mapping": "a word that the label mapping lacks, its clips left out",
    "not in the data": "a word of the label mapping without a clip",
    "missing file": "a row or a link whose file is not there, left out",
    "repeated row": "a file that stands in the table twice, the later row left out",
    "bad row": "a row of the table that cannot be used, left out",
    "not in the table": "a video that the table does not name, left out",
    "label and folder": (
        "a row whose word is not that of the file's folder; the row is believed"
    ),
    "unreadable": "a video that cannot be decoded",
}
"""Every kind of problem with what it means."""


def report_problems(problems: Sequence[Problem], title: str = "problems") -> list[str]:
    """Lines for readers: every kind with its number and its first examples.

    Args:
        problems: what was found.
        title: what the first line calls them.
    """
    counts = Counter(problem.kind for problem in problems)
    if not counts:
        return [f"{title}: none"]
    lines = [f"{title}: {len(problems):,}"]
    for kind, count in counts.most_common():
        lines.append(f"  {kind}: {count:,} ({KINDS[kind]})")
        lines += [
            f"    {problem}"
            for problem in [p for p in problems if p.kind == kind][:_SHOWN]
        ]
        lines += [f"    ... and {count - _SHOWN:,} more"] if count > _SHOWN else []
    return lines


def composed_label(label: str, word: str, place: str) -> list[Problem]:
    """The problem of a label that was composed to `word`; none where it was not."""
    if label == word:
        return []
    return [
        Problem(
            "label composed",
            place,
            f"the word {label!r} is in {unicode_form(label)}; read as {word!r}",
        )
    ]


def problems_of_classes(
    files: Iterable[ClipFile], mapping: LabelMapping | None
) -> list[Problem]:
    """Words with one clip, and words of a mapping without any."""
    counts = Counter(file.label for file in files if file.label)
    found = [
        Problem("one clip", word, "a single clip; record more, or leave the word out")
        for word, count in sorted(counts.items())
        if count == 1
    ]
    absent = (
        [] if mapping is None else [word for word in mapping.words if not counts[word]]
    )
    return found + [
        Problem(
            "not in the data",
            word,
            "the label mapping has this word, the data have no clip of it",
        )
        for word in absent
    ]


def unreadable(files: Iterable[ClipFile]) -> list[Problem]:
    """Return a problem for each file that does not open, has no picture or ends early.

    The function opens every file and decodes one frame of it.

    Raises:
        ImportError: av is not installed.
    """
    from coursepkg.projects.sign_language.data.video_file import probe

    found = []
    for file in files:
        try:
            facts = probe(file.path)
        except (ValueError, OSError) as reason:
            found.append(_unreadable(file.path, str(reason)))
        else:
            if facts.expected > len(facts.times):
                told = (
                    f"cut short: {len(facts.times)} of {facts.expected} frames are"
                    " there; copy it again"
                )
                found.append(Problem("unreadable", str(file.path), told))
    return found


def _unreadable(path: Path, reason: str) -> Problem:
    """The message without the file's name, which is the problem's place already."""
    return Problem("unreadable", str(path), reason.removeprefix(str(path)).lstrip(": "))


NEEDED = ("path", "label")

Row = Mapping[str, str]


def read_clip_table(path: Path) -> tuple[list[ClipFile], list[Row], list[Problem]]:
    """Return a table's clips, their rows with all columns and problems of its rows.

    A row that cannot be used yields a problem and no clip.

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
            told = (
                f"{row['path']} stands in line {seen[where]} already; the row is"
                " left out"
            )
            problems.append(Problem("repeated row", place, told))
        elif not where.is_file():
            told = f"there is no {row['path']}; copy the file, or remove the row"
            problems.append(Problem("missing file", place, told))
        else:
            seen[where] = line
            if not where.stat().st_size:
                problems.append(
                    Problem(
                        "empty file", place, f"{row['path']} has 0 bytes; copy it again"
                    )
                )
            problems += composed_label(row["label"].strip(), word, place)
            problems += _other_folder(row, word, place)
            signer, group = (row.get(name, "").strip() for name in ("signer", "group"))
            files.append(ClipFile(where, word, compose(signer), group))
            rows.append(row)
    return files, rows, problems


def _fault(row: Row) -> str:
    """Why a row cannot be used; empty where it can."""
    if None in row:
        return "it has more columns than the first line; quote texts that hold commas"
    inside = PurePosixPath(row["path"])
    if not row["path"].strip() or not inside.parts:
        return "no path; add it, or remove the row"
    if (
        inside.is_absolute()
        or ".." in inside.parts
        or "\\" in row["path"]
        or PureWindowsPath(inside).drive
    ):
        return (
            f"{row['path']} leads out of the folder; write a path inside it, with"
            " forward slashes"
        )
    if "\0" in row["path"]:
        return "its path has a zero byte; copy the table again"
    return ""


def _spelled(folder: Path, name: str) -> str:
    """Return the path in the Unicode form that the file system has.

    Archives from a Mac unpack decomposed names, and most tables have composed ones.
    """
    if (folder / name).exists():
        return name
    found: list[str] = []
    for part in PurePosixPath(name).parts:
        here = folder.joinpath(*found)
        wanted = compose(part)
        inside = here.iterdir() if here.is_dir() else ()
        found.append(
            next((one.name for one in inside if compose(one.name) == wanted), part)
        )
    return "/".join(found)


def _other_folder(row: Row, word: str, place: str) -> list[Problem]:
    """Return a problem where the folder and the row name different words.

    Only the contest's layout, train/<word>, names the word in the folder.
    """
    parts = PurePosixPath(row["path"]).parts
    if len(parts) < 3 or parts[0] != "train" or compose(parts[-2]) == word:
        return []
    told = (
        f"{row['path']} lies in the folder of {parts[-2]!r}, its row says {word!r}; the"
        " row is believed"
    )
    return [Problem("label and folder", place, told)]


SUFFIXES = (".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".3gp")
"""Names of videos."""
TABLES = ("manifest.csv", "signers.csv")
"""Names of tables, in the order in which they are looked for."""
TEST_PARTS = ("public_test", "private_test")
"""Folders of clips without a word, each a data set of its own."""
_BESIDE = (
    *NAMES,
    *TABLES,
    "generator.json",
    "readme.md",
    "readme.txt",
    "license",
    "license.txt",
)
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
    """For each clip its row of the table, with all columns; empty where there is no
    table."""

    @cached_property
    def words(self) -> LabelMapping:
        """Return the data set's own label mapping, or one made of its sorted labels.

        Raises:
            ValueError: the clips have no labels and there is no mapping.
        """
        if self.mapping is not None:
            return self.mapping
        labels = {file.label for file in self.files if file.label}
        if not labels:
            raise ValueError(
                f"{self.folder}: no clip has a word, and there is no"
                f" {' or '.join(NAMES)}"
            )
        return LabelMapping.of_words(labels)

    def report(self) -> str:
        """What was found, for readers."""
        labels = {file.label for file in self.files} - {""}
        signers = {file.signer for file in self.files} - {""}
        told = (
            f"{len(self.files):,} clips, {len(labels):,} words, {len(signers):,}"
            " signers"
        )
        return "\n".join([f"{self.folder}: {told}", *report_problems(self.problems)])


def scan_clips(path: str | Path) -> Scan:
    """The clips of a folder, or of a table by its own name.

    Raises:
        FileNotFoundError: there is no such folder or table.
        ValueError: there is no clip in it, or its table or label mapping cannot be
            read.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such folder or table of clips")
    folder = path if path.is_dir() else path.parent
    has_mapping = any((folder / name).is_file() for name in NAMES)
    mapping = read_label_mapping(folder) if has_mapping else None
    table = (
        next((folder / name for name in TABLES if (folder / name).is_file()), None)
        if path.is_dir()
        else path
    )
    rows: list[Mapping[str, str]] = []
    if table is not None:
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
            one
            for word in mapping.composed
            for one in composed_label(word, compose(word), str(folder))
        ]
    if not files:
        first = f"; the first problem: {problems[0]}" if problems else ""
        raise ValueError(
            f"{folder} holds no clip; it must have train/<word>/*.mp4, <word>/*.mp4, or"
            f" a {TABLES[0]}{first}"
        )
    problems += problems_of_classes(files, mapping)
    return Scan(folder, tuple(files), tuple(problems), mapping, tuple(rows))


def scan_classes(folder: Path) -> tuple[list[ClipFile], list[Problem]]:
    """Return the clips and problems of a folder that has one folder for each word.

    A clip that lies directly in the folder has no word.
    """
    files: list[ClipFile] = []
    problems: list[Problem] = []
    named: dict[str, Path] = {}
    for entry in _in_order(folder):
        if not entry.is_dir():
            files += _clip(entry, "", problems)
            continue
        if entry.name.startswith("."):
            problems.append(
                Problem("hidden file", str(entry), "a hidden folder, left out")
            )
            continue
        word = compose(entry.name)
        problems += composed_label(entry.name, word, str(entry))
        if word in named:
            told = (
                f"the same word as {named[word].name!r} in another Unicode form; their"
                " clips are taken together"
            )
            problems.append(Problem("one word, several folders", str(entry), told))
        named.setdefault(word, entry)
        found: list[ClipFile] = []
        for inner in _in_order(entry):
            if inner.is_dir():
                problems.append(
                    Problem(
                        "folder in a class",
                        str(inner),
                        "a folder where clips should lie, left out",
                    )
                )
            else:
                found += _clip(inner, word, problems)
        if not found:
            problems.append(
                Problem(
                    "empty class", str(entry), "the folder of a word without a clip"
                )
            )
        files += found
    return files, problems


def _clip(path: Path, word: str, problems: list[Problem]) -> list[ClipFile]:
    """Return the clip of a file, or an empty list where it is skipped.

    A skipped file adds a problem, unless the data set has such a file beside its
    clips. An empty file is a clip and adds a problem.
    """
    if path.name.startswith(".") or path.name.lower() in ("thumbs.db", "desktop.ini"):
        problems.append(
            Problem("hidden file", str(path), "made by the system, left out")
        )
    elif path.suffix.lower() not in SUFFIXES:
        if word or path.name.lower() not in _BESIDE:
            problems.append(
                Problem("no video", str(path), "no video by its name, left out")
            )
    elif not path.is_file():
        problems.append(
            Problem("missing file", str(path), "a link to no file, left out")
        )
    else:
        if not path.stat().st_size:
            # It stays a clip, so that one that is scored counts as wrong, as others do
            # that cannot be opened.
            problems.append(Problem("empty file", str(path), "0 bytes; copy it again"))
        return [ClipFile(path, word)]
    return []


def _in_order(folder: Path) -> list[Path]:
    """Return a folder's entries in one order for all machines and Unicode forms."""
    return sorted(
        folder.iterdir(),
        key=lambda path: (unicodedata.normalize("NFC", path.name), path.name),
    )


def _beside_train(folder: Path) -> list[Problem]:
    """Return a problem for each folder of videos outside the contest's layout.

    A user may expect the clips of such a folder in the data set.
    """
    found = []
    for entry in _in_order(folder):
        if entry.is_dir() and entry.name not in ("train", *TEST_PARTS):
            count = sum(path.suffix.lower() in SUFFIXES for path in entry.rglob("*"))
            told = (
                f"{count} videos that are not read; move them into train/<word>, or"
                " scan this folder itself"
            )
            found += [Problem("beside train", str(entry), told)] if count else []
    return found


def _beside_the_table(folder: Path, files: Sequence[ClipFile]) -> list[Problem]:
    known = {file.path for file in files}
    videos = sorted(
        path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES
    )
    return [
        Problem(
            "not in the table",
            str(path),
            "the table has no row for this video, left out",
        )
        for path in videos
        if path not in known and path.is_file()
    ]


def _inside(
    files: Sequence[ClipFile],
    rows: Sequence[Mapping[str, str]],
    mapping: LabelMapping,
    folder: Path,
) -> tuple[list[ClipFile], list[Mapping[str, str]], list[Problem]]:
    """Return the clips with a word of the mapping or no word, rows and problems.

    Each word that the mapping lacks yields a problem, and its clips are left out.
    """
    outside = sorted(
        {file.label for file in files if file.label and file.label not in mapping}
    )
    kept = [i for i, file in enumerate(files) if file.label not in outside]
    problems = [
        Problem(
            "not in the mapping",
            word,
            f"{count} clips left out; add the word to the mapping of {folder}",
        )
        for word in outside
        if (count := sum(file.label == word for file in files))
    ]
    return [files[i] for i in kept], [rows[i] for i in kept] if rows else [], problems
