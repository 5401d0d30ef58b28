"""Sentences that nothing may be made from: those of the dev and test parts of all corpora."""

from collections.abc import Iterator

from coursepkg.projects.translation.corpora import CORPORA, Parts, load_parts
from coursepkg.projects.translation.corpus import pair_keys

LANGUAGES_OF = {"zh-vi": ("zh", "vi"), "en-vi": ("en", "vi")}
"""Of the corpora that have two languages only; the phrasebook has all."""


def held_out_keys(source: str, target: str) -> set[str]:
    """Keys (see `sentence_key`) of every sentence of dev and test, in the corpora that have one of the languages.

    A corpus that is missing has no sentences to hold out, its stand-in does.

    Args:
        source: a language.
        target: another one.
    """
    return {
        key
        for parts in _corpora_with(source, target)
        for pair in (*parts.dev, *parts.test)
        for key in pair_keys(pair, parts.source, parts.target)
    }


def languages_in(corpus: str, source: str, target: str) -> tuple[str, str]:
    """The languages to read a corpus in: its own two, or the two that are asked for."""
    return LANGUAGES_OF.get(corpus, (source, target))


def _corpora_with(source: str, target: str) -> Iterator[Parts]:
    read = set()
    for corpus in CORPORA:
        languages = languages_in(corpus, source, target)
        if {source, target}.isdisjoint(languages):
            continue
        parts = load_parts(corpus, *languages)
        if (parts.corpus, parts.source, parts.target) not in read:
            read.add((parts.corpus, parts.source, parts.target))
            yield parts
