"""A line of a page as the rules see it: its place, what it is about, what it holds."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from coursepkg.projects.ocr.fields import keywords as kw
from coursepkg.projects.ocr.fields.values import (
    FoundAmount,
    find_amounts,
    find_date,
    find_time,
    foreign_currency,
    has_hours,
    repair_digits,
)

if TYPE_CHECKING:
    from coursepkg.projects.ocr.page.read import PageLine


@dataclass(frozen=True)
class FieldLine:
    """One line with what can be told of it without its neighbours."""

    number: int
    """On the page, from 0."""
    row: int
    """Lines of one row stand side by side."""
    text: str
    confidence: float
    """Of its reading, in [0, 1]."""
    left: float
    right: float
    """Ends in pixels, along the page."""
    top: float
    bottom: float
    """Ends in pixels, down the page."""
    words: tuple[str, ...]
    """Folded, see `keywords.fold`."""
    kind: str | None
    """What it is about, see `keywords.line_kind`."""
    kind_end: int
    """How many of its words lie before the end of the word that says so; 0 without."""
    amounts: tuple[FoundAmount, ...]
    """In it, from left to right; none where it holds a date."""
    has_date: bool
    """Digits in it have the form of one."""
    day: date | None
    """The one that it says."""
    has_time: bool
    """It says a time of day; not opening hours, from when to when in a row without a
    date and without a name such as `Giờ vào`."""
    is_turned: bool
    """It stands on its head: most lines of the page run the other way."""

    @property
    def says_when(self) -> bool:
        """Whether it holds a date, a time or, on its own, the name of one."""
        if self.kind in (kw.NOTHING, kw.NO_SALE, kw.CONTACT, kw.COUNT, *kw.SUMS):
            return False
        spare = int(":" in self.text or self.kind_end > 1)
        is_name = self.kind == kw.WHEN and len(self.words) <= self.kind_end + spare
        return self.has_date or self.has_time or is_name

    @property
    def names_hour(self) -> bool:
        """Whether it names a time of day, as `Giờ vào` does and `Giờ hát` does not."""
        behind = self.words[self.kind_end : self.kind_end + 1]
        is_alone = not behind or behind[0][0].isdigit()
        is_named = self.kind == kw.WHEN and "gio" in self.words[: self.kind_end]
        return is_named and is_alone

    @property
    def has_price(self) -> bool:
        """Whether an amount in it is surely money: see `FoundAmount.is_marked`."""
        return any(one.is_marked for one in self.amounts)

    @property
    def is_amount(self) -> bool:
        """Whether it is an amount, perhaps with its currency, and nothing else."""
        return bool(self.amounts) and sum(map(str.isalpha, self.text)) <= 4

    @property
    def may_be_head(self) -> bool:
        """Whether it may name a shop or its place: letters, and no other subject."""
        n_letters = sum(map(str.isalpha, self.text))
        return n_letters > 1 and self.kind in (None, kw.WHEN) and not self.says_when

    def letter_width(self, capital: float) -> float:
        """Pixels along the page for a small letter.

        Args:
            capital: how many times as wide a capital letter is.
        """
        widths = (capital if one.isupper() else 1.0 for one in self.text)
        return (self.right - self.left) / max(1.0, sum(widths))

    def overlap(self, other: "FieldLine") -> float:
        """How much of the narrower of two lines lies above or below the other one."""
        common = min(self.right, other.right) - max(self.left, other.left)
        narrower = min(self.right - self.left, other.right - other.left)
        return max(0.0, common) / max(narrower, 1e-9)


def as_field_lines(lines: "Sequence[PageLine]") -> list[FieldLine]:
    """The lines of a page, in its order."""
    if not lines:
        return []
    along = reading_direction(lines)
    found = [_field_line(number, line, along) for number, line in enumerate(lines)]
    # `Giờ 2.50 60.000` is a price for each hour.
    priced = {one.row for one in found if one.has_price}
    hours = {one.row for one in found if one.names_hour} - priced
    found = [
        replace(one, has_time=_has_dotted_time(one))
        if one.row in hours and not one.has_time
        else one
        for one in found
    ]
    # A name such as `Giờ vào` tells when guests came and left, as a date does beside.
    named = {one.row for one in found if one.has_date or one.kind == kw.WHEN}
    return [
        replace(one, has_time=False)
        if one.has_time and one.row not in named and _has_hours(one)
        else one
        for one in found
    ]


def _has_dotted_time(line: FieldLine) -> bool:
    """Whether a line says a time of day such as `08.06`, which is one beside a name."""
    return find_time(repair_digits(line.text)[0], beside_date=True) is not None


def _has_hours(line: FieldLine) -> bool:
    """Whether a line says from when to when."""
    return has_hours(repair_digits(line.text)[0])


def reading_direction(lines: "Sequence[PageLine]") -> np.ndarray:
    """The direction in which most lines run, of length 1, (2,); there must be one.

    A page may lie on its side or stand on its head.
    """
    steps = np.stack([line.box.corners[1] - line.box.corners[0] for line in lines])
    ways = np.where(steps @ steps[np.argmax(np.hypot(*steps.T))] < 0, -1.0, 1.0)
    ways *= 1.0 if ways.sum() >= 0 else -1.0
    step = np.median(steps * ways[:, None], axis=0)
    return np.asarray(step / max(float(np.hypot(*step)), 1e-9))


# `Tổng cộng 1.200.000 người` is no sum; `Tổng (1.000 người): 42.000.000` is one.
_COUNTED = re.compile(
    r"(?:\d{4}|\d[.,]\d{3}|triệu|nghìn|ngàn)\s+"
    r"(?:lượt|lần|người|hộ dân|học sinh)\b(?!.*\d)",
    re.I,
)


def _field_line(number: int, line: "PageLine", along: np.ndarray) -> FieldLine:
    text = " ".join(line.text.split())
    repaired, _ = repair_digits(text)
    is_counted = _COUNTED.search(text) is not None
    word = None if is_counted else kw.line_kind(text)
    day, (_, end_of_date) = find_date(repaired)
    has_date = end_of_date > 0
    x = line.box.corners @ along
    step = line.box.corners[1] - line.box.corners[0]
    y = line.box.corners @ np.array([-along[1], along[0]])
    return FieldLine(
        number=number,
        row=line.row,
        text=text,
        confidence=line.confidence,
        left=float(x.min()),
        right=float(x.max()),
        top=float(y.min()),
        bottom=float(y.max()),
        words=tuple(kw.fold(text).split()),
        kind=None if word is None else word.kind,
        kind_end=0 if word is None else word.end,
        amounts=() if has_date or is_counted else tuple(find_amounts(repaired)),
        has_date=has_date,
        day=day.value,
        has_time=find_time(repaired, beside_date=has_date) is not None,
        is_turned=bool(step @ along < 0),
    )


def joined(lines: Iterable[FieldLine]) -> str:
    """The texts of lines in their order, joined by spaces."""
    return " ".join(one.text for one in lines)


LEAST_SUM = 1000
"""In dong: a smaller number without separators or currency is a count."""


_BRACKETS = re.compile(r"\([^()]*(?:\)|$)")


def amount_beside(
    name: FieldLine, lines: Sequence[FieldLine]
) -> tuple[list[FieldLine], int | None]:
    """The lines of a named sum and its amount: behind it, beside it, or next to it.

    An amount in the next row, or else in the row before, belongs to the name where it
    stands there alone; rows of a photograph are seldom quite straight. An amount in
    brackets counts where there is no other one. There is none in a row whose amounts
    are all in another currency, and none behind a lone digit.
    """
    row = [
        one
        for one in lines
        if one.row == name.row
        and one.left >= name.left
        and one.kind in (None, name.kind)
    ]
    said, _ = repair_digits(joined(row))
    if foreign_currency(said) and not any(find_amounts(said)):
        return row, None
    groups = [[name], row]
    for step in (1, -1):
        beside = [one for one in lines if one.row == name.row + step]
        if len(beside) == 1 and beside[0].is_amount and beside[0].left > name.left:
            groups.append(sorted([*row, *beside], key=lambda one: one.number))
    for group in groups:
        if group == [name]:
            found = _sums(_own_amounts(name))[:1]
        else:
            others = [one for one in group if one is not name]
            found = _sums([amount for one in others for amount in one.amounts])[-1:]
        if found:
            value = None if found[0].follows_digit else found[0].value
            return (row if group == [name] else group), value
    inside = _sums(name.amounts)[-1:]
    return row, inside[0].value if inside else None


def _own_amounts(name: FieldLine) -> list[FoundAmount]:
    """The amounts of a named sum in its own line, as far as the next name of a sum.

    They stand behind the name, if any does, not in brackets and not before a `=`.
    """
    brackets = [found.span() for found in _BRACKETS.finditer(name.text)]
    left = [
        one
        for one in name.amounts
        if not any(start < one.start < end for start, end in brackets)
        and name.text[one.end :].lstrip()[:1] != "="
    ]
    behind = [
        one
        for one in left
        if len(kw.fold(name.text[: one.start]).split()) >= name.kind_end
    ]
    left = behind or left
    for number, (one, other) in enumerate(pairwise(left), 1):
        if kw.find_words(name.text[one.end : other.start], kw.MONEY):
            return left[:number]
    return left


def _sums(amounts: Sequence[FoundAmount]) -> list[FoundAmount]:
    """Those that can be a sum; marked ones where there are any, else a 0 at worst."""
    marked = [one for one in amounts if one.is_marked]
    large = [one for one in amounts if abs(one.value) >= LEAST_SUM]
    return marked or large or [one for one in amounts if one.value == 0]
