"""Look at labelled lines before training: statistics, repetitions, leaks, faults."""

import re
import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

from coursepkg.app.report import (
    SHOWN,
    character_name,
    counts_text,
    examples_by_kind,
    more_line,
)
from coursepkg.data.audit import Leak, find_leaks, leaking_records
from coursepkg.data.audit_rows import near_duplicates, normalised, tokens
from coursepkg.projects.ocr.data.batches import (
    DECLARED,
    character_counts,
    characters_outside,
    seen_texts,
)
from coursepkg.projects.ocr.data.geometry import sides
from coursepkg.projects.ocr.data.images import width_at
from coursepkg.projects.ocr.data.mc_ocr import Table, quarters, read_instance
from coursepkg.projects.ocr.data.splits import Split
from coursepkg.projects.ocr.data.table_row import Fault, instance_name
from coursepkg.projects.ocr.line import bucket_width
from coursepkg.projects.ocr.recipe import STEP
from coursepkg.text.cleaning import UnknownCharacter, clean
from coursepkg.text.vietnamese import ACCENTED, count_tone_styles, unicode_form
from coursepkg.validation import counted


def describe_lines(
    texts: Sequence[str],
    groups: Sequence[str],
    sizes: Iterable[tuple[int | float, int | float]] = (),
    *,
    height: int = 40,
    step: int = STEP,
) -> dict[str, Any]:
    """What there is to know of some lines before training, as what `json.dumps` takes.

    Args:
        texts: of the lines.
        groups: of the lines.
        sizes: width and height of each picture in pixels, as far as they are known.
        height: that pictures are scaled to.
        step: of the width buckets.

    Raises:
        ValueError: there is no line.
    """
    if not texts:
        raise ValueError("texts must hold at least one line, got none")
    counts = character_counts(texts)
    letters = ACCENTED + ACCENTED.upper()
    found: dict[str, Any] = {
        "lines": len(texts),
        "groups": len(set(groups)),
        "distinct texts": len(set(texts)),
        "characters": sum(counts.values()),
        "distinct characters": len(counts),
        "length": _summary([len(text) for text in texts]),
        "accented letters": sum(counts[letter] for letter in letters),
        "accented letters that never occur": "".join(
            letter for letter in letters if not counts[letter]
        ),
        "rarest characters": [
            [sign, count] for sign, count in counts.most_common()[:-11:-1]
        ],
    }
    sizes = list(sizes)
    if sizes:
        widths = [width_at(wide, high, height) for wide, high in sizes]
        padded = [bucket_width(width, step) for width in widths]
        found |= {
            "height": _summary([round(high) for _, high in sizes]),
            f"width at height {height}": _summary(widths),
            "width buckets": len(set(padded)),
            "padding": round(1 - sum(widths) / sum(padded), 4),
        }
    return found


def table_sizes(table: Table) -> list[tuple[float, float]]:
    """Width and height in pixels of every single crop, by its polygon."""
    found = []
    for receipt in table.receipts:
        for one, quarter in zip(receipt.instances, quarters(receipt), strict=True):
            corners = read_instance(one, quarter).corners
            if corners is not None:
                found.append(sides(corners))
    return [(wide, high) for wide, high in found if min(wide, high) > 0]


def _summary(values: Sequence[int]) -> dict[str, int | float]:
    ordered = sorted(values)
    return {
        "shortest": ordered[0],
        "mean": round(statistics.mean(ordered), 2),
        "median": statistics.median(ordered),
        "95%": ordered[int(0.95 * (len(ordered) - 1))],
        "longest": ordered[-1],
    }


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

    def __str__(self) -> str:
        return f"{self.name} ({self.part}): {self.detail}"


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
    """Characters outside the alphabet, most frequent first; their line is the number of
    the line among all."""
    faults: tuple[Fault, ...] = field(default=())
    """What was wrong with the table."""

    @property
    def leaks(self) -> bool:
        """Whether a group stands in more than one part."""
        return bool(self.shared)

    @property
    def frequent_share(self) -> float:
        """Share of the most frequent texts in all lines."""
        return sum(count for _, count in self.frequent) / max(
            1, sum(self.n_lines.values())
        )


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
    shared = tuple(
        find_leaks(
            {part: [[line.group] for line in lines] for part, lines in parts.items()}
        )
    )
    first, *others = parts
    texts = {part: [line.text for line in lines] for part, lines in parts.items()}
    keys = {
        part: [normalised(text, "vi") for text in own] for part, own in texts.items()
    }
    styles: Counter[str] = Counter()
    for text in everything:
        styles += count_tone_styles(text)
    return LineAudit(
        n_lines={part: len(lines) for part, lines in parts.items()},
        n_groups={
            part: len({line.group for line in lines}) for part, lines in parts.items()
        },
        n_distinct=len(counts),
        n_normalised=len({key for own in keys.values() for key in own}),
        n_near=_count_near(counts),
        frequent=tuple(counts.most_common(MOST_FREQUENT)),
        shared=shared,
        n_leaking={part: len(leaking_records(shared, part)) for part in parts},
        n_seen={part: sum(seen_texts(texts[first], texts[part])) for part in others},
        n_seen_normalised={
            part: sum(seen_texts(keys[first], keys[part])) for part in others
        },
        bad=tuple(
            bad
            for part, lines in parts.items()
            for line in lines
            for bad in _bad(part, line)
        ),
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
        yield BadText(
            "control character", part, line.name, f"U+{ord(found[0]):04X} in {shown}"
        )
    if _SPACES.search(text):
        yield BadText("stray space", part, line.name, f"at an end or doubled: {shown}")
    if changes := {
        kind: n for kind, n in clean(text).changes.items() if kind != "marks"
    }:
        message = ", ".join(f"{kind} {count}" for kind, count in changes.items())
        yield BadText(
            "character that looks like another", part, line.name, f"{message}: {shown}"
        )


def as_text(audit: LineAudit) -> str:
    """One block a question, each finding with its first examples."""
    parts = ", ".join(
        f"{part} {count:,} ({audit.n_groups[part]:,} groups)"
        for part, count in audit.n_lines.items()
    )
    forms, tones = (
        counts_text(dict(sorted(one.items())))
        for one in (audit.forms, audit.tone_styles)
    )
    total = sum(audit.n_lines.values())
    return "\n".join(
        [
            f"audit of lines: {parts}",
            (
                f"repeated texts: {audit.n_distinct:,} different in {total:,} lines,"
                f" {audit.n_normalised:,} but for case, spaces and punctuation;"
                f" {audit.n_near:,} differ from another in one word; the"
                f" {len(audit.frequent)} most frequent make {audit.frequent_share:.1%}"
                " of all lines"
            ),
            *_leaks(audit),
            *_seen(audit),
            f"bad texts: {len(audit.bad):,}" if audit.bad else "bad texts: none",
            *examples_by_kind(audit.bad),
            *([f"faults of the table: {len(audit.faults):,}"] if audit.faults else []),
            *examples_by_kind(audit.faults),
            f"Unicode form: {forms}",
            f"placement of tones: {tones or 'nothing tells'}",
            _alphabet(audit),
        ]
    )


def as_json(audit: LineAudit) -> dict[str, Any]:
    """Everything that was found, of leaks, bad texts and faults all."""
    return {
        "lines": audit.n_lines,
        "groups": audit.n_groups,
        "distinct": audit.n_distinct,
        "distinct_normalised": audit.n_normalised,
        "near": audit.n_near,
        "frequent": [list(one) for one in audit.frequent],
        "leaks": audit.leaks,
        "leaking_lines": audit.n_leaking,
        "shared_groups": [
            {
                "group": leak.key,
                "lines": {part: len(found) for part, found in leak.records.items()},
            }
            for leak in audit.shared
        ],
        "seen": audit.n_seen,
        "seen_normalised": audit.n_seen_normalised,
        "bad_texts": [bad._asdict() for bad in audit.bad],
        "bad_text_counts": dict(Counter(bad.kind for bad in audit.bad)),
        "forms": audit.forms,
        "tone_styles": audit.tone_styles,
        "unknown_characters": [
            {
                "character": one.character,
                "name": character_name(one.character),
                "count": one.count,
            }
            for one in audit.unknown
        ],
        "table_faults": [fault._asdict() for fault in audit.faults],
        "table_fault_counts": dict(Counter(fault.kind for fault in audit.faults)),
    }


def _leaks(audit: LineAudit) -> list[str]:
    if len(audit.n_lines) < 2:
        return ["leaks: not looked for, there is one part only"]
    if not audit.leaks:
        return ["leaks: none, no receipt or document stands in two parts"]
    lines = [
        f"LEAKS: {len(audit.shared):,} receipts or documents stand in several parts;"
        " lines concerned: "
        + ", ".join(
            f"{count:,} of {audit.n_lines[part]:,} in {part}"
            for part, count in audit.n_leaking.items()
        )
    ]
    for leak in audit.shared[:SHOWN]:
        places = ", ".join(
            f"{counted(len(found), 'line')} in {part}"
            for part, found in leak.records.items()
        )
        lines.append(f"  {leak.key}: {places}")
    return lines + more_line(len(audit.shared))


def _seen(audit: LineAudit) -> list[str]:
    first = next(iter(audit.n_lines))
    return [
        f"texts of {part} that stand in {first}: {seen:,} of {audit.n_lines[part]:,}"
        f" ({seen / max(1, audit.n_lines[part]):.1%}), but for case, spaces and"
        f" punctuation {audit.n_seen_normalised[part]:,}; score them apart"
        for part, seen in audit.n_seen.items()
    ]


def _alphabet(audit: LineAudit) -> str:
    if not audit.unknown:
        return "alphabet: nothing outside it"
    total = sum(one.count for one in audit.unknown)
    first = ", ".join(
        f"{character_name(one.character)} x {one.count:,}"
        for one in audit.unknown[:SHOWN]
    )
    more = "; ..." if len(audit.unknown) > SHOWN else ""
    return (
        f"alphabet: outside it {len(audit.unknown):,}, in all {total:,} times:"
        f" {first}{more}"
    )
