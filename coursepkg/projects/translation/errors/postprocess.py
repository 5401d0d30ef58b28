"""Repairs after decoding: numbers, terms and repetitions, each change named.

| repair | what is changed | when |
| --- | --- | --- |
| number | the one number that the source lacks | the output lacks one of the source |
| term | a word that translates something else | a term of the source is untranslated |
| repetition | the second and later copies | the source does not repeat itself |

A term is a dictionary word of the source none of whose translations is in the output.
An unsupported word of the output translates a dictionary word, but none of the source.
A missing term replaces the unsupported word that it is aligned with, or the only one
where it is the only term missing. Where two readings are possible nothing is touched. A
repair can still be wrong: it is a switch, and whether it helps is measured.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from coursepkg.projects.translation.classical.word_alignment import Alignment, Tokens
from coursepkg.projects.translation.corpus import to_model
from coursepkg.projects.translation.errors.dictionary import Dictionary
from coursepkg.projects.translation.errors.numerals import (
    Number,
    find_numbers,
    is_number_word,
    spell,
)
from coursepkg.projects.translation.errors.surface import (
    MARK,
    contains,
    find_phrase,
    folded,
    pieces,
    runs,
    token_spans,
    words,
)
from coursepkg.text.languages import LANGUAGES
from coursepkg.text.spacing import capitalize, unjoin
from coursepkg.validation import check_choice, check_factor, check_finite

Place = tuple[int, int]
"""First character of a word, and the first one behind it."""


class Replacement(NamedTuple):
    """A term and the place that it belongs into."""

    place: Place
    word: str
    """The translation, as the dictionary has it."""
    why: str


def find_replacements(
    source: str,
    hypothesis: str,
    dictionary: Dictionary,
    target_language: str,
    alignment: Alignment | None = None,
    *,
    least_probability: int | float = 0.6,
    least_weight: int | float = 0.5,
) -> Iterator[Replacement]:
    """The terms that should be put in.

    Args:
        target_language: zh, vi or en.
        alignment: of both, words or subword pieces, without special tokens.
        least_weight: of the alignment between a term and a token that is to go.

    Raises:
        ValueError: the target tokens of the alignment do not spell the hypothesis.
    """
    missing = [
        term
        for term in dictionary.found_in(source)
        if _is_missing(term, hypothesis, dictionary)
        and dictionary.probability(term, dictionary.translations(term)[0])
        >= least_probability
    ]
    if not missing:
        return
    unsupported = _unsupported_words(
        source, hypothesis, missing, dictionary, target_language
    )
    for term in missing:
        word = dictionary.translations(term)[0]
        place, weight = None, 0.0
        if alignment is not None:
            place, weight = _aligned(term, hypothesis, unsupported, alignment)
        if place is not None and weight >= least_weight:
            yield Replacement(place, word, f"aligned with {term} by {weight:.2f}")
        elif len(missing) == len(unsupported) == 1:
            yield Replacement(unsupported[0], word, f"nothing else translates {term}")


def _is_missing(term: str, hypothesis: str, dictionary: Dictionary) -> bool:
    """Whether no translation of a term is there, not even inside a longer word."""
    spaced = f" {' '.join(folded(hypothesis))} "
    return not any(
        f" {' '.join(folded(target))} " in spaced
        for target in dictionary.translations(term)
    )


def _unsupported_words(
    source: str,
    hypothesis: str,
    missing: Tokens,
    dictionary: Dictionary,
    target_language: str,
) -> list[Place]:
    """Words of the output that translate something else and share no syllable."""
    wanted = _syllables(missing, dictionary)
    places = pieces(hypothesis)
    found = []
    for text in dictionary.inverse.found_in(hypothesis):
        origins = dictionary.inverse.translations(text)
        if (
            all(is_number_word(part, target_language) for part in folded(text))
            or wanted & _syllables(origins, dictionary)
            or any(contains(source, word) for word in origins)
        ):
            continue
        first, stop = find_phrase(hypothesis, text)[0]
        found.append((places[first].start, places[stop - 1].stop))
    return found


def _syllables(terms: Sequence[str], dictionary: Dictionary) -> set[str]:
    """Every syllable of every translation of some words."""
    return {
        part
        for term in terms
        for target in dictionary.translations(term)
        for part in folded(target)
    }


def _aligned(
    term: str, hypothesis: str, unsupported: Sequence[Place], alignment: Alignment
) -> tuple[Place | None, float]:
    """The unsupported word that a term is aligned with most, and the weight."""
    spans = token_spans(hypothesis, alignment.target)
    weights = alignment.weights[:, _columns(term, alignment.source)].sum(axis=1)
    best = spans[int(weights.argmax())] if weights.size else None
    holds = [
        place
        for place in unsupported
        if best and place[0] <= best[0] and best[1] <= place[1]
    ]
    return (holds[0] if holds else None), float(weights.max(initial=0.0))


def _columns(term: str, tokens: Tokens) -> list[int]:
    """The source tokens that a term stands in."""
    owners = [
        (text, i)
        for i, token in enumerate(tokens)
        for text in folded(token.replace(MARK, " "))
    ]
    wanted = folded(term)
    for first in range(len(owners) - len(wanted) + 1):
        part = owners[first : first + len(wanted)]
        if [text for text, _ in part] == wanted:
            return sorted({i for _, i in part})
    return []


_COUNTED_BY_TWO = frozenset("月号日楼层")


class Change(NamedTuple):
    """One repair."""

    kind: str
    """number, term or repetition."""
    before: str
    """What stood in the output."""
    after: str
    """What stands there now; empty for a repetition."""
    why: str
    """The reason, for a reader."""


class Repaired(NamedTuple):
    """An output after its repairs."""

    text: str
    changes: tuple[Change, ...]
    """From left to right; none if the text is as it was."""


class _Edit(NamedTuple):
    start: int
    stop: int
    change: Change


@dataclass(frozen=True)
class PostProcessor:
    """Repairs outputs of one direction.

    Example:
        >>> repair = PostProcessor("zh", "vi")
        >>> repair("三十五 美元 。", "Bốn mươi lăm đô la .").text
        'Ba mươi lăm đô la .'

    Raises:
        ValueError: a setting is out of range.
    """

    source_language: str
    """A code of `LANGUAGES`."""
    target_language: str
    """Another one."""
    dictionary: Dictionary | None = None
    """Known translations, best those of `dictionary.RARE`; None repairs no term."""
    numbers: bool = True
    """Whether numbers are repaired."""
    terms: bool = True
    """Whether terms are repaired."""
    repeats: bool = True
    """Whether repetitions are removed."""
    underscores: bool = False
    """Whether outputs join Vietnamese syllables: khách_sạn."""
    least_probability: int | float = 0.6
    """Least probability of the translation that is put in."""
    least_weight: int | float = 0.5
    """Share of an output token's weights that a term needs to be its origin, in (0, 1].
    """

    def __post_init__(self) -> None:
        check_choice("source_language", self.source_language, tuple(LANGUAGES))
        check_choice("target_language", self.target_language, tuple(LANGUAGES))
        check_finite("least_weight", self.least_weight)
        check_finite("least_probability", self.least_probability)
        check_factor("least_weight", self.least_weight)

    def __call__(
        self, source: str, hypothesis: str, alignment: Alignment | None = None
    ) -> Repaired:
        """Repair one output.

        Args:
            alignment: of both, such as cross-attention over words or subword pieces,
                without special tokens. It settles which word a term takes the place of,
                where there are several.

        Raises:
            ValueError: the target tokens of the alignment do not spell the hypothesis.
        """
        edits: list[_Edit] = []
        if self.numbers:
            edits += self._number_edits(source, hypothesis)
        if self.terms and self.dictionary is not None:
            edits += self._term_edits(source, hypothesis, self.dictionary, alignment)
        if self.repeats:
            edits += self._repeat_edits(source, hypothesis)
        return _apply(hypothesis, edits)

    def lines(
        self, sources: Sequence[str], hypotheses: Sequence[str]
    ) -> tuple[list[str], str]:
        """Repair the outputs of a whole set, as they stand in its files.

        Returns:
            the outputs, and a note on how many repairs there were.
        """
        found = [
            self(to_model(source, self.source_language), line)
            for source, line in zip(sources, hypotheses, strict=True)
        ]
        counts = [len(one.changes) for one in found if one.changes]
        note = f"{sum(counts)} repairs in {len(counts)} sentences"
        return [one.text for one in found], note

    def _number_edits(self, source: str, hypothesis: str) -> Iterator[_Edit]:
        given = find_numbers(folded(source), self.source_language)
        ours = find_numbers(folded(hypothesis), self.target_language)
        values, our_values = ([n.value for n in found] for found in (given, ours))
        lacking = [value for value in values if value not in our_values]
        odd = [n for n in ours if n.value not in values]
        if len(given) != len(ours) or len(lacking) != 1 or len(odd) != 1:
            return
        value, wrong = lacking[0], odd[0]
        if wrong.value == value + 12:
            return  # two in the afternoon may well be fourteen o'clock
        written = self._written(value, wrong, hypothesis)
        if written is not None:
            places = pieces(hypothesis)
            start, stop = places[wrong.first].start, places[wrong.stop - 1].stop
            why = f"the source has {value}, the output {wrong.value}"
            yield self._edit("number", hypothesis, start, stop, written, why)

    def _written(
        self, value: int | float, wrong: Number, hypothesis: str
    ) -> str | None:
        """A number written as the one that it replaces; None if that is unknown."""
        if wrong.is_figures or not isinstance(value, int):
            return str(value) if wrong.is_figures else None
        behind = folded(hypothesis)[wrong.stop : wrong.stop + 1]
        is_two = self.target_language == "zh" and value == 2
        if is_two and not _COUNTED_BY_TWO.intersection(behind):
            return "两"
        return spell(value, self.target_language)

    def _term_edits(
        self,
        source: str,
        hypothesis: str,
        dictionary: Dictionary,
        alignment: Alignment | None,
    ) -> Iterator[_Edit]:
        replacements = find_replacements(
            source,
            hypothesis,
            dictionary,
            self.target_language,
            alignment,
            least_probability=self.least_probability,
            least_weight=self.least_weight,
        )
        for place, word, why in replacements:
            new = word if self.underscores else unjoin(word)
            yield self._edit("term", hypothesis, *place, new, why)

    def _repeat_edits(self, source: str, hypothesis: str) -> Iterator[_Edit]:
        if any(
            times > (2 if n == 1 else 1)
            for n in range(1, 5)
            for _, times in runs(words(source), n)
        ):
            return
        both = zip(pieces(hypothesis), folded(hypothesis), strict=True)
        kept = [(piece, text) for piece, text in both if text[0].isalnum()]
        places, texts = [piece for piece, _ in kept], [text for _, text in kept]
        for n in range(1, 5):
            # Doubling is grammar: luôn luôn, 看看, 研究研究.
            least = 3 if n == 1 or (n == 2 and self.target_language == "zh") else 2
            for first, times in runs(texts, n):
                gram = texts[first : first + n]
                is_words = any(
                    t[0].isalpha() and not is_number_word(t, self.target_language)
                    for t in gram
                )
                if times >= least and is_words and (n == 1 or len(set(gram)) > 1):
                    start = places[first + n - 1].stop
                    stop = places[first + n * times - 1].stop
                    why = f"{times} times in a row"
                    yield self._edit("repetition", hypothesis, start, stop, "", why)

    def _edit(
        self, kind: str, hypothesis: str, start: int, stop: int, new: str, why: str
    ) -> _Edit:
        old = hypothesis[start:stop]
        if old[:1].isupper() and not hypothesis[:start].strip():
            new = capitalize(new)
        return _Edit(start, stop, Change(kind, old, new, why))


def _apply(text: str, edits: list[_Edit]) -> Repaired:
    """All edits that overlap no earlier one of the list."""
    kept: list[_Edit] = []
    for edit in edits:
        if all(edit.stop <= other.start or other.stop <= edit.start for other in kept):
            kept.append(edit)
    kept.sort()
    for edit in reversed(kept):
        text = text[: edit.start] + edit.change.after + text[edit.stop :]
    return Repaired(text, tuple(edit.change for edit in kept))
