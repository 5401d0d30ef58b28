"""The words of a text with their places, alike in all spellings, and their order.

A line of a corpus (`Khách_sạn ở đâu ?`) and the same line as it is read (`Khách sạn ở
đâu?`) give the same pieces: an underscore is a space, a Han character is a piece, and
so is every mark of punctuation. What a rule finds in the pieces can be pointed at in
the text. Orders are compared by words that stand once in each text: Kendall's tau
counts inverted pairs, the longest rising run says which words must move.
"""

import re
import unicodedata
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from coursepkg.text.spacing import HAN

UNKNOWN = "⁇"
"""What SentencePiece writes for a piece that it does not know."""

MARK = "▁"
"""What SentencePiece writes for the space before a word."""

_LETTER = rf"(?:(?![{HAN}])[^\W\d_][\u0300-\u036f]*)"
_PIECE = re.compile(rf"[{HAN}]|{_LETTER}+(?:['’]{_LETTER}+)*|\d+(?:[.,]\d+)*|[^\w\s]")
_TWO_HAN_WORDS = re.compile(rf"[{HAN}]\s+[{HAN}]")


class Piece(NamedTuple):
    """A word, number, Han character or mark, and where it stands."""

    text: str
    start: int
    """Its first character in the line."""
    stop: int
    """The first character behind it."""


def pieces(line: str) -> list[Piece]:
    """The pieces of a line, in order.

    Example:
        >>> [piece.text for piece in pieces("Khách_sạn giá 3,5 tệ?")]
        ['Khách', 'sạn', 'giá', '3,5', 'tệ', '?']
    """
    return list(_cut(line)[0])


def folded(line: str) -> list[str]:
    """The texts of the pieces in lower case and NFC: what spellings are compared by."""
    return list(_cut(line)[1])


def words(line: str) -> list[str]:
    """The folded pieces without punctuation."""
    return [text for text in folded(line) if text[0].isalnum()]


def find_phrase(line: str, phrase: str) -> list[tuple[int, int]]:
    """The places of a phrase among the pieces of a line, each as first and last + 1.

    A word inside another one does not count where the text says so: lòng is not in
    vui_lòng, and where Chinese is segmented, neither is 人 in 人民, nor 个人 in 一 个 人.

    Example:
        >>> find_phrase("Khách sạn ở đâu?", "khách_sạn")
        [(0, 2)]
    """
    places, texts, wanted = pieces(line), folded(line), folded(phrase)
    segmented = _TWO_HAN_WORDS.search(line) is not None
    found = []
    for first in range(len(texts) - len(wanted) + 1):
        last = first + len(wanted)
        if wanted and texts[first:last] == wanted:
            start, stop = places[first].start, places[last - 1].stop
            edges = line[:start][-1:] + line[stop:][:1]
            is_inside = "_" in edges or (segmented and re.search(f"[{HAN}]", edges))
            is_split = (
                segmented
                and _TWO_HAN_WORDS.search(line[start:stop])
                and not _TWO_HAN_WORDS.search(phrase)
            )
            if not is_inside and not is_split:
                found.append((first, last))
    return found


def contains(line: str, phrase: str) -> bool:
    """Whether a phrase stands in a line, whatever the case, underscores and spaces."""
    return bool(find_phrase(line, phrase))


def token_spans(text: str, tokens: Sequence[str]) -> list[tuple[int, int] | None]:
    """Where each token (word or piece) of a text stands; None for a space.

    Raises:
        ValueError: the tokens are not those of the text.
    """
    found: list[tuple[int, int] | None] = []
    at = 0
    for token in tokens:
        bare = token.replace(MARK, " ").strip()
        start = text.find(bare, at)
        if start < 0 or text[at:start].strip():
            raise ValueError(
                f"tokens must spell the text {text!r}, but does not at {token!r}"
            )
        found.append((start, start + len(bare)) if bare else None)
        at = start + len(bare)
    if text[at:].strip():
        raise ValueError(
            f"tokens must spell the text {text!r}, but ends before {text[at:]!r}"
        )
    return found


def runs(texts: Sequence[str], n: int) -> list[tuple[int, int]]:
    """Where n pieces follow themselves at once: (first piece, times in a row >= 2).

    Example:
        >>> runs(["a", "b", "a", "b", "c"], 2)
        [(0, 2)]
    """
    found = []
    first = 0
    while first + 2 * n <= len(texts):
        gram = texts[first : first + n]
        times = 1
        while texts[first + times * n : first + (times + 1) * n] == gram:
            times += 1
        if times > 1:
            found.append((first, times))
        first += n * times if times > 1 else 1
    return found


@lru_cache(maxsize=2**13)
def _cut(line: str) -> tuple[tuple[Piece, ...], tuple[str, ...]]:
    """Pieces and folded pieces. Every rule asks for those of the same few lines."""
    found = tuple(
        Piece(hit[0], hit.start(), hit.end()) for hit in _PIECE.finditer(line)
    )
    return found, tuple(
        unicodedata.normalize("NFC", piece.text).lower() for piece in found
    )


class Order(NamedTuple):
    """What the order of two texts has in common."""

    inverted: float
    """Share of pairs of words whose order differs, 0 to 1: (1 - Kendall's tau) / 2."""
    moved: list[str]
    """A smallest set of words that must move, in the order of the first text."""


def compare_order(texts: Sequence[str], others: Sequence[str]) -> Order:
    """Compare the order of the words that stand once in each text, in O(n log n) steps.

    Example:
        >>> compare_order(["ngày_mai", "tôi", "đi"], ["tôi", "đi", "ngày_mai"])
        Order(inverted=0.6666666666666666, moved=['ngày_mai'])
    """
    ours, theirs = Counter(texts), Counter(others)
    places = {text: place for place, text in enumerate(others)}
    row = [text for text in texts if ours[text] == theirs[text] == 1]
    ranks = [places[text] for text in row]
    n_pairs = len(ranks) * (len(ranks) - 1) // 2
    kept = set(longest_rising(ranks))
    moved = [text for text, rank in zip(row, ranks, strict=True) if rank not in kept]
    return Order(count_inversions(ranks) / max(n_pairs, 1), moved)


def count_inversions(ranks: Sequence[int]) -> int:
    """Pairs of which the larger one comes first."""
    before: list[int] = []
    found = 0
    for rank in ranks:
        found += len(before) - bisect_left(before, rank)
        insort(before, rank)
    return found


def longest_rising(ranks: Sequence[int]) -> list[int]:
    """A longest rising selection of distinct numbers (Schensted 1961)."""
    ends: list[int] = []
    predecessor: dict[int, int | None] = {}
    for rank in ranks:
        length = bisect_left(ends, rank)
        predecessor[rank] = ends[length - 1] if length else None
        ends[length : length + 1] = [rank]
    at = ends[-1] if ends else None
    found = []
    while at is not None:
        found.append(at)
        at = predecessor[at]
    return found[::-1]
