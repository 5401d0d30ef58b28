"""What stands on a Vietnamese receipt: shop, address, goods, totals, all invented."""

import calendar
import random
from collections.abc import Callable
from functools import cache, partial
from importlib import resources

from coursepkg.text.vietnamese import without_marks

Write = Callable[[random.Random], str]


def shop(dice: random.Random) -> str:
    """Name of a shop, most often with its kind."""
    kind, name = word(dice, "shop_kind"), word(dice, "shop_name")
    text = either(
        dice, f"{kind} {name}", f"{kind} {name}", name, f"{name} - {word(dice, 'city')}"
    )
    return text.upper() if dice.random() < 0.5 else text


def address(dice: random.Random) -> str:
    """A line of an address: the house, the ward, or both."""
    first, second = dice.randint(1, 899), f"/{dice.randint(1, 99)}"
    number = f"{first}{either(dice, '', '', '', 'A', 'B', 'Bis', second)}"
    street = word(dice, "street")
    house = either(
        dice,
        f"{number} {street}",
        f"Số {number} đường {street}",
        f"Số {number}, ngõ {dice.randint(1, 300)} {street}",
        f"{number} Đ. {street}",
        f"Tổ {dice.randint(1, 40)} Khu {dice.randint(1, 12)}",
        f"Lô {either(dice, *'ABCDE')}{dice.randint(1, 30)} KĐT {street}",
        f"Thôn {street}",
        f"QL{dice.randint(1, 99)}, KM{dice.randint(1, 90)}",
    )
    district = either(
        dice,
        f"Q.{dice.randint(1, 12)}",
        f"Q. {word(dice, 'ward')}",
        f"H. {word(dice, 'ward')}",
    )
    ward = either(
        dice,
        f"P.{dice.randint(1, 27)}, {district}",
        f"P. {word(dice, 'ward')}",
        f"Phường {word(dice, 'ward')}",
        f"Xã {word(dice, 'ward')}, {district}",
        f"TT. {word(dice, 'ward')}",
        f"P.{word(dice, 'ward')}",
    )
    place = f"{ward}, {word(dice, 'city')}"
    text = either(
        dice,
        house,
        place,
        f"{house}, {place}",
        f"{house}, {ward}",
        f"{house} - {word(dice, 'city')}",
    )
    return either(dice, "", "", "", "Đ/C: ", "Địa chỉ: ", "ĐC: ") + text


def date(dice: random.Random, *, is_valid: bool = False) -> str:
    """A day, in one of the ways receipts write it.

    Args:
        dice: where chance comes from.
        is_valid: whether the day exists; else one in 55 does not, such as 31 February.
    """
    day, month = dice.randint(1, 31), dice.randint(1, 12)
    year = dice.randint(2009, 2030)
    if is_valid:
        day = min(day, calendar.monthrange(year, month)[1])
    return either(
        dice,
        f"{day:02}/{month:02}/{year}",
        f"{day:02}/{month:02}/{year}",
        f"{day:02}-{month:02}-{year}",
        f"{day:02}.{month:02}.{year}",
        f"{day}/{month}/{year}",
        f"{year}-{month:02}-{day:02}",
        f"{day:02}/{month:02}/{year % 100:02}",
    )


def clock(dice: random.Random) -> str:
    """An hour of the day."""
    hour, minute, second = dice.randint(0, 23), dice.randint(0, 59), dice.randint(0, 59)
    return either(
        dice,
        f"{hour:02}:{minute:02}",
        f"{hour:02}:{minute:02}:{second:02}",
        f"{hour}h{minute:02}",
        f"{hour:02} : {minute:02} : {second:02}",
        f"{hour % 12 or 12}:{minute:02} {either(dice, 'AM', 'PM', 'SA', 'CH')}",
    )


def timestamp(dice: random.Random, *, is_valid: bool = False) -> str:
    """A line that says when.

    Args:
        dice: where chance comes from.
        is_valid: whether its day exists.
    """
    day = partial(date, is_valid=is_valid)
    name = word(dice, "when").rstrip(":")
    colon = either(dice, ":", ": ", " : ", ":", ": ", " ")
    return either(
        dice,
        f"{name}{colon}{day(dice)} {clock(dice)}",
        f"{name}{colon}{day(dice)}",
        f"{day(dice)} {clock(dice)}",
        f"{day(dice)} - {clock(dice)}",
        clock(dice),
        f"{name}{colon}{clock(dice)} {day(dice)}",
    )


def money(dice: random.Random) -> str:
    """An amount in đồng, its thousands set apart by a point, a comma or a space."""
    amount = dice.randint(1, 10 ** dice.choice((2, 3, 3, 4, 5)))
    amount *= dice.choice((1000, 1000, 1000, 500, 1))
    text = f"{amount:,}".replace(",", either(dice, ".", ",", ".", ",", " ", ""))
    tail = either(dice, "", "", "", "", "", "đ", " đ", " VNĐ", "VND", ".00", ",00", "₫")
    return either(dice, "", "", "", "", "", "", "", "-", "(") + text + tail


def quantity(dice: random.Random) -> str:
    """How much of an item."""
    weight = f"{dice.randint(0, 9)}{either(dice, ',', '.')}"
    weight += digits(dice, dice.randint(1, 3))
    count = str(dice.randint(1, 40))
    unit = word(dice, "unit")
    return either(
        dice,
        count,
        count,
        f"x{count}",
        f"{count} {unit}",
        f"{weight}{either(dice, '', ' kg')}",
        f"{count}x",
    )


def item(dice: random.Random) -> str:
    """Name of something sold."""
    text = word(dice, "item")
    size = either(
        dice,
        f"{dice.randint(1, 99) * 10}g",
        f"{dice.randint(1, 30)}x{dice.randint(1, 90)}ml",
        word(dice, "unit"),
    )
    text = either(
        dice,
        text,
        text,
        text,
        f"{text} {size}",
        f"{dice.randint(1, 30)}. {text}",
        f"{text} ({size})",
    )
    return either(dice, text, text, text.upper())


def item_line(dice: random.Random) -> str:
    """A row of goods, or a part of one."""
    amount = money(dice)
    return either(
        dice,
        item(dice),
        f"{item(dice)} {quantity(dice)} {money(dice)} {amount}",
        f"{quantity(dice)} {money(dice)} {amount}",
        f"{digits(dice, 13)} {money(dice)} {quantity(dice)} {amount}",
        f"{quantity(dice)} x {amount}",
        f"{item(dice)} {amount}",
        " ".join(word(dice, "column") for _ in range(dice.randint(1, 4))),
        amount,
    )


def total(dice: random.Random) -> str:
    """The line of a sum: its name, its amount, or both."""
    name = word(dice, "total") + either(dice, "", ":", " :")
    return either(
        dice, name, money(dice), f"{name} {money(dice)}", f"{name} {money(dice)}"
    )


def phone(dice: random.Random) -> str:
    """A telephone number, which nobody has: no prefix 000 was ever given out."""
    return "0" + either(
        dice,
        f"00{digits(dice, 7)}",
        f"00 {digits(dice, 3)} {digits(dice, 4)}",
        f"00.{digits(dice, 3)}.{digits(dice, 4)}",
        f"00-{digits(dice, 4)}-{digits(dice, 3)}",
        f"00) {digits(dice, 4)} {digits(dice, 3)}",
    )


def person(dice: random.Random) -> str:
    """A name made of a family name and a given name."""
    return f"{word(dice, 'family')} {word(dice, 'given')}"


def field(dice: random.Random) -> str:
    """A line of a name and its value, such as the number of the bill or the cashier."""
    code = either(dice, "HD", "BH", "T", "K", "POS", "A", "")
    code += digits(dice, dice.randint(1, 9))
    value = either(
        dice,
        code,
        code,
        person(dice),
        phone(dice),
        f"{digits(dice, 10)}-{digits(dice, 3)}",
        digits(dice, 10),
    )
    return f"{word(dice, 'field')}{either(dice, ': ', ':', ' : ', ' ')}{value}"


def footer(dice: random.Random) -> str:
    """A line that thanks or warns."""
    text = word(dice, "footer")
    return either(dice, text, text, text.upper(), f"*** {text} ***", f"{text}!")


KINDS: dict[str, Write] = {
    "shop": shop,
    "address": address,
    "timestamp": timestamp,
    "item": item_line,
    "total": total,
    "field": field,
    "footer": footer,
    "title": lambda dice: word(dice, "title"),
}
"""Kinds of lines, and what writes each."""


def receipt_line(dice: random.Random) -> str:
    """A line of a receipt; one in eight without its marks."""
    text = KINDS[dice.choice(tuple(KINDS))](dice)
    return without_marks(text) if dice.random() < 0.125 else text


@cache
def words(kind: str) -> tuple[str, ...]:
    """The entries of one kind, such as `item` or `street`.

    Raises:
        ValueError: there is no such kind; the kinds are named.
    """
    table = _table()
    if kind not in table:
        raise ValueError(
            f"kind of words {kind!r}: unknown; choose from {', '.join(sorted(table))}"
        )
    return table[kind]


def word(dice: random.Random, kind: str) -> str:
    """One entry of a kind at random."""
    return dice.choice(words(kind))


@cache
def _table() -> dict[str, tuple[str, ...]]:
    path = resources.files("coursepkg.projects.ocr.synthetic") / "words.tsv"
    table: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        kind, entries = line.split("\t")
        table.setdefault(kind, []).extend(entries.split("|"))
    return {kind: tuple(entries) for kind, entries in table.items()}


def either(dice: random.Random, *choices: str) -> str:
    """One of the choices, each as likely as the others."""
    return dice.choice(choices)


def digits(dice: random.Random, count: int) -> str:
    """So many digits, zeros in front included."""
    return "".join(dice.choice("0123456789") for _ in range(count))


def capital(text: str) -> str:
    """The text with a capital at its beginning, and the rest as it was."""
    return text[:1].upper() + text[1:]


_ONSETS = "b c ch d đ g gi h kh l m n ng nh p ph r s t th tr v x q"

ONSETS = ("", *_ONSETS.split())
"""Onsets as they are written before a; the first is none."""

LABIALS = frozenset({"b", "m", "p", "ph", "v"})
"""Onsets that take no rounded glide."""
