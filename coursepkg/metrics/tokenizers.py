"""How a sentence is cut into the tokens that BLEU, ROUGE and METEOR count.

    none    at whitespace: what the text has is what is counted
    13a     Western punctuation set apart, as NIST's mteval-v13a does; the default of SacreBLEU
    zh      every Chinese character a token, the rest as 13a does
    char    every character a token, spaces dropped
    rouge   lower-cased runs of a-z and 0-9, all else dropped: made for English, it breaks every other language

The first four give the tokens of SacreBLEU (Post, arXiv 1804.08771), the last one those of the rouge-score
package. A score is comparable only with one of the same tokenizer, so its name stands in the signature.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from coursepkg.metrics.corpus import check_choice

_PUNCTUATION = (
    # every ASCII sign but the apostrophe, the comma, the full stop and the hyphen
    (re.compile(r"([{-~\[-` -&(-+:-@/])"), r" \1 "),
    # a full stop or comma that no digit precedes; one that no digit follows; a hyphen behind a digit
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)

_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))

# SacreBLEU writes the ideographs beyond U+FFFF as '\u20000'-'\u2a6d6'. Python reads that as a character and
# a digit, so that its range is U+2001 to U+2A6D: general punctuation and symbols are split off, Extension B is not.
# Equal scores need the same range.
_ZH_RANGES = (
    (0x2001, 0x2A6D),
    (0x2E80, 0x2FDF),  # radicals
    (0x2FF0, 0x303F),  # structure and punctuation
    (0x3100, 0x312F),  # phonetic signs
    (0x31A0, 0x31BF),
    (0x31C0, 0x31EF),  # strokes
    (0x3200, 0x33FF),  # enclosed and squared signs
    (0x3400, 0x4DB5),  # ideographs, Extension A
    (0x4E00, 0x9FBB),  # ideographs
    (0xF900, 0xFA2D),  # compatibility ideographs
    (0xFA30, 0xFA6A),
    (0xFA70, 0xFAD9),
    (0xFE10, 0xFE1F),
    (0xFE30, 0xFE4F),
    (0xFF00, 0xFFEF),  # full-width forms
)
_ZH_CHARACTER = re.compile("([" + "".join(f"{chr(low)}-{chr(high)}" for low, high in _ZH_RANGES) + "])")


def split_none(line: str) -> list[str]:
    """At whitespace."""
    return line.split()


def split_13a(line: str) -> list[str]:
    """As mteval-v13a: punctuation apart, but not inside of numbers such as 3.14 and 1,000."""
    line = line.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, sign in _ENTITIES:
        line = line.replace(entity, sign)
    return _split_punctuation(f" {line} ")


def split_zh(line: str) -> list[str]:
    """Every Chinese character apart, then punctuation as 13a does."""
    return _split_punctuation(_ZH_CHARACTER.sub(r" \1 ", line.strip()))


def split_char(line: str) -> list[str]:
    """Every character that is not whitespace."""
    return [character for character in line if not character.isspace()]


def split_rouge(line: str) -> list[str]:
    """Lower-cased runs of the 26 letters and ten digits."""
    return re.findall(r"[a-z0-9]+", line.lower())


TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    "none": split_none,
    "13a": split_13a,
    "zh": split_zh,
    "char": split_char,
    "rouge": split_rouge,
}
"""The function behind each name."""


def tokenize(line: str, name: str = "13a") -> tuple[str, ...]:
    """The tokens of a line.

    Example:
        >>> tokenize("It cost $3.50, really.")
        ('It', 'cost', '$', '3.50', ',', 'really', '.')

    Raises:
        ValueError: no tokenizer has that name.
    """
    check_tokenizer(name)
    return _tokenize(line.rstrip(), name)


def check_tokenizer(name: str) -> None:
    """Raise a ValueError unless a tokenizer has that name."""
    check_choice("tokenize", name, tuple(TOKENIZERS))


@lru_cache(maxsize=2**14)
def _tokenize(line: str, name: str) -> tuple[str, ...]:
    # Systems are compared on one set of references, and references repeat.
    return tuple(TOKENIZERS[name](line))


def _split_punctuation(line: str) -> list[str]:
    for pattern, replacement in _PUNCTUATION:
        line = pattern.sub(replacement, line)
    return line.split()
