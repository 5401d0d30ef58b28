"""A leaderboard of an open project: predictions come as files, scores are made here.

Each file is scored by the project's own metric against references that students do not
have. The best of each student stands on one HTML page without scripts, links or names:
a student is a pseudonym that the course's secret decides.
"""

import csv
import hashlib
import html
import io
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Literal, NamedTuple

from coursepkg.files import check_regular, whole_file
from coursepkg.grading.collect import UNREADABLE, found_files, owners
from coursepkg.grading.course import Course
from coursepkg.grading.sandbox import clean_text
from coursepkg.metrics.scoring import Score, format_values, score
from coursepkg.text.languages import LANGUAGES
from coursepkg.validation import counted, one_line

ProjectName = Literal["translation", "ocr", "sign-language"]
PROTOCOL = "class leaderboard"
CONTEST_HEADER = "tieng_trung,tieng_viet"
"""First line of the contest's file of translations."""
SHOWN = 3
"""Names that a message repeats."""

Answers = Mapping[str, str]
"""Text by what it answers: a line's number, a picture, a clip."""
Scorer = Callable[[Sequence[str], Sequence[str], str], Score]
"""Predictions, references and language -> score."""


class Project(NamedTuple):
    """How the files of a project are read and scored."""

    metric: str
    is_higher_better: bool
    read: Callable[[str], Answers]
    score: Scorer
    is_by_language: bool = False
    """Whether the ending of the references' name is their language."""


@dataclass(frozen=True)
class Entry:
    """A file that was scored."""

    student: str
    path: str
    score: Score


@dataclass
class Leaderboard:
    """What the files of a contest brought."""

    project: ProjectName
    ranks: list[tuple[int, Entry]] = field(default_factory=list)
    """The best of each student, the best first; equal scores share a rank."""
    n_entries: Counter[str] = field(default_factory=Counter)
    """Files that were scored, by student."""
    problems: list[tuple[str, str]] = field(default_factory=list)
    """File and why it has no score."""
    notes: list[str] = field(default_factory=list)
    """What a person should look at."""


def score_files(
    course: Course, project: ProjectName, references: Path, inputs: Sequence[Path]
) -> Leaderboard:
    """Score all files of folders and zip files, named as submissions are.

    Args:
        references: the right answers, in the form of a prediction file.

    Raises:
        ValueError: references, roster.csv or an input cannot be read.
    """
    about, language = PROJECTS[project], references.suffix.removeprefix(".")
    right = _references(about, references)
    roster = course.roster()
    board = Leaderboard(project)
    entries: dict[str, list[Entry]] = {}
    seen: dict[str, str] = {}
    for place in inputs:
        for found in found_files(place):
            path = str(found.path)
            students = owners(found.path, "", roster)
            try:
                if found.problem or len(students) != 1:
                    raise ValueError(
                        found.problem or "it belongs to no student, or to several"
                    )
                content = found.read()
                given = about.read(_text(content))
                check_answers(given, right)
                said = [given[name] for name in right]
                result = about.score(said, [*right.values()], language)
            except UNREADABLE as reason:
                board.problems.append((path, clean_text(one_line(reason))))
                continue
            (student,) = students
            digest = hashlib.sha256(content).hexdigest()
            if seen.setdefault(digest, student) != student:
                board.notes.append(f"{seen[digest]} and {student} gave the same file")
            if said == [*right.values()]:
                board.notes.append(f"{path} is the references word for word")
            entries.setdefault(student, []).append(Entry(student, path, result))
    board.n_entries = Counter({name: len(own) for name, own in entries.items()})
    board.ranks = _ranked(about, entries)
    return board


def _ranked(
    about: Project, entries: Mapping[str, Sequence[Entry]]
) -> list[tuple[int, Entry]]:
    sign = -1 if about.is_higher_better else 1

    def key(entry: Entry) -> float:
        return sign * entry.score.value

    best = [min(own, key=key) for own in entries.values()]
    best.sort(key=lambda entry: (key(entry), entry.student))
    values = [key(one) for one in best]
    return [(1 + values.index(key(one)), one) for one in best]


def _references(about: Project, path: Path) -> Answers:
    check_regular(path)
    if not path.exists():
        raise ValueError(f"--references {path} does not exist")
    if about.is_by_language and path.suffix.removeprefix(".") not in LANGUAGES:
        raise ValueError(
            f"--references {path}: name the file by its language, such as test.vi"
            f" (known: {', '.join(LANGUAGES)})"
        )
    try:
        found = about.read(_text(path.read_bytes()))
    except ValueError as reason:
        raise ValueError(f"--references {path}: {reason}") from reason
    if not found:
        raise ValueError(f"--references {path} holds no answer")
    return found


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        line = content[: reason.start].count(b"\n") + 1
        raise ValueError(f"line {line} is not UTF-8; save it as UTF-8") from reason


def check_answers(given: Answers, right: Answers) -> None:
    """Raises a ValueError unless the references and nothing else are answered."""
    for kind, names in (
        ("lacks", [name for name in right if name not in given]),
        (
            "has what the references lack:",
            [name for name in given if name not in right],
        ),
    ):
        if names:
            shown = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
            raise ValueError(
                f"it {kind} {counted(len(names), 'answer')} ({shown}); the references"
                f" have {len(right):,}"
            )


def read_lines(text: str) -> Answers:
    """One answer a line, or the contest's CSV of sources and translations."""
    if text.partition("\n")[0].strip() == CONTEST_HEADER:
        try:
            rows = [*csv.reader(io.StringIO(text, newline=""))][1:]
        except csv.Error as reason:
            raise ValueError(f"the contest's CSV cannot be read: {reason}") from reason
        if any(len(row) != 2 for row in rows):
            raise ValueError("a row of the contest's CSV has not two columns")
        lines = [row[1] for row in rows]
    else:
        lines = text.removesuffix("\n").split("\n") if text else []
    return {f"line {number}": line for number, line in enumerate(lines, start=1)}


def named_reader(
    name_column: str, text_column: str, name_field: str = ""
) -> Callable[[str], Answers]:
    """A reader of answers by name: CSV with two columns, or `predict`'s JSON lines.

    Args:
        name_column: head of the column of names.
        text_column: head of the column of answers, and their field in the JSON lines.
        name_field: the field of the name there; empty where it is called as the column.
    """

    def read(text: str) -> Answers:
        try:
            key = name_column
            if text.startswith("{"):
                key = name_field or name_column
                rows = [json.loads(line) for line in text.split("\n") if line.strip()]
            else:
                rows = [*csv.DictReader(io.StringIO(text, newline=""), strict=True)]
            pairs = [(row[key], row[text_column]) for row in rows]
        except (
            csv.Error,
            LookupError,
            RecursionError,
            TypeError,
            ValueError,
        ) as reason:
            raise ValueError(
                f"it is no CSV with the columns {name_column},{text_column} and no"
                " file of predict --out"
            ) from reason
        found: dict[str, str] = {}
        for name, answer in pairs:
            short = unicodedata.normalize("NFC", PurePath(str(name)).name)
            if short in found:
                raise ValueError(f"{short} is answered twice")
            found[short] = str(answer or "")
        return found

    return read


def _bleu(predictions: Sequence[str], references: Sequence[str], to: str) -> Score:
    from coursepkg.projects.translation.corpus import to_scorer
    from coursepkg.projects.translation.evaluate import bleu_of

    said, true = (
        [to_scorer(t, to) for t in side] for side in (predictions, references)
    )
    return score(bleu_of(to), said, true, n_resamples=1000, protocol=PROTOCOL)


def _cer(predictions: Sequence[str], references: Sequence[str], _to: str) -> Score:
    from coursepkg.projects.ocr.evaluation import evaluate

    return evaluate(predictions, references, protocol=PROTOCOL).cer


def _macro_f1(predictions: Sequence[str], references: Sequence[str], _to: str) -> Score:
    """Macro-F1 over the words of the references; another word is a wrong answer."""
    from coursepkg.projects.sign_language.scores import Answer
    from coursepkg.projects.sign_language.scoring import score_answers

    said, true = (
        [unicodedata.normalize("NFC", text) for text in side]
        for side in (predictions, references)
    )
    counts = Counter(true)
    labels = sorted(counts)
    answers = [
        Answer(str(i), right, "", "", word if word in counts else None, 0.0, 0.0, 0)
        for i, (word, right) in enumerate(zip(said, true, strict=True))
    ]
    found = score_answers(
        answers, labels, [counts[word] for word in labels], protocol=PROTOCOL
    )
    return found.macro_f1


PROJECTS: dict[ProjectName, Project] = {
    "translation": Project("BLEU", True, read_lines, _bleu, is_by_language=True),
    "ocr": Project("character error rate", False, named_reader("file", "text"), _cer),
    "sign-language": Project(
        "macro-F1", True, named_reader("video_name", "label", "clip"), _macro_f1
    ),
}


def pseudonyms(course: Course, students: Sequence[str]) -> dict[str, str]:
    """A name for each student that only the holder of the course's secret can tell.

    It stays the same from page to page.
    """
    return {
        student: f"{course.seed('leaderboard', student):08X}" for student in students
    }


PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Leaderboard: {project}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font-family: sans-serif; max-width: 50rem; margin: auto; padding: 1rem; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ border-bottom: 1px solid gray; padding: .4rem; text-align: left; }}
code {{ overflow-wrap: anywhere; }}
</style>
</head>
<body>
<h1>Leaderboard: {project}</h1>
<p>The best file of each student by {metric}; {better} is better. The interval is a
bootstrap over the references: two scores within each other's interval may be luck.</p>
<table>
<thead><tr><th>Rank</th><th>Who</th><th>{metric}</th><th>Interval</th><th>Files</th>
</tr></thead>
<tbody>
{rows}
</tbody>
</table>
<p>Signature: <code>{signature}</code></p>
</body>
</html>
"""


def write_page(board: Leaderboard, names: Mapping[str, str], path: Path) -> None:
    """Write the page.

    Args:
        names: pseudonym by student; nothing else tells who is who.
        path: of the page; its folder is made.
    """
    about = PROJECTS[board.project]
    rows = []
    for rank, entry in board.ranks:
        interval = entry.score.interval
        cells = (
            str(rank),
            names[entry.student],
            format_values(entry.score.value)[0],
            "" if interval is None else str(interval),
            str(board.n_entries[entry.student]),
        )
        rows.append("".join(f"<td>{html.escape(text)}</td>" for text in cells))
    signed = {f"{one.score.name}|{one.score.signature}" for _, one in board.ranks}
    page = PAGE.format(
        project=html.escape(board.project),
        metric=html.escape(about.metric),
        better="higher" if about.is_higher_better else "lower",
        rows="\n".join(f"<tr>{row}</tr>" for row in rows),
        signature=html.escape(", ".join(sorted(signed)) or "no file was scored"),
    )
    with whole_file(path) as file:
        file.write(page.encode())
