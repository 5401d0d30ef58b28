"""Sentences that are the same, the same but for spelling, or the same but for one token."""

import unicodedata
from array import array
from collections.abc import Iterator, Sequence

import numpy as np

from coursepkg.text.chinese import split_characters
from coursepkg.text.entities import unescape

_PRIME = (1 << 61) - 1
_BASE = 0x1B873593CC9E2D51 % _PRIME
_PLACES = 0x9E3779B97F4A7C15
"""Odd number that spreads the positions over 64 bits."""


def normalised(text: str, language: str) -> str:
    """What spellings of one sentence have in common: its letters, digits and marks, in NFC and lower case.

    Spaces, underscores and punctuation are left out, HTML entities resolved; a sentence of nothing but punctuation is
    its own key, and an empty one is empty.

    Example:
        >>> normalised("Khách_sạn ở đâu ?", "vi") == normalised("khách sạn ở đâu", "vi")
        True
    """
    folded = _fold(text)
    return "".join(sign for sign in folded if _counts(sign)) or folded.strip()


def tokens(text: str, language: str) -> tuple[str, ...]:
    """The tokens that near duplicates are told by: what spaces separate, in lower case, without punctuation.

    Chinese that has no spaces is cut into its characters.
    """
    folded = _fold(text)
    cut = folded.split()
    if language == "zh" and len(cut) == 1:
        cut = split_characters(folded)
    return tuple(token for token in cut if any(map(_counts, token)))


def near_duplicates(sentences: Sequence[Sequence[str]], *, least: int = 4) -> list[tuple[int, ...]]:
    """Groups of sentences that differ from one another in one token: another, a missing or an additional one.

    A sentence may be in several groups. Equal sentences form no group. Every sentence is filed under what is left of
    it when one token is taken out (its deletion neighbourhood), so the time grows with the number of tokens, not
    with the number of pairs of sentences.

    Args:
        sentences: their tokens; equal ones should come once.
        least: shortest sentence that is looked at, in tokens, 2 or more.

    Returns:
        for each group the numbers of its sentences, from 0, ascending.

    Source: Bocek, Hunt, Stiller, "Fast Similarity Search in Large Dictionaries" (2007): deletion neighbourhoods.
    """
    if least < 2:
        raise ValueError(f"least must be at least 2 tokens, got {least}")
    ids: dict[str, int] = {}
    coded = [tuple(ids.setdefault(token, len(ids) + 1) for token in sentence) for sentence in sentences]
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


def _substitutions(keys: array, owners: array, coded: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
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
    return len(one) == len(other) and sum(a != b for a, b in zip(one, other, strict=True)) == 1


def _hash(code: Sequence[int]) -> int:
    value = 0
    for token in code:
        value = (value * _BASE + token) % _PRIME
    return value


def _deletions(code: Sequence[int]) -> Iterator[int]:
    """The hash of a sentence without each of its tokens in turn, each in constant time.

    With prefix hashes h_i and n tokens it is h_i B^(n-1-i) + (h_n - h_(i+1) B^(n-1-i)), modulo a prime.
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
