"""The findings of an audit of lines, as text for readers and as JSON for programs."""

import unicodedata
from collections import Counter
from typing import Any

from coursepkg.projects.ocr.data.audit import LineAudit
from coursepkg.projects.ocr.data.table_row import listed_faults
from coursepkg.wording import counted

_SHOWN = 5


def as_text(audit: LineAudit) -> str:
    """One block a question, each finding with its first examples."""
    parts = ", ".join(
        f"{part} {count:,} ({audit.n_groups[part]:,} groups)" for part, count in audit.n_lines.items()
    )
    total = sum(audit.n_lines.values())
    return "\n".join(
        [
            f"audit of lines: {parts}",
            f"repeated texts: {audit.n_distinct:,} different in {total:,} lines, {audit.n_normalised:,} but for "
            f"case, spaces and punctuation; {audit.n_near:,} differ from another in one word; "
            f"the {len(audit.frequent)} most frequent make {audit.frequent_share:.1%} of all lines",
            *_leaks(audit),
            *_seen(audit),
            *_bad(audit),
            *_faults(audit),
            f"Unicode form: {_counted(audit.forms)}",
            f"placement of tones: {_counted(audit.tone_styles) or 'nothing tells'}",
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
            {"group": leak.key, "lines": {part: len(found) for part, found in leak.records.items()}}
            for leak in audit.shared
        ],
        "seen": audit.n_seen,
        "seen_normalised": audit.n_seen_normalised,
        "bad_texts": [bad._asdict() for bad in audit.bad],
        "bad_text_counts": dict(Counter(bad.kind for bad in audit.bad)),
        "forms": audit.forms,
        "tone_styles": audit.tone_styles,
        "unknown_characters": [
            {"character": one.character, "name": _name(one.character), "count": one.count}
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
        f"LEAKS: {len(audit.shared):,} receipts or documents stand in several parts; lines concerned: "
        + ", ".join(
            f"{count:,} of {audit.n_lines[part]:,} in {part}" for part, count in audit.n_leaking.items()
        )
    ]
    for leak in audit.shared[:_SHOWN]:
        places = ", ".join(f"{counted(len(found), 'line')} in {part}" for part, found in leak.records.items())
        lines.append(f"  {leak.key}: {places}")
    return lines + _more(len(audit.shared))


def _seen(audit: LineAudit) -> list[str]:
    first = next(iter(audit.n_lines))
    return [
        f"texts of {part} that stand in {first}: {seen:,} of {audit.n_lines[part]:,} "
        f"({seen / max(1, audit.n_lines[part]):.1%}), but for case, spaces and punctuation "
        f"{audit.n_seen_normalised[part]:,}; score them apart"
        for part, seen in audit.n_seen.items()
    ]


def _bad(audit: LineAudit) -> list[str]:
    if not audit.bad:
        return ["bad texts: none"]
    lines = [f"bad texts: {len(audit.bad):,}"]
    for kind, count in Counter(bad.kind for bad in audit.bad).most_common():
        lines.append(f"  {kind}: {count:,}")
        lines += [
            f"    {bad.name} ({bad.part}): {bad.detail}"
            for bad in [one for one in audit.bad if one.kind == kind][:_SHOWN]
        ]
        lines += [f"  {more}" for more in _more(count)]
    return lines


def _faults(audit: LineAudit) -> list[str]:
    return (
        [f"faults of the table: {len(audit.faults):,}", *listed_faults(audit.faults)] if audit.faults else []
    )


def _alphabet(audit: LineAudit) -> str:
    if not audit.unknown:
        return "alphabet: nothing outside it"
    total = sum(one.count for one in audit.unknown)
    first = ", ".join(f"{_name(one.character)} x {one.count:,}" for one in audit.unknown[:_SHOWN])
    more = "; ..." if len(audit.unknown) > _SHOWN else ""
    return f"alphabet: outside it {len(audit.unknown):,}, in all {total:,} times: {first}{more}"


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))


def _more(count: int) -> list[str]:
    return [f"  ... and {count - _SHOWN:,} more"] if count > _SHOWN else []


def _name(character: str) -> str:
    name = unicodedata.name(character, f"category {unicodedata.category(character)}")
    return f"U+{ord(character):04X} {name}"
