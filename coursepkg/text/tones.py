"""Where the tone mark of a Vietnamese syllable stands: taking it off, putting it on, and the two styles.

Both styles put it on a letter that has a vowel mark (việt, muốn, rượu), on the last vowel before a final consonant
(toàn, huýt), on the middle one of three (ngoài, khuỷu) and otherwise on the first (của, máy). They differ in open
syllables that end in oa, oe, uy alone: the old style writes hòa, khỏe, thủy, the new style hoà, khoẻ, thuỷ. The u of
qu and the i of gi belong to the consonant: quý, già.
"""

import re
from collections import Counter
from functools import lru_cache

from coursepkg.text.vietnamese import TONE_MARKS, TONES, VOWELS, compose

STYLES = ("old", "new")

_SYLLABLE = re.compile(
    f"(qu(?=[{VOWELS}])|gi(?=[{VOWELS}])|ngh|ng|nh|gh|kh|ph|th|tr|ch|[bcdđghklmnprstvx])?"
    f"([{VOWELS}]+)(ch|ng|nh|[cmnpt])?"
)
_OPEN_RHYMES = frozenset(
    re.findall(
        r"\w+",
        "a ă â e ê i o ô ơ u ư y ai ao au ay âu ây eo êu ia iu oa oe oi ôi ơi ua uê ui uơ uy ưa ưi ưu "
        "iêu yêu oai oao oay oeo uây uêu uôi uya uyu ươi ươu",
    )
)
_CLOSED_RHYMES = frozenset(re.findall(r"\w+", "a ă â e ê i iê o oa oă oe oo ô ơ u uâ uê uô uy uyê ư ươ y yê"))
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
        raise ValueError(f"syllable must carry at most one tone mark, got {syllable!r} with {len(toned)}")
    for i in toned:
        vowel, tone = TONES[letters[i]]
        return letters[:i] + vowel + letters[i + 1 :], tone
    return letters, "ngang"


def join_tone(letters: str, tone: str, style: str = "new") -> str:
    """The syllable with its tone mark in place: the inverse of `split_tone`.

    Args:
        letters: the syllable without a tone.
        tone: a name of `TONE_MARKS`.
        style: `old` (hòa) or `new` (hoà).

    Raises:
        ValueError: letters that are to get a mark are no Vietnamese syllable or have one, or tone or style are
            unknown.
    """
    if tone not in TONE_MARKS:
        raise ValueError(f"tone must be one of {', '.join(TONE_MARKS)}, got {tone!r}")
    letters = compose(letters)
    place = tone_place(letters, style)
    if tone == "ngang" and not _toned(letters):
        return letters
    if place is None:
        raise ValueError(f"letters must be a Vietnamese syllable without a tone mark, got {letters!r}")
    return compose(letters[: place + 1] + TONE_MARKS[tone] + letters[place + 1 :])


def tone_place(letters: str, style: str = "new") -> int | None:
    """Index of the letter that carries the tone mark; None where the letters are no Vietnamese syllable.

    Args:
        letters: a syllable without a tone, in NFC and either case.
        style: `old` or `new`.

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

    A word that is no Vietnamese syllable stays as it is. Frequent slips (hòan, ngòai, qúy, gìa, tíêng) are put right
    in both styles. A foreign word that is spelled as a Vietnamese syllable, such as the name Noé, cannot be told from
    one.

    Example:
        >>> place_tones("Hòa khỏe, thích thủy tinh và café.", "new")
        'Hoà khoẻ, thích thuỷ tinh và café.'

    Raises:
        ValueError: the style is unknown.
    """
    tone_place("a", style)
    return _WORD.sub(lambda found: _move_tone(found[0], style), compose(text))


def count_tone_styles(text: str) -> Counter[str]:
    """How many syllables are written in the `old` and in the `new` style, of those in which the two differ."""
    counts: Counter[str] = Counter(dict.fromkeys(STYLES, 0))
    for word in _WORD.findall(compose(text)):
        old, new = (_move_tone(word, style) for style in STYLES)
        if old != new and word in (old, new):
            counts["old" if word == old else "new"] += 1
    return counts


def _toned(letters: str) -> list[int]:
    return [i for i, letter in enumerate(letters) if TONES.get(letter, ("", "ngang"))[1] != "ngang"]


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
    """The word with its tone mark moved, where the letters that it moves between leave no doubt."""
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
    """Whether Vietnamese writers confuse the two places; others (oí, caí) mark a foreign word."""
    first, last = sorted((now, wanted))
    on_consonant = now == 1 and letters[:2] in ("qu", "gi")
    # No other language has both a letter with such a mark and a tone on the letter beside it (tíêng, thúôc).
    return on_consonant or letters[wanted] in _MARKED or letters[first : last + 1] in _TWO_PLACES
