"""Every syllable that Vietnamese spelling allows, as onset, rhyme and tone.

A syllable is an onset (possibly none), a rhyme and one of six tones. Three rules tie them together. The sounds /k/, /g/
and /ŋ/ are written k, gh, ngh before e, ê, i, y and c, g, ng elsewhere; /k/ before a rounded glide is qu. A rhyme that
ends in a stop (c, ch, p, t) takes the tones sắc and nặng only. The mark stands on the main vowel, and in open oa, oe
and uy on the first letter (hòa, the older habit) or on the second (hoà): both are in use, so both are made.

Far from all of these are words. Drawn evenly they show the recogniser every letter with every neighbour.
"""

import random
import re
from functools import cache

from coursepkg.projects.ocr.synthetic.words import words
from coursepkg.text.tones import STYLES, join_tone
from coursepkg.text.vietnamese import ACCENTED, TONE_MARKS

_ONSETS = "b c ch d đ g gi h kh l m n ng nh p ph r s t th tr v x q"
ONSETS = ("", *_ONSETS.split())
"""Onsets as they are written before a; the first is none."""
LABIALS = frozenset({"b", "m", "p", "ph", "v"})
"""Onsets that take no rounded glide."""
PLAIN_RHYMES, GLIDE_RHYMES = words("plain_rhyme"), words("glide_rhyme")
"""Rhymes without and with a rounded glide before the vowel."""
ALSO_AFTER_Q = ("uôc", "ui")
"""Rhymes without a glide in this table that q takes all the same: quốc, quí."""
I_OR_Y = frozenset({"h", "l", "m", "s", "t", "v"})
"""Onsets after which, as after k and after none, the open rhyme i is written y as well: kĩ, kỹ."""
STOPPED_TONES = ("sắc", "nặng")

_STOPPED = re.compile(r"(c|ch|p|t)$")


def spell(onset: str, rhyme: str) -> str | None:
    """The written base of a syllable without its tone mark, or None where spelling has no such pair.

    Example:
        >>> spell("c", "iên"), spell("q", "oan"), spell("gi", "iêng"), spell("", "iên"), spell("q", "an")
        ('kiên', 'quan', 'giêng', 'yên', None)
    """
    has_glide = rhyme in GLIDE_RHYMES
    if onset == "q":
        return (
            f"qu{rhyme[1:]}" if (has_glide and rhyme not in ("uya", "uyu")) or rhyme in ALSO_AFTER_Q else None
        )
    if has_glide and (onset in LABIALS or onset in ("c", "gi")):
        return None
    is_front = rhyme[0] in "eêi"
    if onset == "gi":
        # One i stands for both, but gi + ia would read as gi + a.
        return None if rhyme == "ia" else f"g{rhyme}" if rhyme[0] == "i" else f"gi{rhyme}"
    if onset == "g" and rhyme[0] == "i" and rhyme != "i":
        return f"gh{rhyme}"
    if onset in ("c", "g", "ng") and is_front:
        return {"c": "k", "g": "gh", "ng": "ngh"}[onset] + rhyme
    if not onset and rhyme.startswith("iê") and rhyme != "iêc":
        return f"y{rhyme[1:]}"
    return onset + rhyme


@cache
def syllables() -> tuple[str, ...]:
    """Every legal syllable in lower case, with both placements of the mark, sorted by code points."""
    made = set()
    for onset in ONSETS:
        for rhyme in PLAIN_RHYMES + GLIDE_RHYMES:
            base = spell(onset, rhyme)
            if base is None:
                continue
            tones = STOPPED_TONES if _STOPPED.search(rhyme) else tuple(TONE_MARKS)
            bases = [base, base[:-1] + "y"] if rhyme == "i" and onset in ("", "c", *I_OR_Y) else [base]
            made |= {join_tone(text, tone, style) for text in bases for tone in tones for style in STYLES}
    return tuple(sorted(made))


@cache
def _with_letter() -> dict[str, tuple[str, ...]]:
    return {letter: tuple(s for s in syllables() if letter in s) for letter in ACCENTED}


def draw_syllable(dice: random.Random, even_letters: float = 0.5) -> str:
    """A syllable at random.

    Args:
        dice: where chance comes from.
        even_letters: how often one of the 67 accented letters is drawn first and then a syllable that has it, in
            [0, 1]. Otherwise all syllables are equally likely, which leaves ẵ some six times rarer than đ.
    """
    if dice.random() < even_letters:
        return dice.choice(_with_letter()[dice.choice(ACCENTED)])
    return dice.choice(syllables())
