"""Three ways to part lines into training, validation and test.

- `line`: any line anywhere, as the OCR report did. Lines of one receipt
  stand on both sides.
- `receipt`: whole receipts. A shop's name and address still stand on both sides.
- `seller`: whole shops. Receipts whose sellers are written alike stay together.
"""

import hashlib
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from coursepkg.data.split import group_records, grouped_split, split_fingerprint
from coursepkg.projects.ocr.data.batches import seen_texts
from coursepkg.text.vietnamese import without_marks

PROTOCOLS = ("line", "receipt", "seller")
SHARES = {"train": 0.8, "dev": 0.1, "test": 0.1}


@dataclass(frozen=True)
class Split:
    """Which line is in which part, by its number from 0."""

    protocol: str
    """One of `PROTOCOLS`."""
    train: tuple[int, ...]
    dev: tuple[int, ...]
    test: tuple[int, ...]

    @property
    def parts(self) -> dict[str, tuple[int, ...]]:
        """The parts by their names."""
        return {"train": self.train, "dev": self.dev, "test": self.test}

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of which line is in which part."""
        return split_fingerprint(self.parts)

    def seen(
        self, texts: Sequence[str], part: Literal["dev", "test"] = "test"
    ) -> list[bool]:
        """For each line of a part whether the training part has its text, too."""
        own = [texts[i] for i in self.parts[part]]
        return seen_texts([texts[i] for i in self.train], own)


def split_lines(
    groups: Sequence[str],
    protocol: str = "receipt",
    *,
    sellers: Mapping[str, Collection[str]] | None = None,
    seed: int = 0,
) -> Split:
    """Part lines 80 to 10 to 10.

    `line` shuffles them and cuts, so its parts are exact. `receipt` places each receipt
    by its hash and meets the shares on average; where a set is so small that this
    leaves a part empty, it goes through the receipts in the order of their hashes and
    fills test, then validation, then training. `seller` goes through the shops in the
    same way: a few chains write most receipts, and those that would fill a third of a
    tenth go into training.

    Args:
        groups: for each line its receipt.
        protocol: one of `PROTOCOLS`: what must not be cut apart.
        sellers: for each receipt the texts that name its seller, for `seller` alone.
        seed: another seed gives another split.

    Raises:
        ValueError: there is no line, the protocol is unknown, or `seller` is asked for
            without sellers.
    """
    if protocol not in PROTOCOLS:
        raise ValueError(
            f"protocol must be one of {', '.join(PROTOCOLS)}, got {protocol!r}"
        )
    if not groups:
        raise ValueError("groups must hold at least one line, got none")
    if protocol == "line":
        parts = _by_line(len(groups), seed)
    elif protocol == "receipt":
        keys = [[("receipt", group)] for group in groups]
        parts = grouped_split(keys, SHARES, seed=seed)
        parts = parts if all(parts.values()) else _in_turn(groups, seed)
    else:
        if sellers is None:
            raise ValueError(
                "sellers must be given for the protocol 'seller', such as Table.sellers"
            )
        names = {
            group: {_seller_key(text) for text in found}
            for group, found in sellers.items()
        }
        keys = [
            [
                ("receipt", group),
                *(("seller", key) for key in sorted(names.get(group, ()))),
            ]
            for group in groups
        ]
        parts = _filled(group_records(keys), keys, seed)
    return Split(protocol, *(tuple(parts[name]) for name in SHARES))


def _by_line(count: int, seed: int) -> dict[str, list[int]]:
    order = list(range(count))
    random.Random(f"lines {seed}").shuffle(order)
    first = round(count * SHARES["train"])
    second = round(count * (SHARES["train"] + SHARES["dev"]))
    cut = {"train": order[:first], "dev": order[first:second], "test": order[second:]}
    return {name: sorted(records) for name, records in cut.items()}


def _in_turn(groups: Sequence[str], seed: int) -> dict[str, list[int]]:
    """Whole groups into test and validation until each has its share."""
    members: dict[str, list[int]] = {}
    for i, group in enumerate(groups):
        members.setdefault(group, []).append(i)
    order = sorted(
        members, key=lambda group: hashlib.sha256(f"{seed} {group}".encode()).digest()
    )
    parts: dict[str, list[int]] = {name: [] for name in SHARES}
    for place, group in enumerate(order):
        open_parts = [
            name
            for name in ("test", "dev")
            if len(parts[name]) < SHARES[name] * len(groups)
        ]
        is_last = place == len(order) - 1
        parts["train" if is_last or not open_parts else open_parts[0]] += members[group]
    return {name: sorted(records) for name, records in parts.items()}


def _filled(
    group_of: Sequence[int], keys: Sequence[Sequence[tuple[str, str]]], seed: int
) -> dict[str, list[int]]:
    """Whole groups into three parts, none larger than a third of the first two."""
    members: dict[int, list[int]] = {}
    for i, group in enumerate(group_of):
        members.setdefault(group, []).append(i)

    def place(records: list[int]) -> bytes:
        smallest = min(repr(key) for i in records for key in keys[i])
        return hashlib.sha256(f"{seed} {smallest}".encode()).digest()

    parts: dict[str, list[int]] = {name: [] for name in SHARES}
    for records in sorted(members.values(), key=place):
        open_parts = [
            name
            for name in ("test", "dev")
            if len(records) <= max(1, SHARES[name] * len(keys) / 3)
            and len(parts[name]) + len(records) <= SHARES[name] * len(keys)
        ]
        parts[open_parts[0] if open_parts else "train"] += records
    return {name: sorted(records) for name, records in parts.items()}


def _seller_key(text: str) -> str:
    """A seller's name without case, marks and punctuation."""
    return "".join(sign for sign in without_marks(text.casefold()) if sign.isalnum())
