"""The words that generated texts are made of: a table of the package, written for it."""

import random
from functools import cache
from importlib import resources


@cache
def words(kind: str) -> tuple[str, ...]:
    """The entries of one kind, such as `item` or `street`.

    Raises:
        ValueError: there is no such kind; the kinds are named.
    """
    table = _table()
    if kind not in table:
        raise ValueError(f"kind of words {kind!r}: unknown; choose from {', '.join(sorted(table))}")
    return table[kind]


def word(dice: random.Random, kind: str) -> str:
    """One entry of a kind at random."""
    return dice.choice(words(kind))


@cache
def _table() -> dict[str, tuple[str, ...]]:
    path = resources.files("coursepkg.projects.ocr.synthetic") / "words.tsv"
    table: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        kind, entries = line.split("\t")
        table.setdefault(kind, []).extend(entries.split("|"))
    return {kind: tuple(entries) for kind, entries in table.items()}


def either(dice: random.Random, *choices: str) -> str:
    """One of the choices, each as likely as the others."""
    return dice.choice(choices)


def digits(dice: random.Random, count: int) -> str:
    """So many digits, zeros in front included."""
    return "".join(dice.choice("0123456789") for _ in range(count))


def capital(text: str) -> str:
    """The text with a capital at its beginning, and the rest as it was."""
    return text[:1].upper() + text[1:]
