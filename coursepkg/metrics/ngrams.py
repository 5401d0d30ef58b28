"""Checked sentence pairs, tokenizers and n-gram counts of BLEU, chrF, ROUGE and METEOR.

    matches = sum over n-grams g of min(count in hypothesis, count in reference)

The minimum is the clipping of Papineni et al. (2002): "the the the" matches a reference
with one "the" once. `references[i]` belongs to `hypotheses[i]`: one string, or a list
of several. (SacreBLEU lists them the other way round.) Nothing is skipped: an empty
hypothesis or reference is a sentence like any other.

    none    at whitespace
    13a     Western punctuation set apart, as NIST's mteval-v13a; SacreBLEU's default
    zh      every Chinese character a token, the rest as 13a does
    char    every character a token, spaces dropped
    rouge   lower-cased runs of a-z and 0-9, all else dropped: for English only

The first four give the tokens of SacreBLEU (Post, arXiv 1804.08771), the last one those
of the rouge-score package. The tokenizer's name stands in a score's signature.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from operator import or_
from typing import Any

import numpy as np

from coursepkg.validation import check_choice, describe

UNICODE_FORMS = ("raw", "NFC")
"""What happens to a text before it is compared: nothing, or canonical composition
(Unicode Annex 15)."""

References = Sequence[str] | Sequence[Sequence[str]]
"""For each sentence one text, or a list of several."""

Pair = tuple[str, tuple[str, ...]]
"""A hypothesis and its references, at least one."""


def check_lengths(
    hypotheses: Sequence[Any],
    references: Sequence[Any],
    names: tuple[str, str] = ("hypotheses", "references"),
) -> None:
    """Raises a ValueError unless both are lists of one length, at least 1."""
    ours, theirs = names
    for name, given in ((ours, hypotheses), (theirs, references)):
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise ValueError(
                f"{name} must be a list with one entry a sentence, got"
                f" {describe(given)}"
            )
    if len(hypotheses) != len(references):
        raise ValueError(
            f"{ours} and {theirs} must be of one length, got {len(hypotheses)} {ours}"
            f" and {len(references)} {theirs} ({theirs}[i] belongs to {ours}[i])"
        )
    if not hypotheses:
        raise ValueError(f"{ours} must hold at least one entry, got an empty list")


def read_pairs(
    hypotheses: Sequence[str],
    references: References,
    *,
    unicode: str = "raw",
    several: bool = True,
) -> list[Pair]:
    """Each hypothesis with its references.

    Args:
        hypotheses: one text a sentence.
        references: for each sentence one text or, if `several`, a list of texts.
        unicode: one of `UNICODE_FORMS`.
        several: whether a sentence may have more than one reference.

    Raises:
        ValueError: the lengths differ, nothing is given, or an entry is no text.
    """
    check_lengths(hypotheses, references)
    pairs = []
    for i, (hypothesis, given) in enumerate(zip(hypotheses, references, strict=True)):
        if not isinstance(hypothesis, str):
            raise ValueError(
                f"hypotheses[{i}] must be a string, got {describe(hypothesis)}"
            )
        texts = [given] if isinstance(given, str) else given
        _check_references(i, texts, several)
        pairs.append(
            (
                normalize(hypothesis, unicode),
                tuple(normalize(text, unicode) for text in texts),
            )
        )
    return pairs


def count_rows(
    count: Callable[[str, Sequence[str]], Any],
    hypotheses: Sequence[str],
    references: References,
    unicode: str,
    *,
    several: bool = True,
) -> np.ndarray:
    """`count(hypothesis, its references)` of every sentence, (sentences, K).

    Raises:
        ValueError: as `read_pairs`.
    """
    pairs = read_pairs(hypotheses, references, unicode=unicode, several=several)
    return np.array([count(*pair) for pair in pairs])


def normalize(text: str, unicode: str) -> str:
    """The text in one of `UNICODE_FORMS`."""
    return unicodedata.normalize("NFC", text) if unicode == "NFC" else text


def check_unicode(unicode: str) -> None:
    """Raise a ValueError unless it is one of `UNICODE_FORMS`."""
    check_choice("unicode", unicode, UNICODE_FORMS)


def _check_references(i: int, texts: Any, several: bool) -> None:
    wanted = "a string or a list of strings" if several else "a string"
    is_list = isinstance(texts, Sequence) and all(
        isinstance(text, str) for text in texts
    )
    if not is_list or (len(texts) > 1 and not several):
        raise ValueError(f"references[{i}] must be {wanted}, got {describe(texts)}")
    if not texts:
        raise ValueError(
            f"references[{i}] must hold at least one reference, got an empty list"
        )


Ngrams = Counter[tuple[str, ...]]
"""How often each n-gram occurs."""


def ngrams(tokens: Sequence[str], n: int) -> Ngrams:
    """Counts of the n-grams of some tokens.

    Example:
        >>> ngrams(["a", "b", "a", "b"], 2)
        Counter({('a', 'b'): 2, ('b', 'a'): 1})
    """
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))


def n_matches(counts: Ngrams, others: Ngrams) -> int:
    """Size of the intersection, repeated n-grams included."""
    fewer, more = (counts, others) if len(counts) <= len(others) else (others, counts)
    return sum(min(count, more[gram]) for gram, count in fewer.items() if gram in more)


def most(several: Sequence[Ngrams]) -> Ngrams:
    """For each n-gram the largest of its counts in several references."""
    return several[0] if len(several) == 1 else reduce(or_, several)


_PUNCTUATION = (
    # every ASCII sign but the apostrophe, the comma, the full stop and the hyphen
    (re.compile(r"([{-~\[-` -&(-+:-@/])"), r" \1 "),
    # a full stop or comma that no digit precedes; one that no digit follows; a hyphen
    # behind a digit
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)

_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))

# SacreBLEU writes the ideographs beyond U+FFFF as '\u20000'-'\u2a6d6'. Python reads
# that as a character and a digit, so that its range is U+2001 to U+2A6D: general
# punctuation and symbols are split off, Extension B is not. Equal scores need the same
# range.
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
_ZH_CHARACTER = re.compile(
    "([" + "".join(f"{chr(low)}-{chr(high)}" for low, high in _ZH_RANGES) + "])"
)


def split_none(line: str) -> list[str]:
    """At whitespace."""
    return line.split()


def split_13a(line: str) -> list[str]:
    """As mteval-v13a: punctuation apart, but not inside numbers such as 3.14."""
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
