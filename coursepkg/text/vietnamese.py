"""The letters of Vietnamese, their two spellings in Unicode, and the place of tones.

A vowel carries at most one vowel mark (ă â ê ô ơ ư) and at most one tone mark. Unicode
writes the whole letter as one code point (NFC) or as the plain letter followed by its
marks (NFD): the same picture, other bytes. Everything in this package works on NFC.
Source: Unicode Standard Annex 15, "Unicode Normalization Forms".

Both styles put the tone mark on a letter that has a vowel mark (việt, muốn, rượu), on
the last vowel before a final consonant (toàn, huýt), on the middle one of three (ngoài,
khuỷu) and otherwise on the first (của, máy). They differ in open syllables that end in
oa, oe, uy alone: the old style writes hòa, khỏe, thủy, the new style hoà, khoẻ, thuỷ.
The u of qu and the i of gi belong to the consonant: quý, già.
"""

import re
import unicodedata
from collections import Counter
from functools import lru_cache
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
"""The six tones, in the order of Vietnamese dictionaries, and the combining mark that
writes each: level (none), falling (grave), dipping (hook above), creaky rising (tilde),
rising (acute), heavy (dot below)."""

TONES = {
    unicodedata.normalize("NFC", vowel + mark): (vowel, tone)
    for vowel, (tone, mark) in product(VOWELS + VOWELS.upper(), TONE_MARKS.items())
}
"""Every vowel with its tone, in both cases (144), as the vowel without a tone and the
tone: ấ -> (â, sắc)."""
ACCENTED = (
    "".join(vowel for vowel in TONES if vowel.islower() and vowel not in "aeiouy") + "đ"
)
"""The 67 lower-case letters that ASCII lacks: 12 vowels with 6 tones each, without the
6 plain ones, and đ."""
LETTERS = "abcdefghijklmnopqrstuvwxyz" + ACCENTED
LETTERS += LETTERS.upper()
"""All 186 letters in both cases: the 67 accented ones and the 26 of ASCII (f, j, w, z
occur in foreign names)."""

_VOWEL_MARKS = {
    "a": "\u0302\u0306",
    "e": "\u0302",
    "i": "",
    "o": "\u0302\u031b",
    "u": "\u031b",
    "y": "",
}
_LEFT_OVER = re.compile("[\u0300-\u036f]")
_MARKED_VOWEL = re.compile("([aeiouyAEIOUY])([\u0300-\u036f]{2,})")


def unicode_form(text: str) -> str:
    r"""The form of a text: `NFC`, `NFD`, `either` or `mixed` (neither).

    Example:
        >>> unicode_form("hòa"), unicode_form("ho\u0300a"), unicode_form("hoa")
        ('NFC', 'NFD', 'either')
    """
    is_nfc, is_nfd = (unicodedata.is_normalized(form, text) for form in ("NFC", "NFD"))
    return {(True, True): "either", (True, False): "NFC", (False, True): "NFD"}.get(
        (is_nfc, is_nfd), "mixed"
    )


def compose(text: str) -> str:
    """The text in NFC, with the marks of a Vietnamese vowel in any order.

    NFC alone composes `a + circumflex + acute` to ấ but leaves `a + acute + circumflex`
    in two pieces, since both marks stand above the letter and their order counts. For a
    vowel that Vietnamese has there is one reading only, so it is composed as well.
    Other marks stay as NFC has them.
    """
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFC", text)
    if not _LEFT_OVER.search(composed):
        return composed
    ordered = _MARKED_VOWEL.sub(
        _vowel_mark_first, unicodedata.normalize("NFD", composed)
    )
    return unicodedata.normalize("NFC", ordered)


def without_marks(text: str) -> str:
    """The text in plain letters, as machines without Vietnamese write it.

    Example:
        >>> without_marks("Cảm ơn Đức")
        'Cam on Duc'
    """
    bare = "".join(
        c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c)
    )
    return bare.replace("đ", "d").replace("Đ", "D")


def _vowel_mark_first(found: re.Match[str]) -> str:
    letter, marks = found.groups()
    vowel_marks = [mark for mark in marks if mark in _VOWEL_MARKS[letter.lower()]]
    tone_marks = [mark for mark in marks if mark in TONE_MARKS.values()]
    if len(marks) == 2 and len(vowel_marks) == len(tone_marks) == 1:
        return f"{letter}{vowel_marks[0]}{tone_marks[0]}"
    return found[0]


STYLES = ("old", "new")

_SYLLABLE = re.compile(
    f"(qu(?=[{VOWELS}])|gi(?=[{VOWELS}])|ngh|ng|nh|gh|kh|ph|th|tr|ch"
    "|[bcdđghklmnprstvx])?"
    f"([{VOWELS}]+)(ch|ng|nh|[cmnpt])?"
)
_OPEN_RHYMES = frozenset(
    re.findall(
        r"\w+",
        "a ă â e ê i o ô ơ u ư y ai ao au ay âu ây eo êu ia iu oa oe oi ôi ơi ua uê ui"
        " uơ uy ưa ưi ưu iêu yêu oai oao oay oeo uây uêu uôi uya uyu ươi ươu",
    )
)
_CLOSED_RHYMES = frozenset(
    re.findall(r"\w+", "a ă â e ê i iê o oa oă oe oo ô ơ u uâ uê uô uy uyê ư ươ y yê")
)
_TWO_PLACES = ("oa", "oe", "uy")
_MARKED = "ăâêôơư"
_WORD = re.compile(r"[^\W\d_]+")


def split_tone(syllable: str) -> tuple[str, str]:
    """A syllable as its letters without the tone, and the name of the tone.

    Example:
        >>> split_tone("Thủy"), split_tone("toàn"), split_tone("đi")
        (('Thuy', 'hỏi'), ('toan', 'huyền'), ('đi', 'ngang'))

    Raises:
        ValueError: it carries more than one tone mark.
    """
    letters = compose(syllable)
    toned = _toned(letters)
    if len(toned) > 1:
        raise ValueError(
            f"syllable must carry at most one tone mark, got {syllable!r} with"
            f" {len(toned)}"
        )
    for i in toned:
        vowel, tone = TONES[letters[i]]
        return letters[:i] + vowel + letters[i + 1 :], tone
    return letters, "ngang"


def join_tone(letters: str, tone: str, style: str = "new") -> str:
    """The syllable with its tone mark in place: the inverse of `split_tone`.

    Raises:
        ValueError: letters that are to get a mark are no Vietnamese syllable or have
            one, or tone or style are unknown.
    """
    if tone not in TONE_MARKS:
        raise ValueError(f"tone must be one of {', '.join(TONE_MARKS)}, got {tone!r}")
    letters = compose(letters)
    place = tone_place(letters, style)
    if tone == "ngang" and not _toned(letters):
        return letters
    if place is None:
        raise ValueError(
            "letters must be a Vietnamese syllable without a tone mark, got"
            f" {letters!r}"
        )
    return compose(letters[: place + 1] + TONE_MARKS[tone] + letters[place + 1 :])


def tone_place(letters: str, style: str = "new") -> int | None:
    """Index of the letter with the tone mark; None if it is no Vietnamese syllable.

    Raises:
        ValueError: the style is unknown.
    """
    if style not in STYLES:
        raise ValueError(f"style must be one of {', '.join(STYLES)}, got {style!r}")
    found = _SYLLABLE.fullmatch(letters.lower())
    if found is None or len(found[0]) != len(letters):
        return None
    _, rhyme, coda = found.groups()
    if rhyme not in (_CLOSED_RHYMES if coda else _OPEN_RHYMES):
        return None
    return found.start(2) + _place_in_rhyme(rhyme, coda is not None, style)


def place_tones(text: str, style: str) -> str:
    """The text in NFC with the tone marks of its Vietnamese syllables in one style.

    A word that is no Vietnamese syllable stays as it is. Frequent slips (hòan, ngòai,
    qúy, gìa, tíêng) are put right in both styles. A foreign word that is spelled as a
    Vietnamese syllable, such as the name Noé, cannot be told from one.

    Example:
        >>> place_tones("Hòa khỏe, thích thủy tinh và café.", "new")
        'Hoà khoẻ, thích thuỷ tinh và café.'

    Raises:
        ValueError: the style is unknown.
    """
    tone_place("a", style)
    return _WORD.sub(lambda found: _move_tone(found[0], style), compose(text))


def count_tone_styles(text: str) -> Counter[str]:
    """How many syllables are in the `old` and `new` style, where they differ."""
    counts: Counter[str] = Counter(dict.fromkeys(STYLES, 0))
    for word in _WORD.findall(compose(text)):
        old, new = (_move_tone(word, style) for style in STYLES)
        if old != new and word in (old, new):
            counts["old" if word == old else "new"] += 1
    return counts


def _toned(letters: str) -> list[int]:
    return [
        i
        for i, letter in enumerate(letters)
        if TONES.get(letter, ("", "ngang"))[1] != "ngang"
    ]


def _place_in_rhyme(rhyme: str, closed: bool, style: str) -> int:
    marked = [i for i, letter in enumerate(rhyme) if letter in _MARKED]
    if marked:
        return marked[-1]
    if closed:
        return len(rhyme) - 1
    if len(rhyme) == 3 or (style == "new" and rhyme in _TWO_PLACES):
        return 1
    return 0


@lru_cache(maxsize=1 << 16)
def _move_tone(word: str, style: str) -> str:
    """The word with its tone mark moved, where its letters leave no doubt."""
    toned = _toned(word)
    # In giặt gịa the i is the vowel of ia, not a part of gi: the one such syllable.
    if len(toned) != 1 or word.lower() == "gịa":
        return word
    letters, tone = split_tone(word)
    place = tone_place(letters, style)
    if place is None or not _is_slip(letters.lower(), toned[0], place):
        return word
    return join_tone(letters, tone, style)


def _is_slip(letters: str, now: int, wanted: int) -> bool:
    """Whether writers confuse the two places; others (oí, caí) mark a foreign word."""
    first, last = sorted((now, wanted))
    on_consonant = now == 1 and letters[:2] in ("qu", "gi")
    # No other language has both a letter with such a mark and a tone on the letter
    # beside it (tíêng, thúôc).
    return (
        on_consonant
        or letters[wanted] in _MARKED
        or letters[first : last + 1] in _TWO_PLACES
    )
