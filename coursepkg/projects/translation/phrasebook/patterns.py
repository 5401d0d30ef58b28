"""Sentence patterns: the tables in `topics`, one row a pattern, made into sentences.

A row has the pattern's name, its template in three languages, its slots, what these
``need`` to go together, and a limit of sentences. Slots are ``name=phrases``; phrases
are terms joined by `` + ``::

    nouns:fruit,dish            entries of ``lexicon/nouns.tsv`` with one of these tags
    number:2-6  minute:5-40/5   numbers that `numbers.NUMBERED` lists
    early:6-8@0,30              the same of two numbers, such as hours and minutes
    told                        a set of ``sets.tsv``, or a whole table

each with filters behind it: ``&a,b`` keeps what has one of the tags, ``-a,b`` what has
none, ``=x,y`` and ``!x,y`` keep and drop phrases by their meaning (``_`` is a space),
``>=20`` keeps what costs so many yuan, ``[:4]`` the first four. What slots need is
calls of `restrictions`, such as ``suits(who,act)``.
"""

import csv
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import Any

from coursepkg.projects.translation.phrasebook import lexicon, restrictions
from coursepkg.projects.translation.phrasebook.interlinear import (
    LANGUAGES,
    Phrase,
    Words,
    finish,
    wording,
)
from coursepkg.projects.translation.phrasebook.numbers import NUMBERED

_TOPICS = """
shopping restaurant hotel directions transport time people possession habits past plans
comparison description health requests languages
"""
TOPICS = tuple(_TOPICS.split())
COLUMNS = ["name", *LANGUAGES, "slots", "needs", "limit"]
_CALL = re.compile(r"(\w+)\((\w+(?:,\w+)*)\)")


@dataclass(frozen=True)
class Sentence:
    """One meaning said in three languages, still with its marks."""

    pattern: str
    concepts: tuple[str, ...]
    words: tuple[Words, Words, Words]


@dataclass(frozen=True)
class Pattern:
    """A template and its slots; iterating it gives its sentences in a fixed order."""

    name: str
    sides: tuple[str, str, str]
    """The template in the order of `LANGUAGES`."""
    slots: Mapping[str, Sequence[Phrase]]
    """Fillers by slot; the first two slots are the key concepts."""
    needs: tuple[tuple[Callable[..., bool], tuple[str, ...]], ...] = ()
    """Restrictions, each with the slots that it is called with."""
    limit: int = 120
    """Sentences at most; beyond it, as many drawn evenly."""

    def __iter__(self) -> Iterator[Sentence]:
        for fillers in self._combinations():
            chosen = dict(zip(self.slots, fillers, strict=True))
            zh, en, vi = (
                finish(wording(side, language, chosen), language)
                for language, side in zip(LANGUAGES, self.sides, strict=True)
            )
            yield Sentence(self.name, tuple(f.concept for f in fillers), (zh, en, vi))

    def _combinations(self) -> Iterator[tuple[Phrase, ...]]:
        """Fillers that go together, drawn without replacement until the limit."""
        names = list(self.slots)
        choices = [(fillers, len(fillers)) for fillers in self.slots.values()]
        needs = [(fits, _getter(names, args)) for fits, args in self.needs]
        drawn = 0
        for index in _draw(math.prod(size for _, size in choices), self.name):
            chosen = []
            for fillers, size in choices:
                index, position = divmod(index, size)
                chosen.append(fillers[position])
            if all(fits(*pick(chosen)) for fits, pick in needs):
                yield tuple(chosen)
                drawn += 1
                if drawn == self.limit:
                    return


def sentences() -> Iterator[tuple[str, Sentence]]:
    """Every sentence with its topic; two patterns may say the same sentence."""
    for topic in TOPICS:
        for pattern in patterns(topic):
            for sentence in pattern:
                yield topic, sentence


def patterns(topic: str) -> Iterator[Pattern]:
    """The patterns of a topic, in the order of its file."""
    path = lexicon.FOLDER / "topics" / f"{topic}.tsv"
    yield from read_patterns(path.read_text(encoding="utf-8"), topic)


def read_patterns(text: str, topic: str) -> Iterator[Pattern]:
    """Read a table of patterns.

    Raises:
        ValueError: a row is malformed; file and line are named.
    """
    rows = csv.reader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    for line, row in enumerate(rows, start=1):
        try:
            if line > 1:
                yield _pattern(row, topic)
            elif row != COLUMNS:
                raise ValueError(f"the columns must be {', '.join(COLUMNS)}, got {row}")
        except ValueError as reason:
            raise ValueError(f"topics/{topic}.tsv, line {line}: {reason}") from reason


@cache
def phrases(expression: str) -> tuple[Phrase, ...]:
    """The phrases that an expression names.

    Raises:
        ValueError: a set, a table, a number or a filter is unknown, or none is left.
    """
    found = [one for term in expression.split(" + ") for one in _term(*term.split())]
    if not found:
        raise ValueError(f"{expression!r} has no phrases")
    return tuple(found)


def _term(source: str, *filters: str) -> Sequence[Phrase]:
    kind, _, given = source.partition(":")
    if kind in NUMBERED:
        pairs = [_numbers(part) for part in given.split("@")]
        found: Sequence[Phrase] = NUMBERED[kind](*pairs)
    elif kind in _sets() and not given:
        found = phrases(_sets()[kind])
    else:
        found = lexicon.having(lexicon.entries(kind), given)
    for one in filters:
        found = _filtered(found, one)
    return found


def _filtered(found: Sequence[Phrase], rule: str) -> Sequence[Phrase]:
    names = set(rule[1:].split(","))
    concepts = {name.replace("_", " ") for name in names}
    if cut := re.fullmatch(r"\[:(\d+)\]", rule):
        return found[: int(cut[1])]
    if least := re.fullmatch(r">=(\d+)", rule):
        return [x for x in found if lexicon.typical_price(x) >= int(least[1])]
    if rule[0] in "=!":
        unknown = concepts - {x.concept for x in found}
        if unknown:
            raise ValueError(f"{rule}: there is no {sorted(unknown)[0]!r}")
        return [x for x in found if (x.concept in concepts) == (rule[0] == "=")]
    if rule[0] in "&-":
        return [x for x in found if bool(x.tags & names) == (rule[0] == "&")]
    raise ValueError(f"filter {rule!r} must begin with & - = ! >= or [:")


def _numbers(text: str) -> list[int]:
    """``2-4,9`` is 2, 3, 4 and 9; ``10-30/10`` is 10, 20 and 30."""
    numbers: list[int] = []
    for part in filter(None, text.split(",")):
        found = re.fullmatch(r"(\d+)(?:-(\d+)(?:/(\d+))?)?", part)
        if not found:
            raise ValueError(f"{part!r} must be a number or a range such as 2-6")
        first, last, step = (int(group) if group else 0 for group in found.groups())
        numbers += range(first, (last or first) + 1, step or 1)
    return numbers


@cache
def _sets() -> dict[str, str]:
    return {row["name"]: row["phrases"] for row in lexicon.rows("sets.tsv")}


def _pattern(row: Sequence[str], topic: str) -> Pattern:
    if len(row) != len(COLUMNS):
        raise ValueError(f"needs {len(COLUMNS)} columns, got {len(row)}")
    name, zh, en, vi, written, needs, limit = row
    slots = {}
    for slot in written.split("; "):
        slot_name, _, expression = slot.partition("=")
        slots[slot_name] = phrases(expression)
    if limit and not limit.isdecimal():
        raise ValueError(f"limit must be a number, got {limit!r}")
    called = tuple(_need(call, slots) for call in needs.split())
    options = {"limit": int(limit)} if limit else {}
    return Pattern(f"{topic}.{name}", (zh, en, vi), slots, called, **options)


def _need(call: str, slots: dict[str, Any]) -> tuple[Any, tuple[str, ...]]:
    found = _CALL.fullmatch(call)
    fits = getattr(restrictions, found[1], None) if found else None
    if not found or fits is None:
        raise ValueError(f"{call!r} is no restriction such as suits(who,act)")
    args = tuple(found[2].split(","))
    if unknown := [arg for arg in args if arg not in slots]:
        raise ValueError(f"{call!r}: there is no slot {unknown[0]!r}")
    return fits, args


def _getter(names: list[str], args: tuple[str, ...]) -> Callable[[Any], Any]:
    """Picks the arguments of a restriction out of the fillers, always as a tuple."""
    places = [names.index(arg) for arg in args]
    if len(places) == 1:
        return lambda chosen: (chosen[places[0]],)
    return itemgetter(*places)


def _draw(total: int, name: str) -> Iterator[int]:
    """The numbers below ``total``, each once, scattered by a stride.

    A stride prime to ``total`` visits everything, and the golden ratio spreads the
    first few evenly; no library shuffle is used, so the order is the same in every
    version of Python.
    """
    stride = max(1, round(total * (math.sqrt(5) - 1) / 2))
    while math.gcd(stride, total) != 1:
        stride += 1
    start = int(random.Random(name).random() * total)
    return ((start + i * stride) % total for i in range(total))
