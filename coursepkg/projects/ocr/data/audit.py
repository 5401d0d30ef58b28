"""Look at labelled lines before anything is trained on them: repeated texts, leaks between parts, bad texts, alphabet.

Parts leak where lines of one receipt or document stand in two of them. A text that stands in training and test is
counted too, but is no leak: shops print the same words on every receipt. Scores are reported for both kinds apart.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

from coursepkg.data.audit_duplicates import near_duplicates, normalised, tokens
from coursepkg.data.leaks import Leak, find_leaks, leaking_records
from coursepkg.projects.ocr.data.alphabet import DECLARED, characters_outside, seen_texts
from coursepkg.projects.ocr.data.mc_ocr import Table
from coursepkg.projects.ocr.data.splits import Split
from coursepkg.projects.ocr.data.table_row import Fault, instance_name
from coursepkg.text.alphabet import UnknownCharacter
from coursepkg.text.cleaning import clean
from coursepkg.text.tones import count_tone_styles
from coursepkg.text.vietnamese import unicode_form

MOST_FREQUENT = 20
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SPACES = re.compile(r"^\s|\s$|\s\s")


@runtime_checkable
class LineLike(Protocol):
    """A line with or without its picture."""

    @property
    def text(self) -> str:
        """What it says."""

    @property
    def group(self) -> str:
        """What must not be cut apart."""

    @property
    def name(self) -> str:
        """Where it is from."""


class LabelledText(NamedTuple):
    """The text of a line without its picture."""

    text: str
    group: str
    name: str


class BadText(NamedTuple):
    """Something wrong with a text."""

    kind: str
    part: str
    name: str
    detail: str


@dataclass(frozen=True)
class LineAudit:
    """What an audit found."""

    n_lines: dict[str, int]
    """Lines in each part."""
    n_groups: dict[str, int]
    """Receipts or documents in each part."""
    n_distinct: int
    """Different texts."""
    n_normalised: int
    """Different texts but for case, spaces and punctuation."""
    n_near: int
    """Different texts of four words or more that differ from another in one word."""
    frequent: tuple[tuple[str, int], ...]
    """The texts that occur most often."""
    shared: tuple[Leak, ...]
    """Groups that stand in several parts."""
    n_leaking: dict[str, int]
    """Lines of each part whose group stands in another part as well."""
    n_seen: dict[str, int]
    """Lines of each other part whose text stands in the first part."""
    n_seen_normalised: dict[str, int]
    """The same but for case, spaces and punctuation."""
    bad: tuple[BadText, ...]
    forms: dict[str, int]
    """Texts in each Unicode form."""
    tone_styles: dict[str, int]
    """Words in the old (hòa) and in the new (hoà) placement of tones."""
    unknown: tuple[UnknownCharacter, ...]
    """Characters outside the alphabet, most frequent first; their line is the number of the line among all."""
    faults: tuple[Fault, ...] = field(default=())
    """What was wrong with the table."""

    @property
    def leaks(self) -> bool:
        """Whether a group stands in more than one part."""
        return bool(self.shared)

    @property
    def frequent_share(self) -> float:
        """Share of the most frequent texts in all lines."""
        return sum(count for _, count in self.frequent) / max(1, sum(self.n_lines.values()))


def audit_lines(
    parts: Mapping[str, Sequence[LineLike]],
    *,
    alphabet: Collection[str] = DECLARED,
    faults: Sequence[Fault] = (),
) -> LineAudit:
    """Audit the parts of a data set; the first of them is what a model learns from.

    Raises:
        ValueError: there is no line.
    """
    everything = [line.text for lines in parts.values() for line in lines]
    if not everything:
        raise ValueError("parts must hold at least one line, got none")
    counts = Counter(everything)
    shared = tuple(find_leaks({part: [[line.group] for line in lines] for part, lines in parts.items()}))
    first, *others = parts
    texts = {part: [line.text for line in lines] for part, lines in parts.items()}
    keys = {part: [normalised(text, "vi") for text in own] for part, own in texts.items()}
    styles: Counter[str] = Counter()
    for text in everything:
        styles += count_tone_styles(text)
    return LineAudit(
        n_lines={part: len(lines) for part, lines in parts.items()},
        n_groups={part: len({line.group for line in lines}) for part, lines in parts.items()},
        n_distinct=len(counts),
        n_normalised=len({key for own in keys.values() for key in own}),
        n_near=_count_near(counts),
        frequent=tuple(counts.most_common(MOST_FREQUENT)),
        shared=shared,
        n_leaking={part: len(leaking_records(shared, part)) for part in parts},
        n_seen={part: sum(seen_texts(texts[first], texts[part])) for part in others},
        n_seen_normalised={part: sum(seen_texts(keys[first], keys[part])) for part in others},
        bad=tuple(bad for part, lines in parts.items() for line in lines for bad in _bad(part, line)),
        forms=dict(Counter(map(unicode_form, everything))),
        tone_styles=dict(styles),
        unknown=tuple(characters_outside(everything, alphabet)),
        faults=tuple(faults),
    )


def labelled_texts(table: Table) -> list[LabelledText]:
    """Every usable instance of the MC-OCR table, in the order of the file."""
    return [
        LabelledText(one.text, receipt.image, instance_name(receipt.image, one.number))
        for receipt, one in table.instances
    ]


def audit_table(table: Table, split: Split) -> LineAudit:
    """Audit the MC-OCR table under one of its splits."""
    lines = labelled_texts(table)
    parts = {part: [lines[i] for i in numbers] for part, numbers in split.parts.items()}
    return audit_lines(parts, faults=table.faults)


def _count_near(counts: Collection[str]) -> int:
    distinct = list(dict.fromkeys(tokens(text, "vi") for text in counts))
    return len({i for group in near_duplicates(distinct) for i in group})


def _bad(part: str, line: LineLike) -> Iterator[BadText]:
    text = line.text
    shown = repr(text if len(text) <= 40 else text[:40] + "…")
    if not text.strip():
        yield BadText("empty text", part, line.name, shown)
        return
    if (form := unicode_form(text)) not in ("NFC", "either"):
        yield BadText("not NFC", part, line.name, f"{form}: {shown}")
    if found := _CONTROL.search(text):
        yield BadText("control character", part, line.name, f"U+{ord(found[0]):04X} in {shown}")
    if _SPACES.search(text):
        yield BadText("stray space", part, line.name, f"at an end or doubled: {shown}")
    if changes := {kind: n for kind, n in clean(text).changes.items() if kind != "marks"}:
        said = ", ".join(f"{kind} {count}" for kind, count in changes.items())
        yield BadText("character that looks like another", part, line.name, f"{said}: {shown}")
