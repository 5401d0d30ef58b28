"""Open parallel text, whose licences let a model that learnt from it ship.

    open/NAME.tsv        en, vi, zh (where there is some), and whom a line is from
    open/NAME.LICENCE    under which licence

Three sentences of a row translate one another. A row goes to one part as a whole, and
rows with a common sentence in any language go together: what is dev from English is not
training from Chinese. The Vietnamese of `ms_mt` is machine-made; it is never scored.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coursepkg.data.split import group_records, grouped_split
from coursepkg.projects.translation.corpus import (
    SentencePair,
    numbered_lines,
    sentence_key,
)

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

    @property
    def keys(self) -> tuple[str, ...]:
        """Of its sentences; rows that share one belong to one group."""
        texts = {"en": self.en, "vi": self.vi, "zh": self.zh}
        return tuple(
            f"{language} {sentence_key(text, language)}"
            for language, text in texts.items()
            if text
        )

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
            rows.append(OpenRow(*cells, name, number))
    return rows


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
    parts = {name: [] for name in SHARES} | {"train": kinds.pop(MACHINE_MADE)}
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
