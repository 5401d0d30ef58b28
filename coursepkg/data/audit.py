"""The audit of a parallel text: duplicates, leaks between the parts, bad rows.

Parts leak where a sentence of one, on either side, stands in another as well, spelling
aside: a model that has seen the answer is scored too well. Near duplicates are counted,
too, but do not make a leak. A record is a sentence pair, a receipt, a clip; its keys
are what it must not share with another part: its sentences, its shop, its signer.
"""

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from coursepkg.data.audit_rows import (
    BadRow,
    PairLike,
    UsualRatio,
    bad_rows,
    near_duplicates,
    normalised,
    odd_lengths,
    tokens,
    usual_ratio,
)
from coursepkg.text.cleaning import find_unknown
from coursepkg.text.languages import LANGUAGES, language_of
from coursepkg.text.spacing import is_han
from coursepkg.text.vietnamese import unicode_form


@dataclass(frozen=True)
class Leak:
    """A key that stands in more than one part."""

    key: Hashable
    """What is shared."""
    records: dict[str, tuple[int, ...]]
    """The records with this key, by their numbers from 0, in each part that has
    some."""


def find_leaks(parts: Mapping[str, Sequence[Collection[Hashable]]]) -> list[Leak]:
    """The keys that stand in several parts, in the order in which they occur first.

    Example:
        >>> find_leaks({"train": [["Anna"], ["Ben"]], "test": [["Anna"]]})
        [Leak(key='Anna', records={'train': (0,), 'test': (0,)})]
    """
    places: dict[Hashable, dict[str, list[int]]] = {}
    for part, records in parts.items():
        for number, keys in enumerate(records):
            for key in dict.fromkeys(keys):
                places.setdefault(key, {}).setdefault(part, []).append(number)
    return [
        Leak(key, {part: tuple(numbers) for part, numbers in found.items()})
        for key, found in places.items()
        if len(found) > 1
    ]


def leaking_records(leaks: Sequence[Leak], part: str) -> set[int]:
    """The records of a part that share a key with another part."""
    return {number for leak in leaks for number in leak.records.get(part, ())}


@dataclass(frozen=True)
class Unknown:
    """A character outside the alphabet."""

    character: str
    count: int
    part: str
    file: str
    line: int
    """Where it stands first."""


@dataclass(frozen=True)
class Side:
    """One language of the text."""

    language: str
    n_sentences: int
    """Different sentences, by their tokens, that are long enough to have near
    duplicates."""
    n_near: int
    """Those that differ from another in one token."""
    near_across: dict[str, int]
    """For each part the sentences that differ in one token from one of another part."""
    forms: dict[str, int]
    """Rows in each Unicode form."""
    unknown: tuple[Unknown, ...]
    """Characters outside the alphabet, most frequent first."""


def look_at(
    texts: Mapping[str, Sequence[str]],
    language: str,
    alphabet: Collection[str] | None,
    least: int,
    places: Mapping[str, Sequence[tuple[str, int]]],
) -> Side:
    """Look at the lines of one language."""
    owners: dict[tuple[str, ...], set[str]] = {}
    for part, lines in texts.items():
        for line in lines:
            owners.setdefault(tokens(line, language), set()).add(part)
    sentences = list(owners)
    groups = near_duplicates(sentences, least=least)
    across: Counter[str] = Counter(dict.fromkeys(texts, 0))
    for part in texts:
        inside = {
            i
            for group in groups
            for i in group
            if part in owners[sentences[i]]
            and any(owners[sentences[j]] - {part} for j in group if j != i)
        }
        across[part] = len(inside)
    return Side(
        language,
        sum(len(sentence) >= least for sentence in sentences),
        len({i for group in groups for i in group}),
        dict(across),
        dict(Counter(unicode_form(line) for lines in texts.values() for line in lines)),
        _unknown(texts, language, alphabet, places) if alphabet is not None else (),
    )


def _unknown(
    texts: Mapping[str, Sequence[str]],
    language: str,
    alphabet: Collection[str],
    places: Mapping[str, Sequence[tuple[str, int]]],
) -> tuple[Unknown, ...]:
    lines = [line for own in texts.values() for line in own]
    where = [(part, *place) for part in texts for place in places[part]]
    known = set(alphabet)
    if language_of(language).is_han:
        known |= {sign for sign in set().union(*map(set, lines)) if is_han(sign)}
    # A byte that is not UTF-8 is named as such.
    found = [
        one
        for one in find_unknown(lines, known)
        if not "\ud800" <= one.character <= "\udfff"
    ]
    ordered = sorted(found, key=lambda one: -one.count)
    return tuple(
        Unknown(one.character, one.count, *where[one.line - 1]) for one in ordered
    )


@dataclass(frozen=True)
class Duplicates:
    """How often pairs come again, over all parts."""

    n_pairs: int
    n_exact: int
    """Different pairs."""
    n_normalised: int
    """Pairs that differ in more than spelling, spaces, underscores and punctuation."""
    n_ambiguous: int
    """Sources, spelling aside, with several translations."""


@dataclass(frozen=True)
class Audit:
    """What an audit found."""

    source_language: str
    target_language: str
    n_pairs: dict[str, int]
    """Pairs in each part."""
    duplicates: Duplicates
    shared: tuple[Leak, ...]
    """Sentences that stand in several parts; the key is (language, what its spellings
    have in common)."""
    shared_as_written: tuple[str, ...]
    """The same sentences as they are written where they come first."""
    n_leaking: dict[str, int]
    """Pairs of each part that share a sentence with another part."""
    sides: tuple[Side, Side]
    ratio: UsualRatio | None
    """Usual ratio of the lengths; None where there are too few pairs."""
    bad: tuple[BadRow, ...]
    """Bad rows, part by part."""
    places: dict[str, tuple[tuple[str, int], ...]]
    """File and line of each pair of each part."""

    @property
    def leaks(self) -> bool:
        """Whether a sentence stands in more than one part."""
        return bool(self.shared)

    def report(self) -> str:
        """The findings as text, with examples by file and line."""
        return as_text(self)

    def as_json(self) -> dict[str, Any]:
        """The findings for `json.dumps`, with all bad rows and shared sentences."""
        return as_json(self)


def audit_parallel(
    parts: Mapping[str, Sequence[PairLike]],
    source_language: str,
    target_language: str,
    *,
    key: Callable[[str, str], str] = normalised,
    alphabets: Mapping[str, Collection[str]] | None = None,
    least_near: int = 4,
    deviations: int | float = 5.0,
) -> Audit:
    """Audit the parts of a parallel text.

    Args:
        parts: for each part (train, dev, test; or one part alone) its pairs.
        source_language: zh, vi or en, or another name.
        target_language: the same.
        key: what spellings of a sentence, in a language, have in common.
        alphabets: for a language the characters that are expected in it; those left out
            have the usual ones, where Chinese takes every Han character. A language
            without an alphabet is not checked.
        least_near: shortest sentence that is compared with others for near duplicates,
            in tokens, 2 or more.
        deviations: robust deviations from the median length ratio from which a pair is
            an outlier, above 0.

    Raises:
        ValueError: there is no pair, or both languages are the same.
    """
    if not any(map(len, parts.values())):
        raise ValueError("parts must hold at least one pair, got none")
    if source_language == target_language:
        raise ValueError(
            f"source_language and target_language must differ, got {source_language!r}"
            " twice"
        )
    if deviations <= 0:
        raise ValueError(f"deviations must be above 0, got {deviations:g}")
    languages = (source_language, target_language)
    texts: dict[str, dict[str, list[str]]] = {
        source_language: {
            part: [row.source for row in rows] for part, rows in parts.items()
        },
        target_language: {
            part: [row.target for row in rows] for part, rows in parts.items()
        },
    }
    # Each key once a sentence, however often it is needed.
    keys = {
        side: {
            part: [key(text, side) for text in own] for part, own in texts[side].items()
        }
        for side in languages
    }
    shared = tuple(
        find_leaks({part: _named(part, languages, texts, keys) for part in parts})
    )
    everything = [row for rows in parts.values() for row in rows]
    ratio = usual_ratio(everything, float(deviations))
    usual = {code: one.alphabet for code, one in LANGUAGES.items()}
    expected = usual | dict(alphabets or {})
    places = {
        part: tuple((str(row.file), row.line) for row in rows)
        for part, rows in parts.items()
    }
    source_side, target_side = (
        look_at(texts[side], side, expected.get(side), least_near, places)
        for side in languages
    )
    source_keys, target_keys = (
        [one for own in keys[side].values() for one in own] for side in languages
    )
    return Audit(
        source_language,
        target_language,
        {part: len(rows) for part, rows in parts.items()},
        _count_duplicates(everything, list(zip(source_keys, target_keys, strict=True))),
        shared,
        tuple(_as_written(leak, texts) for leak in shared),
        {part: len(leaking_records(shared, part)) for part in parts},
        (source_side, target_side),
        ratio,
        tuple(_all_bad(parts, languages, ratio)),
        places,
    )


def _named(
    part: str,
    languages: tuple[str, str],
    texts: Mapping[str, Mapping[str, Sequence[str]]],
    keys: Mapping[str, Mapping[str, Sequence[str]]],
) -> list[list[tuple[str, str]]]:
    """The keys of each pair; an empty side is a bad row, not a shared sentence."""
    found: list[list[tuple[str, str]]] = [[] for _ in texts[languages[0]][part]]
    for side in languages:
        for own, text, key in zip(
            found, texts[side][part], keys[side][part], strict=True
        ):
            if text.strip():
                own.append((side, key))
    return found


def _all_bad(
    parts: Mapping[str, Sequence[PairLike]],
    languages: tuple[str, str],
    ratio: UsualRatio | None,
) -> Iterator[BadRow]:
    for part, rows in parts.items():
        yield from bad_rows(part, rows, *languages)
        if ratio is not None:
            yield from odd_lengths(part, rows, ratio)


def _as_written(leak: Leak, texts: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    language, _ = cast(tuple[str, str], leak.key)
    part, numbers = next(iter(leak.records.items()))
    return texts[language][part][numbers[0]].strip()


def _count_duplicates(
    rows: Sequence[PairLike], keys: Sequence[tuple[str, str]]
) -> Duplicates:
    translations: dict[str, set[str]] = {}
    for source, target in keys:
        translations.setdefault(source, set()).add(target)
    return Duplicates(
        len(rows),
        len({(row.source, row.target) for row in rows}),
        len(set(keys)),
        sum(len(several) > 1 for several in translations.values()),
    )


_SHOWN = 5


def as_text(audit: Audit) -> str:
    """One block a question, each finding with its first examples."""
    return "\n".join(
        [_heading(audit), *_duplicates(audit), *_split(audit), *_rows(audit)]
    )


def rows_as_text(audit: Audit) -> str:
    """What is to be said of the rows alone, whatever parts they are in."""
    return "\n".join(
        [_heading(audit), *_duplicates(audit), *map(_near, audit.sides), *_rows(audit)]
    )


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
        forms = ", ".join(
            f"{form} {count:,}" for form, count in sorted(side.forms.items())
        )
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
            {
                "language": _language(leak),
                "sentence": _printable(text),
                "places": _places(audit, leak),
            }
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
        f"duplicates: {found.n_pairs - found.n_exact:,} exact ({found.n_exact:,}"
        f" different pairs), {found.n_pairs - found.n_normalised:,} but for spelling"
        f" ({found.n_normalised:,} left); {found.n_ambiguous:,} sources have several"
        " translations"
    ]


def _near(side: Side) -> str:
    text = (
        f"near duplicates {side.language}: {side.n_near:,} of {side.n_sentences:,}"
        " different sentences differ from another in one token"
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
        f"{count:,} of {audit.n_pairs[part]:,} in {part}"
        for part, count in audit.n_leaking.items()
        if count
    )
    lines = [
        f"LEAKS: {len(audit.shared):,} sentences stand in several parts; pairs"
        f" concerned: {counts}"
    ]
    for leak, text in list(zip(audit.shared, audit.shared_as_written, strict=True))[
        :_SHOWN
    ]:
        places = "; ".join(
            f"{_some(own)} ({part})" for part, own in _places(audit, leak).items()
        )
        lines.append(f"  {_language(leak)} {_printable(text)[:60]!r}: {places}")
    return lines + _more(len(audit.shared))


def _bad(audit: Audit) -> list[str]:
    if not audit.bad:
        return ["bad rows: none"]
    lines = [
        f"bad rows: {len({(row.part, row.file, row.line) for row in audit.bad}):,}"
    ]
    for kind, count in Counter(row.kind for row in audit.bad).most_common():
        lines.append(f"  {kind}: {count:,}")
        examples = [row for row in audit.bad if row.kind == kind][:_SHOWN]
        lines += [
            f"    {row.file}, line {row.line} ({row.side}): {row.detail}"
            for row in examples
        ]
        lines += [f"  {more}" for more in _more(count)]
    return lines


def _alphabet(side: Side) -> str:
    if not side.unknown:
        return f"alphabet {side.language}: nothing outside it"
    total = sum(one.count for one in side.unknown)
    first = ", ".join(
        f"{_name(one)} x {one.count:,} ({one.file}, line {one.line})"
        for one in side.unknown[:_SHOWN]
    )
    more = "; ..." if len(side.unknown) > _SHOWN else ""
    return (
        f"alphabet {side.language}: outside it {len(side.unknown):,}, in all {total:,}"
        f" times: {first}{more}"
    )


def _language(leak: Leak) -> str:
    return cast(tuple[str, str], leak.key)[0]


def _places(audit: Audit, leak: Leak) -> dict[str, list[str]]:
    return {
        part: [
            f"{file}:{line}"
            for file, line in (audit.places[part][number] for number in numbers)
        ]
        for part, numbers in leak.records.items()
    }


def _some(places: Sequence[str]) -> str:
    return ", ".join(places[:3]) + (", ..." if len(places) > 3 else "")


def _more(count: int) -> list[str]:
    return [f"  ... and {count - _SHOWN:,} more"] if count > _SHOWN else []


def _name(one: Unknown) -> str:
    name = unicodedata.name(
        one.character, f"category {unicodedata.category(one.character)}"
    )
    return f"U+{ord(one.character):04X} {name}"


def _printable(text: str) -> str:
    """The text with bytes that are not UTF-8 written out, so that it can be printed."""
    return text.encode("utf-8", "backslashreplace").decode()
