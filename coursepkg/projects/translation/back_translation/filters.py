"""Which pairs that a model wrote are too bad to train on."""

from dataclasses import dataclass

from coursepkg.arguments import check_count, check_finite
from coursepkg.projects.translation.corpus import sentence_key
from coursepkg.projects.translation.errors.surface import UNKNOWN, runs, words
from coursepkg.text.chinese import is_han
from coursepkg.text.vietnamese import ACCENTED

LONGEST_RUN = 4
"""Words of the longest phrase that is looked for several times in a row."""


@dataclass(frozen=True)
class Limits:
    """What a synthetic pair must keep within. Words of Chinese are its characters."""

    max_ratio: float = 3.0
    """Most words of one side for each word of the other, at least 1."""
    min_length: int = 5
    """Words of the longer side from which on the ratio counts, at least 1; shorter sentences vary too much."""
    max_repeats: int = 2
    """Most times that one to four words may stand in a row, at least 1."""
    min_script: float = 0.5
    """Least share of letters in the script of the language, in [0, 1]."""

    def __post_init__(self) -> None:
        check_finite("max_ratio", self.max_ratio)
        check_finite("min_script", self.min_script)
        check_count("min_length", self.min_length)
        check_count("max_repeats", self.max_repeats)
        if self.max_ratio < 1:
            raise ValueError(f"max_ratio must be at least 1, got {self.max_ratio}")
        if not 0 <= self.min_script <= 1:
            raise ValueError(f"min_script must be in [0, 1], got {self.min_script}")


def problem(made: str, real: str, source: str, target: str, limits: Limits) -> str | None:
    """Why a pair is left out: the first of the reasons below that holds, or None.

    Args:
        made: the sentence that the model wrote.
        real: the one that it was made from.
        source: language of `made`.
        target: language of `real`.
        limits: what is allowed.
    """
    if not words(made):
        return "translated into nothing"
    if UNKNOWN in made:
        return "translated with unknown tokens"
    if bare_key(made, source) == bare_key(real, target):
        return "copied instead of translated"
    if script_share(made, source) < limits.min_script:
        return "translated into another script"
    if of_unequal_lengths(made, real, limits):
        return "of too unequal lengths"
    if repeats(made) > max(limits.max_repeats, repeats(real)):
        return "with repetitions"
    return None


def of_unequal_lengths(one: str, other: str, limits: Limits) -> bool:
    """Whether one of two sentences has too many words for the other."""
    short, long = sorted((len(words(one)), len(words(other))))
    return long >= limits.min_length and long > limits.max_ratio * short


def bare_key(text: str, language: str) -> str:
    """What two sentences of any languages have in common if one is a copy of the other."""
    return sentence_key(text, language).partition(":")[2]


def script_share(text: str, language: str) -> float:
    """Share of letters that the language writes; 1 where there is none.

    Chinese writes Han characters, Vietnamese all letters but these, English none of the accented Vietnamese letters
    either.
    """
    letters = [sign for sign in text if sign.isalpha()]
    if not letters:
        return 1.0
    if language == "zh":
        good = [is_han(sign) for sign in letters]
    else:
        foreign = ACCENTED if language == "en" else ""
        good = [not is_han(sign) and sign.lower() not in foreign for sign in letters]
    return sum(good) / len(good)


def repeats(text: str) -> int:
    """The most times that a phrase of one to four words stands in a row.

    Example:
        >>> repeats("tôi đi tôi đi tôi đi học")
        3
    """
    found = words(text)
    return max((times for n in range(1, LONGEST_RUN + 1) for _, times in runs(found, n)), default=1)
