"""Open parallel text, whose licences let a model that learnt from it ship.

    open/NAME.tsv        en, vi, zh (where there is some), and whom a line is from
    open/NAME.LICENCE    under which licence

Three sentences of a row translate one another. A row goes to one part as a whole, and
rows with a common sentence in any language go together: what is dev from English is not
training from Chinese. The Vietnamese of `ms_mt` is machine-made; it is never scored.
"""

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
"""Of groups that hold an everyday sentence: there are few of them, and they are what is
asked."""


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
    """Train, dev and test, whole groups at a time.

    Machine-made rows are in `train` alone; those of a group that is scored are left
    out.
    """
    keys = [row.keys for row in rows]
    groups = group_records(keys)
    everyday = {
        group
        for row, group in zip(rows, groups, strict=True)
        if row.domain == "everyday"
    }
    machine_made = set(groups) - {
        group
        for row, group in zip(rows, groups, strict=True)
        if row.domain != MACHINE_MADE
    }
    parts: dict[str, list[OpenRow]] = {name: [] for name in SHARES}
    for shares, wanted in (
        (EVERYDAY_SHARES, everyday),
        (SHARES, set(groups) - everyday - machine_made),
    ):
        chosen = [i for i, group in enumerate(groups) if group in wanted]
        found = grouped_split([keys[i] for i in chosen], shares)
        for name, numbers in found.items():
            parts[name] += [rows[chosen[i]] for i in numbers]
    parts["train"] += [
        row for row, g in zip(rows, groups, strict=True) if g in machine_made
    ]
    for name in ("dev", "test"):
        parts[name] = [row for row in parts[name] if row.domain != MACHINE_MADE]
    return parts
