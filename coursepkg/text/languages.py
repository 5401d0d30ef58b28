"""The languages of the course: what depends on a language stands in one table.

A new language pair is an entry of `LANGUAGES`, one of `PAIRS`, and a data folder
`xx_yy` with `train.xx` and `train.yy`, line i of one translating line i of the other.
"""

import re
import string
from dataclasses import dataclass

from coursepkg.text.spacing import is_han
from coursepkg.text.vietnamese import ACCENTED, LETTERS

_COMMON = string.digits + string.punctuation + " “”‘’«»…–—°%€£₫¥×½"


@dataclass(frozen=True)
class Language:
    """How a language is written, cut into words and scored."""

    name: str
    """Its name in English."""
    letters: str = ""
    """Letters and signs that its text is expected to hold beside digits and common
    punctuation; Han characters need not be named."""
    is_han: bool = False
    """Whether it is written in Han characters, without spaces between words."""
    joins_syllables: bool = False
    """Whether word segmenters join the syllables of a word by underscores."""
    foreign: str = ""
    """Letters, in lower case, that tell text of another language from it."""
    bleu_tokenizer: str = "13a"
    """SacreBLEU's tokenizer for it."""

    @property
    def alphabet(self) -> str:
        """The characters that are expected; empty where they are not known."""
        return self.letters and self.letters + _COMMON


LANGUAGES = {
    "zh": Language(
        "Chinese",
        string.ascii_letters + "，。？！：；、（）《》〈〉「」『』【】·～￥",
        is_han=True,
        bleu_tokenizer="zh",
    ),
    "vi": Language("Vietnamese", LETTERS, joins_syllables=True),
    "en": Language("English", string.ascii_letters + "éèêçñöüàâîïôû", foreign=ACCENTED),
}
"""By the code that `--from` and `--to` take, in the order of tags in a vocabulary."""

PAIRS = ("zh-vi", "en-vi")
"""Corpora of two languages, by the name that `--data` takes."""


def language_of(code: str) -> Language:
    """The language with this code; one of which nothing is known for any other."""
    return LANGUAGES.get(code) or Language(code)


def pair_of(source: str, target: str) -> str:
    """The entry of `PAIRS` with these languages; empty where there is none."""
    both = {source, target}
    return next((pair for pair in PAIRS if set(pair.split("-")) == both), "")


_LATIN = re.compile("[A-Za-z\u00aa-\u024f\u1e00-\u1eff\uff21-\uff5a]")


def script_share(text: str, language: str) -> float:
    """Share of letters that the language writes; 1 where there is none.

    Chinese writes Han characters, Vietnamese Latin letters, English Latin letters
    without the marks of Vietnamese.
    """
    letters = [sign for sign in text if sign.isalpha()]
    if not letters:
        return 1.0
    written = language_of(language)
    if written.is_han:
        good = [is_han(sign) for sign in letters]
    else:
        good = [
            _LATIN.match(sign) is not None and sign.lower() not in written.foreign
            for sign in letters
        ]
    return sum(good) / len(good)


LEAST_SHARE = 0.9
"""Of letters that a sentence needs to look like its language."""
LEAST_HAN_SHARE = 0.25
"""The same of Chinese, which borrows Latin words whole."""
MANY_WORDS = 5
"""Words from which on Vietnamese is expected to hold a letter with a mark."""


def language_doubt(text: str, language: str) -> str:
    """Why a sentence does not look like its language; empty where it does.

    Names and codes of other scripts are no reason, whole sentences are.
    """
    name, share = language_of(language).name, script_share(text, language)
    least = LEAST_HAN_SHARE if language_of(language).is_han else LEAST_SHARE
    if share < least:
        return f"does not look like {name}: {share:.0%} of its letters are"
    has_mark = any(sign in ACCENTED for sign in text.lower())
    if language == "vi" and len(text.split()) >= MANY_WORDS and not has_mark:
        return "does not look like Vietnamese: no letter has a mark"
    return ""


def has_words(text: str) -> bool:
    """Whether there is a letter or a digit, so something to translate."""
    return any(sign.isalnum() for sign in text)


LEAST_REPEATED = 3
"""Words from which on a translation that repeats its source is more than a name."""


def output_doubt(source: str, text: str, language: str) -> str:
    """Why a translation does not look like one; empty where it does.

    Chinese may consist of Latin names, so only repetition is a reason there.

    Args:
        text: the translation.
        language: that of the translation.
    """
    has_letter = any(map(str.isalpha, text))
    if text == source and has_letter and len(text.split()) >= LEAST_REPEATED:
        return "the translation repeats its source"
    doubt = "" if language == "zh" else language_doubt(text, language)
    return f"the translation {doubt}" if doubt else ""
