"""Nom and quoc ngu: Vietnamese in its old characters and in Latin letters.

    碎讀冊      tôi đọc sách         a character a syllable

The files `nom_vi/tat_den.tsv` and `nom_vi/wikipedia.tsv` hold modern prose in both;
columns line, nom, quoc_ngu, quoc_ngu_segmented. Nom has no spaces, no capital letters
and hardly any punctuation, so scores are given on `plain` text as well. Most Nom
characters lie outside Unicode's first plane, a few in private planes.

Where the files are missing, `nom_sample` generates sentences of one pattern, with one
spelling a word. As in real Nom the words around decide: năm is 𢆥 as a year and 𠄼 as a
number; 行 is read hàng (a row) or hành (to go on foot).
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from coursepkg.data.registry import data_folder
from coursepkg.data.split import grouped_split
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair, numbered_lines
from coursepkg.text.spacing import HAN, PRIVATE
from coursepkg.text.vietnamese import unicode_form
from coursepkg.validation import check_count

_WORDS = """
tôi 碎, anh 英, chị 姉, em 㛪, ông 翁, bà 婆, con 昆, người ta 𠊛些;
có 固, thấy 𧡊, mua 𧷸, nhớ 𢖵, bán 𬥓, tìm 尋;
một 𠬠, hai 𠄩, ba 𠀧, bốn 𦊚, năm 𠄼, sáu 𦒹, tám 𠔭, chín 𠃩, mười 𨑮;
con cá 昆𩵜, con bò 昆𤙭, con trâu 昆𤛠, bông hoa 葻花, cái nhà 丐茹, cái áo 丐襖, hàng cây 行𣘃,
quyển sách 卷冊;
hôm nay 𣋚𫢩, hôm qua 𣋚戈, ngày mai 𣈜𣈕, năm nay 𢆥𫢩, năm ngoái 𢆥外, lúc bộ hành 𣅶步行
"""
WHO, DOES, HOW_MANY, WHAT, WHEN = (
    dict(pair.strip().rsplit(maxsplit=1) for pair in words.split(","))
    for words in _WORDS.split(";")
)
"""Words in quoc ngu and in Nom, as many characters as syllables."""


def nom_sample(n: int = 600, *, seed: int = 0) -> list[tuple[str, str]]:
    """Distinct sentences as (nom, quoc ngu), the same for the same seed.

    Example:
        >>> nom_sample(1)[0][1]
        'Lúc bộ hành anh thấy bốn cái áo.'

    Args:
        n: sentences, at least 1 and at most the product of the word lists.

    Raises:
        ValueError: n is out of range.
    """
    lists = (WHEN, WHO, DOES, HOW_MANY, WHAT)
    every = list(product(*(words.items() for words in lists)))
    check_count("n", n, most=len(every))
    lesson = []
    for words in random.Random(f"nom lesson {seed}").sample(every, n):
        quoc_ngu = " ".join(latin for latin, _ in words)
        lesson.append(
            ("".join(nom for _, nom in words), f"{quoc_ngu[0].upper()}{quoc_ngu[1:]}.")
        )
    return lesson


FILES = ("tat_den.tsv", "wikipedia.tsv")
COLUMNS = ("line", "nom", "quoc_ngu", "quoc_ngu_segmented")
SHARES = {"train": 0.8, "dev": 0.1, "test": 0.1}

_CHARACTER = re.compile(f"[{HAN}{PRIVATE}]")
_SYLLABLE = re.compile(r"[^\W_]+")


class NomLine(NamedTuple):
    """One sentence in both scripts."""

    nom: str
    quoc_ngu: str
    segmented: str
    """Quoc ngu with commas between words, for the curious; empty where there is none.
    """
    file: str
    line: int
    """Line in the file, from 1, the header being the first."""


class Uneven(NamedTuple):
    """A line that has not one character a syllable."""

    line: NomLine
    n_characters: int
    n_syllables: int

    def __str__(self) -> str:
        return (
            f"{self.line.file}, line {self.line.line}: {self.n_characters} characters,"
            f" {self.n_syllables} syllables"
        )


def read_nom(path: str | Path) -> list[NomLine]:
    """Read a file of `nom_vi`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: header, columns, Unicode form or encoding are wrong, or a side is
            empty; file and line are named.
    """
    rows = numbered_lines(path)
    _, header = next(rows, (1, ""))
    if tuple(header.split("\t")) != COLUMNS:
        raise ValueError(
            f"{path}, line 1: the header must be {', '.join(COLUMNS)}, tab-separated,"
            f" got {header[:60]!r}"
        )
    lines = [_read_row(path, number, row) for number, row in rows]
    if not lines:
        raise ValueError(f"{path}: no line behind the header; the file is cut short")
    return lines


def _read_row(path: str | Path, number: int, row: str) -> NomLine:
    cells = [cell.strip() for cell in row.split("\t")]
    if len(cells) != len(COLUMNS):
        raise ValueError(
            f"{path}, line {number}: {len(cells)} columns instead of {len(COLUMNS)}"
            f" ({', '.join(COLUMNS)}); separate them by tabs"
        )
    _, nom, quoc_ngu, segmented = cells
    for name, text in (("nom", nom), ("quoc_ngu", quoc_ngu)):
        if not text:
            raise ValueError(f"{path}, line {number}: {name} is empty; remove the line")
    if unicode_form(quoc_ngu) not in ("NFC", "either"):
        raise ValueError(
            f"{path}, line {number}: quoc_ngu is not in Unicode form NFC; convert the"
            " file"
        )
    return NomLine(nom, quoc_ngu, segmented, Path(path).name, number)


def load_nom(
    source: str,
    target: str,
    *,
    folder: Path | None = None,
    generated: bool = False,
    seed: int = 0,
) -> Parts:
    """Nom and quoc ngu in one direction, split so that no sentence is on two sides.

    Where the data are missing a generated lesson stands in, and a note says so.

    Args:
        folder: of the data sets; None is `data_folder()`.
        generated: take the generated lesson, whether the data are there or not.

    Raises:
        ValueError: the direction is another, or a line is malformed; it is named.
    """
    if {source, target} != {"nom", "vi"}:
        raise ValueError(
            f"--from and --to must be nom and vi, or vi and nom, got {source} and"
            f" {target}"
        )
    data = data_folder() if folder is None else folder
    files = [data / "nom_vi" / name for name in FILES]
    missing = [file for file in files if not file.is_file()]
    notes = []
    if missing or generated:
        name = "nom-lesson"
        lines = [NomLine(*pair, "", "lesson", 0) for pair in nom_sample(seed=seed)]
        why = "" if generated else f"{missing[0]} is missing, so "
        notes.append(f"{why}a generated lesson stands in; its spellings are simplified")
    else:
        name, lines = "nom-vi", [line for file in files for line in read_nom(file)]
    uneven = uneven_lines(lines)
    notes.append(
        f"{len(lines) - len(uneven)} of {len(lines)} lines have one character a"
        " syllable"
    )
    notes += [f"not so: {one}" for one in uneven]
    parts = grouped_split(
        [(f"nom:{x.nom}", f"vi:{plain(x.quoc_ngu)}") for x in lines], SHARES, seed=seed
    )
    train, dev, test = (
        tuple(SentencePair(x.nom, x.quoc_ngu, x.file, x.line) for x in chosen)
        for chosen in ([lines[i] for i in parts[part]] for part in SHARES)
    )
    loaded = Parts(name, "nom", "vi", train, dev, test, tuple(notes))
    return loaded if source == "nom" else loaded.swapped()


def characters(nom: str) -> list[str]:
    """The characters of a Nom text, without spaces and punctuation."""
    return _CHARACTER.findall(nom)


def syllables(quoc_ngu: str) -> list[str]:
    """The syllables of a quoc ngu text in lower case; a number counts as one."""
    return [found.lower() for found in _SYLLABLE.findall(quoc_ngu)]


def plain(quoc_ngu: str) -> str:
    """Quoc ngu without what Nom does not write: capital letters and punctuation.

    Example:
        >>> plain("Hôm nay, tôi đi chợ.")
        'hôm nay tôi đi chợ'
    """
    return " ".join(syllables(quoc_ngu))


def uneven_lines(lines: Iterable[NomLine]) -> list[Uneven]:
    """The lines in which characters and syllables differ in number."""
    rows = [(x, len(characters(x.nom)), len(syllables(x.quoc_ngu))) for x in lines]
    return [Uneven(*row) for row in rows if row[1] != row[2]]


class ReadingTable:
    """The baseline: for each character its most frequent syllable, and back.

    Args:
        pairs: (nom, quoc ngu) of the training part; those with as many characters as
            syllables are counted.

    Raises:
        ValueError: no pair can be counted.
    """

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        writings: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for nom, quoc_ngu in pairs:
            signs, sounds = characters(nom), syllables(quoc_ngu)
            if len(signs) == len(sounds):
                for sign, sound in zip(signs, sounds, strict=True):
                    counts[sign][sound] += 1
                    writings[sound][sign] += 1
        if not counts:
            raise ValueError(
                "pairs must hold at least one with as many characters as syllables, got"
                " none"
            )
        self.readings, self.writings = dict(counts), dict(writings)

    def read(self, nom: str) -> str:
        """Quoc ngu of a Nom text, in lower case; an unseen character stays."""
        return " ".join(_most_frequent(self.readings, sign) for sign in characters(nom))

    def write(self, quoc_ngu: str) -> str:
        """Nom of a quoc ngu text; a syllable that was never seen stays as it is."""
        return "".join(
            _most_frequent(self.writings, sound) for sound in syllables(quoc_ngu)
        )

    def ambiguous(self) -> list[tuple[str, list[str]]]:
        """Characters with more than one reading, the most frequent reading first."""
        return [
            (sign, [sound for sound, _ in sounds.most_common()])
            for sign, sounds in self.readings.items()
            if len(sounds) > 1
        ]


def _most_frequent(table: dict[str, Counter[str]], key: str) -> str:
    """The commonest entry; of equally common ones the first in alphabetical order."""
    found = table.get(key, Counter())
    return min(found, key=lambda entry: (-found[entry], entry), default=key)


def table_pairs(pairs: Sequence[SentencePair], source: str) -> list[tuple[str, str]]:
    """Pairs of either direction as (nom, quoc ngu)."""
    return [
        (p.source, p.target) if source == "nom" else (p.target, p.source) for p in pairs
    ]
