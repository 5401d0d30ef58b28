"""Levenshtein distance: the fewest insertions, deletions and substitutions that turn a reference into a hypothesis.

    d(i, j) = min( d(i - 1, j - 1) + [r_i != h_j],  d(i - 1, j) + 1,  d(i, j - 1) + 1 )

for the first i symbols of the reference and the first j of the hypothesis (Levenshtein 1966; Wagner and Fischer 1974).
A row is computed at once: all but the insertions depend on the row above alone, and a chain of insertions is a running
minimum.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

Kind = Literal["equal", "substitute", "delete", "insert"]


class Edit(NamedTuple):
    """One step from the reference to the hypothesis."""

    kind: Kind
    """What is done to the reference."""
    reference: str | None
    """The symbol of the reference; None for an insertion."""
    hypothesis: str | None
    """The symbol of the hypothesis; None for a deletion."""


def edit_distance(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    """The fewest edits between two strings, or two lists of words.

    Example:
        >>> edit_distance("kitten", "sitting")
        3
    """
    n_before, n_behind = _common_ends(hypothesis, reference)
    middle = slice(n_before, len(hypothesis) - n_behind), slice(n_before, len(reference) - n_behind)
    return int(_table(hypothesis[middle[0]], reference[middle[1]])[-1, -1])


def align(hypothesis: Sequence[str], reference: Sequence[str]) -> list[Edit]:
    """A shortest list of edits, equal symbols included.

    Of several shortest ones it is that of jiwer (RapidFuzz): common ends are paired first; then, from the end back,
    deletion goes before insertion, and insertion before substitution.

    Example:
        >>> [edit.kind for edit in align("mà", "mai")]
        ['equal', 'substitute', 'delete']
    """
    n_before, n_behind = _common_ends(hypothesis, reference)
    i, j = len(reference) - n_behind, len(hypothesis) - n_behind
    table = _table(hypothesis[n_before:j], reference[n_before:i]).tolist()
    edits = [_pair(r, h) for r, h in zip(reference[i:], hypothesis[j:], strict=True)][::-1]
    while i > n_before or j > n_before:
        row, column = i - n_before, j - n_before
        if row and (not column or table[row][column] == table[row - 1][column] + 1):
            i -= 1
            edits.append(Edit("delete", reference[i], None))
        elif not row or table[row][column - 1] == table[row - 1][column - 1] - 1:
            j -= 1
            edits.append(Edit("insert", None, hypothesis[j]))
        else:
            i, j = i - 1, j - 1
            edits.append(_pair(reference[i], hypothesis[j]))
    edits += [_pair(symbol, symbol) for symbol in reference[:n_before]][::-1]
    return edits[::-1]


def _pair(reference: str, hypothesis: str) -> Edit:
    return Edit("equal" if reference == hypothesis else "substitute", reference, hypothesis)


def _common_ends(hypothesis: Sequence[str], reference: Sequence[str]) -> tuple[int, int]:
    """How many symbols are equal at the beginning, and how many of the others at the end."""
    shorter = min(len(hypothesis), len(reference))
    n_before = 0
    while n_before < shorter and hypothesis[n_before] == reference[n_before]:
        n_before += 1
    n_behind = 0
    while n_behind < shorter - n_before and hypothesis[-1 - n_behind] == reference[-1 - n_behind]:
        n_behind += 1
    return n_before, n_behind


def _table(hypothesis: Sequence[str], reference: Sequence[str]) -> np.ndarray:
    """(len(reference) + 1, len(hypothesis) + 1): d(i, j)."""
    numbers: dict[str, int] = {}
    rows, columns = (
        np.array([numbers.setdefault(symbol, len(numbers)) for symbol in side], dtype=np.int32)
        for side in (reference, hypothesis)
    )
    steps = np.arange(len(columns) + 1, dtype=np.int32)
    table = np.empty((len(rows) + 1, len(columns) + 1), dtype=np.int32)
    table[0] = steps
    for i, symbol in enumerate(rows, start=1):
        above = table[i - 1]
        row = table[i]
        row[0] = i
        np.minimum(above[:-1] + (columns != symbol), above[1:] + 1, out=row[1:])
        row -= steps
        np.minimum.accumulate(row, out=row)
        row += steps
    return table
