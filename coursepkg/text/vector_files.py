"""Word vectors in the text formats of GloVe, word2vec and fastText.

One line a word: the word, then its numbers, separated by single spaces. word2vec and fastText put a line with the
number of words and of dimensions in front, GloVe does not. Files hold millions of words; only those of a vocabulary
are kept while the file streams by.
"""

import gzip
import math
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from coursepkg.files import whole_file
from coursepkg.text.word_vectors import WordVectors


@dataclass(frozen=True)
class Coverage:
    """What a file of vectors had of the words that were asked for."""

    n_lines: int
    """Words in the file."""
    n_repeated: int
    """Lines with a word that came before; the first one counts."""
    found: tuple[str, ...]
    """Words that got a vector, in the order of the file."""
    missing: tuple[str, ...]
    """Words asked for that the file lacks, sorted."""

    def __str__(self) -> str:
        asked = len(self.found) + len(self.missing)
        shown = ", ".join(self.missing[:10]) + (", ..." if len(self.missing) > 10 else "")
        return (
            f"{len(self.found)} of {asked} words found ({len(self.found) / max(asked, 1):.1%}) among {self.n_lines}"
            + (f", {self.n_repeated} repeated" if self.n_repeated else "")
            + (f"; missing: {shown}" if self.missing else "")
        )


def load_vectors(path: str | Path, words: Collection[str] | None = None) -> tuple[WordVectors, Coverage]:
    """Read the vectors of some words, in float32.

    A word may hold spaces, as some of GloVe's do: the last E fields are the numbers. The first line is a header if it
    is two integers. A name that ends in `.gz` is decompressed on the way.

    Args:
        path: the file.
        words: what is wanted, spelled exactly as in the file; None takes all.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line does not fit, the file is cut short, or it has none of the words; names the file and the
            line. The numbers of words that are not wanted are counted but not read.
    """
    if isinstance(words, str):
        raise ValueError(f"words must be a collection of words, got the string {words[:40]!r}")
    path = Path(path)
    wanted = None if words is None else frozenset(words)
    rows: dict[str, list[float]] = {}
    n_lines = n_repeated = 0
    for number, word, fields in _entries(path):
        n_lines += 1
        if wanted is not None and word not in wanted:
            continue
        if word in rows:
            n_repeated += 1
            continue
        rows[word] = _numbers(path, number, fields)
    if not rows:
        raise ValueError(
            f"{path} has none of the {len(wanted or ())} words among its {n_lines}; compare spellings"
        )
    vectors = WordVectors(tuple(rows), torch.tensor(list(rows.values())))
    return vectors, Coverage(
        n_lines, n_repeated, tuple(rows), tuple(sorted((wanted or frozenset()) - rows.keys()))
    )


def save_vectors(vectors: WordVectors, path: str | Path) -> None:
    """Write the word2vec text format; the file appears whole or not at all. float32 comes back bit for bit.

    Raises:
        ValueError: a word is empty or has a space or a line break in it.
    """
    bad = [word for word in vectors.words if not word or {" ", "\n", "\r"} & set(word)]
    if bad:
        raise ValueError(f"words must have no space or line break, got {bad[0]!r}")
    with whole_file(path) as file:
        file.write(f"{len(vectors)} {vectors.vectors.shape[1]}\n".encode())
        for word, row in zip(vectors.words, vectors.vectors.tolist(), strict=True):
            file.write(f"{word} {' '.join(f'{x:.9g}' for x in row)}\n".encode())


def _entries(path: Path) -> Iterator[tuple[int, str, list[str]]]:
    """(line number, word, its number fields) of every line but the header."""
    promised, size = None, 0
    n_words = 0
    for number, line in _lines(path):
        fields = line.split(" ")
        if number == 1 and len(fields) == 2 and all(field.isascii() and field.isdigit() for field in fields):
            promised, size = int(fields[0]), int(fields[1])
            continue
        size = size or len(fields) - 1
        if size < 1 or len(fields) <= size:
            raise ValueError(
                f"{path}, line {number}: must be a word and {max(size, 1)} numbers, got {len(fields)} fields"
            )
        n_words += 1
        yield number, " ".join(fields[:-size]), fields[-size:]
    if promised is not None and n_words != promised:
        raise ValueError(
            f"{path}: its first line promises {promised} words, but it has {n_words}; is it cut short?"
        )
    if n_words == 0:
        raise ValueError(f"{path} must hold word vectors, but it is empty")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines with their numbers. Only a line feed ends one: a word may hold other line breaks of Unicode."""
    number = 0
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        try:
            for number, line in enumerate(file, start=1):
                yield number, line.decode("utf-8").rstrip(" \r\n")
        except UnicodeDecodeError as reason:
            raise ValueError(f"{path}, line {number}: must be UTF-8, got other bytes") from reason
        except (EOFError, gzip.BadGzipFile, zlib.error) as reason:
            raise ValueError(f"{path}, after line {number}: {reason}; download it again") from reason


def _numbers(path: Path, number: int, fields: list[str]) -> list[float]:
    try:
        numbers = [float(field) for field in fields]
    except ValueError:
        numbers = [math.nan]
    if not all(map(math.isfinite, numbers)):
        bad = next(field for field in fields if not _is_finite(field))
        raise ValueError(f"{path}, line {number}: must hold finite numbers after the word, got {bad!r}")
    return numbers


def _is_finite(field: str) -> bool:
    try:
        return math.isfinite(float(field))
    except ValueError:
        return False
