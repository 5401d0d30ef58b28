"""TER: edits that a translation needs, by the length of the reference.

    TER = 100 (insertions + deletions + substitutions + shifts) / words of the reference

Lower is better, and more than 100 is possible. The minimum over shifts of runs of words
is NP-hard to find, so shifts are chosen greedily: the one that lowers the edit distance
most, until none lowers it. Limits and ties are those of SacreBLEU (Post, arXiv
1804.08771), which follows Tercom, so that scores are equal: runs of up to 10 words move
by up to 50 places, 1000 shifts are tried at most, and the edit distance stays within 25
cells of the diagonal. Source: Snover et al. (AMTA 2006), section 3.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursepkg.metrics.ngrams import References, check_unicode, count_rows

MAX_SHIFT_SIZE = 10
"""Longest run of words that is moved."""
MAX_SHIFT_DISTANCE = 50
"""Farthest that a run may lie from its match."""
MAX_CANDIDATES = 1000
"""Shifts tried for one sentence; the search stops there."""
BEAM_WIDTH = 25
"""Cells on either side of the diagonal."""

_INFINITE = 10**9


def count_edits(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    """Edits and shifts that turn the hypothesis into the reference.

    Example:
        >>> count_edits("now we must go".split(), "we must go now".split())
        1
    """
    if not reference:
        return len(hypothesis)
    distances = _Distances(tuple(reference), len(hypothesis))
    words = tuple(hypothesis)
    n_shifts = n_tried = 0
    while True:
        shift, n_tried = _best_shift(words, distances, n_tried)
        if (
            shift is None
            or n_tried >= MAX_CANDIDATES
            or distances.of(shift) >= distances.of(words)
        ):
            return n_shifts + distances.of(words)
        words = shift
        n_shifts += 1


@dataclass(frozen=True)
class _Alignment:
    """How two word lists lie on one another."""

    partner: dict[int, int]
    """For each reference word the last hypothesis word at or before it; -1 is none."""
    is_wrong_hypothesis: list[int]
    """1 for each hypothesis word that is changed or dropped."""
    is_wrong_reference: list[int]
    """1 for each reference word that was changed or is missing."""


class _Distances:
    """Edit distances of one reference to reorderings of one hypothesis.

    Reorderings share beginnings, so the rows of the table are kept in a tree of words.
    """

    def __init__(self, reference: tuple[str, ...], n_words: int) -> None:
        self.reference, self.n_words = reference, n_words
        self._ratio = len(reference) / n_words if n_words else 1.0
        # Very unequal lengths need a wider beam, or the bands of two rows would not
        # meet.
        wide = self._ratio / 2 > BEAM_WIDTH
        self._width = math.ceil(self._ratio / 2 + BEAM_WIDTH) if wide else BEAM_WIDTH
        self._first = list(range(len(reference) + 1))
        self._tree: dict = {}

    def of(self, words: tuple[str, ...]) -> int:
        """Insertions, deletions and substitutions from the words to the reference."""
        return self._rows(words)[-1][-1]

    def align(self, words: tuple[str, ...]) -> _Alignment:
        """The alignment of least cost; of several, the one with the latest pairs."""
        partner: dict[int, int] = {}
        wrong_hypothesis: list[int] = []
        wrong_reference: list[int] = []
        for takes_word, takes_reference, cost in reversed(
            list(self._steps_back(words))
        ):
            if takes_word:
                wrong_hypothesis.append(cost)
            if takes_reference:
                partner[len(wrong_reference)] = len(wrong_hypothesis) - 1
                wrong_reference.append(cost)
        return _Alignment(partner, wrong_hypothesis, wrong_reference)

    def _steps_back(self, words: tuple[str, ...]) -> Iterator[tuple[bool, bool, int]]:
        """Backwards: does a step take a word of either side, and at what cost?"""
        rows = self._rows(words)
        i, j = len(words), len(self.reference)
        while i or j:
            here = rows[i][j]
            cost = int(i > 0 and j > 0 and words[i - 1] != self.reference[j - 1])
            if i and j and here == rows[i - 1][j - 1] + cost:
                yield True, True, cost
                i, j = i - 1, j - 1
            elif i and here == rows[i - 1][j] + 1:
                yield True, False, 1
                i -= 1
            else:
                yield False, True, 1
                j -= 1

    def _rows(self, words: tuple[str, ...]) -> list[list[int]]:
        rows = [self._first]
        node = self._tree
        for i, word in enumerate(words, start=1):
            if word not in node:
                node[word] = (self._row(rows[-1], word, i), {})
            row, node = node[word]
            rows.append(row)
        return rows

    def _row(self, above: list[int], word: str, i: int) -> list[int]:
        """Row i of the table: the cells near the diagonal, the last row to its end."""
        n = len(self.reference)
        middle = math.floor(i * self._ratio)
        low = max(0, middle - self._width)
        high = n + 1 if i == self.n_words else min(n + 1, middle + self._width)
        row = [_INFINITE] * (n + 1)
        left = _INFINITE
        for j in range(low, high):
            best = above[j] + 1
            if j:
                best = min(
                    best, above[j - 1] + (word != self.reference[j - 1]), left + 1
                )
            row[j] = left = best
        return row


def _best_shift(
    words: tuple[str, ...], distances: _Distances, n_tried: int
) -> tuple[tuple[str, ...] | None, int]:
    """The shift that leaves the least edit distance, and how many were tried so far.

    Of equals the longest run wins, then the one that starts first, then the one that
    goes farthest to the front.
    """
    alignment = distances.align(words)
    best_rank, best = None, None
    for start, match, size in _matching_runs(words, distances.reference):
        wrong_here = any(alignment.is_wrong_hypothesis[start : start + size])
        wrong_there = any(alignment.is_wrong_reference[match : match + size])
        if (
            not (wrong_here and wrong_there)
            or start <= alignment.partner[match] < start + size
        ):
            continue
        for target in _targets(alignment.partner, match, size):
            shifted = _move(words, start, size, target)
            rank = (-distances.of(shifted), size, -start, -target)
            n_tried += 1
            if best_rank is None or rank > best_rank:
                best_rank, best = rank, shifted
        if n_tried >= MAX_CANDIDATES:
            break
    return best, n_tried


def _matching_runs(
    words: Sequence[str], reference: Sequence[str]
) -> Iterator[tuple[int, int, int]]:
    """Every (start, match, size) of equal runs in words and reference."""
    places = defaultdict(list)
    for j, word in enumerate(reference):
        places[word].append(j)
    for start, first in enumerate(words):
        for match in places[first]:
            if abs(match - start) > MAX_SHIFT_DISTANCE:
                continue
            longest = min(MAX_SHIFT_SIZE, len(words) - start, len(reference) - match)
            for size in range(1, longest + 1):
                if words[start + size - 1] != reference[match + size - 1]:
                    break
                yield start, match, size


def _targets(partner: dict[int, int], match: int, size: int) -> Iterator[int]:
    """Places before which a run may go: beside its matches' partners."""
    previous = None
    for j in range(match - 1, match + size):
        target = 0 if j == -1 else partner[j] + 1
        if target != previous:
            yield target
        previous = target


def _move(
    words: tuple[str, ...], start: int, size: int, target: int
) -> tuple[str, ...]:
    """The words with the run moved before `target`, or by the rest inside the run."""
    run, rest = words[start : start + size], words[:start] + words[start + size :]
    place = target - size if target > start + size else target
    return rest[:place] + run + rest[place:]


_WESTERN = (
    (r"\n-", ""),
    (r"\n", " "),
    (r"&quot;", '"'),
    (r"&amp;", "&"),
    (r"&lt;", "<"),
    (r"&gt;", ">"),
    (r"^|$", " "),
    (r"([{-~\[-` -&(-+:-@/])", r" \1 "),
    (r"'s ", " 's "),
    (r"'s$", " 's"),
    (r"([^0-9])([.,])", r"\1 \2 "),
    (r"([.,])([^0-9])", r" \1 \2"),
    (r"([0-9])(-)", r"\1 \2 "),
)
_ASIAN_PUNCTUATION = (
    "([\u3001\u3002\u3008-\u3011\u3014-\u301f\uff61-\uff65\u30fb])",
    "([\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09])",
)
_ASIAN = (
    ("([\u4e00-\u9fff\u3400-\u4dbf])", r" \1 "),
    ("([\u31c0-\u31ef\u2e80-\u2eff])", r" \1 "),
    ("([\u3300-\u33ff\uf900-\ufaff\ufe30-\ufe4f])", r" \1 "),
    ("([\u3200-\u3f22])", r" \1 "),
    *((sign, r" \1 ") for sign in _ASIAN_PUNCTUATION),
)


@dataclass(frozen=True)
class TER:
    """TER of a corpus, in percent, 0 is best.

    Of several references the one that needs the fewest edits counts, and the length is
    their mean length. Without any reference word the score is 0 for an empty
    hypothesis, else 100.

    Example:
        >>> score(TER(), ["tôi nay đi học"], ["hôm nay tôi đi học"]).value
        40.0

    Raises:
        ValueError: unicode is unknown.
    """

    name = "TER"

    case_sensitive: bool = False
    """Whether capital letters count."""
    normalized: bool = False
    """Whether punctuation is set apart, as Tercom does with `-N`."""
    no_punct: bool = False
    """Whether punctuation is dropped."""
    asian: bool = False
    """Whether the two options above know Chinese and Japanese characters too. Chinese
    needs it, with `normalized`."""
    unicode: str = "raw"
    """`raw`, as SacreBLEU, or `NFC`."""

    def __post_init__(self) -> None:
        check_unicode(self.unicode)

    def settings(self) -> dict[str, str]:
        """Fields of the signature, SacreBLEU's first."""
        return {
            "case": "mixed" if self.case_sensitive else "lc",
            "tok": "tercom",
            "norm": "yes" if self.normalized else "no",
            "punct": "no" if self.no_punct else "yes",
            "asian": "yes" if self.asian else "no",
            "unicode": self.unicode,
        }

    def statistics(
        self, hypotheses: Sequence[str], references: References
    ) -> np.ndarray:
        """(sentences, 2): edits, and the mean length of the references."""
        return count_rows(self._count, hypotheses, references, self.unicode)

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 2) -> TER (n,)."""
        n_edits, length = totals[..., 0], totals[..., 1]
        return np.where(
            length > 0,
            100 * n_edits / np.where(length > 0, length, 1.0),
            100.0 * (n_edits > 0),
        )

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Edits, and words of the references."""
        return {"edits": int(totals[0]), "reference_length": float(totals[1])}

    def _count(self, hypothesis: str, references: Sequence[str]) -> tuple[int, float]:
        words = self.cut(hypothesis)
        # SacreBLEU prepares references twice, and the rules are not idempotent: 's may
        # part in the second pass only.
        others = [self.cut(" ".join(self.cut(text))) for text in references]
        n_edits = min(count_edits(words, other) for other in others)
        return n_edits, sum(len(other) for other in others) / len(others)

    def cut(self, text: str) -> list[str]:
        """The words that are compared."""
        text = text.rstrip()
        text = text if self.case_sensitive else text.lower()
        rules = [*_WESTERN, *(_ASIAN if self.asian else ())] if self.normalized else []
        if self.no_punct:
            dropped = [r"[.,?:;!\"()]", *(_ASIAN_PUNCTUATION if self.asian else ())]
            rules += [(signs, "") for signs in dropped]
        for pattern, replacement in rules if text else ():
            text = re.sub(pattern, replacement, text)
        return text.split()
