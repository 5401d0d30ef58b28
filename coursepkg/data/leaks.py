"""Leakage between the parts of a split: records of different parts that share a key.

A record is a sentence pair, a receipt, a clip; its keys are what it must not share with another part: its sentences
on either side, its shop, its signer.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Leak:
    """A key that stands in more than one part."""

    key: Hashable
    """What is shared."""
    records: dict[str, tuple[int, ...]]
    """The records with this key, by their numbers from 0, in each part that has some."""


def find_leaks(parts: Mapping[str, Sequence[Collection[Hashable]]]) -> list[Leak]:
    """The keys that stand in several parts, in the order in which they occur first.

    Args:
        parts: for each part the keys of each of its records.

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
