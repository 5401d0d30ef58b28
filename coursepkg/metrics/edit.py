"""CER and WER: edits that a transcription needs, by the length of what is right.

    CER = (S + D + I) / (H + S + D)    substitutions, deletions, insertions, hits
    d(i, j) = min(d(i - 1, j - 1) + [r_i != h_j], d(i - 1, j) + 1, d(i, j - 1) + 1)

for the first i symbols of the reference and the first j of the hypothesis (Levenshtein
1966; Wagner and Fischer 1974). A row is computed at once: all but the insertions depend
on the row above alone, and a chain of insertions is a running minimum. Both sums of CER
run over the whole test set before they are divided, so that a line of two characters
has not the weight of one of eighty. Insertions can bring the rate above 1. Equal to
jiwer, operations included.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from coursepkg.metrics.ngrams import check_unicode, count_rows
from coursepkg.validation import check_choice

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
    middle = (
        slice(n_before, len(hypothesis) - n_behind),
        slice(n_before, len(reference) - n_behind),
    )
    return int(_table(hypothesis[middle[0]], reference[middle[1]])[-1, -1])


def align(hypothesis: Sequence[str], reference: Sequence[str]) -> list[Edit]:
    """A shortest list of edits, equal symbols included.

    Of several shortest ones it is that of jiwer (RapidFuzz): common ends are paired
    first; then, from the end back, deletion goes before insertion, and insertion before
    substitution.

    Example:
        >>> [edit.kind for edit in align("mà", "mai")]
        ['equal', 'substitute', 'delete']
    """
    n_before, n_behind = _common_ends(hypothesis, reference)
    i, j = len(reference) - n_behind, len(hypothesis) - n_behind
    table = _table(hypothesis[n_before:j], reference[n_before:i]).tolist()
    edits = [_pair(r, h) for r, h in zip(reference[i:], hypothesis[j:], strict=True)][
        ::-1
    ]
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
    return Edit(
        "equal" if reference == hypothesis else "substitute", reference, hypothesis
    )


def _common_ends(
    hypothesis: Sequence[str], reference: Sequence[str]
) -> tuple[int, int]:
    """How many symbols are equal at the beginning and, of the others, at the end."""
    shorter = min(len(hypothesis), len(reference))
    n_before = 0
    while n_before < shorter and hypothesis[n_before] == reference[n_before]:
        n_before += 1
    n_behind = 0
    while (
        n_behind < shorter - n_before
        and hypothesis[-1 - n_behind] == reference[-1 - n_behind]
    ):
        n_behind += 1
    return n_before, n_behind


def _table(hypothesis: Sequence[str], reference: Sequence[str]) -> np.ndarray:
    """(len(reference) + 1, len(hypothesis) + 1): d(i, j)."""
    numbers: dict[str, int] = {}
    rows, columns = (
        np.array(
            [numbers.setdefault(symbol, len(numbers)) for symbol in side],
            dtype=np.int32,
        )
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


UNITS = ("character", "word")
"""What is counted."""


def CER(unicode: str = "NFC") -> "ErrorRate":
    """Character error rate of a corpus, a fraction, 0 is best.

    Spaces count as characters, but not those at the ends of a line. A character is a
    code point: in NFC an accented Vietnamese letter is one, in NFD up to three.

    Example:
        >>> score(CER(), ["Cong hoà"], ["Cộng hòa"]).value
        0.375

    Raises:
        ValueError: unicode is unknown.
    """
    return ErrorRate("character", unicode)


def WER(unicode: str = "NFC") -> "ErrorRate":
    """Word error rate of a corpus, a fraction, 0 is best.

    Words are what stands between spaces: in Vietnamese a syllable, in Chinese a whole
    phrase.

    Example:
        >>> score(WER(), ["tôi đi hoc"], ["tôi đi học"]).value
        0.3333333333333333

    Raises:
        ValueError: unicode is unknown.
    """
    return ErrorRate("word", unicode)


@dataclass(frozen=True)
class ErrorRate:
    """What `CER` and `WER` make: edits over the length of the reference.

    Without any reference character or word the rate is the number of insertions, as in
    jiwer.

    Raises:
        ValueError: unit or unicode is unknown.
    """

    unit: str
    """One of `UNITS`."""
    unicode: str = "NFC"
    """`NFC`, or `raw` to compare code points as they stand."""

    def __post_init__(self) -> None:
        check_choice("unit", self.unit, UNITS)
        check_unicode(self.unicode)

    @property
    def name(self) -> str:
        """CER or WER."""
        return "CER" if self.unit == "character" else "WER"

    def settings(self) -> dict[str, str]:
        """Fields of the signature."""
        return {"unit": self.unit, "unicode": self.unicode}

    def statistics(
        self, hypotheses: Sequence[str], references: Sequence[str]
    ) -> np.ndarray:
        """(lines, 4): hits, substitutions, deletions, insertions."""
        return count_rows(
            self._count, hypotheses, references, self.unicode, several=False
        )

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, 4) -> rate (n,)."""
        n_edits = totals[..., 1:].sum(axis=-1)
        return n_edits / np.maximum(totals[..., :3].sum(axis=-1), 1)

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """Hits, substitutions, deletions, insertions."""
        names = ("hits", "substitutions", "deletions", "insertions")
        return dict(zip(names, totals.astype(int).tolist(), strict=True))

    def _count(self, hypothesis: str, references: Sequence[str]) -> list[int]:
        ours, right = (
            text.strip() if self.unit == "character" else text.split()
            for text in (hypothesis, *references)
        )
        counts = Counter(edit.kind for edit in align(ours, right))
        return [counts[kind] for kind in get_args(Kind)]
