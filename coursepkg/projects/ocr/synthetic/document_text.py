"""Lines of official documents, prose and codes: invented clauses in the manner of such papers, copied from none."""

import random
from collections.abc import Callable

from coursepkg.projects.ocr.synthetic.receipt_text import clock, date, money, person, phone
from coursepkg.projects.ocr.synthetic.syllables import draw_syllable
from coursepkg.projects.ocr.synthetic.words import capital, digits, either, word

ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")


def act(dice: random.Random) -> str:
    """An act with its number and day."""
    number, year = dice.randint(1, 3000), dice.randint(1995, 2029)
    mark = either(dice, f"{number}/{year}/{word(dice, 'code')}", f"{number:02}/{word(dice, 'code')}")
    day = f"ngày {dice.randint(1, 31):02} tháng {dice.randint(1, 12)} năm {year}"
    tail = either(dice, "", f" {day}", f" ngày {date(dice)}", f" {day} của {word(dice, 'organ')}")
    return f"{word(dice, 'act')} số {mark}{tail}"


def phrase(dice: random.Random) -> str:
    """A verb of offices with what it is about."""
    noun = either(dice, word(dice, "noun"), f"{word(dice, 'noun')}, {word(dice, 'noun')}")
    link = either(
        dice, "", "", " của", " về", " theo", " đối với", " trong lĩnh vực", " thuộc phạm vi", " và"
    )
    return f"{word(dice, 'verb')} {noun}{link} {either(dice, word(dice, 'noun'), word(dice, 'organ'))}"


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
        f"quy định tại khoản {number}, điểm {point} Điều {dice.randint(1, 99)} {act(dice)}",
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
        f"{word(dice, 'city')}, ngày {dice.randint(1, 31)} tháng {dice.randint(1, 12)} năm {dice.randint(2000, 2029)}",
        person(dice),
        f"Mẫu {dice.randint(1, 40):02} - {capital(word(dice, 'noun'))}",
        f"Mã TTHC: {dice.randint(1, 3)}.{digits(dice, 6)}",
        f"{dice.randint(1, 60):02} ngày",
    )


def prose(dice: random.Random) -> str:
    """Common words in no order, with the punctuation of sentences, as a piece of a longer text."""
    parts = []
    for _ in range(dice.randint(1, 14)):
        parts.append(word(dice, "word" if dice.random() < 0.8 else dice.choice(("noun", "verb", "item"))))
        if dice.random() < 0.12:
            parts[-1] += dice.choice((",", ",", ",", ".", ";", ":", "?", "!", "..."))
        elif dice.random() < 0.03:
            parts[-1] = dice.choice(("({})", '"{}"', "“{}”", "'{}'")).format(parts[-1])
    text = " ".join(parts)
    return text if dice.random() < 0.4 else capital(text) + dice.choice(("", ".", ".", ","))


def generated_words(dice: random.Random) -> str:
    """Legal syllables, most of which are no word: what stands there cannot be guessed from its neighbours."""
    even = dice.choice((1.0, 0.5))
    text = " ".join(draw_syllable(dice, even) for _ in range(dice.randint(1, 12)))
    # Capitals with marks are rare elsewhere: Ỵ, Ẵ.
    return text.upper() if dice.random() < 0.3 else text


def code(dice: random.Random) -> str:
    """Numbers, codes, addresses of the net, and foreign words."""
    letters = "".join(dice.choice("ABCDĐEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(dice.randint(1, 4)))
    latin = "".join(dice.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(dice.randint(2, 10)))
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
    return either(dice, simple, simple, simple, date(dice), clock(dice), money(dice), phone(dice), foreign)


DOCUMENT_KINDS: tuple[Callable[[random.Random], str], ...] = (clause, clause, clause, heading)


def column(dice: random.Random) -> str:
    """A whole line of running text, out of the middle of a paragraph: 55 to 100 characters of several clauses."""
    wanted = dice.randint(55, 100)
    text = ""
    while len(text) < wanted + 40:
        text = f"{text} {clause(dice)}".strip()
    first = text.find(" ", dice.randint(0, 20)) + 1
    return text[first : first + wanted].rpartition(" ")[0]


def document_line(dice: random.Random) -> str:
    """A line of a document: a line of running text, a clause cut where the line ended, or a heading."""
    if dice.random() < 0.25:
        return column(dice)
    text = dice.choice(DOCUMENT_KINDS)(dice)
    parts = text.split(" ")
    if len(parts) > 4 and dice.random() < 0.6:
        first = dice.randrange(len(parts) - 3)
        parts = parts[first : first + dice.randint(2, 18)]
    return " ".join(parts)
