"""The languages of the course: what depends on a language stands in one table.

A new language pair is an entry of `LANGUAGES`, one of `PAIRS`, and a data folder
`xx_yy` with `train.xx` and `train.yy`, line i of one translating line i of the other.
"""

import string
from dataclasses import dataclass

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
