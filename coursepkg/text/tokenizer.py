"""What all subword tokenizers share: interface, marks, byte fallback, normalisation.

Byte fallback: 256 tokens, one a byte, which spell in UTF-8 any character that has no
token of its own, as SentencePiece's option of this name, which the Llama models use
(Touvron et al. 2023, arXiv 2302.13971, section 2.1).
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Protocol

from torch import Tensor

from coursepkg.text.languages import LANGUAGES
from coursepkg.text.vocabulary import BOS, EOS, PAD, SPECIALS
from coursepkg.validation import check_choice

BYTE_TOKENS = tuple(f"<0x{byte:02X}>" for byte in range(256))
_VALUES = {token: byte for byte, token in enumerate(BYTE_TOKENS)}


def to_byte_tokens(character: str) -> list[str]:
    """The bytes of a character in UTF-8, as tokens.

    Example:
        >>> to_byte_tokens("ế")
        ['<0xE1>', '<0xBA>', '<0xBF>']
    """
    return [BYTE_TOKENS[byte] for byte in character.encode()]


def join_bytes(tokens: Sequence[str]) -> list[str]:
    """Tokens with each run of byte tokens replaced by the text that it spells.

    A run that is no valid UTF-8, such as a model may write, gives U+FFFD where it
    breaks.
    """
    joined: list[str] = []
    for is_byte, run in groupby(tokens, key=_VALUES.__contains__):
        if is_byte:
            joined.append(
                bytes(_VALUES[token] for token in run).decode(errors="replace")
            )
        else:
            joined.extend(run)
    return joined


LANGUAGE_TAGS = tuple(f"<2{code}>" for code in LANGUAGES)
"""Tags that name the language to translate into; their ids follow those of
`SPECIALS`."""
WORD_MARK = "▁"
"""U+2581: stands for the space between words inside a token, as in SentencePiece."""
UNKNOWN = "⁇"
"""U+2047: what UNK looks like in decoded text, as in SentencePiece."""

UNICODE_FORMS = ("NFC", "NFD", "NFKC", "NFKD")


class Tokenizer(Protocol):
    """Text to ids and back, as `BPE` and `SentencePiece` do; ids 0 to 3 are special."""

    def __len__(self) -> int:
        """Size of the vocabulary."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all that decides ids; a checkpoint refuses another one."""

    def encode(
        self, text: str, *, bos: bool = False, eos: bool = False, tag: str | None = None
    ) -> list[int]:
        """Ids of a text; `tag`, one of the tokenizer's tags, becomes an id in front."""

    def decode(self, ids: Sequence[int] | Tensor) -> str:
        """Text of ids, up to the first EOS."""


def normalize(text: str, form: str = "NFC", name: str = "text") -> str:
    """Bring a text to one Unicode form and its white space to single spaces inside.

    Raises:
        ValueError: the form is unknown, or the text holds half a surrogate pair, which
            no encoding can write, or `WORD_MARK`, which decoding would turn into a
            space; the message begins with `name`.
    """
    check_choice("form", form, UNICODE_FORMS)
    broken = next(
        (i for i, sign in enumerate(text) if "\ud800" <= sign <= "\udfff"), None
    )
    if broken is not None:
        raise ValueError(
            f"{name} must be valid Unicode, got a lone surrogate at position {broken}"
        )
    if WORD_MARK in text:
        raise ValueError(
            f"{name} must not contain {WORD_MARK!r} (U+2581), the mark of a word, got"
            f" {text[:60]!r}"
        )
    return " ".join(unicodedata.normalize(form, text).split())  # type: ignore[arg-type]


def check_tags(tags: Sequence[str]) -> None:
    """Refuse tags that could not be told from text or from one another."""
    for tag in tags:
        if (
            len(tag) < 2
            or tag != "".join(tag.split())
            or WORD_MARK in tag
            or tag in SPECIALS
        ):
            raise ValueError(
                "tags must be two or more signs without space, such as '<2vi>', got"
                f" {tag!r}"
            )
    if len(set(tags)) < len(tags):
        raise ValueError(f"tags must be distinct, got {', '.join(tags)}")


def frame(
    ids: list[int], tags: Sequence[str], tag: str | None, *, bos: bool, eos: bool
) -> list[int]:
    """Put BOS and the id of a tag in front of ids and EOS behind them, where asked."""
    if tag is not None and tag not in tags:
        raise ValueError(
            f"tag must be one of {', '.join(tags) or 'none (there are no tags)'}, got"
            f" {tag!r}"
        )
    front = [] if tag is None else [len(SPECIALS) + tags.index(tag)]
    return [BOS] * bos + front + ids + [EOS] * eos


def content(ids: Sequence[int] | Tensor, size: int, n_tags: int) -> list[int]:
    """The ids of text: those before the first EOS that are not PAD, BOS or a tag.

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
                raise ValueError(
                    f"{path} must be UTF-8: {reason.reason} at byte {reason.start}"
                ) from reason
