"""Rows of a parallel text that something is wrong with, by file and line, and what length ratios are usual."""

import math
import re
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from coursepkg.text.cleaning import INVISIBLE, SPACES
from coursepkg.text.entities import unescape
from coursepkg.text.segmentation import stray_underscores
from coursepkg.text.vietnamese import unicode_form

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_UNSEEN = re.compile(f"[{INVISIBLE}{SPACES}]")
_BROKEN = re.compile("[\ud800-\udfff\ufffd]")
_LEAST_ROWS = 20
"""Rows below which no ratio of lengths is usual or unusual."""
_LEAST_DEVIATION = 0.1


@runtime_checkable
class PairLike(Protocol):
    """A sentence pair that knows where it stands."""

    @property
    def source(self) -> str:
        """The sentence."""

    @property
    def target(self) -> str:
        """Its translation."""

    @property
    def file(self) -> str:
        """Name of the source's file."""

    @property
    def line(self) -> int:
        """Line in both files, from 1."""


class Row(NamedTuple):
    """A sentence pair as it stands in its files, whatever is wrong with it."""

    source: str
    target: str
    file: str
    line: int


class BadRow(NamedTuple):
    """Something wrong with a row."""

    kind: str
    """What is wrong."""
    part: str
    file: str
    line: int
    side: str
    """The language of the side; `both` where it takes two."""
    detail: str


def read_rows(source_path: str | Path, target_path: str | Path) -> list[Row]:
    """Read two files of a parallel text for an audit, which names all bad rows and not only the first.

    Bytes that are not UTF-8 become lone surrogates, which the audit finds; empty lines stay.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: the files have different numbers of lines.
    """
    sources, targets = _lines(source_path), _lines(target_path)
    if len(sources) != len(targets):
        raise ValueError(
            f"{source_path} has {len(sources)} lines and {target_path} has {len(targets)}; "
            "line i of one must translate line i of the other"
        )
    name = Path(source_path).name
    return [
        Row(source, target, name, number)
        for number, (source, target) in enumerate(zip(sources, targets, strict=True), start=1)
    ]


def bad_rows(
    part: str, rows: Sequence[PairLike], source_language: str, target_language: str
) -> Iterator[BadRow]:
    """What is wrong with single rows, in their order."""
    for row in rows:
        for side, text in ((source_language, row.source), (target_language, row.target)):
            for kind, detail in _faults(text):
                yield BadRow(kind, part, row.file, row.line, side, detail)
        if row.source.strip() == row.target.strip() and len(row.source.split()) > 2:
            yield BadRow("not translated", part, row.file, row.line, "both", _shown(row.source))


def _faults(text: str) -> Iterator[tuple[str, str]]:
    if not text.strip():
        yield "empty side", _shown(text)
        return
    if found := _BROKEN.search(text):
        yield "invalid UTF-8", f"at character {found.start() + 1} of {_shown(text)}"
    if (form := unicode_form(text)) not in ("NFC", "either"):
        yield "not NFC", f"{'NFD' if form == 'NFD' else 'mixed forms'}: {_shown(text)}"
    if found := _CONTROL.search(text):
        yield "control character", f"U+{ord(found[0]):04X} in {_shown(text)}"
    if found := _UNSEEN.search(text):
        yield "unusual space or invisible character", f"U+{ord(found[0]):04X} in {_shown(text)}"
    if "&" in text and (counts := unescape(text).counts):
        yield "HTML entity", " ".join(counts)
    if "_" in text and (stray := stray_underscores([text])):
        yield "stray underscore", " ".join(repr(word) for _, word in stray)


class UsualRatio(NamedTuple):
    """How long a target is for its source, in letters and digits."""

    median: float
    low: float
    """Smallest ratio that is not named as an outlier."""
    high: float
    """Largest ratio that is not named as an outlier."""


def usual_ratio(rows: Sequence[PairLike], deviations: float) -> UsualRatio | None:
    """The limits of usual length ratios: so many robust deviations from the median of their logarithm.

    The deviation is 1.4826 times the median distance from the median, which outliers do not stretch; for a normal
    distribution it is the standard deviation. None where there are too few rows to tell.
    """
    logarithms = [math.log(length_ratio(row)) for row in rows if row.source.strip() and row.target.strip()]
    if len(logarithms) < _LEAST_ROWS:
        return None
    middle = statistics.median(logarithms)
    deviation = 1.4826 * statistics.median(abs(value - middle) for value in logarithms)
    reach = deviations * max(deviation, _LEAST_DEVIATION)
    return UsualRatio(math.exp(middle), math.exp(middle - reach), math.exp(middle + reach))


def length_ratio(row: PairLike) -> float:
    """Letters and digits of the target for one of the source; two more on either side, or one word would count much."""
    return (_letters(row.target) + 2) / (_letters(row.source) + 2)


def odd_lengths(part: str, rows: Sequence[PairLike], usual: UsualRatio) -> Iterator[BadRow]:
    """Rows whose target is unusually short or long for its source."""
    for row in rows:
        if row.source.strip() and row.target.strip():
            ratio = length_ratio(row)
            if not usual.low <= ratio <= usual.high:
                detail = f"{ratio:.2f}, usual is {usual.low:.2f} to {usual.high:.2f}"
                yield BadRow("length ratio", part, row.file, row.line, "both", detail)


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _lines(path: str | Path) -> list[str]:
    with Path(path).open("rb") as file:
        raw = [line.rstrip(b"\r\n") for line in file]
    if raw:
        raw[0] = raw[0].removeprefix(b"\xef\xbb\xbf")
    return [line.decode("utf-8", "surrogateescape") for line in raw]


def _shown(text: str, most: int = 40) -> str:
    return repr(text if len(text) <= most else text[:most] + "…")
