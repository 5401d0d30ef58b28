"""Which word of a translation should be a term that is missing.

A dictionary word of the source is missing if the output has none of its translations. A word of the output is a
stranger if it translates a dictionary word, but none of the source. A missing term takes the place of the stranger that
it is aligned with, or of the only stranger where it is the only one missing. A word that the dictionary does not know
is left alone: it may be a good synonym.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from coursepkg.projects.translation.classical.word_alignment import Alignment, Tokens
from coursepkg.projects.translation.errors.dictionary import Dictionary
from coursepkg.projects.translation.errors.numerals import is_number_word
from coursepkg.projects.translation.errors.surface import (
    MARK,
    contains,
    find_phrase,
    folded,
    pieces,
    token_spans,
)

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
        source: the sentence that was translated.
        hypothesis: its translation.
        dictionary: known translations.
        target_language: zh, vi or en.
        alignment: of both, words or subword pieces, without special tokens.
        least_probability: of a term's first translation.
        least_weight: of the alignment between a term and a token that is to go.

    Raises:
        ValueError: the target tokens of the alignment do not spell the hypothesis.
    """
    missing = [term for term in dictionary.found_in(source) if _is_missing(term, hypothesis, dictionary)]
    missing = [
        t for t in missing if dictionary.probability(t, dictionary.translations(t)[0]) >= least_probability
    ]
    if not missing:
        return
    strangers = _strangers(source, hypothesis, missing, dictionary, target_language)
    for term in missing:
        word = dictionary.translations(term)[0]
        place, weight = (None, 0.0) if alignment is None else _aligned(term, hypothesis, strangers, alignment)
        if place is not None and weight >= least_weight:
            yield Replacement(place, word, f"aligned with {term} by {weight:.2f}")
        elif len(missing) == len(strangers) == 1:
            yield Replacement(strangers[0], word, f"nothing else translates {term}")


def _is_missing(term: str, hypothesis: str, dictionary: Dictionary) -> bool:
    """Whether no translation of a term is there, not even inside a longer word (bảo_tàng in viện_bảo_tàng)."""
    said = f" {' '.join(folded(hypothesis))} "
    return not any(f" {' '.join(folded(target))} " in said for target in dictionary.translations(term))


def _strangers(
    source: str, hypothesis: str, missing: Tokens, dictionary: Dictionary, target_language: str
) -> list[Place]:
    """Words of the output that translate something else, and share no syllable with what is missing."""
    wanted = _syllables(missing, dictionary)
    places = pieces(hypothesis)
    found = []
    for text in dictionary.inverse.found_in(hypothesis):
        origins = dictionary.inverse.translations(text)
        is_number = all(is_number_word(part, target_language) for part in folded(text))
        is_akin = bool(wanted & _syllables(origins, dictionary))
        if not is_number and not is_akin and not any(contains(source, word) for word in origins):
            first, stop = find_phrase(hypothesis, text)[0]
            found.append((places[first].start, places[stop - 1].stop))
    return found


def _syllables(terms: Sequence[str], dictionary: Dictionary) -> set[str]:
    """Every syllable of every translation of some words."""
    return {part for term in terms for target in dictionary.translations(term) for part in folded(target)}


def _aligned(
    term: str, hypothesis: str, strangers: Sequence[Place], alignment: Alignment
) -> tuple[Place | None, float]:
    """The stranger that holds the target token with the largest weight of a term, and that weight."""
    spans = token_spans(hypothesis, alignment.target)
    weights = alignment.weights[:, _columns(term, alignment.source)].sum(axis=1)
    best = spans[int(weights.argmax())] if weights.size else None
    holds = [place for place in strangers if best and place[0] <= best[0] and best[1] <= place[1]]
    return (holds[0] if holds else None), float(weights.max(initial=0.0))


def _columns(term: str, tokens: Tokens) -> list[int]:
    """The source tokens that a term stands in."""
    owners = [(text, i) for i, token in enumerate(tokens) for text in folded(token.replace(MARK, " "))]
    wanted = folded(term)
    for first in range(len(owners) - len(wanted) + 1):
        part = owners[first : first + len(wanted)]
        if [text for text, _ in part] == wanted:
            return sorted({i for _, i in part})
    return []
