"""The fixed list of words and their class numbers, and how frequent each word is.

The contest gives it as a pickle. Unpickling calls whatever the file names, so a pickle
from the internet can run any program. Here nothing may be called: a pickle that names a
class or a function is refused, and the name is told.
"""

import hashlib
import io
import json
import pickle
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from coursepkg.files import whole_file
from coursepkg.text.vietnamese import compose
from coursepkg.validation import check_count, one_line

MOST_BYTES = 4 * 2**20
"""Largest file that is read; a hundred words take 3 KiB."""
NAMES = ("label_mapping.pkl", "label_mapping.json")
"""How a folder calls the file, in the order in which they are looked for."""

_BROKEN = (
    EOFError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    MemoryError,
    OverflowError,
)
"""What the unpickler raises at bytes that are no pickle."""


@dataclass(frozen=True)
class LabelMapping:
    """Words by their class numbers.

    Raises:
        ValueError: a word is empty, not composed, or stands twice.
    """

    words: tuple[str, ...]
    """In Unicode form NFC, in the order of their numbers from 0."""
    composed: tuple[str, ...] = ()
    """Words that the file had in another Unicode form, as they stood there."""

    def __post_init__(self) -> None:
        if not self.words:
            raise ValueError("words must hold at least one word, got none")
        for word in self.words:
            good = isinstance(word, str) and bool(word.strip())
            if not good or compose(word) != word:
                raise ValueError(
                    f"words must be composed (NFC) and not empty, got {word!r}"
                )
        if len(self._numbers) < len(self.words):
            twice = next(word for word in self.words if self.words.count(word) > 1)
            raise ValueError(f"words must differ, got {twice!r} twice")

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._numbers

    def number(self, word: str) -> int:
        """The class number of a word in any Unicode form.

        Raises:
            ValueError: the list does not have it.
        """
        found = self._numbers.get(compose(word))
        if found is None:
            raise ValueError(
                f"{word!r} is none of the {len(self)} words; add it to the label"
                " mapping"
            )
        return found

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)}

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the words in their order."""
        return hashlib.sha256("\n".join(self.words).encode()).hexdigest()

    @classmethod
    def of_words(cls, words: Iterable[str]) -> "LabelMapping":
        """Number words in alphabetical order for a data set without a mapping."""
        return cls(tuple(sorted({compose(word) for word in words})))

    def write(self, path: str | Path) -> None:
        """Write it as JSON: word -> number."""
        with whole_file(path) as file:
            content = json.dumps(self._numbers, ensure_ascii=False, indent=1)
            file.write(f"{content}\n".encode())


def read_label_mapping(path: str | Path) -> LabelMapping:
    """Read a mapping from a pickle or from JSON; of a folder, the file that is in it.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is damaged, names something that would be called, is no
            dictionary from words to numbers, or its numbers are not 0, 1, 2, ...; the
            file is named.
    """
    path = Path(path)
    if path.is_dir():
        found = [path / name for name in NAMES if (path / name).is_file()]
        if not found:
            raise FileNotFoundError(f"{path} has no {' or '.join(NAMES)}")
        path = found[0]
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such label mapping")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(
            f"{path}: {path.stat().st_size:,} bytes are no list of words; more than"
            f" {MOST_BYTES:,}"
        )
    content = path.read_bytes()
    read = _read_json if path.suffix.lower() == ".json" else _unpickle
    return _checked(read(content, path), path)


class _PlainUnpickler(pickle.Unpickler):
    """Builds plain values only: nothing can be looked up, so nothing can be called."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        raise pickle.UnpicklingError(f"it wants to call {module_name}.{global_name}")

    def persistent_load(self, pid: Any, /) -> Any:
        raise pickle.UnpicklingError("it refers to objects outside of it")


def _unpickle(content: bytes, path: Path) -> Any:
    try:
        return _PlainUnpickler(io.BytesIO(content)).load()
    except pickle.UnpicklingError as reason:
        told = one_line(reason)[:120]
        if told.startswith("it "):
            told += (
                ", which is not allowed; ask for the mapping as JSON, and do not open"
                " this file elsewhere"
            )
        else:
            told = f"no pickle ({told}); copy it again"
        raise ValueError(f"{path} is refused: {told}") from None
    except _BROKEN as reason:
        raise ValueError(
            f"{path} is refused: no pickle ({type(reason).__name__}); copy it again"
        ) from None


def _read_json(content: bytes, path: Path) -> Any:
    try:
        return json.loads(content, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as reason:
        raise ValueError(
            f"{path} is no JSON ({one_line(reason)[:80]}); copy it again"
        ) from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise ValueError(f"the word {twice!r} stands twice")
    return found


def _checked(content: Any, path: Path) -> LabelMapping:
    """The mapping that a file's content is, every entry looked at."""
    if not isinstance(content, Mapping) or not content:
        kind = (
            "an empty one"
            if isinstance(content, Mapping)
            else f"a {type(content).__name__}"
        )
        raise ValueError(
            f"{path} must hold a dictionary from words to numbers, got {kind}"
        )
    by_number: dict[int, str] = {}
    for word, number in content.items():
        if not isinstance(word, str) or not word.strip():
            raise ValueError(
                f"{path}: a word must be a text, got {type(word).__name__}"
                f" {str(word)[:40]!r}"
            )
        if (
            not isinstance(number, int)
            or isinstance(number, bool)
            or not 0 <= number < len(content)
        ):
            raise ValueError(
                f"{path}: the number of {word!r} must be an integer in"
                f" 0..{len(content) - 1}, got {str(number)[:40]}"
            )
        if number in by_number:
            raise ValueError(
                f"{path}: {by_number[number]!r} and {word!r} both have the number"
                f" {number}"
            )
        by_number[number] = word
    originals = [by_number[number] for number in range(len(by_number))]
    words = [compose(word) for word in originals]
    for place, word in enumerate(words):
        if word in words[:place]:
            raise ValueError(
                f"{path}: the word {word!r} stands twice, in two Unicode forms, with"
                f" the numbers {words.index(word)} and {place}; keep one of them"
            )
    changed = tuple(o for o, w in zip(originals, words, strict=True) if o != w)
    return LabelMapping(tuple(words), changed)


Band = Literal["head", "body", "tail"]
BANDS: tuple[Band, ...] = ("head", "body", "tail")
HEAD = 50
"""A word with at least so many clips is of the head (Olympiad tutorials, III.3)."""
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
    """Clips of each word, the most frequent first, words of equal number in the order
    of their letters."""

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
            band: sum(
                count for word, count in self.counts.items() if bands[word] == band
            )
            for band in BANDS
        }

    @property
    def missing(self) -> tuple[str, ...]:
        """Words of the label list that have no clip."""
        return tuple(word for word, count in self.counts.items() if not count)

    @property
    def imbalance(self) -> float:
        """Return the highest clip count over the lowest above 0; 0 without clips."""
        present = [count for count in self.counts.values() if count]
        return max(present) / min(present) if present else 0.0


def count_classes(
    labels: Iterable[str], label_list: Mapping[str, int] | Sequence[str] = ()
) -> ClassCounts:
    """Count the clips of every word.

    Args:
        labels: of the clips; empty ones, which are not known, are not counted.
        label_list: all words that there are, so that one without a clip is counted as 0
            and not forgotten.

    Raises:
        ValueError: a label is not in the list that was given; it is named.
    """
    found = Counter(label for label in labels if label)
    known = list(label_list)
    outside = sorted(set(found) - set(known))
    if known and outside:
        raise ValueError(
            f"label {outside[0]!r} is not in the label list of {len(known)} words"
        )
    counts = {word: found[word] for word in {*known, *found}}
    return ClassCounts(
        dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    )
