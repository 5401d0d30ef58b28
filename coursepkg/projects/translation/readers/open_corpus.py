"""Open parallel text, whose licences let a model that learnt from it ship.

    open/NAME.tsv              en, vi, zh (where there is some), whom a line is from
    open/vi_wikipedia.txt.xz   paragraphs in Vietnamese
    open/NAME.LICENCE          under which licence

Three sentences of a row translate one another. A row goes to one part as a whole, and
rows with a common sentence in any language go together: what is dev from English is not
training from Chinese. The Vietnamese of `ms_mt` is machine-made; it is never scored.

The everyday sentences in English and Vietnamese ship with the package, in the parts
that they have in the whole corpus: `tatoeba.tsv`, and `tatoeba.LICENCE` beside it.
"""

import lzma
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from coursepkg.data.audit_rows import PairLike, Row, read_lines
from coursepkg.data.split import group_records, grouped_split
from coursepkg.projects.translation.corpus import (
    SentencePair,
    numbered_lines,
    sentence_key,
)
from coursepkg.projects.translation.placeholders import copied_strings
from coursepkg.text.languages import language_of

HEAD = ("en", "vi", "zh", "from")
DOMAINS = {
    "tatoeba": "everyday",
    "ms_ht": "documentation",
    "docs_react": "documentation",
    "l10n_perm": "interface",
    "l10n_mpl": "interface",
    "ms_mt": "support",
}
"""By the file's name: what kind of text it holds."""
MACHINE_MADE = "support"
"""The domain whose Vietnamese was made by a machine."""
SCORED_DOMAINS = {
    "open": "",
    "open-everyday": "everyday",
    "open-documentation": "documentation",
    "open-interface": "interface",
}
"""By the name that `--data` takes: the domain of dev and test; empty for all."""
EMBEDDED = "tatoeba.tsv"
"""The part that ships with the package."""
EMBEDDED_HEAD = ("en", "vi", "part", "attribution")
SHARES = {"train": 0.96, "dev": 0.02, "test": 0.02}
EVERYDAY_SHARES = {"train": 0.88, "dev": 0.06, "test": 0.06}
"""Of groups with an everyday sentence: there are few, and they are what is asked."""
EVERYDAY_CHINESE_SHARES = {"train": 0.7, "dev": 0.15, "test": 0.15}
"""Of groups whose everyday sentence has its Chinese: there are fewer still."""
SHARES_OF = {
    "everyday-zh": EVERYDAY_CHINESE_SHARES,
    "everyday": EVERYDAY_SHARES,
    "other": SHARES,
}
"""By the kind of a group."""


@dataclass(frozen=True)
class OpenRow:
    """One line of a file: three sentences that translate one another."""

    en: str
    vi: str
    zh: str
    """Empty where there is none."""
    attribution: str
    """Whom the line is from; empty where the file's licence says it."""
    file: str
    """Its name without the ending."""
    line: int
    """Line in it, from 1."""

    @property
    def domain(self) -> str:
        """What kind of text it is."""
        return DOMAINS[self.file]

    @cached_property
    def sentence_keys(self) -> dict[str, str]:
        """By language, of the sentences that are there."""
        texts = {"en": self.en, "vi": self.vi, "zh": self.zh}
        return {one: sentence_key(text, one) for one, text in texts.items() if text}

    @property
    def keys(self) -> tuple[str, ...]:
        """Of its sentences; rows that share one belong to one group."""
        return tuple(f"{one} {key}" for one, key in self.sentence_keys.items())

    def pair(self, source: str, target: str) -> SentencePair | None:
        """Two of its sentences; None where one is missing."""
        found = getattr(self, source), getattr(self, target)
        return SentencePair(*found, self.file, self.line) if all(found) else None


def domain_of(pair: SentencePair) -> str:
    """What kind of text a pair of the corpus holds; phrasebook for generated ones."""
    return DOMAINS.get(pair.file, "phrasebook")


def read_open(folder: Path) -> list[OpenRow]:
    """The rows of all files of a folder.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a line is not UTF-8 or has other columns; file and line are named.
    """
    rows: list[OpenRow] = []
    for name in DOMAINS:
        path = folder / f"{name}.tsv"
        for number, text in numbered_lines(path):
            cells = text.split("\t")
            if number == 1 and tuple(cells) == HEAD:
                continue
            if len(cells) != len(HEAD):
                raise ValueError(
                    f"{path}, line {number}: {len(cells)} columns, and there must be"
                    f" {len(HEAD)}: {', '.join(HEAD)}"
                )
            en, vi, zh, attribution = cells
            rows.append(OpenRow(en, vi, zh, attribution, name, number))
    return rows


def read_parts(folder: Path) -> Mapping[str, Sequence[OpenRow]]:
    """`split_open` of a folder; read again only where a file has changed.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a line is not UTF-8 or has other columns; file and line are named.
    """
    files = [path for name in DOMAINS if (path := folder / f"{name}.tsv").exists()]
    states = [(path.stat().st_mtime_ns, path.stat().st_size) for path in files]
    return _read_parts(folder.absolute(), tuple(states))


@lru_cache(maxsize=1)
def _read_parts(
    folder: Path, states: tuple[tuple[int, int], ...]
) -> Mapping[str, Sequence[OpenRow]]:
    return split_open(read_open(folder))


def split_open(rows: Sequence[OpenRow]) -> dict[str, list[OpenRow]]:
    """Train, dev and test, whole groups at a time; each part in an order of chance.

    Machine-made rows are in `train` alone; those of a group that is scored are left
    out.
    """
    keys = [row.keys for row in rows]
    members: dict[int, list[int]] = {}
    for number, group in enumerate(group_records(keys)):
        members.setdefault(group, []).append(number)
    kinds: dict[str, list[int]] = {kind: [] for kind in (*SHARES_OF, MACHINE_MADE)}
    for numbers in members.values():
        kinds[_kind([rows[i] for i in numbers])] += numbers
    parts: dict[str, list[int]] = {name: [] for name in SHARES}
    parts["train"] = kinds.pop(MACHINE_MADE)
    for kind, chosen in kinds.items():
        found = grouped_split([keys[i] for i in chosen], SHARES_OF[kind])
        for name, places in found.items():
            parts[name] += [chosen[i] for i in places]
    for name, numbers in parts.items():
        random.Random(name).shuffle(numbers)
    found_rows = {name: [rows[i] for i in own] for name, own in parts.items()}
    for name in ("dev", "test"):
        scored = [row for row in found_rows[name] if row.domain != MACHINE_MADE]
        found_rows[name] = scored
    return found_rows


def _kind(group: Sequence[OpenRow]) -> str:
    """Which shares a group is split by."""
    if any(row.domain == "everyday" and row.zh for row in group):
        return "everyday-zh"
    domains = {row.domain for row in group}
    if "everyday" in domains:
        return "everyday"
    return MACHINE_MADE if domains == {MACHINE_MADE} else "other"


def read_embedded() -> dict[str, list[SentencePair]]:
    """The English-Vietnamese pairs that ship with the package, by part."""
    file = resources.files("coursepkg.projects.translation.readers") / EMBEDDED
    parts: dict[str, list[SentencePair]] = {name: [] for name in SHARES}
    lines = file.read_text(encoding="utf-8").rstrip("\n").split("\n")
    for number, line in enumerate(lines[1:], start=2):
        en, vi, part, _ = line.split("\t")
        parts[part].append(SentencePair(en, vi, Path(EMBEDDED).stem, number))
    return parts


def raw_open_rows(folder: Path, source: str, target: str) -> list[Row]:
    """The lines of all files for an audit, bad ones too.

    Left out are those without a sentence in one of the languages, where they have the
    right number of columns.
    """
    rows, places = [], [HEAD.index(one) for one in (source, target)]
    for name in DOMAINS:
        path = folder / f"{name}.tsv"
        for number, text in enumerate(read_lines(path), start=1):
            cells = text.split("\t")
            first, second = (cells[i] if i < len(cells) else "" for i in places)
            is_bad = len(cells) != len(HEAD)
            if tuple(cells) != HEAD and (is_bad or (first and second)):
                rows.append(Row(first, second, path.name, number))
    return rows


class FileCounts(NamedTuple):
    """What is to know of the lines of a file before training on them."""

    domain: str
    machine_made: bool
    """Whether its Vietnamese was made by a machine."""
    n_pairs: int
    n_short: int
    """Pairs with a side of at most two words; Chinese sides are not counted."""
    n_repeated: int
    """Pairs that stand in an earlier line of the corpus, spelling aside."""
    n_unlike: int
    """Pairs whose sides hold different links, codes, tags or numbers."""

    def __str__(self) -> str:
        made = ", its Vietnamese made by a machine" if self.machine_made else ""
        return (
            f"{self.n_pairs:,} pairs, {self.domain}{made}; {self.n_short:,} with a side"
            f" of at most 2 words, {self.n_repeated:,} repeated, {self.n_unlike:,} with"
            " other links, codes, tags or numbers in their translation"
        )


def count_by_file(
    rows: Sequence[PairLike], source: str, target: str
) -> dict[str, FileCounts]:
    """Counts of each file's rows, by its name."""
    spaced = [
        i for i, one in enumerate((source, target)) if not language_of(one).is_han
    ]
    counts = {f"{name}.tsv": Counter[str]() for name in DOMAINS}
    seen: set[tuple[str, str]] = set()
    for row in rows:
        own, sides = counts[row.file], (row.source, row.target)
        keys = sentence_key(row.source, source), sentence_key(row.target, target)
        own["pairs"] += 1
        own["short"] += min(len(sides[i].split()) for i in spaced) <= 2
        own["repeated"] += keys in seen
        ours, theirs = (sorted(copied_strings(text)) for text in sides)
        own["unlike"] += ours != theirs
        seen.add(keys)
    domains = {file: DOMAINS[Path(file).stem] for file in counts}
    return {
        file: FileCounts(
            domains[file],
            domains[file] == MACHINE_MADE,
            *(own[name] for name in ("pairs", "short", "repeated", "unlike")),
        )
        for file, own in counts.items()
    }


WIKIPEDIA = "vi_wikipedia.txt.xz"
WORDS = (4, 40)
"""Fewest and most words of a sentence that is taken from it."""
LEAST_LETTERS = 0.85
"""Share of letters among the signs of such a sentence, spaces aside."""
_END = re.compile(r"[.!?…][\"”’)]*\s+")


def read_wikipedia(folder: Path) -> Iterator[str]:
    """The paragraphs of articles of the Vietnamese Wikipedia, one at a time.

    Raises:
        FileNotFoundError: the file is missing.
        ValueError: the file is damaged.
    """
    path = folder / WIKIPEDIA
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing; coursepkg data list says how to get it"
        )
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                yield line.rstrip("\n")
    except (lzma.LZMAError, EOFError, UnicodeDecodeError) as reason:
        raise ValueError(f"{path} is damaged ({reason}); copy it again") from reason


def wikipedia_sentences(folder: Path, n: int = 0) -> list[str]:
    """Different sentences of the Vietnamese Wikipedia, in a fixed order of chance.

    A sentence begins with a capital, ends in a mark, and keeps `WORDS` and
    `LEAST_LETTERS`.

    Args:
        folder: of the open corpus.
        n: take so many; 0 takes all.

    Raises:
        FileNotFoundError: the file is missing.
        ValueError: the file is damaged.
    """
    found: dict[str, str] = {}
    for paragraph in read_wikipedia(folder):
        for sentence in sentences_of(paragraph):
            if _is_plain(sentence):
                found.setdefault(sentence_key(sentence, "vi"), sentence)
    sentences = list(found.values())
    random.Random(0).shuffle(sentences)
    return sentences[:n] if n else sentences


def sentences_of(paragraph: str) -> Iterator[str]:
    """A paragraph cut behind its sentences.

    A mark ends one where two small letters, digits or brackets stand before it, which
    abbreviations and initials (`TP.`, `H.`) do not have, and a capital behind it.
    """
    first = 0
    for end in _END.finditer(paragraph):
        before = paragraph[max(first, end.start() - 2) : end.start()]
        after = paragraph[end.end() : end.end() + 2]
        if _ends_a_word(before) and after.lstrip('"“‘(')[:1].isupper():
            yield paragraph[first : end.end()].strip()
            first = end.end()
    yield paragraph[first:].strip()


def _ends_a_word(signs: str) -> bool:
    return len(signs) == 2 and all(
        sign.islower() or sign.isdigit() or sign in '"”’)' for sign in signs
    )


def _is_plain(sentence: str) -> bool:
    """Whether a sentence is one to learn from."""
    signs = "".join(sentence.split())
    return (
        WORDS[0] <= len(sentence.split()) <= WORDS[1]
        and sentence[0].isupper()
        and sentence[-1] in ".!?…"
        and sum(map(str.isalpha, signs)) >= LEAST_LETTERS * len(signs)
    )
