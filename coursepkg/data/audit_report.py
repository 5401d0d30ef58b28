"""The findings of an audit as text for readers and as JSON for programs."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, cast

from coursepkg.data.audit import Audit
from coursepkg.data.audit_sides import Side, Unknown
from coursepkg.data.leaks import Leak

_SHOWN = 5


def as_text(audit: Audit) -> str:
    """One block a question, each finding with its first examples."""
    return "\n".join([_heading(audit), *_duplicates(audit), *_split(audit), *_rows(audit)])


def rows_as_text(audit: Audit) -> str:
    """What is to be said of the rows alone, whatever parts they are in."""
    return "\n".join([_heading(audit), *_duplicates(audit), *map(_near, audit.sides), *_rows(audit)])


def split_as_text(audit: Audit) -> str:
    """What is to be said of the parts: how large they are, and what they share."""
    return "\n".join([_heading(audit), *_split(audit)])


def _heading(audit: Audit) -> str:
    pairs = ", ".join(f"{part} {count:,}" for part, count in audit.n_pairs.items())
    return f"audit {audit.source_language}-{audit.target_language}: {pairs} pairs"


def _split(audit: Audit) -> list[str]:
    return [*map(_near, audit.sides), *_leaks(audit)]


def _rows(audit: Audit) -> list[str]:
    lines = _bad(audit)
    for side in audit.sides:
        forms = ", ".join(f"{form} {count:,}" for form, count in sorted(side.forms.items()))
        lines.append(f"Unicode form {side.language}: {forms}")
    return lines + [_alphabet(side) for side in audit.sides]


def as_json(audit: Audit) -> dict[str, Any]:
    """Everything that was found; of shared sentences and bad rows all."""
    return {
        "source": audit.source_language,
        "target": audit.target_language,
        "pairs": audit.n_pairs,
        "leaks": audit.leaks,
        "leaking_pairs": audit.n_leaking,
        "shared": [
            {"language": _language(leak), "sentence": _printable(text), "places": _places(audit, leak)}
            for leak, text in zip(audit.shared, audit.shared_as_written, strict=True)
        ],
        "duplicates": asdict(audit.duplicates),
        "near": {
            side.language: {
                "sentences": side.n_sentences,
                "near": side.n_near,
                "across_parts": side.near_across,
            }
            for side in audit.sides
        },
        "length_ratio": None if audit.ratio is None else audit.ratio._asdict(),
        "bad_rows": [row._asdict() for row in audit.bad],
        "bad_row_counts": dict(Counter(row.kind for row in audit.bad)),
        "forms": {side.language: side.forms for side in audit.sides},
        "unknown_characters": {
            side.language: [{**asdict(one), "name": _name(one)} for one in side.unknown]
            for side in audit.sides
        },
    }


def _duplicates(audit: Audit) -> list[str]:
    found = audit.duplicates
    return [
        f"duplicates: {found.n_pairs - found.n_exact:,} exact ({found.n_exact:,} different pairs), "
        f"{found.n_pairs - found.n_normalised:,} but for spelling ({found.n_normalised:,} left); "
        f"{found.n_ambiguous:,} sources have several translations"
    ]


def _near(side: Side) -> str:
    text = (
        f"near duplicates {side.language}: {side.n_near:,} of {side.n_sentences:,} different sentences differ from "
        "another in one token"
    )
    if len(side.near_across) < 2:
        return text
    across = ", ".join(f"{part} {count:,}" for part, count in side.near_across.items())
    return f"{text}; from one of another part: {across}"


def _leaks(audit: Audit) -> list[str]:
    if len(audit.n_pairs) < 2:
        return ["leaks: not looked for, there is one part only"]
    if not audit.leaks:
        return ["leaks: none, no sentence stands in two parts"]
    counts = ", ".join(
        f"{count:,} of {audit.n_pairs[part]:,} in {part}" for part, count in audit.n_leaking.items() if count
    )
    lines = [f"LEAKS: {len(audit.shared):,} sentences stand in several parts; pairs concerned: {counts}"]
    for leak, text in list(zip(audit.shared, audit.shared_as_written, strict=True))[:_SHOWN]:
        places = "; ".join(f"{_some(own)} ({part})" for part, own in _places(audit, leak).items())
        lines.append(f"  {_language(leak)} {_printable(text)[:60]!r}: {places}")
    return lines + _more(len(audit.shared))


def _bad(audit: Audit) -> list[str]:
    if not audit.bad:
        return ["bad rows: none"]
    lines = [f"bad rows: {len({(row.part, row.file, row.line) for row in audit.bad}):,}"]
    for kind, count in Counter(row.kind for row in audit.bad).most_common():
        lines.append(f"  {kind}: {count:,}")
        examples = [row for row in audit.bad if row.kind == kind][:_SHOWN]
        lines += [f"    {row.file}, line {row.line} ({row.side}): {row.detail}" for row in examples]
        lines += [f"  {more}" for more in _more(count)]
    return lines


def _alphabet(side: Side) -> str:
    if not side.unknown:
        return f"alphabet {side.language}: nothing outside it"
    total = sum(one.count for one in side.unknown)
    first = ", ".join(
        f"{_name(one)} x {one.count:,} ({one.file}, line {one.line})" for one in side.unknown[:_SHOWN]
    )
    more = "; ..." if len(side.unknown) > _SHOWN else ""
    return (
        f"alphabet {side.language}: outside it {len(side.unknown):,}, in all {total:,} times: {first}{more}"
    )


def _language(leak: Leak) -> str:
    return cast(tuple[str, str], leak.key)[0]


def _places(audit: Audit, leak: Leak) -> dict[str, list[str]]:
    return {
        part: [f"{file}:{line}" for file, line in (audit.places[part][number] for number in numbers)]
        for part, numbers in leak.records.items()
    }


def _some(places: Sequence[str]) -> str:
    return ", ".join(places[:3]) + (", ..." if len(places) > 3 else "")


def _more(count: int) -> list[str]:
    return [f"  ... and {count - _SHOWN:,} more"] if count > _SHOWN else []


def _name(one: Unknown) -> str:
    name = unicodedata.name(one.character, f"category {unicodedata.category(one.character)}")
    return f"U+{ord(one.character):04X} {name}"


def _printable(text: str) -> str:
    """The text with bytes that are not UTF-8 written out, so that it can be printed."""
    return text.encode("utf-8", "backslashreplace").decode()
