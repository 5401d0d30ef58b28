"""What metrics are given: hypotheses beside their references, checked before anything is counted.

`references[i]` is what belongs to `hypotheses[i]`: one string, or a list of several. (SacreBLEU lists them the
other way round, one list of the whole file for each reference.) Nothing is skipped: an empty hypothesis is a
sentence like any other, an empty reference too.
"""

import unicodedata
from collections.abc import Sequence
from typing import Any

UNICODE_FORMS = ("raw", "NFC")
"""What happens to a text before it is compared: nothing, or canonical composition (Unicode Annex 15)."""

Pair = tuple[str, tuple[str, ...]]
"""A hypothesis and its references, at least one."""


def check_lengths(
    hypotheses: Sequence[Any],
    references: Sequence[Any],
    names: tuple[str, str] = ("hypotheses", "references"),
) -> None:
    """Raise a ValueError, in which the two are called by `names`, unless they are lists of one length, at least 1."""
    ours, theirs = names
    for name, given in ((ours, hypotheses), (theirs, references)):
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise ValueError(f"{name} must be a list with one entry a sentence, got {describe(given)}")
    if len(hypotheses) != len(references):
        raise ValueError(
            f"{ours} and {theirs} must be of one length, got {len(hypotheses)} {ours} and {len(references)} {theirs}"
            f" ({theirs}[i] belongs to {ours}[i])"
        )
    if not hypotheses:
        raise ValueError(f"{ours} must hold at least one entry, got an empty list")


def read_pairs(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
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
            raise ValueError(f"hypotheses[{i}] must be a string, got {describe(hypothesis)}")
        texts = [given] if isinstance(given, str) else given
        _check_references(i, texts, several)
        pairs.append((normalize(hypothesis, unicode), tuple(normalize(text, unicode) for text in texts)))
    return pairs


def normalize(text: str, unicode: str) -> str:
    """The text in one of `UNICODE_FORMS`."""
    return unicodedata.normalize("NFC", text) if unicode == "NFC" else text


def check_unicode(unicode: str) -> None:
    """Raise a ValueError unless it is one of `UNICODE_FORMS`."""
    check_choice("unicode", unicode, UNICODE_FORMS)


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raise a ValueError unless value is one of the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {describe(value)}")


def check_integer(name: str, value: Any, least: int) -> None:
    """Raise a ValueError unless value is a whole number and at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {describe(value)}")


def describe(value: Any) -> str:
    """What came, on one line: a plain value as it is written, of anything else only the type."""
    plain = value is None or isinstance(value, int | float) or (isinstance(value, str) and len(value) <= 60)
    return repr(value) if plain else type(value).__name__


def _check_references(i: int, texts: Any, several: bool) -> None:
    wanted = "a string or a list of strings" if several else "a string"
    is_list = isinstance(texts, Sequence) and all(isinstance(text, str) for text in texts)
    if not is_list or (len(texts) > 1 and not several):
        raise ValueError(f"references[{i}] must be {wanted}, got {describe(texts)}")
    if not texts:
        raise ValueError(f"references[{i}] must hold at least one reference, got an empty list")
