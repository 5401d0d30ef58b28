"""Translate a file of any length in constant memory, and go on where a run was stopped.

The translations grow in `OUT.part`, whole lines at a time; `OUT.part.json` says what they are translations of. The
same command goes on behind the last whole line; at the end the part gets its name.
"""

import csv
import io
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from coursepkg.files import check_new, file_sha256
from coursepkg.part_file import PartFile
from coursepkg.projects.translation.corpus import numbered_lines

CHUNK = 512
"""Lines that are read, translated and written at a time."""
CONTEST_HEADER = ("tieng_trung", "tieng_viet")
"""Columns of the contest's file."""

Form = Literal["reader", "corpus", "contest"]
"""How a translation is written: as it is read, spaced as in the training data, or as a row of the contest's CSV."""


@runtime_checkable
class Written(Protocol):
    """What a translator made of a sentence."""

    @property
    def text(self) -> str:
        """The best translation as it is read."""

    @property
    def line(self) -> str:
        """The same in the form of the training data."""


@runtime_checkable
class LineTranslator(Protocol):
    """What can translate a file: `Translator` and `T5Translator`."""

    def check_direction(self, source: str, target: str) -> None:
        """Raises a ValueError unless it translates from `source` into `target`."""

    def encode(
        self, texts: Sequence[str], source: str, target: str, *, first: int = 1, name: str = "line"
    ) -> list[list[int]]:
        """Ids of sentences; an empty or too long one is a ValueError that names its number, counted from `first`."""

    def translate(self, texts: Sequence[str], *args: Any, **kwargs: Any) -> Sequence[Written]:
        """Translate sentences, in order; takes `source`, `target` and options of its own by name."""


def check_file(translator: LineTranslator, path: Path, source: str, target: str) -> int:
    """Read a file once before anything is translated.

    Returns:
        its lines.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is not UTF-8, empty or too long; file and line are named.
    """
    translator.check_direction(source, target)
    count = 0
    for lines in _chunks(path, 0):
        translator.encode(lines, source, target, first=count + 1, name=f"{path}, line")
        count += len(lines)
    if not count:
        raise ValueError(f"{path}: empty; a file to translate has at least one line")
    return count


def translate_file(
    translator: LineTranslator,
    path: Path,
    out: Path,
    *,
    source: str,
    target: str,
    form: Form = "reader",
    identity: dict[str, Any] | None = None,
    report: Callable[[int], None] = lambda n_lines: None,
    **options: Any,
) -> int:
    """Translate every line of `path` into the same line of `out`.

    Args:
        translator: the model.
        path: UTF-8, one sentence a line.
        out: where to; it must not exist.
        source: language of the file.
        target: language to translate into.
        form: how translations are written.
        identity: what else decides the result, such as the model's folder; a part with another identity is refused.
        report: called with the number of lines after each chunk.
        **options: of the translator's `translate`.

    Returns:
        lines that were already there from a run before.

    Raises:
        ValueError: a line is bad, `out` exists, or the part beside it belongs to another command.
    """
    check_new(out)
    check_file(translator, path, source, target)
    decides = {"input": file_sha256(path), "from": source, "to": target, "form": form} | options
    part, n_head = PartFile(out, decides | (identity or {})), int(form == "contest")
    done = max(0, part.n_lines - n_head)
    if part.n_lines < n_head:
        part.write("\ufeff" + _row(CONTEST_HEADER))
    count = done
    for lines in _chunks(path, done):
        found = translator.translate(lines, source=source, target=target, **options)
        part.write("".join(_written(text, one, form) for text, one in zip(lines, found, strict=True)))
        count += len(lines)
        report(count)
    part.finish()
    return done


def _chunks(path: Path, skip: int) -> Iterator[list[str]]:
    lines = itertools.islice(numbered_lines(path), skip, None)
    while chunk := [text for _, text in itertools.islice(lines, CHUNK)]:
        yield chunk


def _written(text: str, one: Written, form: Form) -> str:
    if form == "contest":
        return _row((text, one.line))
    return (one.text if form == "reader" else one.line) + "\n"


def _row(cells: tuple[str, ...]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()
