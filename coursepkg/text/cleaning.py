"""Cleaning Vietnamese text: look-alike characters, HTML entities, alphabet check.

`clean` replaces what has one reading and counts it. What has several readings stays,
and `find_unknown` reports it: zero-width joiners (emoji need them), Cyrillic and Greek
letters, pinyin vowels such as ǎ, a mark that stands on a space.

The Moses tokenizer escapes characters that are special to its decoder (`&apos;`,
`&#91;` in IWSLT'15). Text that went through it twice is escaped twice (`&amp;quot;`),
and where it was cut into tokens in between, the entity is in pieces (`&amp; amp ;`).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from html.entities import html5
from typing import NamedTuple

from coursepkg.text.spacing import FULL_WIDTH
from coursepkg.text.vietnamese import TONES, compose, tone_place

_ESCAPED_BY_MOSES = r"amp|quot|apos|lt|gt|#124|#91|#93"
# An entity in pieces is taken for one only where it is one that Moses writes: "R & D ;"
# is none.
_ENTITY = re.compile(
    rf"&(#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);|& ?({_ESCAPED_BY_MOSES}) ?;"
)


class Unescaped(NamedTuple):
    """A text without entities, and what was in it."""

    text: str
    counts: Counter[str]
    """How often each entity was replaced, by its name as it is written in one piece
    (`&quot;`)."""
    unknown: Counter[str]
    """Entities that name no character; they stay in the text."""


def unescape(text: str) -> Unescaped:
    """Replace entities by their characters, again and again until none is left.

    Only entities that end in a semicolon count, so that `AT&T` and `?a=1&copy=2` stay.
    A text about HTML that means to show `&lt;` loses it, since the escape of an escape
    cannot be told from text that was escaped twice.

    Example:
        >>> unescape("Head &amp;amp; Shoulders &apos;s").text
        "Head & Shoulders 's"
    """
    counts: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    if "&" not in text:  # as in nearly every line
        return Unescaped(text, counts, unknown)

    def character(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        meant = _character(name)
        if meant is None:
            unknown[f"&{name};"] += 1
            return found[0]
        counts[f"&{name};"] += 1
        return meant

    before = ""
    while before != text:
        before = text
        unknown.clear()
        text = _ENTITY.sub(character, text)
    return Unescaped(text, counts, unknown)


def _character(name: str) -> str | None:
    """The character of an entity; None for unknown names and invalid numbers."""
    if not name.startswith("#"):
        return html5.get(f"{name};")
    number = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    is_character = 0x20 <= number <= 0x10FFFF and not (
        0x7F <= number <= 0x9F or 0xD800 <= number <= 0xDFFF
    )
    if number in (0x9, 0xA, 0xD):
        return " "  # a sentence stays on its line
    return chr(number) if is_character else None


SPACES = "\u00a0\u2007\u202f\u3000"
"""No-break space, figure space, narrow no-break space, ideographic space."""
INVISIBLE = "\u00ad\u200b\u2060\ufeff"
"""Soft hyphen, zero-width space, word joiner, byte order mark: they have no width and
no meaning in a sentence."""
ETHS = {"ð": "đ", "Ð": "Đ", "Ɖ": "Đ"}
"""Icelandic eth in both cases and African D, which are drawn as đ or Đ in many
fonts."""

_FULL_WIDTH = {
    code: ascii_code for code, ascii_code in FULL_WIDTH.items() if code != 0xFF3F
}
_WORD = re.compile(r"[^\W\d_]+")


class Cleaned(NamedTuple):
    """A text and what was changed to get it."""

    text: str
    changes: Counter[str]
    """How many characters were replaced, for each kind."""


def clean(text: str) -> Cleaned:
    r"""Replace what is written with the wrong character and has one reading.

    - characters that are not in NFC, and vowels whose marks stand in the wrong order;
    - unusual spaces -> a space; invisible characters -> nothing;
    - full-width ASCII (？, ｎ) -> ASCII. The low line ＿ stays: it stands for a real
      underscore (see `segmentation`);
    - eth and African D -> đ, Đ in a word that is a Vietnamese syllable then (Ðà) or has
      no vowel (QÐ). Icelandic and Old English words stay.

    Example:
        >>> clean("Ðà Nẵng\u00a0\u200bở đâu？")
        Cleaned(text='Đà Nẵng ở đâu?', changes=Counter({'spaces': 1, 'invisible': 1,
        'full-width': 1, 'eth': 1}))
    """
    changes: Counter[str] = Counter()
    text, changes["spaces"] = re.subn(f"[{SPACES}]", " ", text)
    text, changes["invisible"] = re.subn(f"[{INVISIBLE}]", "", text)
    changes["full-width"] = sum(ord(character) in _FULL_WIDTH for character in text)
    text = text.translate(_FULL_WIDTH)
    changes["marks"] = _count_recomposed(text)
    text = _WORD.sub(lambda found: _replace_eths(found[0]), before := compose(text))
    changes["eth"] = sum(a != b for a, b in zip(before, text, strict=True))
    return Cleaned(text, +changes)


def _count_recomposed(text: str) -> int:
    """Letters (with their marks) that `compose` changes."""
    letters = re.findall("[^\u0300-\u036f][\u0300-\u036f]*", text)
    return sum(compose(letter) != letter for letter in letters)


def _replace_eths(word: str) -> str:
    if not any(letter in ETHS for letter in word):
        return word
    mapped = "".join(ETHS.get(letter, letter) for letter in word)
    plain = "".join(TONES.get(letter, (letter, ""))[0] for letter in mapped)
    has_vowel = any(
        unicodedata.normalize("NFD", letter)[0].lower() in "aeiouyæøœ"
        for letter in word
    )
    return mapped if tone_place(plain) is not None or not has_vowel else word


_AROUND = 12


@dataclass(frozen=True)
class UnknownCharacter:
    """A character that the alphabet lacks, where it occurs first."""

    character: str
    line: int
    """Number of the line, from 1."""
    column: int
    """Number of the character in the line, from 1."""
    around: str
    """The text around it."""
    advice: str
    """What to do about it."""
    count: int
    """How often it occurs in all lines."""

    def __str__(self) -> str:
        return (
            f"line {self.line}, column {self.column}: unknown character"
            f" {_name(self.character)} in {self.around!r}; {self.advice}"
        )


def find_unknown(
    lines: Iterable[str], alphabet: Collection[str]
) -> list[UnknownCharacter]:
    """The characters of some lines that an alphabet lacks, in order of appearance.

    Raises:
        ValueError: the lines are one string.
    """
    if isinstance(lines, str):
        raise ValueError(
            f"lines must be a list of lines, got the string {lines[:40]!r}; put it into"
            " a list"
        )
    known = frozenset(alphabet)
    first: dict[str, tuple[int, int, str]] = {}
    counts: dict[str, int] = {}
    for number, column, line in _positions(lines, known):
        character = line[column]
        first.setdefault(character, (number, column, line))
        counts[character] = counts.get(character, 0) + 1
    return [
        UnknownCharacter(
            character,
            number,
            column + 1,
            line[max(0, column - _AROUND) : column + _AROUND + 1],
            _advice(character, line, known),
            counts[character],
        )
        for character, (number, column, line) in first.items()
    ]


def check_alphabet(
    lines: Iterable[str], alphabet: Collection[str], *, name: str = "text"
) -> None:
    """Stop at text that has characters outside an alphabet.

    Raises:
        ValueError: names the first unknown character, its code point, its Unicode name,
            its place, the text around it and what to do, and then the others.
    """
    found = find_unknown(lines, alphabet)
    if found:
        others = ", ".join(
            f"{_short(one.character)} x {one.count}" for one in found[1:6]
        )
        rest = (
            f" (also unknown: {others}{', ...' if len(found) > 6 else ''})"
            if others
            else ""
        )
        raise ValueError(f"{name}, {found[0]}{rest}")


def _positions(
    lines: Iterable[str], known: frozenset[str]
) -> Iterator[tuple[int, int, str]]:
    for number, line in enumerate(lines, start=1):
        if not known.issuperset(line):
            yield from (
                (number, i, line)
                for i, character in enumerate(line)
                if character not in known
            )


def _advice(character: str, line: str, known: frozenset[str]) -> str:
    if known.issuperset(compose(line)) or (
        unicodedata.combining(character) and compose(line) != line
    ):
        return "the text is not in NFC: call compose() on it"
    if character in SPACES + INVISIBLE or character not in clean(line).text:
        return "call clean() on the text"
    if unicodedata.combining(character):
        return "the mark belongs to no letter: correct the text"
    if character in ETHS:
        return f"it looks like {_name(ETHS[character])}: correct the text"
    return "correct the text or add the character to the alphabet"


def _name(character: str) -> str:
    name = unicodedata.name(character, f"category {unicodedata.category(character)}")
    return f"{_short(character)} (U+{ord(character):04X} {name})"


def _short(character: str) -> str:
    """The character in quotes; as an escape where it would not be seen."""
    return ascii(character) if unicodedata.combining(character) else repr(character)
