"""Check that a text has known characters only, and say readably what is wrong where it has others."""

import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from coursepkg.text.cleaning import ETHS, INVISIBLE, SPACES, clean
from coursepkg.text.vietnamese import compose

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
            f"line {self.line}, column {self.column}: unknown character {_name(self.character)} "
            f"in {self.around!r}; {self.advice}"
        )


def find_unknown(lines: Iterable[str], alphabet: Collection[str]) -> list[UnknownCharacter]:
    """Every character of some lines that an alphabet lacks, in the order in which they occur first.

    Args:
        lines: lines of text, without their line ends.
        alphabet: the known characters.

    Raises:
        ValueError: the lines are one string.
    """
    if isinstance(lines, str):
        raise ValueError(f"lines must be a list of lines, got the string {lines[:40]!r}; put it into a list")
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


def check_alphabet(lines: Iterable[str], alphabet: Collection[str], *, name: str = "text") -> None:
    """Stop at text that has characters outside an alphabet.

    Args:
        lines: lines of text, without their line ends.
        alphabet: the known characters.
        name: what the lines are, a file's name for instance, for the message.

    Raises:
        ValueError: names the first unknown character, its code point, its Unicode name, its place, the text around
            it and what to do, and then the others.
    """
    found = find_unknown(lines, alphabet)
    if found:
        others = ", ".join(f"{_short(one.character)} x {one.count}" for one in found[1:6])
        rest = f" (also unknown: {others}{', ...' if len(found) > 6 else ''})" if others else ""
        raise ValueError(f"{name}, {found[0]}{rest}")


def _positions(lines: Iterable[str], known: frozenset[str]) -> Iterator[tuple[int, int, str]]:
    for number, line in enumerate(lines, start=1):
        if not known.issuperset(line):
            yield from ((number, i, line) for i, character in enumerate(line) if character not in known)


def _advice(character: str, line: str, known: frozenset[str]) -> str:
    if known.issuperset(compose(line)) or (unicodedata.combining(character) and compose(line) != line):
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
