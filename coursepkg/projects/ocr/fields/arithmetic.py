"""The goods of a receipt, and its sums as a checksum of the total.

    goods = sum of amounts = sum of quantity * price
    total = goods - discount + tax, where the tax is not within the prices
    total = paid - change

A digit that was read wrongly breaks these equations. Where two of them are broken and
agree on a total that is one digit apart, it is corrected and a note says so. One
equation alone may be broken by its other numbers as well, such as an item that was not
found, so a note tells of it and the total stays. It stays as well where the same amount
was paid, since then it was read twice. Digits that are no amount are taken for the
total that two equations agree on, where they are one symbol apart from it.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, TypeVar

from coursepkg.metrics.edit import edit_distance
from coursepkg.projects.ocr.fields import keywords as kw
from coursepkg.projects.ocr.fields.lines import (
    LEAST_SUM,
    FieldLine,
    amount_beside,
    joined,
)
from coursepkg.projects.ocr.fields.units import (
    foreign_goods,
    says_thousands,
    small_sum,
)
from coursepkg.projects.ocr.fields.values import (
    FoundAmount,
    find_amounts,
    foreign_currency,
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
    them, it is where prices stand (`_goods_range`) and no colon stands in the line. A
    row with such a word and a time or a date is no goods.
    """
    columns = [one.row for one in lines if one.kind == kw.COLUMN]
    begin = min(columns, default=-1)
    ends = [one.row for one in lines if one.kind in _BELOW and one.row > begin]
    end = min(ends, default=lines[-1].row + 1)
    between = [one for one in lines if one.kind in (kw.DISCOUNT, kw.TAX)]
    between += _charges(lines)
    no_goods = {line.row for one in between for line in amount_beside(one, lines)[0]}
    moments = {one.row for one in lines if one.has_time or one.has_date}
    no_goods |= moments & {one.row for one in lines if one.kind == kw.WHEN}
    left = [
        one
        for one in lines
        if begin < one.row < end
        and one.row not in no_goods
        and one.number not in used
        and one.kind in (None, kw.CONTACT, kw.WHEN, kw.CHARGE)
    ]
    if not columns:
        goods = _goods_range(left, end if ends else None)
        left = [
            one
            for one in left
            if one.kind is None or (one.row in goods and ":" not in one.text)
        ]
    for _, row in groupby(left, key=lambda one: one.row):
        yield list(row)


def _goods_range(lines: Sequence[FieldLine], end: int | None) -> range:
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
    found = [one for one in find_amounts(text) if one.value > 0]
    amounts = [one for one in found if one.is_marked] or _plain_amounts(found)
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


def _plain_amounts(found: Sequence[FoundAmount]) -> Sequence[FoundAmount]:
    """A price and an amount without separators, where the one divides the other."""
    price, amount = (one.value for one in found[-2:]) if len(found) > 1 else (0, 1)
    is_money = price >= LEAST_SUM and price % 100 == 0 == amount % price
    return found[-2:] if is_money and amount // price < LEAST_SUM else []


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
    extras = (amount_beside(one, lines)[1] for one in _charges(lines))
    extra = sum(abs(one or 0) for one in extras)
    goods = sum(one.amount for one in items)
    if items:
        words = f"goods {goods:,}" + (f" - discount {less:,}" if less else "")
        # The last discount may be the sum of those above.
        also = frozenset(
            one
            for whole in (goods, sum(map(_product, items)))
            for plus in (0, more, extra, more + extra)
            for one in (whole + plus, whole - less + plus)
        )
        also |= {goods - last, goods - sum(_discounts(lines, goods))}
        found.append(Equation(goods - less, also, words))
    return found


def _charges(lines: Sequence[FieldLine]) -> list[FieldLine]:
    """Lines of charges; one with price and amount in its row is among the goods."""
    found = []
    for line in lines:
        row = [one for one in lines if one.row == line.row]
        if line.kind == kw.CHARGE and sum(len(one.amounts) for one in row) < 2:
            found.append(line)
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


Amount = TypeVar("Amount", bound=int | None)
Sum = tuple[FieldLine, list[FieldLine], Amount]
"""The line that names a sum, all of its lines, and its amount; None if not printed."""


def find_sums(lines: Sequence[FieldLine]) -> list[Sum[int | None]]:
    """Every sum that a line names, from top to bottom.

    Small numbers are sums where a line says that amounts are in thousands of dong.
    """
    columns = {one.row for one in lines if one.kind == kw.COLUMN}
    named = [one for one in lines if one.kind in kw.SUMS and one.row not in columns]
    found = [(one, *amount_beside(one, lines)) for one in named]
    if not says_thousands(lines):
        return found
    return [
        (one, group, small_sum(joined(group)) if value is None else value)
        for one, group, value in found
    ]


def to_pay(
    sums: Sequence[Sum[int]], lines: Sequence[FieldLine], items: Sequence[Item]
) -> Sum[int]:
    """The sum that a customer pays, by its name, its place, the goods and discounts.

    A sum that says it is to pay may be less than one before discounts.

    Args:
        sums: of the page, one at least.
        lines: of the page.
        items: its goods.
    """
    named = _by_name(sums, lines)
    rivals = [
        value
        for line, _, value in sums
        if value <= named[2]
        or named[0].kind != kw.TO_PAY
        or not kw.BEFORE_LESS.search(" ".join(line.words))
    ]
    value = agreeing_total(named[2], rivals, lines, items)
    chosen = _surest([one for one in sums if one[2] == value])
    return _less_discount(chosen, lines) or chosen


def _by_name(sums: Sequence[Sum[int]], lines: Sequence[FieldLine]) -> Sum[int]:
    """The last sum with the surest name.

    What was handed over can be called `thanh toán`, too: it is larger than another sum
    by the change, and left out.
    """
    changes = set(_printed(lines, kw.CHANGE)) - {0}
    values = {value for _, _, value in sums}
    left = [one for one in sums if not {one[2] - c for c in changes} & values]
    return _surest(left or sums)


def differs_from_named(
    total: int, sums: Sequence[Sum[int]], lines: Sequence[FieldLine]
) -> bool:
    """Whether the total is not the sum with the surest name.

    A total that only a discount sets apart from that sum counts as named.

    Args:
        total: that was chosen (`to_pay`), in dong.
        sums: of the page.
        lines: of the page.
    """
    named = _by_name(sums, lines)[2]
    less = _discounts(lines, named)
    return total not in (named, named - sum(less), named - sum(less[-1:]))


def _surest(sums: Sequence[Sum[int]]) -> Sum[int]:
    """The last of those with the surest name."""
    best = min(kw.SUMS.index(str(one.kind)) for one, _, _ in sums)
    return [one for one in sums if kw.SUMS.index(str(one[0].kind)) == best][-1]


def _less_discount(total: Sum[int], lines: Sequence[FieldLine]) -> Sum[int] | None:
    """What is left of a sum after a discount below it, where that is printed below."""
    line, _, value = total
    below = [one for one in lines if one.row > line.row]
    rows = [one.row for one in below if one.kind == kw.DISCOUNT]
    if line.kind == kw.TO_PAY or not rows:
        return None
    less = _discounts(below, value)
    rests = {value - sum(less), value - sum(less[-1:])} - {value, 0}
    for one in below:
        row = [other for other in lines if other.row == one.row]
        is_other = any(other.kind in (kw.CHANGE, kw.DISCOUNT) for other in row)
        amounts = {abs(amount.value) for amount in one.amounts}
        if one.row > rows[0] and not is_other and amounts & rests:
            return line, row, (amounts & rests).pop()
    return None


def _discounts(lines: Sequence[FieldLine], total: int) -> list[int]:
    """What each discount takes off a total; one in percent alone is its share."""
    found = []
    for one in lines:
        if one.kind != kw.DISCOUNT:
            continue
        _, value = amount_beside(one, lines)
        percent = _PERCENT.search(one.text)
        if value is None and percent:
            value = round(total * int(percent[1]) / 100)
        found.append(abs(value or 0))
    return found


def _open_discount(lines: Sequence[FieldLine], total: int) -> int:
    """A discount in dong below the last line that names this total; 0 without one."""
    named = [one for one in lines if one.kind in kw.SUMS]
    there = [one for one in named if amount_beside(one, lines)[1] == total]
    if not there or there[-1].kind == kw.TO_PAY:
        return 0
    less = _printed([one for one in lines if one.row > there[-1].row], kw.DISCOUNT)
    return next((abs(one) for one in less if 0 < abs(one) < total), 0)


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
    text: str = "",
) -> tuple[int | None, tuple[str, ...]]:
    """The total by arithmetic, and what there is to say about it.

    What was handed over may be printed apart from what was paid of it: where a line
    repeats the total, and others less the change are the total as well, then the change
    of another amount is not checked.

    Args:
        lines: of the page.
        items: its goods.
        total: as it was read, in dong; None where there is none.
        text: of the lines that name it.
    """
    if not isinstance(total, int):
        return _missing_total(lines, items, text)
    known = equations(lines, items)
    paid = _printed(lines, kw.PAID)
    is_settled = total in paid and _repeats_paid(lines, total)
    goods = known[-1:] if items else []
    checked = goods if is_settled else known
    broken = [one for one in checked if not one.holds(total)]
    if not broken:
        less = _open_discount(lines, total)
        if not less or any(one.expected == total for one in known):
            return total, ()
        words = f"a discount of {less:,} stands below the total {total:,}"
        return total, (f"{words}; no line says what is left",)
    said = "; ".join(f"{one.words} = {one.expected:,}" for one in broken)
    expected = {one.expected for one in broken}
    if len(broken) > 1 and len(expected) == 1 and total not in paid:
        value = expected.pop()
        if _one_digit_apart(total, value):
            return value, (f"total corrected from {total:,} to {value:,}: {said}",)
    return total, (f"the total {total:,} does not agree with the sums: {said}",)


def _repeats_paid(lines: Sequence[FieldLine], total: int) -> bool:
    """Whether amounts that were handed over, less the change, are the total.

    That is one paid amount other than the total, or all of them; a line without a name
    among them, such as `VinID 10.000`, may tell the rest.
    """
    change = _printed(lines, kw.CHANGE)[-1:]
    others = [one for one in _printed(lines, kw.PAID) if one != total]
    if not others or not change:
        return False
    first = min(one.row for one in lines if one.kind == kw.PAID)
    last = max(one.row for one in lines if one.kind == kw.CHANGE)
    between = [one for one in lines if first < one.row < last]
    named = {one.row for one in between if one.kind is not None}
    rest = {a.value for one in between if one.row not in named for a in one.amounts}
    handed = total + change[0]
    return not {handed - one for one in (*others, sum(others))}.isdisjoint({0, *rest})


def _missing_total(
    lines: Sequence[FieldLine], items: Sequence[Item], text: str
) -> tuple[int | None, tuple[str, ...]]:
    """The total where its digits are no amount, and what the sums say of it.

    Two equations must agree on it, and one symbol at most be otherwise in the text.
    """
    known = equations(lines, items)
    if not text or not known or foreign_currency(text) or foreign_goods(lines):
        return None, ()
    said = "; ".join(f"{one.words} = {one.expected:,}" for one in known)
    if not any(map(str.isdigit, text)):
        return None, (f"no digits of the total were read; the sums say: {said}",)
    value = known[0].expected
    is_agreed = len(known) > 1 and all(one.expected == value for one in known)
    if is_agreed and value >= LEAST_SUM and _one_symbol_apart(text, value):
        return value, (f"the total in {text!r} is read as {value:,}: {said}",)
    return None, ()


def _one_symbol_apart(text: str, value: int) -> bool:
    """Whether the last number of a text is a value, but for one symbol at most."""
    last = re.findall(r"\S*\d\S*", text)[-1]
    symbols = re.sub(r"^\D*[:=]|[.,:'’]", "", last).strip("đĐdD₫")
    return edit_distance(symbols, str(value)) <= 1


def _one_digit_apart(one: int, other: int) -> bool:
    """Whether two numbers differ in one digit and in nothing else."""
    left, right = str(one), str(other)
    pairs = zip(left, right, strict=False)
    return len(left) == len(right) and sum(a != b for a, b in pairs) == 1
