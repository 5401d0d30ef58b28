"""One language of a parallel text: near duplicates, Unicode form, characters outside the alphabet."""

import string
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from coursepkg.data.audit_duplicates import near_duplicates, tokens
from coursepkg.text.alphabet import find_unknown
from coursepkg.text.chinese import is_han
from coursepkg.text.vietnamese import LETTERS, unicode_form

_TYPOGRAPHY = "“”‘’«»…–—°%€£₫¥×½"
WRITTEN = {
    "vi": LETTERS + string.digits + string.punctuation + " " + _TYPOGRAPHY,
    "en": string.ascii_letters + string.digits + string.punctuation + " " + _TYPOGRAPHY + "éèêçñöüàâîïôû",
    "zh": string.ascii_letters
    + string.digits
    + string.punctuation
    + " "
    + _TYPOGRAPHY
    + "，。？！：；、（）《》〈〉「」『』【】·～￥",
}
"""Characters that are expected in a language; in Chinese every Han character is as well."""


@dataclass(frozen=True)
class Unknown:
    """A character outside the alphabet."""

    character: str
    count: int
    part: str
    file: str
    line: int
    """Where it stands first."""


@dataclass(frozen=True)
class Side:
    """One language of the text."""

    language: str
    n_sentences: int
    """Different sentences, by their tokens, that are long enough to have near duplicates."""
    n_near: int
    """Those that differ from another in one token."""
    near_across: dict[str, int]
    """For each part the sentences that differ in one token from one of another part."""
    forms: dict[str, int]
    """Rows in each Unicode form."""
    unknown: tuple[Unknown, ...]
    """Characters outside the alphabet, most frequent first."""


def look_at(
    texts: Mapping[str, Sequence[str]],
    language: str,
    alphabet: Collection[str] | None,
    least: int,
    places: Mapping[str, Sequence[tuple[str, int]]],
) -> Side:
    """Look at the lines of one language.

    Args:
        texts: for each part its lines.
        language: of the lines.
        alphabet: characters that are expected; None checks none.
        least: shortest sentence that is compared with others, in tokens.
        places: for each part file and line of its lines.
    """
    owners: dict[tuple[str, ...], set[str]] = {}
    for part, lines in texts.items():
        for line in lines:
            owners.setdefault(tokens(line, language), set()).add(part)
    sentences = list(owners)
    groups = near_duplicates(sentences, least=least)
    across: Counter[str] = Counter(dict.fromkeys(texts, 0))
    for part in texts:
        inside = {
            i
            for group in groups
            for i in group
            if part in owners[sentences[i]] and any(owners[sentences[j]] - {part} for j in group if j != i)
        }
        across[part] = len(inside)
    return Side(
        language,
        sum(len(sentence) >= least for sentence in sentences),
        len({i for group in groups for i in group}),
        dict(across),
        dict(Counter(unicode_form(line) for lines in texts.values() for line in lines)),
        _unknown(texts, language, alphabet, places) if alphabet is not None else (),
    )


def _unknown(
    texts: Mapping[str, Sequence[str]],
    language: str,
    alphabet: Collection[str],
    places: Mapping[str, Sequence[tuple[str, int]]],
) -> tuple[Unknown, ...]:
    lines = [line for own in texts.values() for line in own]
    where = [(part, *place) for part in texts for place in places[part]]
    known = set(alphabet)
    if language == "zh":
        known |= {sign for sign in set().union(*map(set, lines)) if is_han(sign)}
    # A byte that is not UTF-8 is named as such.
    found = [one for one in find_unknown(lines, known) if not "\ud800" <= one.character <= "\udfff"]
    ordered = sorted(found, key=lambda one: -one.count)
    return tuple(Unknown(one.character, one.count, *where[one.line - 1]) for one in ordered)
