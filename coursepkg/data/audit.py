"""Look at a parallel text before anything is trained on it: duplicates, leaks between the parts of a split, bad rows.

Parts leak where a sentence of one, on either side, stands in another as well, spelling aside: a model that has seen
the answer is scored too well. Near duplicates are counted, too, but do not make a leak.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from coursepkg.data.audit_duplicates import normalised
from coursepkg.data.audit_rows import BadRow, PairLike, UsualRatio, bad_rows, odd_lengths, usual_ratio
from coursepkg.data.audit_sides import WRITTEN, Side, look_at
from coursepkg.data.leaks import Leak, find_leaks, leaking_records


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
    """Sentences that stand in several parts; the key is (language, what its spellings have in common)."""
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
        from coursepkg.data.audit_report import as_text

        return as_text(self)

    def as_json(self) -> dict[str, Any]:
        """The findings as what `json.dumps` takes, all bad rows and shared sentences among them."""
        from coursepkg.data.audit_report import as_json

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
        alphabets: for a language the characters that are expected in it; those left out have the usual ones, where
            Chinese takes every Han character. A language without an alphabet is not checked.
        least_near: shortest sentence that is compared with others for near duplicates, in tokens, 2 or more.
        deviations: robust deviations from the median length ratio from which a pair is an outlier, above 0.

    Raises:
        ValueError: there is no pair, or both languages are the same.
    """
    if not any(map(len, parts.values())):
        raise ValueError("parts must hold at least one pair, got none")
    if source_language == target_language:
        raise ValueError(f"source_language and target_language must differ, got {source_language!r} twice")
    if deviations <= 0:
        raise ValueError(f"deviations must be above 0, got {deviations:g}")
    languages = (source_language, target_language)
    texts: dict[str, dict[str, list[str]]] = {
        source_language: {part: [row.source for row in rows] for part, rows in parts.items()},
        target_language: {part: [row.target for row in rows] for part, rows in parts.items()},
    }
    # Each key once a sentence, however often it is needed.
    keys = {
        side: {part: [key(text, side) for text in own] for part, own in texts[side].items()}
        for side in languages
    }
    shared = tuple(find_leaks({part: _named(part, languages, texts, keys) for part in parts}))
    everything = [row for rows in parts.values() for row in rows]
    ratio = usual_ratio(everything, float(deviations))
    expected = WRITTEN | dict(alphabets or {})
    places = {part: tuple((str(row.file), row.line) for row in rows) for part, rows in parts.items()}
    source_side, target_side = (
        look_at(texts[side], side, expected.get(side), least_near, places) for side in languages
    )
    source_keys, target_keys = ([one for own in keys[side].values() for one in own] for side in languages)
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
    """The keys of each pair of a part; an empty side is a bad row, not a sentence that rows have in common."""
    found: list[list[tuple[str, str]]] = [[] for _ in texts[languages[0]][part]]
    for side in languages:
        for own, text, key in zip(found, texts[side][part], keys[side][part], strict=True):
            if text.strip():
                own.append((side, key))
    return found


def _all_bad(
    parts: Mapping[str, Sequence[PairLike]], languages: tuple[str, str], ratio: UsualRatio | None
) -> Iterator[BadRow]:
    for part, rows in parts.items():
        yield from bad_rows(part, rows, *languages)
        if ratio is not None:
            yield from odd_lengths(part, rows, ratio)


def _as_written(leak: Leak, texts: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    language, _ = cast(tuple[str, str], leak.key)
    part, numbers = next(iter(leak.records.items()))
    return texts[language][part][numbers[0]].strip()


def _count_duplicates(rows: Sequence[PairLike], keys: Sequence[tuple[str, str]]) -> Duplicates:
    translations: dict[str, set[str]] = {}
    for source, target in keys:
        translations.setdefault(source, set()).add(target)
    return Duplicates(
        len(rows),
        len({(row.source, row.target) for row in rows}),
        len(set(keys)),
        sum(len(several) > 1 for several in translations.values()),
    )
