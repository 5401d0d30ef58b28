"""A bilingual dictionary learnt from the sentence pairs of the training set alone.

Model 1 is trained in both directions. A pair of words is an entry where each is among
the best translations of the other: what only one direction believes in is mostly an
accident of sentences that always come together (信用卡 is tín_dụng in both; thẻ follows
from it in one direction only). Words of every other sentence are grammar, not terms.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from coursepkg.app.output import check_out_file, print_json
from coursepkg.files import whole_file
from coursepkg.projects.translation.classical.word_alignment import Model1, Tokens
from coursepkg.projects.translation.corpus import to_model
from coursepkg.projects.translation.errors.surface import find_phrase, folded
from coursepkg.text.languages import language_of
from coursepkg.text.spacing import split_characters
from coursepkg.validation import check_count, check_share

if TYPE_CHECKING:
    from coursepkg.projects.translation.corpora import Parts
    from coursepkg.projects.translation.study_commands import LearnDictionary


class Entry(NamedTuple):
    """A word and one translation of it."""

    source: str
    target: str
    probability: float
    """p(target | source), in (0, 1]."""


@dataclass(frozen=True)
class TermLimits:
    """Which pairs of words become entries.

    Raises:
        ValueError: a limit is out of range.
    """

    n_best: int = 2
    """Each word must be among so many best translations of the other, at least 1."""
    min_probability: int | float = 0.15
    """Least probability, in both directions, in [0, 1]."""
    min_count: int = 3
    """Least number of sentence pairs with both words."""
    max_share: int | float = 0.02
    """Largest share of sentences that a word of either side stands in, in (0, 1]."""

    def __post_init__(self) -> None:
        check_count("n_best", self.n_best)
        check_count("min_count", self.min_count)
        check_share("min_probability", self.min_probability)
        check_share("max_share", self.max_share)


RARE = TermLimits(max_share=0.002)
"""For repairs of outputs: rare words have one right translation more often."""


@dataclass(frozen=True)
class Dictionary:
    """Words with their translations.

    Example:
        >>> dictionary = Dictionary((Entry("酒店", "khách_sạn", 0.9),))
        >>> dictionary.translations("酒店")
        ('khách_sạn',)

    Raises:
        ValueError: an entry cannot stand in a line of the file.
    """

    entries: tuple[Entry, ...]
    """In the order of the file."""

    def __post_init__(self) -> None:
        for entry in self.entries:
            _check_entry(entry)

    def __len__(self) -> int:
        return len(self.entries)

    @classmethod
    def learn(
        cls,
        pairs: Sequence[tuple[Tokens, Tokens]],
        limits: TermLimits | None = None,
        *,
        n_iterations: int = 8,
    ) -> "Dictionary":
        """Learn from sentence pairs, each (source tokens, target tokens).

        Words take their usual case first: the one that is most frequent inside of
        sentences.

        Raises:
            ValueError: no pair has words on both sides, or n_iterations is out of
                range.
        """
        limits = TermLimits() if limits is None else limits
        sources, targets = (
            true_cased([pair[side] for pair in pairs]) for side in (0, 1)
        )
        cased = list(zip(sources, targets, strict=True))
        there = Model1.fit(cased, n_iterations=n_iterations)
        back = Model1.fit(
            [(target, source) for source, target in cased], n_iterations=n_iterations
        )
        counts = Counter(
            pair for s, t in cased for pair in {(a, b) for a in set(s) for b in set(t)}
        )
        is_term = [_terms(side, limits.max_share) for side in (sources, targets)]
        entries = [
            Entry(s, t, p)
            for s in sorted(is_term[0])
            for t, p in there.best(s, limits.n_best)
            if t in is_term[1] and counts[s, t] >= limits.min_count
            if min(p, back.probability(t, s)) >= limits.min_probability
            if s in (word for word, _ in back.best(t, limits.n_best))
        ]
        return cls(tuple(entries))

    @classmethod
    def load(cls, path: str | Path) -> "Dictionary":
        """Read a file of lines `source TAB target TAB probability`, in UTF-8.

        Raises:
            OSError: it cannot be read.
            ValueError: a line is not of this form; the message names file and line.
        """
        entries = []
        for number, raw in enumerate(Path(path).read_bytes().splitlines(), start=1):
            try:
                entries.append(
                    _parse(raw.decode("utf-8-sig" if number == 1 else "utf-8"))
                )
            except UnicodeDecodeError as reason:
                raise ValueError(
                    f"{path}, line {number}: not UTF-8; save the file as UTF-8"
                ) from reason
            except ValueError as reason:
                raise ValueError(f"{path}, line {number}: {reason}") from reason
        return cls(tuple(entries))

    def save(self, path: str | Path) -> None:
        """Write the file that `load` reads.

        Raises:
            OSError: it cannot be written.
        """
        with whole_file(path) as file:
            file.writelines(f"{s}\t{t}\t{p!r}\n".encode() for s, t, p in self.entries)

    def translations(self, source: str) -> tuple[str, ...]:
        """Known translations of a word in any spelling, the most probable first."""
        return self._by_source.get(tuple(folded(source)), ())

    def probability(self, source: str, target: str) -> float:
        """p(target | source) of an entry, 0 if there is none."""
        wanted = (tuple(folded(source)), tuple(folded(target)))
        return self._probabilities.get(wanted, 0.0)

    def found_in(self, line: str) -> list[str]:
        """The dictionary's source words in a line, the longest where they overlap."""
        texts = set(folded(line))
        candidates = [word for text in texts for word in self._by_first.get(text, ())]
        candidates.sort(key=lambda word: (-len(folded(word)), word))
        first: dict[str, tuple[int, int]] = {}
        taken: set[int] = set()
        for word in candidates:
            for place in find_phrase(line, word):
                if taken.isdisjoint(range(*place)):
                    taken.update(range(*place))
                    first.setdefault(word, place)
        return sorted(first, key=lambda word: first[word])

    @cached_property
    def inverse(self) -> "Dictionary":
        """The other direction: translations as sources, with the same probabilities."""
        return Dictionary(tuple(Entry(t, s, p) for s, t, p in self.entries))

    @cached_property
    def _probabilities(self) -> dict[tuple[tuple[str, ...], tuple[str, ...]], float]:
        return {(tuple(folded(s)), tuple(folded(t))): p for s, t, p in self.entries}

    @cached_property
    def _by_source(self) -> dict[tuple[str, ...], tuple[str, ...]]:
        grouped: dict[tuple[str, ...], list[Entry]] = defaultdict(list)
        for entry in self.entries:
            grouped[tuple(folded(entry.source))].append(entry)
        return {
            source: tuple(e.target for e in sorted(group, key=lambda e: -e.probability))
            for source, group in grouped.items()
        }

    @cached_property
    def _by_first(self) -> dict[str, list[str]]:
        grouped: dict[str, list[str]] = defaultdict(list)
        for source in dict.fromkeys(entry.source for entry in self.entries):
            for first in folded(source)[:1]:
                grouped[first].append(source)
        return dict(grouped)


def true_cased(sentences: Sequence[Tokens]) -> list[list[str]]:
    """Every word in its usual case inside of sentences; others stay as they are."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for tokens in sentences:
        for token in tokens[1:]:
            counts[token.lower()][token] += 1
    usual = {
        lower: max(forms, key=lambda form: (forms[form], form))
        for lower, forms in counts.items()
    }
    return [
        [usual.get(token.lower(), token) for token in tokens] for tokens in sentences
    ]


def learn_from(parts: "Parts", limits: TermLimits | None = None) -> Dictionary:
    """Learn from the training part of a corpus, however its words are written."""
    pairs = [
        (_words(p.source, parts.source), _words(p.target, parts.target))
        for p in parts.train
    ]
    return Dictionary.learn(pairs, limits)


def dictionary_command(options: "LearnDictionary") -> int:
    """Learn a dictionary from the training part and write it as TSV."""
    out = options.common.out
    if out is None:
        raise ValueError("--out FILE must be given, the TSV file to write")
    check_out_file(out, "dictionary.tsv")
    parts = options.common.parts()
    learnt = learn_from(parts)
    learnt.save(out)
    print(f"{len(learnt)} entries in {out}")
    if options.common.json:
        found = {"out": str(out), "entries": len(learnt), "corpora": [parts.corpus]}
        print_json(found)
    return 0


def _words(text: str, language: str) -> list[str]:
    """The words of a line, Vietnamese compounds joined where the file joins them.

    Chinese that is not cut into words is cut into characters.
    """
    if language_of(language).is_han:
        words = text.split()
        return words if len(words) > 1 else split_characters(text)
    return to_model(text, language, underscores="keep").split()


def _terms(sentences: Sequence[Tokens], max_share: int | float) -> set[str]:
    """Words with a letter that are not in too many of the sentences."""
    counts = Counter(word for tokens in sentences for word in set(tokens))
    most = max(max_share * len(sentences), 1)
    rare = (word for word, n in counts.items() if n <= most)
    return {word for word in rare if any(map(str.isalpha, word))}


def _parse(line: str) -> Entry:
    fields = line.split("\t")
    if len(fields) != 3:
        raise ValueError(
            f"needs source TAB target TAB probability, got {len(fields)} fields"
        )
    try:
        entry = Entry(fields[0].strip(), fields[1].strip(), float(fields[2]))
    except ValueError:
        raise ValueError(
            f"needs a probability in (0, 1] behind the second TAB, got {fields[2]!r}"
        ) from None
    _check_entry(entry)
    return entry


def _check_entry(entry: Entry) -> None:
    for name, word in (("source", entry.source), ("target", entry.target)):
        if not folded(word) or any(sign in word for sign in "\t\r\n"):
            raise ValueError(f"needs a {name} word on one line, got {word!r}")
    if not (math.isfinite(entry.probability) and 0 < entry.probability <= 1):
        raise ValueError(
            f"needs a probability in (0, 1], got {entry.probability!r} for"
            f" {entry.source!r}"
        )
