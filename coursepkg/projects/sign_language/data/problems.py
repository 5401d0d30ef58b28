"""What is wrong with a set of clips, each in one line that names the place."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from coursepkg.projects.sign_language.clip import ClipFile
from coursepkg.projects.sign_language.data.label_mapping import LabelMapping
from coursepkg.text.vietnamese import unicode_form

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
    "one word, several folders": "folders whose names differ in Unicode form only, taken together",
    "no video": "a file that is no video by its name, left out",
    "hidden file": "a file that the system made, left out",
    "folder in a class": "a folder below the folder of a word, left out",
    "empty file": "a video of no bytes, which counts as one that cannot be opened",
    "beside train": "a folder of videos beside `train`, not read",
    "empty class": "a folder of a word without a video",
    "one clip": "a word with a single clip: it cannot be both learnt and tested",
    "not in the mapping": "a word that the label mapping lacks, its clips left out",
    "not in the data": "a word of the label mapping without a clip",
    "missing file": "a row of the table whose file is not there, left out",
    "repeated row": "a file that stands in the table twice, the later row left out",
    "bad row": "a row of the table that cannot be used, left out",
    "not in the table": "a video that the table does not name, left out",
    "label and folder": "a row whose word is not that of the file's folder; the row is believed",
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
        lines += [f"    {problem}" for problem in [p for p in problems if p.kind == kind][:_SHOWN]]
        lines += [f"    ... and {count - _SHOWN:,} more"] if count > _SHOWN else []
    return lines


def composed_label(label: str, word: str, place: str) -> list[Problem]:
    """The problem of a label that had to be composed to `word`; none where it had not."""
    if label == word:
        return []
    return [
        Problem("label composed", place, f"the word {label!r} is in {unicode_form(label)}; read as {word!r}")
    ]


def problems_of_classes(files: Iterable[ClipFile], mapping: LabelMapping | None) -> list[Problem]:
    """Words with one clip, and words of a mapping without any."""
    counts = Counter(file.label for file in files if file.label)
    found = [
        Problem("one clip", word, "a single clip; record more, or leave the word out")
        for word, count in sorted(counts.items())
        if count == 1
    ]
    absent = [] if mapping is None else [word for word in mapping.words if not counts[word]]
    return found + [
        Problem("not in the data", word, "the label mapping has this word, the data have no clip of it")
        for word in absent
    ]


def unreadable(files: Iterable[ClipFile]) -> list[Problem]:
    """The files that do not open, hold no picture, or end early. Every file is opened and one frame decoded.

    Raises:
        ImportError: av is not installed.
    """
    from coursepkg.projects.sign_language.data.facts import probe

    found = []
    for file in files:
        try:
            facts = probe(file.path)
        except (ValueError, OSError) as reason:
            found.append(_unreadable(file.path, str(reason)))
        else:
            if facts.expected > len(facts.times):
                told = f"cut short: {len(facts.times)} of {facts.expected} frames are there; copy it again"
                found.append(Problem("unreadable", str(file.path), told))
    return found


def _unreadable(path: Path, reason: str) -> Problem:
    """The message without the file's name, which is the problem's place already."""
    return Problem("unreadable", str(path), reason.removeprefix(str(path)).lstrip(": "))
