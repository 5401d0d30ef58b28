"""What a drawn line says: a mixture of receipts, documents, sentences, syllables and codes."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from coursepkg.arguments import check_count, check_finite
from coursepkg.projects.ocr.synthetic.document_text import code, document_line, generated_words, prose
from coursepkg.projects.ocr.synthetic.receipt_text import receipt_line
from coursepkg.text.vietnamese import compose

LETTER_RATE = 1e-4
"""Of all characters that are no spaces, the least share of each accented letter in each case, with the weights below:
one letter in ten thousand, where a newspaper has ẵ ten times and Ẵ a thousand times less often."""


@dataclass(frozen=True)
class TextConfig:
    """How often each kind of text is drawn, and how it is written."""

    receipts: float = 0.25
    """Weight of lines of receipts, at least 0."""
    documents: float = 0.25
    """Weight of clauses and headings of official documents, at least 0."""
    sentences: float = 0.1
    """Weight of sentences of the Phrasebook, at least 0."""
    prose: float = 0.15
    """Weight of common words in no order, at least 0."""
    syllables: float = 0.2
    """Weight of legal syllables, at least 0: they keep every accented letter frequent."""
    codes: float = 0.1
    """Weight of numbers, codes and foreign words, at least 0."""
    own: float = 0.0
    """Weight of the texts of `own_file`, at least 0."""
    own_file: str = ""
    """A UTF-8 file with one text a line, such as a user's own annotations; needs `own` above 0, and the reverse."""
    upper: float = 0.15
    """How often a text is put in upper case as a whole, in [0, 1]."""
    title: float = 0.05
    """How often each word gets a capital, in [0, 1]."""
    swapped: float = 0.02
    """How often the case of single letters is turned by chance, in [0, 1]."""
    max_length: int = 110
    """Most characters of a line, at least 8; longer texts are cut at a space."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in KINDS or field.name == "own":
                check_finite(field.name, value)
                if value < 0:
                    raise ValueError(f"{field.name} must be a weight of at least 0, got {value}")
            elif field.type in (float, "float") and not 0 <= value <= 1:
                raise ValueError(f"{field.name} must be in [0, 1], got {value}")
        check_count("max_length", self.max_length, 8)
        if bool(self.own) != bool(self.own_file):
            raise ValueError(f"own and own_file go together, got own={self.own}, own_file={self.own_file!r}")
        if not any(getattr(self, kind) for kind in (*KINDS, "own")):
            raise ValueError(
                "receipts, documents, ..., own: at least one weight must be above 0, got only zeros"
            )


def sentence(dice: random.Random) -> str:
    """A Vietnamese sentence of the Phrasebook."""
    return dice.choice(_phrasebook())


@cache
def _phrasebook() -> tuple[str, ...]:
    # Its grammar takes seconds to unfold: only for who draws from it.
    import coursepkg

    book: Any = coursepkg.Phrasebook
    return tuple(compose(triple.vi) for triple in book().triples)


KINDS: dict[str, Callable[[random.Random], str]] = {
    "receipts": receipt_line,
    "documents": document_line,
    "sentences": sentence,
    "prose": prose,
    "syllables": generated_words,
    "codes": code,
}


def read_own_texts(path: str | Path) -> tuple[str, ...]:
    """The lines of a file that are not empty, in NFC.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not UTF-8, or has no text.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as reason:
        raise ValueError(f"{path}: not UTF-8 at byte {reason.start}; save it as UTF-8") from reason
    lines = tuple(line for raw in text.splitlines() if (line := compose(" ".join(raw.split()))))
    if not lines:
        raise ValueError(f"{path}: has no text; give a file with one text a line")
    return lines


class LineTexts:
    """Draws texts of lines; what comes depends on the dice alone.

    Example:
        >>> texts = LineTexts(TextConfig(sentences=0))
        >>> texts.draw(random.Random("0:1")) == texts.draw(random.Random("0:1"))
        True
    """

    def __init__(self, config: TextConfig | None = None) -> None:
        self.config = config or TextConfig()
        self._own: Sequence[str] = read_own_texts(self.config.own_file) if self.config.own_file else ()
        writers: dict[str, Callable[[random.Random], str]] = {
            **KINDS,
            "own": lambda dice: dice.choice(self._own),
        }
        self._writers = [writers[kind] for kind in writers if getattr(self.config, kind)]
        self._weights = [getattr(self.config, kind) for kind in writers if getattr(self.config, kind)]

    def draw(self, dice: random.Random) -> str:
        """The text of one line, in NFC, without spaces at its ends or two in a row."""
        text = dice.choices(self._writers, self._weights)[0](dice)
        text = self._in_case(dice, " ".join(text.split()))
        if len(text) > self.config.max_length:
            text = text[: self.config.max_length + 1].rpartition(" ")[0] or text[: self.config.max_length]
        return text

    def _in_case(self, dice: random.Random, text: str) -> str:
        chance = dice.random()
        if chance < self.config.upper:
            return text.upper()
        chance -= self.config.upper
        if chance < self.config.title:
            return _capitals(text)
        chance -= self.config.title
        if chance < self.config.swapped:
            return "".join(c.swapcase() if dice.random() < 0.3 else c for c in text)
        return text


def _capitals(text: str) -> str:
    # str.title would also put a capital after a digit or an apostrophe inside a word.
    return re.sub(r"(?<!\S)\S", lambda found: found[0].upper(), text)
