"""Characters that look like others: what Vietnamese text gets from keyboards, web pages and word processors.

`clean` replaces what has one reading and counts it. What has several readings stays, and the check of the alphabet
(`coursepkg.text.alphabet`) reports it: zero-width joiners (emoji need them), Cyrillic and Greek letters, pinyin vowels
such as ǎ, a mark that stands on a space.
"""

import re
import unicodedata
from collections import Counter
from typing import NamedTuple

from coursepkg.text.chinese import FULL_WIDTH
from coursepkg.text.tones import tone_place
from coursepkg.text.vietnamese import TONES, compose

SPACES = "\u00a0\u2007\u202f\u3000"
"""No-break space, figure space, narrow no-break space, ideographic space."""
INVISIBLE = "\u00ad\u200b\u2060\ufeff"
"""Soft hyphen, zero-width space, word joiner, byte order mark: they have no width and no meaning in a sentence."""
ETHS = {"ð": "đ", "Ð": "Đ", "Ɖ": "Đ"}
"""Icelandic eth in both cases and African D, which are drawn as đ or Đ in many fonts."""

_FULL_WIDTH = {code: ascii_code for code, ascii_code in FULL_WIDTH.items() if code != 0xFF3F}
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
    - full-width ASCII (？, ｎ) -> ASCII. The low line ＿ stays: it stands for a real underscore (see `segmentation`);
    - eth and African D -> đ, Đ in a word that is a Vietnamese syllable then (Ðà) or has no vowel (QÐ). Icelandic and
      Old English words stay.

    Example:
        >>> clean("Ðà Nẵng\u00a0\u200bở đâu？")
        Cleaned(text='Đà Nẵng ở đâu?', changes=Counter({'spaces': 1, 'invisible': 1, 'full-width': 1, 'eth': 1}))
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
    has_vowel = any(unicodedata.normalize("NFD", letter)[0].lower() in "aeiouyæøœ" for letter in word)
    return mapped if tone_place(plain) is not None or not has_vowel else word
