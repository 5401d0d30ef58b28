"""HTML entities in text: `&apos;` for ', `&#91;` for [, as in the tokenised files of IWSLT'15.

The Moses tokenizer escapes characters that are special to its decoder. Text that went through it twice is escaped
twice (`&amp;quot;`), and where it was cut into tokens in between, the entity is in pieces (`&amp; amp ;`).
"""

import re
from collections import Counter
from html.entities import html5
from typing import NamedTuple

_ESCAPED_BY_MOSES = r"amp|quot|apos|lt|gt|#124|#91|#93"
# An entity in pieces is taken for one only where it is one that Moses writes: "R & D ;" is none.
_ENTITY = re.compile(rf"&(#[0-9]+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*);|& ?({_ESCAPED_BY_MOSES}) ?;")


class Unescaped(NamedTuple):
    """A text without entities, and what was in it."""

    text: str
    counts: Counter[str]
    """How often each entity was replaced, by its name as it is written in one piece (`&quot;`)."""
    unknown: Counter[str]
    """Entities that name no character; they stay in the text."""


def unescape(text: str) -> Unescaped:
    """Replace entities by their characters, again and again until none is left.

    Only entities that end in a semicolon count, so that `AT&T` and `?a=1&copy=2` stay. A text about HTML that means
    to show `&lt;` loses it, since the escape of an escape cannot be told from text that was escaped twice.

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
    """What an entity stands for; None for an unknown name and for numbers of no character."""
    if not name.startswith("#"):
        return html5.get(f"{name};")
    number = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    is_character = 0x20 <= number <= 0x10FFFF and not (0x7F <= number <= 0x9F or 0xD800 <= number <= 0xDFFF)
    if number in (0x9, 0xA, 0xD):
        return " "  # a sentence stays on its line
    return chr(number) if is_character else None
