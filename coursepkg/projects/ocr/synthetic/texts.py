"""What a drawn line says: receipts, documents, sentences, syllables, codes.

A syllable is an onset (possibly none), a rhyme and one of six tones. Three rules tie
them together. The sounds /k/, /g/ and /ŋ/ are written k, gh, ngh before e, ê, i, y and
c, g, ng elsewhere; /k/ before a rounded glide is qu. A rhyme that ends in a stop (c,
ch, p, t) takes the tones sắc and nặng only. The mark stands on the main vowel, and in
open oa, oe and uy on the first letter (hòa, the older habit) or on the second (hoà):
both are made. Drawn evenly, syllables show the recogniser every letter with every
neighbour.
"""

import random
import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from coursepkg.projects.ocr.synthetic.receipt_text import (
    LABIALS,
    ONSETS,
    capital,
    clock,
    date,
    digits,
    either,
    money,
    person,
    phone,
    receipt_line,
    word,
    words,
)
from coursepkg.text.vietnamese import ACCENTED, STYLES, TONE_MARKS, compose, join_tone
from coursepkg.validation import check_count, check_finite

PLAIN_RHYMES, GLIDE_RHYMES = words("plain_rhyme"), words("glide_rhyme")
"""Rhymes without and with a rounded glide before the vowel."""
ALSO_AFTER_Q = ("uôc", "ui")
"""Rhymes without a glide in this table that q takes all the same: quốc, quí."""
I_OR_Y = frozenset({"h", "l", "m", "s", "t", "v"})
"""Onsets after which, as after k and after none, the open rhyme i is written y as well:
kĩ, kỹ."""
STOPPED_TONES = ("sắc", "nặng")

_STOPPED = re.compile(r"(c|ch|p|t)$")


def spell(onset: str, rhyme: str) -> str | None:
    """The written base of a syllable without its tone mark, or None.

    Example:
        >>> spell("c", "iên"), spell("q", "oan"), spell("gi", "iêng")
        ('kiên', 'quan', 'giêng')
        >>> spell("", "iên"), spell("q", "an")
        ('yên', None)
    """
    has_glide = rhyme in GLIDE_RHYMES
    if onset == "q":
        takes_q = has_glide and rhyme not in ("uya", "uyu")
        return f"qu{rhyme[1:]}" if takes_q or rhyme in ALSO_AFTER_Q else None
    if has_glide and (onset in LABIALS or onset in ("c", "gi")):
        return None
    is_front = rhyme[0] in "eêi"
    if onset == "gi":
        if rhyme == "ia":
            return None  # one i stands for both, but gi + ia would read as gi + a
        return f"g{rhyme}" if rhyme[0] == "i" else f"gi{rhyme}"
    if onset == "g" and rhyme[0] == "i" and rhyme != "i":
        return f"gh{rhyme}"
    if onset in ("c", "g", "ng") and is_front:
        return {"c": "k", "g": "gh", "ng": "ngh"}[onset] + rhyme
    if not onset and rhyme.startswith("iê") and rhyme != "iêc":
        return f"y{rhyme[1:]}"
    return onset + rhyme


@cache
def syllables() -> tuple[str, ...]:
    """Every legal syllable in lower case, both placements of the mark, sorted."""
    made = set()
    for onset in ONSETS:
        for rhyme in PLAIN_RHYMES + GLIDE_RHYMES:
            base = spell(onset, rhyme)
            if base is None:
                continue
            tones = STOPPED_TONES if _STOPPED.search(rhyme) else tuple(TONE_MARKS)
            bases = [base]
            if rhyme == "i" and onset in ("", "c", *I_OR_Y):
                bases.append(base[:-1] + "y")
            made |= {
                join_tone(text, tone, style)
                for text in bases
                for tone in tones
                for style in STYLES
            }
    return tuple(sorted(made))


@cache
def _with_letter() -> dict[str, tuple[str, ...]]:
    return {letter: tuple(s for s in syllables() if letter in s) for letter in ACCENTED}


def draw_syllable(dice: random.Random, even_letters: float = 0.5) -> str:
    """A syllable at random.

    Args:
        dice: where chance comes from.
        even_letters: how often one of the 67 accented letters is drawn first and then a
            syllable that has it, in [0, 1]. Otherwise all syllables are equally likely,
            which leaves ẵ some six times rarer than đ.
    """
    if dice.random() < even_letters:
        return dice.choice(_with_letter()[dice.choice(ACCENTED)])
    return dice.choice(syllables())


ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")


def act(dice: random.Random) -> str:
    """An act with its number and day."""
    number, year = dice.randint(1, 3000), dice.randint(1995, 2029)
    mark = either(
        dice,
        f"{number}/{year}/{word(dice, 'code')}",
        f"{number:02}/{word(dice, 'code')}",
    )
    day = f"ngày {dice.randint(1, 31):02} tháng {dice.randint(1, 12)} năm {year}"
    tail = either(
        dice, "", f" {day}", f" ngày {date(dice)}", f" {day} của {word(dice, 'organ')}"
    )
    return f"{word(dice, 'act')} số {mark}{tail}"


def phrase(dice: random.Random) -> str:
    """A verb of offices with what it is about."""
    noun = either(
        dice, word(dice, "noun"), f"{word(dice, 'noun')}, {word(dice, 'noun')}"
    )
    links = "", "", " của", " về", " theo", " đối với", " trong lĩnh vực"
    link = either(dice, *links, " thuộc phạm vi", " và")
    return (
        f"{word(dice, 'verb')} {noun}{link}"
        f" {either(dice, word(dice, 'noun'), word(dice, 'organ'))}"
    )


def clause(dice: random.Random) -> str:
    """A clause of an act, with its number or without."""
    point, number = dice.choice("abcdđeghiklmnopq"), dice.randint(1, 60)
    return either(
        dice,
        f"Căn cứ {act(dice)} {phrase(dice)};",
        f"Điều {number}. {capital(phrase(dice))}",
        f"{point}) {capital(phrase(dice))};",
        f"{number}. {word(dice, 'organ')} {phrase(dice)}.",
        f"{number}.{dice.randint(1, 9)}. {capital(phrase(dice))}:",
        f"- {capital(phrase(dice))};",
        f"+ {capital(phrase(dice))} ({word(dice, 'noun')}).",
        f"{phrase(dice)}, {phrase(dice)}",
        f"quy định tại khoản {number}, điểm {point} Điều {dice.randint(1, 99)}"
        f" {act(dice)}",
        f"Theo đề nghị của {word(dice, 'organ')} tại {act(dice)}.",
        f"{word(dice, 'organ')} có trách nhiệm {phrase(dice)} trước ngày {date(dice)}.",
        f"“{capital(phrase(dice))}”",
        f"{phrase(dice)} trong thời hạn {dice.randint(1, 90):02} ngày làm việc",
    )


def heading(dice: random.Random) -> str:
    """A heading, a signature or the head of a column."""
    return either(
        dice,
        word(dice, "heading"),
        f"{either(dice, *ROMAN)}. {phrase(dice).upper()}",
        phrase(dice).upper(),
        word(dice, "organ").upper(),
        f"Chương {either(dice, *ROMAN)}",
        f"Số: {dice.randint(1, 3000)}/{word(dice, 'code')}",
        f"{word(dice, 'city')}, ngày {dice.randint(1, 31)} tháng {dice.randint(1, 12)}"
        f" năm {dice.randint(2000, 2029)}",
        person(dice),
        f"Mẫu {dice.randint(1, 40):02} - {capital(word(dice, 'noun'))}",
        f"Mã TTHC: {dice.randint(1, 3)}.{digits(dice, 6)}",
        f"{dice.randint(1, 60):02} ngày",
    )


def prose(dice: random.Random) -> str:
    """Common words in no order, with the punctuation of sentences."""
    parts = []
    for _ in range(dice.randint(1, 14)):
        is_common = dice.random() < 0.8
        kind = "word" if is_common else dice.choice(("noun", "verb", "item"))
        parts.append(word(dice, kind))
        if dice.random() < 0.12:
            parts[-1] += dice.choice((",", ",", ",", ".", ";", ":", "?", "!", "..."))
        elif dice.random() < 0.03:
            parts[-1] = dice.choice(("({})", '"{}"', "“{}”", "'{}'")).format(parts[-1])
    text = " ".join(parts)
    if dice.random() < 0.4:
        return text
    return capital(text) + dice.choice(("", ".", ".", ","))


def generated_words(dice: random.Random) -> str:
    """Legal syllables, most of which are no word."""
    even = dice.choice((1.0, 0.5))
    text = " ".join(draw_syllable(dice, even) for _ in range(dice.randint(1, 12)))
    # Capitals with marks are rare elsewhere: Ỵ, Ẵ.
    return text.upper() if dice.random() < 0.3 else text


def code(dice: random.Random) -> str:
    """Numbers, codes, addresses of the net, and foreign words."""
    letters = "".join(
        dice.choice("ABCDĐEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(dice.randint(1, 4))
    )
    latin = "".join(
        dice.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(dice.randint(2, 10))
    )
    simple = either(
        dice,
        f"{letters}{digits(dice, dice.randint(1, 9))}",
        f"{letters}-{digits(dice, dice.randint(2, 6))}/{dice.randint(1, 99)}",
        digits(dice, dice.randint(1, 14)),
        f"{dice.randint(0, 999)},{digits(dice, 2)}%",
        f"{dice.randint(1, 99)} {dice.choice('+-x*/=<>')} {dice.randint(1, 999)}",
        f"www.{latin}.example{dice.choice(('', '/'))}",
        f"{latin}{dice.randint(1, 99)}@{word(dice, 'foreign').lower()}.example",
        f"#{letters}_{digits(dice, 3)}",
        f"[{letters}] {{{latin}}} ~{dice.randint(1, 99)}°C",
        f"{dice.randint(1, 99)}m² x {dice.randint(2, 90)} cm",
        f"{dice.randint(1, 99)}–{dice.randint(100, 999)} | {letters}",
        f"{letters} & {latin} ± {dice.randint(1, 9)}",
        f"$ {money(dice)} ^ {latin}\\{letters} `{latin}`",
        latin,
    )
    foreign = " ".join(word(dice, "foreign") for _ in range(dice.randint(1, 4)))
    numbers = date(dice), clock(dice), money(dice), phone(dice)
    return either(dice, simple, simple, simple, *numbers, foreign)


SIGNS = ("$", "$", "$", "€", "€", "£", "¥", "US$", "S$", "HK$", "A$")
"""Signs of other currencies; the dollar's and the euro's are the most frequent."""
CODES = ("USD", "EUR", "GBP", "JPY", "CNY", "THB", "SGD", "AUD")
HABITS = ((",", "."), (",", "."), (".", ","), (" ", ","), ("", "."), ("", ","))
"""What stands between thousands, and before hundredths."""
FOREIGN_TOTALS = ("Total", "Subtotal", "Cash", "Change", "Amount due", "Tax", "Visa")
"""Names of amounts on a receipt in English."""


def foreign_amounts(dice: random.Random, n: int = 1) -> list[str]:
    """Amounts in another currency than đồng, such as `$1,250`, all written alike."""
    marks = dice.choice((SIGNS, SIGNS, SIGNS, CODES))
    mark, space = dice.choice(marks), either(dice, "", "", "", " ")
    is_before = dice.random() < 0.75
    thousands, point = dice.choice(HABITS)
    has_hundredths = dice.random() < 0.5
    found = []
    for _ in range(n):
        amount = dice.randint(1, 10 ** dice.choice((1, 2, 2, 3, 4, 5)))
        text = f"{amount:,}".replace(",", thousands)
        text += f"{point}{digits(dice, 2)}" * has_hundredths
        found.append(mark + space + text if is_before else text + space + mark)
    return found


def foreign_line(dice: random.Random) -> str:
    """A line of a receipt in another currency: amounts, alone or behind a name."""
    name = either(
        dice,
        word(dice, "total"),
        dice.choice(FOREIGN_TOTALS),
        word(dice, "foreign"),
        word(dice, "item"),
        f"{dice.randint(1, 9)} x",
    )
    one, price = foreign_amounts(dice, 2)
    return either(
        dice,
        price,
        f"{name} {price}",
        f"{name}: {price}",
        f"{name} {dice.randint(1, 20)} {one} {price}",
    )


def sign_line(dice: random.Random) -> str:
    """A line of a receipt with a sign in its numbers: per cent, plus, equals, colon."""
    rate = dice.choice((5, 8, 10, 10, dice.randint(1, 99)))
    count, points = dice.randint(1, 9), f"1.000{either(dice, 'VND', 'đ', 'd')}"
    letters = "".join(dice.choice(string.ascii_uppercase) for _ in range(2))
    return either(
        dice,
        f"{dice.randint(1, 20)} {rate}%VAT",
        f"{rate}{dice.choice(('', ' '))}%",
        f"VAT {rate}%",
        f"{word(dice, 'total')} {count}({rate}%VAT) {money(dice)}",
        f"{word(dice, 'item')} -{rate}%",
        f"{word(dice, 'item')} {count}+1",
        f"{letters}+ {word(dice, 'street')} {digits(dice, 3)}",
        f"{count} x {money(dice)} = {money(dice)}",
        f"{word(dice, 'noun')}({points}={count} {word(dice, 'noun')})",
        f"{word(dice, 'field')}:{digits(dice, dice.randint(3, 9))}",
    )


DOCUMENT_KINDS: tuple[Callable[[random.Random], str], ...] = (*[clause] * 3, heading)


def column(dice: random.Random) -> str:
    """A line out of the middle of running text: 55 to 100 characters."""
    wanted = dice.randint(55, 100)
    text = ""
    while len(text) < wanted + 40:
        text = f"{text} {clause(dice)}".strip()
    first = text.find(" ", dice.randint(0, 20)) + 1
    return text[first : first + wanted].rpartition(" ")[0]


def document_line(dice: random.Random) -> str:
    """A line of a document: running text, a cut clause, or a heading."""
    if dice.random() < 0.25:
        return column(dice)
    text = dice.choice(DOCUMENT_KINDS)(dice)
    parts = text.split(" ")
    if len(parts) > 4 and dice.random() < 0.6:
        first = dice.randrange(len(parts) - 3)
        parts = parts[first : first + dice.randint(2, 18)]
    return " ".join(parts)


LETTER_RATE = 1e-4
"""Of all characters that are no spaces, the least share of each accented letter in each
case, with the weights below: one letter in ten thousand, where a newspaper has ẵ ten
times and Ẵ a thousand times less often."""


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
    """Weight of legal syllables, at least 0: they keep every accented letter
    frequent."""
    codes: float = 0.1
    """Weight of numbers, codes and foreign words, at least 0."""
    currencies: float = 0.0
    """Weight of amounts in other currencies than đồng, at least 0."""
    signs: float = 0.0
    """Weight of numbers with a sign, such as `10%VAT`, at least 0."""
    own: float = 0.0
    """Weight of the texts of `own_file`, at least 0."""
    own_file: str = ""
    """A UTF-8 file with one text a line, such as a user's own annotations; needs `own`
    above 0, and the reverse."""
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
                    raise ValueError(
                        f"{field.name} must be a weight of at least 0, got {value}"
                    )
            elif field.type in (float, "float") and not 0 <= value <= 1:
                raise ValueError(f"{field.name} must be in [0, 1], got {value}")
        check_count("max_length", self.max_length, 8)
        if bool(self.own) != bool(self.own_file):
            raise ValueError(
                f"own and own_file go together, got own={self.own},"
                f" own_file={self.own_file!r}"
            )
        if not any(getattr(self, kind) for kind in (*KINDS, "own")):
            raise ValueError(
                "receipts, documents, ..., own: at least one weight must be above 0,"
                " got only zeros"
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
    "currencies": foreign_line,
    "signs": sign_line,
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
        raise ValueError(
            f"{path}: not UTF-8 at byte {reason.start}; save it as UTF-8"
        ) from reason
    lines = tuple(
        line for raw in text.splitlines() if (line := compose(" ".join(raw.split())))
    )
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
        file = self.config.own_file
        self.own: Sequence[str] = read_own_texts(file) if file else ()
        """The texts of the configuration's `own_file`."""
        writers = {**KINDS, "own": lambda dice: dice.choice(self.own)}
        kinds = [kind for kind in writers if getattr(self.config, kind)]
        self._writers = [writers[kind] for kind in kinds]
        self._weights = [getattr(self.config, kind) for kind in kinds]

    def draw(self, dice: random.Random) -> str:
        """The text of one line, in NFC, without spaces at its ends or two in a row."""
        text = dice.choices(self._writers, self._weights)[0](dice)
        text = self._in_case(dice, " ".join(text.split()))
        most = self.config.max_length
        if len(text) > most:
            text = text[: most + 1].rpartition(" ")[0] or text[:most]
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
