"""The languages of the course, and whether a sentence looks like one of them.

A new language pair is an entry of `LANGUAGES`, one of `PAIRS`, and a data folder
`xx_yy` with `train.xx` and `train.yy`, line i of one translating line i of the other.
"""

import re
import string
from dataclasses import dataclass

from coursepkg.text.spacing import is_han
from coursepkg.text.vietnamese import ACCENTED, LETTERS, compose

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
_LATIN_WORD = re.compile(f"{_LATIN.pattern}+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_CODE = re.compile(r"\S*\w[/._@:]\w\S*")
_ONLY_VIETNAMESE = re.compile(f"[{''.join(sign for sign in ACCENTED if sign > 'ÿ')}]")


def script_share(text: str, language: str) -> float:
    """Share of letters that the language writes; 1 where there is none.

    Chinese writes Han characters, Vietnamese Latin letters, English Latin letters
    without those that only Vietnamese has; another language its own and Latin ones.
    """
    letters = [sign for sign in text if sign.isalpha()]
    if not letters:
        return 1.0
    written = language_of(language)
    if written.is_han:
        good = [is_han(sign) for sign in letters]
    else:
        good = [
            sign in written.letters
            or (_LATIN.match(sign) is not None and sign.lower() not in written.foreign)
            for sign in letters
        ]
    return sum(good) / len(good)


LEAST_SHARE = 0.9
"""Of letters that a sentence needs to look like its language."""
LEAST_SHARE_BESIDE_NAMES = 0.5
"""The same where it has a stop word of its language: names may be of another."""
LEAST_HAN_SHARE = 0.1
"""The same of Chinese, which borrows Latin words whole; each counts as one letter."""
MANY_WORDS = 5
"""Words from which on Vietnamese is expected to hold a letter with a mark."""
STOP_WORDS = {
    name: frozenset(words.split())
    for name, words in {
        "English": "the of and to is that it for you was with on are as be this have"
        " from or at by not but what all were we when your can there an which do"
        " how if will up about out them then these so some would into has more no"
        " my than been who its now did get may he me she they his her in our could"
        " only am him us why where",
        "Vietnamese": "là của và có không được cho trong các những một này đó khi với"
        " để người tôi bạn đã sẽ thì như từ ra vào nếu hay hoặc rất cũng con anh"
        " ta em nó lại in do hai ba",
        "German": "der die das und ist nicht ich sie es ein eine einen einem einer zu"
        " mit auf für dem den des sich von wie wir auch oder wird werden haben sind"
        " bei nach kann wenn aber wo habe diese dieser du im zum zur nur noch sehr"
        " hier mir mich uns kein keine bin mein meine er als über durch wurde um"
        " war hat",
        "French": "le la les des et est une un dans que qui pour pas vous je il elle ce"
        " cette avec sur au aux du ne nous sont par plus votre être ou où mais si"
        " de en se sa son ses ai mon ma suis tu tout très été peut",
        "Spanish": "el la los las de que en es un una por para con no se su lo del al"
        " como más pero si está son este esta ha sus qué yo mi me muy hay le fue"
        " puede ser tiene cuando",
        "Italian": "il lo la gli le di che un una per non con si del della dei delle"
        " sono ha come questo questa ma nel al da anche in mi ho molto più alla se"
        " io essere può",
        "Portuguese": "os as de que em um uma por para com não se do da dos das no na"
        " ao mais como mas foi são está seu sua você eu ele ela me muito meu minha"
        " ser pode isso este esta",
        "Dutch": "de het een en van is dat niet ik op te zijn met voor je er aan die"
        " wordt worden om bij naar ook als maar kan hebben heeft uit deze in wat"
        " hij ze we was mijn heb geen dit nog",
        "Indonesian": "yang dan di ini itu dengan untuk tidak dari dalam akan pada ke"
        " saya anda adalah bisa ada atau oleh sudah telah mereka kami kita apa"
        " dapat lebih seperti jika karena dia belum tak juga sedang gagal bukan"
        " satu harus",
    }.items()
}
"""Frequent words of little meaning by the English name of their language."""
LEAST_LEAD = 3
"""Different stop words that another language has more of than the sentence's own."""
LEAST_STOP_SHARE = 0.2
"""Of all words, that are stop words of this other language."""


def language_doubt(text: str, language: str) -> str:
    """Why a sentence does not look like its language; empty where it does.

    Names and codes of other languages are no reason, whole sentences are. Languages in
    one script are told apart by their stop words, of which a short sentence has too
    few. Of a language that is not in `LANGUAGES` nothing is said.

    Example:
        >>> language_doubt("Wo ist das Hotel?", "en")
        'does not look like English: its common words are German'
    """
    if language not in LANGUAGES:
        return ""
    written, text = language_of(language), compose(text)
    name, words = written.name, _words(text)
    least = LEAST_HAN_SHARE if written.is_han else LEAST_SHARE
    if STOP_WORDS.get(name, frozenset()) & words:
        least = LEAST_SHARE_BESIDE_NAMES
    letters = _LATIN_WORD.sub("a", text) if written.is_han else text
    if script_share(letters, language) < least:
        share = script_share(text, language)
        return f"does not look like {name}: {share:.0%} of its letters are"
    has_mark = any(sign in ACCENTED for sign in text.lower())
    if language == "vi" and not has_mark and _count_words(text) >= MANY_WORDS:
        return "does not look like Vietnamese: no letter has a mark"
    other = _language_by_words(words, name)
    return f"does not look like {name}: its common words are {other}" if other else ""


def _count_words(text: str) -> int:
    """What stands between spaces and is neither a number nor a single letter."""
    return sum(_WORD.search(word) is not None for word in text.split())


def _words(text: str) -> set[str]:
    """Its different words of two letters or more, in lower case; no part of a code."""
    return set(_WORD.findall(_CODE.sub(" ", text.casefold())))


def _language_by_words(words: set[str], own: str) -> str:
    """The language whose stop words a sentence has instead of its own; or empty."""
    if own not in STOP_WORDS:
        return ""
    counts = {name: len(known & words) for name, known in STOP_WORDS.items()}
    if own == "Vietnamese":
        counts[own] += sum(_ONLY_VIETNAMESE.search(word) is not None for word in words)
    best = max(counts, key=counts.__getitem__)
    least = max(counts[own] + LEAST_LEAD, LEAST_STOP_SHARE * len(words))
    return best if counts[best] >= least else ""


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
