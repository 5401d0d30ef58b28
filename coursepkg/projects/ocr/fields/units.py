"""The unit of a receipt's amounts: dong, thousands of dong, or another currency.

Amounts in another currency are no dong, and amounts in thousands lack three zeros. A
line says the unit, or the goods show it.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from coursepkg.projects.ocr.fields import keywords as kw
from coursepkg.projects.ocr.fields.lines import LEAST_SUM, FieldLine, joined
from coursepkg.projects.ocr.fields.values import (
    find_amounts,
    foreign_currency,
    names_dong,
    repair_digits,
)

_UNIT = r"(?:don vi(?: tinh| tien te)?|dvt|currency|unit|tien te|loai tien)"
_UNIT_LINE = re.compile(rf"{_UNIT}\b")
_THOUSANDS = re.compile(
    rf"{_UNIT}\b.*\b(?:1 ?000 ?(?:d|dong|vnd)?|(?:nghin|ngan)(?: dong| vnd)?)$"
)
_UNIT_BEHIND = re.compile(r"\([^()\d]*\)\s*$")
_HUNDREDTHS = re.compile(r"(?<![\d.,])\d{1,3}\.\d{2}$")
WITH_HUNDREDTHS = "a currency with hundredths"
"""Stands for the name of a currency whose sign was not read."""
_SMALL = re.compile(r"(?<![\w.,/:-])\d{1,3}(?:[.,]\d{3})?(?![\w.,/:%-])")
MOST_THOUSANDS = 10_000
"""A total in thousands of dong is less."""


def foreign_goods(lines: Sequence[FieldLine]) -> str:
    """The foreign currency of most goods, or of a line of units; else an empty text.

    Dong have no hundredths: goods for less than 1,000 with two digits behind a point
    are in a currency whose sign was not read. What stands below the first sum, such as
    a rate of exchange, is no goods.
    """
    found, unsigned, n_dong = [], 0, 0
    end = _first_sum(lines)
    for _, group in groupby(lines, key=lambda one: one.row):
        row = list(group)
        text, _ = repair_digits(joined(row))
        currency = foreign_currency(text)
        has_amount = any(find_amounts(text))
        is_unit = _UNIT_LINE.match(kw.fold(text)) or row[0].kind == kw.COLUMN
        if currency and is_unit and not has_amount and not names_dong(text):
            return currency
        if row[0].row >= end or any(one.kind in kw.MONEY for one in row):
            continue
        is_moment = any(one.says_when or one.kind == kw.WHEN for one in row)
        amounts = [amount for one in row for amount in one.amounts]
        if currency and not has_amount and any(map(str.isdigit, text)):
            found.append(currency)
        elif _has_hundredths(text) and not is_moment:
            unsigned += 1
        elif any(one.is_marked or one.value >= LEAST_SUM for one in amounts):
            n_dong += 1
    # One number with hundredths may be a weight or a distance.
    if says_thousands(lines) or unsigned + len(found) < 2:
        unsigned = 0
    if len(found) + unsigned <= n_dong:
        return ""
    return found[0] if found else WITH_HUNDREDTHS


def _has_hundredths(text: str) -> bool:
    """Whether a row is a name and an amount such as `12.50`, and none in dong."""
    has_name = sum(map(str.isalpha, text)) > 1 and ":" not in text
    has_dong = any(one.value >= LEAST_SUM for one in find_amounts(text))
    return has_name and not has_dong and _HUNDREDTHS.search(text) is not None


def _first_sum(lines: Sequence[FieldLine]) -> int:
    """The row of the first name of a sum that heads no column, or below the page."""
    columns = {one.row for one in lines if one.kind == kw.COLUMN}
    ends = (one.row for one in lines if one.kind in kw.SUMS and one.row not in columns)
    return min(ends, default=lines[-1].row + 1)


def says_thousands(lines: Sequence[FieldLine]) -> str:
    """The first line that says that amounts are in thousands of dong; else nothing."""
    found = (one.text for one in lines if _THOUSANDS.match(" ".join(one.words)))
    return next(found, "")


def in_thousands(lines: Sequence[FieldLine], sums: Collection[int]) -> str:
    """Why the amounts are in thousands of dong; an empty text where they are not.

    A line says so, or the goods add up to a sum in small numbers, most of which are
    less than dong can be.

    Args:
        lines: of the page.
        sums: on the page.
    """
    if unit := says_thousands(lines):
        return f"{unit!r} says thousands"
    small = {one for one in sums if 0 < one < MOST_THOUSANDS}
    if not small:
        return ""
    goods = n_goods = n_small = 0
    end = _first_sum(lines)
    for amount in _small_amounts([one for one in lines if one.row < end]):
        goods, n_goods, n_small = goods + amount, n_goods + 1, n_small + (amount < 1000)
        if 2 * n_small > n_goods > 1 and goods in small:
            return f"the goods add up to {goods:,} in such small numbers"
    return ""


def _small_amounts(lines: Sequence[FieldLine]) -> Iterator[int]:
    """The small numbers that rows end with, upwards as far as each row has one."""
    rows = [list(group) for _, group in groupby(lines, key=lambda one: one.row)]
    for text in map(joined, reversed(rows)):
        found = list(_SMALL.finditer(text))
        if not found or text[found[-1].end() :].strip():
            return
        yield int(re.sub(r"\D", "", found[-1][0]))


def small_sum(text: str) -> int | None:
    """The small number at the end of a text; None without one.

    A unit in brackets may stand behind it.
    """
    rest = _UNIT_BEHIND.sub("", text).replace(":", ": ").rstrip()
    found = list(_SMALL.finditer(rest))
    if not found or found[-1].end() < len(rest) or foreign_currency(text):
        return None
    return int(re.sub(r"\D", "", found[-1][0]))
