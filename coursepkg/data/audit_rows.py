"""Bad rows of a parallel text by file and line, length ratios, near duplicates."""

import math
import re
import statistics
import unicodedata
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from coursepkg.text.cleaning import INVISIBLE, SPACES, unescape
from coursepkg.text.languages import language_doubt, language_of
from coursepkg.text.spacing import split_characters, stray_underscores
from coursepkg.text.vietnamese import unicode_form

_PRIME = (1 << 61) - 1
_BASE = 0x1B873593CC9E2D51 % _PRIME
_PLACES = 0x9E3779B97F4A7C15
"""Odd number that spreads the positions over 64 bits."""


def normalised(text: str, language: str) -> str:
    """What spellings of a sentence share: letters, digits and marks in lower case.

    Spaces, underscores and punctuation are left out, HTML entities resolved; a sentence
    of nothing but punctuation is its own key, and an empty one is empty.

    Example:
        >>> normalised("Khách_sạn ở đâu ?", "vi") == normalised("khách sạn ở đâu", "vi")
        True
    """
    folded = _fold(text)
    return "".join(sign for sign in folded if _counts(sign)) or folded.strip()


def tokens(text: str, language: str) -> tuple[str, ...]:
    """The tokens that near duplicates are told by, lower-case without punctuation.

    Chinese that has no spaces is cut into its characters.
    """
    folded = _fold(text)
    cut = folded.split()
    if len(cut) == 1 and language_of(language).is_han:
        cut = split_characters(folded)
    return tuple(token for token in cut if any(map(_counts, token)))


def near_duplicates(
    sentences: Sequence[Sequence[str]], *, least: int = 4
) -> list[tuple[int, ...]]:
    """Groups of sentences that differ in one token: another, missing or added.

    A sentence may be in several groups. Equal sentences form no group. Every sentence
    is filed under what is left of it when one token is taken out (its deletion
    neighbourhood), so the time grows with the number of tokens, not with the number of
    pairs of sentences.

    Returns:
        for each group the numbers of its sentences, from 0, ascending.

    Source: Bocek, Hunt, Stiller, "Fast Similarity Search in Large Dictionaries" (2007):
    deletion neighbourhoods.
    """
    if least < 2:
        raise ValueError(f"least must be at least 2 tokens, got {least}")
    ids: dict[str, int] = {}
    coded = [
        tuple(ids.setdefault(token, len(ids) + 1) for token in sentence)
        for sentence in sentences
    ]
    looked_at = [i for i, code in enumerate(coded) if len(code) >= least]
    whole: dict[tuple[int, ...], int] = {}
    for i in looked_at:
        whole.setdefault(coded[i], i)
    groups: set[tuple[int, ...]] = set()
    lengths = {_hash(code): None for code in whole}
    keys, owners = array("Q"), array("Q")
    for i in whole.values():
        for place, rest in enumerate(_deletions(coded[i])):
            if rest in lengths:
                # What is left may be a sentence itself: one token less.
                shorter = whole.get(coded[i][:place] + coded[i][place + 1 :])
                if shorter is not None:
                    groups.add((min(i, shorter), max(i, shorter)))
            keys.append((rest + place * _PLACES) % (1 << 64))
            owners.append(i)
    groups.update(_substitutions(keys, owners, coded))
    return sorted(groups)


def _substitutions(
    keys: array, owners: array, coded: Sequence[tuple[int, ...]]
) -> Iterator[tuple[int, ...]]:
    """Sentences that are equal when the token at one place is taken out."""
    key, owner = np.frombuffer(keys, np.uint64), np.frombuffer(owners, np.uint64)
    order = np.argsort(key, kind="stable")
    edges = np.flatnonzero(np.diff(key[order])) + 1
    for run in np.split(order, edges) if len(order) else []:
        if len(run) < 2:
            continue
        members = sorted({int(i) for i in owner[run]})
        first = coded[members[0]]
        # Hashes may collide; what is left after the deletion may not.
        same = [i for i in members if _differ_in_one_place(first, coded[i])]
        if same:
            yield (members[0], *same)


def _differ_in_one_place(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return (
        len(one) == len(other)
        and sum(a != b for a, b in zip(one, other, strict=True)) == 1
    )


def _hash(code: Sequence[int]) -> int:
    value = 0
    for token in code:
        value = (value * _BASE + token) % _PRIME
    return value


def _deletions(code: Sequence[int]) -> Iterator[int]:
    """The hash of a sentence without each of its tokens in turn, each in constant time.

    With prefix hashes h_i and n tokens it is h_i B^(n-1-i) + (h_n - h_(i+1) B^(n-1-i)),
    modulo a prime.
    """
    prefix = [0]
    for token in code:
        prefix.append((prefix[-1] * _BASE + token) % _PRIME)
    power, rests = 1, []
    for i in range(len(code) - 1, -1, -1):
        rests.append((prefix[-1] + (prefix[i] - prefix[i + 1]) * power) % _PRIME)
        power = power * _BASE % _PRIME
    return reversed(rests)


def _fold(text: str) -> str:
    plain = unescape(text).text if "&" in text else text
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", plain).casefold())


def _counts(sign: str) -> bool:
    return sign.isalnum() or unicodedata.category(sign).startswith("M")


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
    """Read two files of a parallel text for an audit, which names all bad rows.

    Bytes that are not UTF-8 become lone surrogates, which the audit finds; empty lines
    stay.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: the files have different numbers of lines.
    """
    sources, targets = read_lines(source_path), read_lines(target_path)
    if len(sources) != len(targets):
        raise ValueError(
            f"{source_path} has {len(sources)} lines and {target_path} has"
            f" {len(targets)}; line i of one must translate line i of the other"
        )
    name = Path(source_path).name
    return [
        Row(source, target, name, number)
        for number, (source, target) in enumerate(
            zip(sources, targets, strict=True), start=1
        )
    ]


def read_lines(path: str | Path) -> list[str]:
    """The lines of a file; bytes that are not UTF-8 become lone surrogates.

    Raises:
        FileNotFoundError: there is no such file.
    """
    with Path(path).open("rb") as file:
        raw = [line.rstrip(b"\r\n") for line in file]
    if raw:
        raw[0] = raw[0].removeprefix(b"\xef\xbb\xbf")
    return [line.decode("utf-8", "surrogateescape") for line in raw]


def bad_rows(
    part: str, rows: Sequence[PairLike], source_language: str, target_language: str
) -> Iterator[BadRow]:
    """What is wrong with single rows, in their order."""
    for row in rows:
        sides = ((source_language, row.source), (target_language, row.target))
        # What both sides share is a name or code, or was not translated.
        is_shared = len({normalised(text, side) for side, text in sides}) == 1
        for side, text in sides:
            faults = list(_faults(text))
            if not is_shared and (doubt := language_doubt(text, side)):
                faults.append(("language mismatch", f"{_shown(text)} {doubt}"))
            for kind, detail in faults:
                yield BadRow(kind, part, row.file, row.line, side, detail)
        is_copied = row.source.strip() == row.target.strip()
        if is_copied and len(row.source.split()) > 2:
            yield BadRow(
                "not translated", part, row.file, row.line, "both", _shown(row.source)
            )


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
        yield (
            "unusual space or invisible character",
            f"U+{ord(found[0]):04X} in {_shown(text)}",
        )
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
    """The usual length ratios: some robust deviations around the median logarithm.

    The deviation is 1.4826 times the median distance from the median, which outliers do
    not stretch; for a normal distribution it is the standard deviation. None where
    there are too few rows to tell.
    """
    logarithms = [
        math.log(length_ratio(row))
        for row in rows
        if row.source.strip() and row.target.strip()
    ]
    if len(logarithms) < _LEAST_ROWS:
        return None
    middle = statistics.median(logarithms)
    deviation = 1.4826 * statistics.median(abs(value - middle) for value in logarithms)
    reach = deviations * max(deviation, _LEAST_DEVIATION)
    return UsualRatio(
        math.exp(middle), math.exp(middle - reach), math.exp(middle + reach)
    )


def length_ratio(row: PairLike) -> float:
    """Letters and digits of the target per one of the source, two added to each."""
    return (_letters(row.target) + 2) / (_letters(row.source) + 2)


def odd_lengths(
    part: str, rows: Sequence[PairLike], usual: UsualRatio
) -> Iterator[BadRow]:
    """Rows whose target is unusually short or long for its source."""
    for row in rows:
        if row.source.strip() and row.target.strip():
            ratio = length_ratio(row)
            if not usual.low <= ratio <= usual.high:
                detail = f"{ratio:.2f}, usual is {usual.low:.2f} to {usual.high:.2f}"
                yield BadRow("length ratio", part, row.file, row.line, "both", detail)


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _shown(text: str, most: int = 40) -> str:
    return repr(text if len(text) <= most else text[:most] + "…")
