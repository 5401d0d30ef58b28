"""How many clips each word has, and which words are the head, the body and the tail of the data."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from coursepkg.arguments import check_count

Band = Literal["head", "body", "tail"]
BANDS: tuple[Band, ...] = ("head", "body", "tail")
HEAD = 50
"""A word with at least so many clips is of the head (source 002, section III.3)."""
TAIL = 20
"""A word with fewer clips than this is of the tail."""


def band_of(count: int) -> Band:
    """Head (50 clips and more), body (20 to 49) or tail (fewer).

    Example:
        >>> [band_of(count) for count in (50, 49, 20, 19, 0)]
        ['head', 'body', 'body', 'tail', 'tail']
    """
    check_count("count", count, least=0)
    if count >= HEAD:
        return "head"
    return "body" if count >= TAIL else "tail"


@dataclass(frozen=True)
class ClassCounts:
    """How many clips each word has."""

    counts: dict[str, int]
    """Clips of each word, the most frequent first, words of equal number in the order of their letters."""

    @property
    def bands(self) -> dict[str, Band]:
        """Which words are head, body and tail."""
        return {word: band_of(count) for word, count in self.counts.items()}

    @property
    def n_clips(self) -> int:
        """Clips of all words."""
        return sum(self.counts.values())

    @property
    def words_by_band(self) -> dict[Band, int]:
        """How many words each band has."""
        found = Counter(self.bands.values())
        return {band: found[band] for band in BANDS}

    @property
    def clips_by_band(self) -> dict[Band, int]:
        """How many clips the words of each band have together."""
        bands = self.bands
        return {
            band: sum(count for word, count in self.counts.items() if bands[word] == band) for band in BANDS
        }

    @property
    def missing(self) -> tuple[str, ...]:
        """Words of the label list that have no clip."""
        return tuple(word for word, count in self.counts.items() if not count)

    @property
    def imbalance(self) -> float:
        """Clips of the most frequent word for one of the rarest that has any; 0 without clips."""
        present = [count for count in self.counts.values() if count]
        return max(present) / min(present) if present else 0.0


def count_classes(labels: Iterable[str], label_list: Mapping[str, int] | Sequence[str] = ()) -> ClassCounts:
    """Count the clips of every word.

    Args:
        labels: of the clips; empty ones, which are not known, are not counted.
        label_list: all words that there are, so that one without a clip is counted as 0 and not forgotten.

    Raises:
        ValueError: a label is not in the list that was given; it is named.
    """
    found = Counter(label for label in labels if label)
    known = list(label_list)
    outside = sorted(set(found) - set(known))
    if known and outside:
        raise ValueError(f"label {outside[0]!r} is not in the label list of {len(known)} words")
    counts = {word: found[word] for word in {*known, *found}}
    return ClassCounts(dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))))
