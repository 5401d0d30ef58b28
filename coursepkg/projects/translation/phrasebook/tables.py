"""The lexicon: tab-separated tables beside this module, and the smallest steps from a row to a phrase."""

import csv
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from coursepkg.projects.translation.phrasebook.interlinear import LANGUAGES, Phrase, phrase

Row = dict[str, str]


@cache
def table(name: str) -> tuple[Row, ...]:
    """The rows of ``lexicon/<name>.tsv``."""
    path = files("coursepkg.projects.translation.phrasebook") / "lexicon" / f"{name}.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    return tuple(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


@cache
def simple(name: str) -> tuple[Phrase, ...]:
    """A table whose entries are inflected in no language (times, cities); its tags are theirs."""
    return tuple(
        phrase(plain(row["en"]), sides_of(row), tags=frozenset((row.get("tags") or "").split()))
        for row in table(name)
    )


def sides_of(row: Row) -> dict[str, str]:
    """The columns that hold wordings: ``zh``, ``en``, ``vi`` and forms such as ``vi.onto``."""
    return {key: side for key, side in row.items() if key.partition(".")[0] in LANGUAGES}


def plain(side: str) -> str:
    """A wording without its marks."""
    return " ".join(word.partition("/")[0] for word in side.split())


def marked(side: str, mark: str) -> str:
    """A wording with one mark on every word, whatever marks it had."""
    return " ".join(f"{word}/{mark}" for word in plain(side).split())


def having(entries: Iterable[Phrase], tags: tuple[str, ...]) -> tuple[Phrase, ...]:
    """The entries that have one of the tags; all of them when no tag is named."""
    return tuple(entry for entry in entries if not tags or entry.tags & set(tags))
