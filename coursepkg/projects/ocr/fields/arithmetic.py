"""The goods of a receipt, and its sums as a checksum of the total.

    goods = sum of amounts = sum of quantity * price
    total = goods - discount + tax, where the tax is not within the prices
    total = paid - change

A digit that was read wrongly breaks these equations. Where two of them are broken and
agree on a total that is one digit apart, it is corrected and a note says so. One
equation alone may be broken by its other numbers as well, such as an item that was not
found, so a note tells of it and the total stays. It stays as well where the same amount
was paid, since then it was read twice.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from coursepkg.projects.ocr.fields import keywords as kw
from coursepkg.projects.ocr.fields.lines import FieldLine, amount_beside, joined
from coursepkg.projects.ocr.fields.values import (
    FoundAmount,
    find_amounts,
    repair_digits,
)


@dataclass(frozen=True)
class Item:
    """Something that was sold."""

    name: str
    quantity: int | float | None
    """None where it is not printed and does not follow from price and amount."""
    price: int | None
    """Of one, in dong; None where it is not printed and does not follow."""
    amount: int
    """Of all, in dong."""
    lines: tuple[int, ...]
    """Numbers of its lines on the page, from 0."""

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return asdict(self) | {"lines": list(self.lines)}


_BELOW = tuple(kind for kind in kw.MONEY if kind not in (kw.DISCOUNT, kw.TAX))
"""Kinds of lines that end the goods; a discount may stand among them."""
_COUNT = re.compile(r"(?<![\w.,/])[xX]?(\d{1,3}(?:[.,]\d{1,3})?)\s?[xX*]?(?![\w/])")
_NUMBER = re.compile(r"^\s*\d{1,2}[.)]\s+")
_CODE = re.compile(r"(?<!\w)\d{6,}(?!\w)")
_PERCENT = re.compile(r"(\d{1,2}) ?%")


def goods_rows(
    lines: Sequence[FieldLine], used: Collection[int]
) -> Iterator[list[FieldLine]]:
    """The rows between the heads of the columns, or the shop, and the first sum.

    Discounts and taxes among them are no goods. A word such as `điện thoại` or `giờ`
    (`giò`, without its marks) is part of a name below the heads of columns; without
    them, it is where prices stand (`_priced_rows`) and no colon stands in the line. A
    row with such a word and a time or a date is no goods.
    """
    columns = [one.row for one in lines if one.kind == kw.COLUMN]
    begin = min(columns, default=-1)
    ends = [one.row for one in lines if one.kind in _BELOW and one.row > begin]
    end = min(ends, default=lines[-1].row + 1)
    between = [one for one in lines if one.kind in (kw.DISCOUNT, kw.TAX)]
    no_goods = {line.row for one in between for line in amount_beside(one, lines)[0]}
    moments = {one.row for one in lines if one.has_time or one.has_date}
    no_goods |= moments & {one.row for one in lines if one.kind == kw.WHEN}
    left = [
        one
        for one in lines
        if begin < one.row < end
        and one.row not in no_goods
        and one.number not in used
        and one.kind in (None, kw.CONTACT, kw.WHEN)
    ]
    if not columns:
        goods = _priced_rows(left, end if ends else None)
        left = [
            one
            for one in left
            if one.kind is None or (one.row in goods and ":" not in one.text)
        ]
    for _, row in groupby(left, key=lambda one: one.row):
        yield list(row)


def _priced_rows(lines: Sequence[FieldLine], end: int | None) -> range:
    """The rows from the first price to the first sum, or to the last price without one.

    The row above is one of them where the first prices stand without a name, such as
    `2 x 135.500`. Numbers behind words such as `điện thoại` are no prices.

    Args:
        lines: above the first sum.
        end: the row of the first sum; None without one.
    """
    plain = [one for one in lines if one.kind is None]
    rows = [one.row for one in plain if one.has_price]
    if not rows:
        return range(0)
    first = [one for one in plain if one.row == rows[0]]
    is_bare = not any(sum(map(str.isalpha, one.text)) > 4 for one in first)
    return range(rows[0] - is_bare, rows[-1] + 1 if end is None else end)


def find_items(lines: Sequence[FieldLine], used: Collection[int]) -> list[Item]:
    """The goods; a row with amounts alone belongs to the name in the row before.

    Args:
        lines: of the page.
        used: numbers of lines that say something else.
    """
    items: list[Item] = []
    pending: list[FieldLine] = []
    for row in goods_rows(lines, used):
        text, _ = repair_digits("\t".join(one.text for one in row))
        text = _CODE.sub(" ", _NUMBER.sub("", text))
        item = _item(text, tuple(one.number for one in row))
        if item is None:
            pending = row
            continue
        if not item.name and pending:
            name, _ = repair_digits(joined(pending))
            name = _CODE.sub("", _NUMBER.sub("", name)).strip()
            numbers = (*(one.number for one in pending), *item.lines)
            item = Item(name, item.quantity, item.price, item.amount, numbers)
        if item.name:
            items.append(item)
        pending = []
    return items


def _item(text: str, lines: tuple[int, ...]) -> Item | None:
    """The goods of one row, perhaps without a name; None without an amount.

    Args:
        text: cells with tabs between them.
        lines: numbers of the cells.
    """
    amounts = [one for one in find_amounts(text) if one.is_marked and one.value > 0]
    if not amounts or sum(map(str.isalpha, text[amounts[-1].end :])) > 3:
        return None
    amount = amounts[-1].value
    price = amounts[-2].value if len(amounts) > 1 else None
    count = _count(text, amounts)
    quantity = _number(count[1]) if count else None
    if price is None and quantity and amount % quantity == 0:
        price = round(amount / quantity)
    elif quantity is None and price and amount % price == 0:
        quantity = amount // price
    end = min(amounts[0].start, count.start() if count else len(text))
    name = " ".join(text[:end].split()).strip(" .:-x*")
    return Item(name if len(kw.fold(name)) > 1 else "", quantity, price, amount, lines)


def _count(text: str, amounts: Sequence[FoundAmount]) -> re.Match[str] | None:
    """How many were sold, before the first amount or around the last one.

    A number in a name is no count: its product with the price must be the amount, or an
    `x` stands beside it, or it is a cell of its own.
    """
    front, last = amounts[0].start, amounts[-1]
    behind = (last.end, len(text))
    if len(amounts) > 1:
        behind = (amounts[-2].end, last.start)
    found = [one for one in _COUNT.finditer(text, 0, front) if front - one.end() <= 6]
    found = [*found[-1:], *_COUNT.finditer(text, *behind)]
    price = amounts[-2].value if len(amounts) > 1 else 0
    exact = [one for one in found if abs(_number(one[1]) * price - last.value) < 1]
    sure = [one for one in found if _is_apart(text, one)]
    both = [one for one in exact if one in sure]
    return next(iter([*both, *exact, *sure]), None)


def _is_apart(text: str, count: re.Match[str]) -> bool:
    """Whether an `x` stands beside a number, or the number is a cell of its own."""
    before, after = text[: count.start(1)].rstrip(" "), text[count.end(1) :].lstrip(" ")
    is_cell = before[-1:] in ("", "\t") and after[:1] in ("", "\t")
    return is_cell or not set("xX*").isdisjoint(count[0])


def _number(text: str) -> int | float:
    value = float(text.replace(",", "."))
    return int(value) if value == int(value) else value


@dataclass(frozen=True)
class Equation:
    """What the total should be, by other numbers of the receipt."""

    expected: int
    """In dong."""
    also: frozenset[int]
    """Other totals that fit as well, such as with a tax on top."""
    words: str
    """Which numbers say so."""

    def holds(self, total: int) -> bool:
        """Whether a total fits."""
        return total == self.expected or total in self.also


def equations(lines: Sequence[FieldLine], items: Sequence[Item]) -> list[Equation]:
    """Every equation for the total whose numbers are printed; the goods stand last."""
    found = []
    paid, change = (_printed(lines, kind) for kind in (kw.PAID, kw.CHANGE))
    if paid and change and paid[-1] >= change[-1]:
        words = f"paid {paid[-1]:,} - change {change[-1]:,}"
        found.append(Equation(paid[-1] - change[-1], frozenset(), words))
    discounts = [abs(one) for one in _printed(lines, kw.DISCOUNT)]
    less, last = sum(discounts), sum(discounts[-1:])
    more = abs(sum(_printed(lines, kw.TAX)[-1:]))
    goods = sum(one.amount for one in items)
    if items:
        words = f"goods {goods:,}" + (f" - discount {less:,}" if less else "")
        # The last discount may be the sum of those above.
        also = frozenset(
            one
            for whole in (goods, sum(map(_product, items)))
            for one in (whole, whole + more, whole - less, whole - less + more)
        )
        also |= {goods - last}
        found.append(Equation(goods - less, also, words))
    return found


def _product(item: Item) -> int:
    """Quantity times price; the amount where one of them is not known."""
    if item.quantity is None or item.price is None:
        return item.amount
    return round(item.quantity * item.price)


def _printed(lines: Sequence[FieldLine], kind: str) -> list[int]:
    """The amounts of a kind, from top to bottom."""
    found = (amount_beside(one, lines)[1] for one in lines if one.kind == kind)
    return [value for value in found if value is not None]


def agreeing_total(
    total: int,
    sums: Collection[int],
    lines: Sequence[FieldLine],
    items: Sequence[Item],
) -> int:
    """The total, or another sum where the goods agree with that one alone.

    The total stays where it is what was paid less the change, and where the difference
    is printed, as an amount or in percent: it is a discount or a charge then.

    Args:
        total: by its name, in dong.
        sums: every sum on the page, in dong.
        lines: of the page.
        items: its goods.
    """
    found = equations(lines, items)
    if not items or any(one.holds(total) for one in found):
        return total
    goods = found[-1]
    printed = {abs(amount.value) for one in lines for amount in one.amounts}
    percents = {int(one) for line in lines for one in _PERCENT.findall(line.text)}
    for other in sums:
        difference = abs(other - total)
        is_share = any(abs(other * p / 100 - difference) < 1 for p in percents)
        if goods.holds(other) and difference not in printed and not is_share:
            return other
    return total


def check_total(
    lines: Sequence[FieldLine],
    items: Sequence[Item],
    total: int | str | None,
) -> tuple[int | None, tuple[str, ...]]:
    """The total by arithmetic, and what there is to say about it.

    Args:
        lines: of the page.
        items: its goods.
        total: as it was read, in dong; None where there is none.
    """
    if not isinstance(total, int):
        return None, ()
    broken = [one for one in equations(lines, items) if not one.holds(total)]
    if not broken:
        return total, ()
    said = "; ".join(f"{one.words} = {one.expected:,}" for one in broken)
    expected = {one.expected for one in broken}
    is_paid = total in _printed(lines, kw.PAID)
    if len(broken) > 1 and len(expected) == 1 and not is_paid:
        value = expected.pop()
        if _one_digit_apart(total, value):
            return value, (f"total corrected from {total:,} to {value:,}: {said}",)
    return total, (f"the total {total:,} does not agree with the sums: {said}",)


def _one_digit_apart(one: int, other: int) -> bool:
    """Whether two numbers differ in one digit and in nothing else."""
    left, right = str(one), str(other)
    pairs = zip(left, right, strict=False)
    return len(left) == len(right) and sum(a != b for a, b in pairs) == 1
