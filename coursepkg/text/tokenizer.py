"""What every subword tokenizer of the course has in common: its interface, its marks, its clean-up of text."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from torch import Tensor

from coursepkg.text.vocabulary import BOS, EOS, PAD, SPECIALS

LANGUAGE_TAGS = ("<2zh>", "<2vi>", "<2en>")
"""Tags that name the language to translate into; their ids follow those of `SPECIALS`."""
WORD_MARK = "▁"
"""U+2581: stands for the space between words inside a token, as in SentencePiece."""
UNKNOWN = "⁇"
"""U+2047: what UNK looks like in decoded text, as in SentencePiece."""

UNICODE_FORMS = ("NFC", "NFD", "NFKC", "NFKD")


class Tokenizer(Protocol):
    """Text to ids and back, ids 0 to 3 being those of `SPECIALS`; `BPE` and `SentencePiece` have this form."""

    def __len__(self) -> int:
        """Size of the vocabulary."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all that decides ids; a checkpoint stores it to refuse another vocabulary."""

    def encode(self, text: str, *, bos: bool = False, eos: bool = False, tag: str | None = None) -> list[int]:
        """Ids of a text; `tag`, an entry of the tokenizer's tags, becomes one id in front of it."""

    def decode(self, ids: Sequence[int] | Tensor) -> str:
        """Text of ids, up to the first EOS."""


def normalize(text: str, form: str = "NFC", name: str = "text") -> str:
    """Bring a text to one Unicode form and its white space to single spaces inside.

    Raises:
        ValueError: the form is unknown, or the text holds half a surrogate pair, which no encoding can write,
            or `WORD_MARK`, which decoding would turn into a space; the message begins with `name`.
    """
    check_choice("form", form, UNICODE_FORMS)
    broken = next((i for i, sign in enumerate(text) if "\ud800" <= sign <= "\udfff"), None)
    if broken is not None:
        raise ValueError(f"{name} must be valid Unicode, got a lone surrogate at position {broken}")
    if WORD_MARK in text:
        raise ValueError(
            f"{name} must not contain {WORD_MARK!r} (U+2581), the mark of a word, got {text[:60]!r}"
        )
    return " ".join(unicodedata.normalize(form, text).split())  # type: ignore[arg-type]


def check_choice(name: str, value: str, allowed: Sequence[str]) -> None:
    """Refuse a value that is not one of those allowed."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")


def check_tags(tags: Sequence[str]) -> None:
    """Refuse tags that could not be told from text or from one another."""
    for tag in tags:
        if len(tag) < 2 or tag != "".join(tag.split()) or WORD_MARK in tag or tag in SPECIALS:
            raise ValueError(f"tags must be two or more signs without space, such as '<2vi>', got {tag!r}")
    if len(set(tags)) < len(tags):
        raise ValueError(f"tags must be distinct, got {', '.join(tags)}")


def frame(ids: list[int], tags: Sequence[str], tag: str | None, *, bos: bool, eos: bool) -> list[int]:
    """Put BOS and the id of a tag in front of ids and EOS behind them, each where asked."""
    if tag is not None and tag not in tags:
        raise ValueError(f"tag must be one of {', '.join(tags) or 'none (there are no tags)'}, got {tag!r}")
    front = [] if tag is None else [len(SPECIALS) + tags.index(tag)]
    return [BOS] * bos + front + ids + [EOS] * eos


def content(ids: Sequence[int] | Tensor, size: int, n_tags: int) -> list[int]:
    """The ids that stand for text: those before the first EOS that are not PAD, BOS or a tag.

    Raises:
        ValueError: an id is outside the vocabulary.
    """
    found = []
    for i in ids.tolist() if isinstance(ids, Tensor) else ids:
        if not 0 <= i < size:
            raise ValueError(f"ids must lie in 0..{size - 1}, got {i}")
        if i == EOS:
            break
        if i not in (PAD, BOS) and not len(SPECIALS) <= i < len(SPECIALS) + n_tags:
            found.append(i)
    return found


def read_lines(paths: Iterable[str | Path]) -> Iterator[str]:
    """The lines of text files, one after another, for training a tokenizer.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a file is not UTF-8; the message names it.
    """
    for path in paths:
        with Path(path).open(encoding="utf-8") as file:
            try:
                yield from file
            except UnicodeDecodeError as reason:
                raise ValueError(f"{path} must be UTF-8: {reason.reason} at byte {reason.start}") from reason
