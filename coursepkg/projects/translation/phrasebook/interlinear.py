"""The interlinear notation: one sentence in three languages, with its word alignment in it.

A side is words separated by spaces. ``word/1`` carries mark 1; words with a mark in common, in different
languages, are aligned; ``word/1,2`` carries two marks; a word without a mark is aligned to nothing::

    zh  我/1 想/2 喝/3 {x}
    en  I/1 want/2 to drink/3 {x}
    vi  Tôi/1 muốn/2 uống/3 {x}

``{x}`` puts in the phrase that fills slot ``x``, ``{x.one}`` its form ``one`` ("a cup of coffee"). In English
``{be@who}`` and ``{want@who}`` are verbs that agree with slot ``who``, and ``{act@who}`` is a slot that does.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from coursepkg.projects.translation.phrasebook.english import agree, article

LANGUAGES = ("zh", "en", "vi")
END_MARKS = frozenset(".?!。？！")

_SLOT = re.compile(r"\{(?P<name>[^.@}]+)(?:\.(?P<view>\w+))?(?:@(?P<subject>\w+))?\}")


class Word(NamedTuple):
    """One token and the marks that align it."""

    text: str
    marks: tuple[str, ...] = ()


Words = tuple[Word, ...]


@dataclass(frozen=True, eq=False)
class Phrase:
    """A meaning with its wording in each language and in each grammatical form."""

    concept: str
    """Name of the meaning, in English."""
    forms: Mapping[str, Words]
    """Keys: a language (``"zh"``) or a language and a form (``"en.past"``)."""
    person: str = "3s"
    """English agreement as a subject: ``1s``, ``3s`` or ``p``."""
    tags: frozenset[str] = field(default_factory=frozenset)
    """What it is, for the selection restrictions."""

    def form(self, language: str, view: str | None) -> Words:
        """Wording in a language; a form this language does not distinguish is its plain one."""
        plain = self.forms[language]
        return self.forms.get(f"{language}.{view}", plain) if view else plain


class _Piece(NamedTuple):
    word: Word
    slot: str = ""
    view: str | None = None
    subject: str = ""


@cache
def _parse(side: str) -> tuple[_Piece, ...]:
    pieces = []
    for item in side.split():
        text, _, marks = item.partition("/")
        found = _SLOT.fullmatch(text)
        word = Word(text, tuple(marks.split(",")) if marks else ())
        slot = (found["name"], found["view"], found["subject"] or "") if found else ()
        pieces.append(_Piece(word, *slot))
    return tuple(pieces)


def wording(side: str, language: str, slots: Mapping[str, Phrase]) -> Words:
    """The words of one side of a template with its slots filled in; marks of a slot stay its own."""
    words: list[Word] = []
    for word, slot, view, subject in _parse(side):
        if not slot:
            words.append(word)
        elif slot not in slots:
            agreeing = agree(slot, slots[subject].person)
            words.extend(Word(text, word.marks) for text in agreeing.split())
        elif subject and slots[subject].person == "3s":
            words.extend(_placed(slots[slot], language, "third", slot, word.marks))
        else:
            words.extend(_placed(slots[slot], language, view, slot, word.marks))
    return tuple(words)


@cache
def _placed(filler: Phrase, language: str, view: str | None, slot: str, more: tuple[str, ...]) -> Words:
    """A form with the slot's name before its marks, so that they stay apart from those of other slots."""
    words = filler.form(language, view)
    return tuple(Word(text, (*more, *(f"{slot}.{mark}" for mark in marks))) for text, marks in words)


def phrase(
    concept: str,
    sides: Mapping[str, str],
    slots: Mapping[str, Phrase] | None = None,
    *,
    person: str = "3s",
    tags: frozenset[str] = frozenset(),
) -> Phrase:
    """Builds a phrase from its sides; a side with no mark at all is aligned as a whole, by mark 0."""
    if slots is None:
        sides = {key: side if "/" in side else _whole(side) for key, side in sides.items()}
    forms = {key: wording(side, key.partition(".")[0], slots or {}) for key, side in sides.items()}
    return Phrase(concept, forms, person, tags)


def _whole(side: str) -> str:
    return " ".join(f"{word}/0" for word in side.split())


def finish(words: Words, language: str) -> Words:
    """A wording as a sentence: end marked, English articles by sound, a capital first letter but in Chinese."""
    finished = list(words)
    if finished[-1].text in END_MARKS:
        finished[-1] = Word(finished[-1].text, ("end",))
    if language == "zh":
        return tuple(finished)
    if language == "en":
        for i, word in enumerate(finished[:-1]):
            if word.text == "a":
                finished[i] = Word(article(finished[i + 1].text), word.marks)
    text, marks = finished[0]
    finished[0] = Word(text[0].upper() + text[1:], marks)
    return tuple(finished)
