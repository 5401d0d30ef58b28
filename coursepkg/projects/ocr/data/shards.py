"""Packed lines in many folders as one sequence: a corpus written piece by piece, and pieces of it to train on."""

import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import overload

import numpy as np

from coursepkg.arguments import check_count
from coursepkg.projects.ocr.data.packed import PackedLines
from coursepkg.projects.ocr.line import TextLine


class Shards(Sequence[TextLine]):
    """The lines of several packed folders one after another, or some of them.

    Args:
        parts: folders of packed lines, at least one.
        chosen: numbers of the lines that count, in their order; None takes all.

    Raises:
        ValueError: there is no part.
    """

    def __init__(self, parts: Sequence[PackedLines], chosen: Sequence[int] | None = None) -> None:
        if not parts:
            raise ValueError("parts must hold at least one folder of packed lines, got none")
        self.parts = tuple(parts)
        self._ends = list(accumulate(len(part) for part in parts))
        self.chosen = np.arange(self._ends[-1]) if chosen is None else np.asarray(chosen, dtype=np.int64)

    def __len__(self) -> int:
        return len(self.chosen)

    @overload
    def __getitem__(self, index: int) -> TextLine: ...

    @overload
    def __getitem__(self, index: slice) -> list[TextLine]: ...

    def __getitem__(self, index: int | slice) -> TextLine | list[TextLine]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        part, place = self._find(int(self.chosen[index]))
        return part[place]

    def __iter__(self) -> Iterator[TextLine]:
        return (self[i] for i in range(len(self)))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the parts and of which of their lines count."""
        digest = hashlib.sha256(" ".join(part.fingerprint for part in self.parts).encode())
        digest.update(self.chosen.astype("<i8").tobytes())
        return digest.hexdigest()

    @cached_property
    def texts(self) -> list[str]:
        """What the lines say."""
        every = [text for part in self.parts for text in part.texts]
        return [every[i] for i in self.chosen]

    @cached_property
    def sizes(self) -> list[tuple[int, int]]:
        """Their heights and widths."""
        every = [size for part in self.parts for size in part.sizes]
        return [every[i] for i in self.chosen]

    def fitting(self, *, most_width: int, most_characters: int) -> "Shards":
        """The lines that are at most so many pixels wide and have at most so many characters."""
        check_count("most_width", most_width)
        check_count("most_characters", most_characters)
        fits = [
            width <= most_width and len(text) <= most_characters
            for (_, width), text in zip(self.sizes, self.texts, strict=True)
        ]
        return Shards(self.parts, self.chosen[np.array(fits, dtype=bool)].tolist())

    def _find(self, number: int) -> tuple[PackedLines, int]:
        at = bisect_right(self._ends, number)
        return self.parts[at], number - (self._ends[at - 1] if at else 0)
