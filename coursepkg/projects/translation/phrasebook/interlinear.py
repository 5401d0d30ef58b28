"""The interlinear notation: one sentence in three languages with its word alignment.

A side is words separated by spaces. ``word/1`` carries mark 1; words with a mark in
common, in different languages, are aligned; ``word/1,2`` carries two marks; a word
without a mark is aligned to nothing::

    zh  我/1 想/2 喝/3 {x}
    en  I/1 want/2 to drink/3 {x}
    vi  Tôi/1 muốn/2 uống/3 {x}

``{x}`` puts in the phrase that fills slot ``x``, ``{x.one}`` its form ``one`` ("a cup
of coffee"). In English ``{be@who}`` and ``{want@who}`` are verbs that agree with slot
``who``, and ``{act@who}`` is a slot that does. English is inflected here, too.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

IRREGULAR_PLURALS = {
    "child": "children",
    "person": "people",
    "knife": "knives",
    "scarf": "scarves",
    "fish": "fish",
    "bus": "buses",
}

_VERBS = """
be was been, become became become, bring brought brought, buy bought bought,
come came come, do did done, draw drew drawn, drink drank drunk, drive drove driven,
eat ate eaten, feed fed fed, find found found, forget forgot forgotten,
get got gotten, give gave given, go went gone, have had had, leave left left,
lend lent lent, lose lost lost, make made made, meet met met, pay paid paid,
read read read, ride rode ridden, run ran run, see saw seen, sell sold sold,
send sent sent, sing sang sung, sleep slept slept, speak spoke spoken,
swim swam swum, take took taken, teach taught taught, wear wore worn,
write wrote written
"""
IRREGULAR_VERBS = {
    base: (past, participle)
    for base, past, participle in map(str.split, _VERBS.split(","))
}

DOUBLED = {"run", "swim", "get", "shop", "chat", "jog", "stop", "plan", "put", "sit"}

# Forms by person: first singular, third singular, every other person.
AGREEING = {
    "be": ("am", "is", "are"),
    "was": ("was", "was", "were"),
    "isn't": ("am not", "isn't", "aren't"),
    "do": ("do", "does", "do"),
    "don't": ("don't", "doesn't", "don't"),
    "have": ("have", "has", "have"),
    "haven't": ("haven't", "hasn't", "haven't"),
}


def agree(verb: str, person: str) -> str:
    """The present of a verb for 1s, 3s or p: ``agree("be", "1s") == "am"``."""
    if verb not in AGREEING:
        return third_person(verb) if person == "3s" else verb
    first, third, other = AGREEING[verb]
    return {"1s": first, "3s": third}.get(person, other)


def plural(noun: str) -> str:
    """Plural of a noun phrase; its last word is the one that changes."""
    *rest, head = noun.split(" ")
    if head in IRREGULAR_PLURALS:
        head = IRREGULAR_PLURALS[head]
    elif head.endswith(("s", "x", "ch", "sh")) or head in {"mango", "potato", "tomato"}:
        head += "es"
    elif head.endswith("y") and head[-2] not in "aeiou":
        head = head[:-1] + "ies"
    else:
        head += "s"
    return " ".join([*rest, head])


def third_person(verb: str) -> str:
    """Third person singular present: ``go -> goes``, ``study -> studies``."""
    irregular = {"have": "has", "be": "is", "do": "does", "go": "goes"}
    return irregular.get(verb) or plural(verb)


def past(verb: str) -> str:
    """Simple past."""
    return IRREGULAR_VERBS[verb][0] if verb in IRREGULAR_VERBS else _with_ed(verb)


def participle(verb: str) -> str:
    """Past participle."""
    return IRREGULAR_VERBS[verb][1] if verb in IRREGULAR_VERBS else _with_ed(verb)


def progressive(verb: str) -> str:
    """The ``-ing`` form."""
    if verb in DOUBLED:
        return verb + verb[-1] + "ing"
    if verb.endswith("e") and not verb.endswith("ee") and verb != "be":
        return verb[:-1] + "ing"
    return verb + "ing"


def article(next_word: str) -> str:
    """``a`` or ``an`` before a word, by its sound."""
    silent_h, spoken_y_or_w = ("hour", "honest"), ("uni", "use", "eu", "one")
    word = next_word.lower()
    if word.startswith(silent_h):
        return "an"
    return "an" if word[0] in "aeiou" and not word.startswith(spoken_y_or_w) else "a"


def _with_ed(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + verb[-1] + "ed" if verb in DOUBLED else verb + "ed"


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
        """Wording in a language; a form that it does not have is its plain one."""
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
    """The words of one side of a template with its slots filled in."""
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
def _placed(
    filler: Phrase, language: str, view: str | None, slot: str, more: tuple[str, ...]
) -> Words:
    """A form whose marks begin with the slot's name: they stay apart from others."""
    words = filler.form(language, view)
    return tuple(
        Word(text, (*more, *(f"{slot}.{mark}" for mark in marks)))
        for text, marks in words
    )


def phrase(
    concept: str,
    sides: Mapping[str, str],
    slots: Mapping[str, Phrase] | None = None,
    *,
    person: str = "3s",
    tags: frozenset[str] = frozenset(),
) -> Phrase:
    """Builds a phrase from its sides; a side without marks is aligned as a whole."""
    if slots is None:
        sides = {
            key: side if "/" in side else mark_words(side)
            for key, side in sides.items()
        }
    forms = {
        key: wording(side, key.partition(".")[0], slots or {})
        for key, side in sides.items()
    }
    return Phrase(concept, forms, person, tags)


def mark_words(words: str, mark: str = "0") -> str:
    """The words with one mark on each."""
    return " ".join(f"{word}/{mark}" for word in words.split())


def finish(words: Words, language: str) -> Words:
    """A wording as a sentence: end mark, English articles by sound, a capital."""
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
