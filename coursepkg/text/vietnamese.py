"""The letters of Vietnamese and their two spellings in Unicode.

A vowel carries at most one vowel mark (ă â ê ô ơ ư) and at most one tone mark. Unicode writes the whole letter as one
code point (NFC) or as the plain letter followed by its marks (NFD): the same picture, other bytes, another word to a
program. Everything in this package works on NFC.

Source: Unicode Standard Annex 15, "Unicode Normalization Forms".
"""

import re
import unicodedata
from itertools import product

VOWELS = "aăâeêioôơuưy"
"""The 12 vowels without a tone."""
TONE_MARKS = {
    "ngang": "",
    "huyền": "\u0300",
    "hỏi": "\u0309",
    "ngã": "\u0303",
    "sắc": "\u0301",
    "nặng": "\u0323",
}
"""The six tones, in the order of Vietnamese dictionaries, and the combining mark that writes each: level (none),
falling (grave), dipping (hook above), creaky rising (tilde), rising (acute), heavy (dot below)."""

TONES = {
    unicodedata.normalize("NFC", vowel + mark): (vowel, tone)
    for vowel, (tone, mark) in product(VOWELS + VOWELS.upper(), TONE_MARKS.items())
}
"""Every vowel with its tone, in both cases (144), as the vowel without a tone and the tone: ấ -> (â, sắc)."""
ACCENTED = "".join(vowel for vowel in TONES if vowel.islower() and vowel not in "aeiouy") + "đ"
"""The 67 lower-case letters that ASCII lacks: 12 vowels with 6 tones each, without the 6 plain ones, and đ."""
LETTERS = "abcdefghijklmnopqrstuvwxyz" + ACCENTED
LETTERS += LETTERS.upper()
"""All 186 letters in both cases: the 67 accented ones and the 26 of ASCII (f, j, w, z occur in foreign names)."""

_VOWEL_MARKS = {"a": "\u0302\u0306", "e": "\u0302", "i": "", "o": "\u0302\u031b", "u": "\u031b", "y": ""}
_LEFT_OVER = re.compile("[\u0300-\u036f]")
_MARKED_VOWEL = re.compile("([aeiouy])([\u0300-\u036f]{2,})", re.IGNORECASE)


def unicode_form(text: str) -> str:
    r"""The Unicode form of a text: `NFC`, `NFD`, `either` (nothing in it has two forms) or `mixed` (neither).

    Example:
        >>> unicode_form("hòa"), unicode_form("ho\u0300a"), unicode_form("hoa")
        ('NFC', 'NFD', 'either')
    """
    is_nfc, is_nfd = (unicodedata.is_normalized(form, text) for form in ("NFC", "NFD"))
    return {(True, True): "either", (True, False): "NFC", (False, True): "NFD"}.get((is_nfc, is_nfd), "mixed")


def compose(text: str) -> str:
    """The text in NFC, with the marks of a Vietnamese vowel in any order.

    NFC alone composes `a + circumflex + acute` to ấ but leaves `a + acute + circumflex` in two pieces, since both
    marks stand above the letter and their order counts. For a vowel that Vietnamese has there is one reading only,
    so it is composed as well. Other marks stay as NFC has them.
    """
    composed = unicodedata.normalize("NFC", text)
    if not _LEFT_OVER.search(composed):
        return composed
    ordered = _MARKED_VOWEL.sub(_vowel_mark_first, unicodedata.normalize("NFD", composed))
    return unicodedata.normalize("NFC", ordered)


def without_marks(text: str) -> str:
    """The text in plain letters, as machines without Vietnamese write it.

    Example:
        >>> without_marks("Cảm ơn Đức")
        'Cam on Duc'
    """
    bare = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    return bare.replace("đ", "d").replace("Đ", "D")


def _vowel_mark_first(found: re.Match[str]) -> str:
    letter, marks = found.groups()
    vowel_marks = [mark for mark in marks if mark in _VOWEL_MARKS[letter.lower()]]
    tone_marks = [mark for mark in marks if mark in TONE_MARKS.values()]
    if len(marks) == 2 and len(vowel_marks) == len(tone_marks) == 1:
        return f"{letter}{vowel_marks[0]}{tone_marks[0]}"
    return found[0]
