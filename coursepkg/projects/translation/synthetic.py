"""The phrasebook: sentences in three languages by one grammar, aligned by word.

    >>> book = Phrasebook()
    >>> triple = book.triples[0]
    >>> triple.zh, triple.en, triple.vi          # as a reader sees them
    >>> triple.tokens("vi")          # words; compounds as one: "khách_sạn"
    >>> triple.alignment("zh", "vi") # ((0, 0), (1, 2), ...) token positions
    >>> train, valid, test = book.split("compositional")

Every sentence occurs once in each language, so no part of a split shares a sentence
with another. Nothing is generated before it is asked for, and generation reads no file
but the lexicon in the package.
"""

import os
import random
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar

from coursepkg.files import part_of
from coursepkg.projects.translation.phrasebook.interlinear import LANGUAGES, Words
from coursepkg.projects.translation.phrasebook.patterns import TOPICS, sentences

BEFORE_PUNCTUATION = re.compile(r" (?=[.,?!])")

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class Triple:
    """One meaning in Chinese, English and Vietnamese."""

    topic: str
    pattern: str
    """Name of the sentence pattern, unique over all topics."""
    concepts: tuple[str, ...]
    """English names of what fills the slots of the pattern, in the order of the slots.
    """
    words: tuple[Words, Words, Words]
    """Tokens with their alignment marks, in the order of ``LANGUAGES``."""

    @cached_property
    def zh(self) -> str:
        """The Chinese sentence as it is read, without spaces."""
        return "".join(self.tokens("zh"))

    @cached_property
    def en(self) -> str:
        """The English sentence as it is read."""
        return _attach(self.line("en"))

    @cached_property
    def vi(self) -> str:
        """The Vietnamese sentence as it is read, without underscores."""
        return _attach(self.line("vi", compounds=False))

    @property
    def combination(self) -> tuple[str, ...]:
        """The pattern with its two key concepts, held out by compositional splits."""
        return (self.pattern, *self.concepts[:2])

    def tokens(self, language: str, *, compounds: bool = True) -> list[str]:
        """The tokens; ``compounds=False`` splits Vietnamese words into syllables."""
        texts = [word.text for word in self._words(language)]
        return texts if compounds else "_".join(texts).split("_")

    def line(self, language: str, *, compounds: bool = True) -> str:
        """The sentence as a line of a parallel file: tokens separated by one space."""
        return " ".join(self.tokens(language, compounds=compounds))

    def text(self, language: str) -> str:
        """The sentence as it is read: ``zh``, ``en`` or ``vi``."""
        if language not in LANGUAGES:
            raise _unknown(language)
        return str(getattr(self, language))

    def alignment(
        self, source: str, target: str, *, compounds: bool = True
    ) -> tuple[tuple[int, int], ...]:
        """Pairs (source position, target position) of aligned tokens, sorted.

        Positions count the tokens that ``tokens`` gives with the same ``compounds``.
        """
        rows, columns = (
            self._marks(language, compounds) for language in (source, target)
        )
        return tuple(
            (i, j) for i, a in enumerate(rows) for j, b in enumerate(columns) if a & b
        )

    def _words(self, language: str) -> Words:
        if language not in LANGUAGES:
            raise _unknown(language)
        return self.words[LANGUAGES.index(language)]

    def _marks(self, language: str, compounds: bool) -> list[frozenset[str]]:
        words = self._words(language)
        repeats = [1 if compounds else word.text.count("_") + 1 for word in words]
        return [
            frozenset(word.marks)
            for word, n in zip(words, repeats, strict=True)
            for _ in range(n)
        ]


class Split(NamedTuple):
    """Three parts that share no sentence."""

    train: tuple[Triple, ...]
    valid: tuple[Triple, ...]
    test: tuple[Triple, ...]


class Phrasebook:
    """All triples of the grammar; ``seed`` changes their order, never the set."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    @cached_property
    def triples(self) -> tuple[Triple, ...]:
        """Every triple, in an order that depends on the seed alone."""
        return tuple(_shuffled(_all_triples(), self.seed))

    def by_topic(self) -> dict[str, tuple[Triple, ...]]:
        """The triples of each topic, in the order of ``triples``."""
        topics: dict[str, list[Triple]] = {topic: [] for topic in TOPICS}
        for triple in self.triples:
            topics[triple.topic].append(triple)
        return {topic: tuple(triples) for topic, triples in topics.items()}

    def split(
        self,
        kind: str = "compositional",
        seed: int = 0,
        *,
        valid: float = 0.05,
        test: float = 0.05,
    ) -> Split:
        """Train, valid and test.

        ``"random"`` cuts the shuffled sentences. ``"compositional"`` holds out whole
        combinations (a pattern with its two key concepts): each word of valid and test,
        in each language, occurs in train, and no combination of theirs does.

        Args:
            seed: which sentences or combinations are held out.

        Raises:
            ValueError: the kind is unknown or a share is out of range.
        """
        for name, share in (("valid", valid), ("test", test)):
            if not 0 < share <= 0.25:
                raise ValueError(
                    f"{name}: got {share}, needs a share of the triples in (0, 0.25]"
                )
        sizes = [round(share * len(self.triples)) for share in (valid, test)]
        if kind == "compositional":
            return _compositional(self.triples, seed, *sizes)
        if kind == "random":
            order = _shuffled(self.triples, seed)
            first, second = sizes[0], sum(sizes)
            return Split(
                tuple(order[second:]), tuple(order[:first]), tuple(order[first:second])
            )
        raise ValueError(f"kind: got {kind!r}, needs 'compositional' or 'random'")

    def write(
        self,
        folder: str | os.PathLike[str],
        kind: str = "compositional",
        seed: int = 0,
        *,
        compounds: bool = True,
    ) -> list[Path]:
        """Writes ``train``, ``valid`` and ``test`` with ``.zh``, ``.en`` and ``.vi``.

        One sentence a line, tokens separated by a space, Vietnamese compounds joined by
        underscores unless ``compounds=False``. Each file grows as ``NAME.part``; all
        are renamed once all are complete, and a failure leaves none behind.
        """
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        growing: dict[Path, Path] = {}
        try:
            for part, triples in self.split(kind, seed)._asdict().items():
                for language in LANGUAGES:
                    path = target / f"{part}.{language}"
                    growing[path] = part_of(path)
                    with growing[path].open(
                        "w", encoding="utf-8", newline="\n"
                    ) as file:
                        file.writelines(
                            t.line(language, compounds=compounds) + "\n"
                            for t in triples
                        )
        except BaseException:
            for half_written in growing.values():
                half_written.unlink(missing_ok=True)
            raise
        for path, complete in growing.items():
            complete.replace(path)
        return list(growing)


def _attach(line: str) -> str:
    return BEFORE_PUNCTUATION.sub("", line)


def _unknown(language: str) -> ValueError:
    return ValueError(
        f"language: got {language!r}, needs one of {', '.join(LANGUAGES)}"
    )


@cache
def _all_triples() -> tuple[Triple, ...]:
    """Every sentence that no earlier one repeats in any language, in grammar order."""
    seen: set[str] = set()
    triples = []
    for topic, sentence in sentences():
        triple = Triple(topic, sentence.pattern, sentence.concepts, sentence.words)
        readings = (triple.zh, triple.en, triple.vi)
        if seen.isdisjoint(readings):
            seen.update(readings)
            triples.append(triple)
    return tuple(triples)


def _shuffled(items: Sequence[T], seed: int) -> list[T]:
    """A shuffle that no version of Python changes: only ``random()`` is promised."""
    draw = random.Random(seed).random
    return sorted(items, key=lambda _: draw())


def _compositional(
    triples: Sequence[Triple], seed: int, n_valid: int, n_test: int
) -> Split:
    """Holds out random combinations whose every word is left in the rest."""
    groups: dict[tuple[str, ...], list[Triple]] = defaultdict(list)
    for triple in triples:
        groups[triple.combination].append(triple)
    words = {key: _word_counts(group) for key, group in groups.items()}
    left: Counter[tuple[int, str]] = Counter()
    for counts in words.values():
        left.update(counts)
    held: dict[tuple[str, ...], str] = {}
    wanted = {"valid": n_valid, "test": n_test}
    for key in _shuffled([key for key in groups if len(key) > 2], seed):
        part = next((name for name, n in wanted.items() if len(groups[key]) <= n), None)
        if part and all(left[word] > n for word, n in words[key].items()):
            left.subtract(words[key])
            wanted[part] -= len(groups[key])
            held[key] = part
    parts: dict[str, list[Triple]] = {"train": [], "valid": [], "test": []}
    for triple in triples:
        parts[held.get(triple.combination, "train")].append(triple)
    return Split(*(tuple(parts[name]) for name in Split._fields))


def _word_counts(triples: Sequence[Triple]) -> Counter[tuple[int, str]]:
    return Counter(
        (side, word.text)
        for t in triples
        for side, words in enumerate(t.words)
        for word in words
    )
