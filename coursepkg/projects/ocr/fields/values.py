"""Times and amounts as Vietnamese receipts write them, made into typed values.

A time becomes ISO 8601 to the minute, `2020-08-11T08:06`, or the date alone where no
time is printed. A date is read with the day first, as in Viet Nam; the month is first
only where no other reading is a date. An amount becomes an integer number of dong: dong
have no smaller coin, so two zeros behind a last separator are dropped.

Letters that readers take for digits (O for 0, I and l for 1, S for 5, B for 8) are
replaced inside of numbers (see `repair_digits`), and a note says so. What cannot be
read for certain has no value, and the reason is given.
"""

import re
import unicodedata
from calendar import month_abbr
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, time
from typing import Generic, TypeVar

from coursepkg.text.vietnamese import without_marks

T = TypeVar("T")


@dataclass(frozen=True)
class Parsed(Generic[T]):
    """A typed value, or why there is none."""

    value: T | None
    """None where the text does not say it for certain."""
    reason: str = ""
    """Why there is no value; empty where there is one."""
    notes: tuple[str, ...] = ()
    """What was corrected or assumed."""


CONFUSED = str.maketrans("OoQIl|SB", "00011158")
"""Letters that readers write for digits, and the digits."""
_SYMBOL = "[0-9OoQIl|SB]"
_RUN = re.compile(rf"(?<!\w){_SYMBOL}+(?:[.,:/-]{_SYMBOL}+)*(?![^\W\d_])")


def repair_digits(text: str) -> tuple[str, tuple[str, ...]]:
    """Replace letters by the digits that they stand for, inside of numbers alone.

    A number has four symbols or more; it begins with a digit, or at least half of it
    are digits.

    Example:
        >>> repair_digits("Ngày O9/08/2020, SL 1O")
        ('Ngày 09/08/2020, SL 1O', ("'O9/08/2020' is read as '09/08/2020'",))
    """
    notes: list[str] = []

    def repaired(found: re.Match[str]) -> str:
        token = found[0]
        symbols = re.sub(r"[.,:/-]", "", token)
        n_digits = sum(map(str.isdigit, symbols))
        is_number = symbols[0].isdigit() or 2 * n_digits >= len(symbols)
        if len(symbols) < 4 or not is_number:
            return token
        fixed = token.translate(CONFUSED)
        if fixed != token:
            notes.append(f"{token!r} is read as {fixed!r}")
        return fixed

    return _RUN.sub(repaired, text), tuple(notes)


_FOREIGN = {
    "$": "US dollars",
    "usd": "US dollars",
    "€": "euros",
    "eur": "euros",
    "£": "pounds",
    "gbp": "pounds",
    "¥": "yen or yuan",
    "jpy": "yen",
    "cny": "yuan",
    "rmb": "yuan",
    "krw": "won",
    "₩": "won",
    "thb": "baht",
    "sgd": "Singapore dollars",
    "aud": "Australian dollars",
}
_FOREIGN_NAME = re.compile(
    r"[$€£¥₩]|(?<![^\W\d_])(?:usd|eur|gbp|jpy|cny|rmb|krw|thb|sgd|aud)(?![^\W\d_])",
    re.I,
)
_GROUPED = r"\d{1,3}(?:(?:[.,]\s?\d{3})+(?:[.,]\d{2})?|(?:-\d{3}){2,})(?![\d-])"
_SPACED = r"\d{1,3}(?: \d{3})+(?!\d)"
_PLAIN = r"\d+"
_CURRENCY = r"(?:đồng|đong|dong|vnđ|vnd|đ|₫|d)(?![^\W\d_])"
_AMOUNT = re.compile(
    rf"(?<![\d.,/])(?<!\d:)(?P<sign>-)?(?P<number>{_GROUPED}|{_SPACED}|{_PLAIN})"
    rf"(?![.,]?\d)(?:\s?(?P<currency>{_CURRENCY})|(?P<thousand>k)(?![^\W\d_]))?",
    re.I,
)
MOST_DIGITS = 11
"""Of an amount; a longer number is a code."""
LEAST_PLAIN = 3
"""Digits of an amount without separators and currency; fewer are a count."""


@dataclass(frozen=True)
class FoundAmount:
    """An amount in a text."""

    value: int
    """In dong."""
    start: int
    """Of its first character in the text."""
    end: int
    """Behind its last character."""
    is_marked: bool
    """It has separators of thousands, or four digits and a currency, as a count and
    the number of a house have not."""


def find_amounts(text: str) -> Iterator[FoundAmount]:
    """Every amount in a text whose digits are repaired, from left to right.

    Thousands are set apart by points, commas, spaces, or nothing; in millions also by
    hyphens, which readers see in points. A long number without
    separators and one that begins with 0 are codes; one of few digits is a count. A 0
    at the end is an amount: there is no change.

    Example:
        >>> [one.value for one in find_amounts("2 x 37.000 = 74 000đ")]
        [37000, 74000]
    """
    for found in _AMOUNT.finditer(text):
        number = found["number"]
        digits = re.sub(r"\D", "", _without_fraction(number))
        has_unit = found["currency"] is not None
        is_marked = number != digits or (has_unit and len(digits) >= LEAST_PLAIN + 1)
        is_marked |= found["thousand"] is not None
        is_code = len(digits) > MOST_DIGITS or (len(digits) > 1 and digits[0] == "0")
        is_code |= not is_marked and text[: found.start()][-1:].isalpha()
        is_nothing = digits == "0" and not text[found.end() :].strip()
        if is_code or not (is_marked or is_nothing or len(digits) >= LEAST_PLAIN):
            continue
        value = int(digits) * (1000 if found["thousand"] else 1)
        value = -value if found["sign"] else value
        yield FoundAmount(value, found.start(), found.end(), is_marked)


def _without_fraction(number: str) -> str:
    """A number without two digits behind a last separator."""
    return re.sub(r"[.,]\d{2}$", "", number)


def foreign_currency(text: str) -> str:
    """The name of the first foreign currency that a text names; else an empty text."""
    found = _FOREIGN_NAME.search(text)
    return _FOREIGN[found[0].lower()] if found else ""


def parse_amount(text: str) -> Parsed[int]:
    """The one amount that a text says, in dong.

    Words around it are left aside; of several amounts the last one counts where they
    are equal, and there is no value where they differ.

    Example:
        >>> parse_amount("Tổng cộng: 1.234.500,00 đ").value
        1234500
        >>> parse_amount("Total: $12.50").reason
        'the amount is in US dollars, not in dong'
    """
    repaired, notes = repair_digits(unicodedata.normalize("NFC", text))
    # Letters of a currency may stand directly before the digits.
    repaired = re.sub(r"(?i)(?<![^\W\d_])(vnđ|vnd)(?=[\s\d-])", " ", repaired)
    currency = foreign_currency(repaired)
    if currency:
        return Parsed(None, f"the amount is in {currency}, not in dong")
    found = list(find_amounts(repaired))
    if not found:
        has_digit = any(map(str.isdigit, repaired))
        reason = "its digits are no amount" if has_digit else "there is no number in it"
        return Parsed(None, f"{text!r}: {reason}")
    marked = [one for one in found if one.is_marked] or found
    values = {one.value for one in marked}
    if len(values) > 1:
        several = ", ".join(f"{one.value:,}" for one in marked)
        return Parsed(None, f"{text!r} says several amounts: {several}")
    fraction = re.search(r"[.,](\d{2})$", repaired[: marked[-1].end].rstrip(" đdĐD₫"))
    if fraction and fraction[1] != "00":
        notes = (*notes, f"the {fraction[1]} hundredths of a dong are left out")
    return Parsed(values.pop(), notes=notes)


_ONES = ("mot", "hai", "ba", "bon", "nam", "sau", "bay", "tam", "chin", "muoi")
_MONTHS = {name: number for number, name in enumerate(_ONES, 1)} | {
    "gieng": 1,
    "tu": 4,
    "muoi mot": 11,
    "muoi hai": 12,
    "chap": 12,
}
_MONTHS |= {name.lower(): number for number, name in enumerate(month_abbr) if number}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_GAP = r"\s*[-/.]\s*"
_DATES = (
    re.compile(
        rf"(?<!\d)(?P<y>\d{{4}}){_GAP}(?P<m>\d{{1,2}}){_GAP}(?P<d>\d{{1,2}})(?!\d)"
    ),
    re.compile(
        rf"(?<!\d)(?P<d>\d{{1,2}}){_GAP}(?P<m>\d{{1,2}}){_GAP}(?P<y>\d{{4}})(?!\d)"
    ),
    re.compile(r"(?<!\d)(?P<d>\d{1,2}):(?P<m>\d{1,2}):(?P<y>\d{4})(?!\d)"),
    re.compile(
        r"(?<!\d)(?P<d>\d{1,2})\s*(?:thang\s*|[-/ ]\s*)"
        rf"(?P<m>\d{{1,2}}(?!\d)|{_MONTH})"
        r"[a-z]*[\s,/-]*(?:nam\s*)?(?P<y>\d{4})(?!\d)"
    ),
    re.compile(
        rf"(?<!\d)(?P<d>\d{{1,2}}){_GAP}(?P<m>\d{{1,2}}){_GAP}(?P<y>\d{{2}})(?!\d)"
    ),
)
"""Ways of writing a date in folded text, the surest first."""
_TIMES = (
    re.compile(
        r"(?:(?<![a-z])(?P<before>chieu|toi)\s*)?"
        r"(?<![\d/])(?P<h>\d{1,2})\s*(?::|h|g|gio)\s*(?P<m>\d{2})(?!\d)"
        r"(?:\s*(?:[:.mp']|phut)\s*(?P<s>\d{2})(?![\d/]))?"
        # `toi` before another time is `tới`, until.
        r"\s*(?P<half>am|pm|sa|ch|chieu|toi(?!\s*\d{1,2}\s*[:hg]))?\b"
    ),
    re.compile(
        r"(?<![\d./])(?P<h>\d{1,2})\.(?P<m>\d{2})(?:\.(?P<s>\d{2}))?(?![\d.])"
        r"(?P<before>)(?P<half>)"
    ),
)
"""Ways of writing a time of day; the second one only beside a date."""
FIRST_YEAR, LAST_YEAR = 1990, 2099


def find_date(text: str) -> tuple[Parsed[date], tuple[int, int]]:
    """The first date of a text, and where it stands in its folded form.

    Where digits have the form of a date and are none, such as 31/02/2020, that is the
    reason, and their place is given; without any, the place is (0, 0).

    Example:
        >>> find_date("ngày 11 tháng 8 năm 2020")[0].value
        datetime.date(2020, 8, 11)
    """
    folded = _folded(text)
    reason, place = "there is no date in it", (0, 0)
    for pattern in _DATES:
        for found in pattern.finditer(folded):
            day, month, year = (found[name] for name in "dmy")
            number = _MONTHS.get(month) or int(month)
            parsed = _as_date(int(day), number, int(year), found[0])
            if parsed.value is not None:
                return parsed, found.span()
            reason, place = parsed.reason, found.span()
    return Parsed(None, reason), place


def _as_date(day: int, month: int, year: int, said: str) -> Parsed[date]:
    year += 2000 if year < 100 else 0
    notes: tuple[str, ...] = ()
    if month > 12 >= day:
        day, month = month, day
        notes = (f"{said!r} is read with the month first: there is no month {day}",)
    try:
        value = date(year, month, day)
    except ValueError:
        return Parsed(None, f"{said!r} is no date")
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return Parsed(None, f"{said!r} is no date: the year {year} is out of range")
    return Parsed(value, notes=notes)


def find_time(text: str, *, beside_date: bool = False) -> time | None:
    """The first time of day in a text without its date; None without one.

    Args:
        text: such as `8h06` or `08:06:59 CH`.
        beside_date: whether a date stands beside it; `08.06` is then a time, too.
    """
    folded = _folded(text)
    for pattern in _TIMES if beside_date else _TIMES[:1]:
        for found in pattern.finditer(folded):
            hour, minute, second = int(found["h"]), int(found["m"]), found["s"]
            half = found["half"] or found["before"]
            if half in ("pm", "ch", "chieu", "toi") and hour < 12:
                hour += 12
            elif half in ("am", "sa") and hour == 12:
                hour = 0
            if hour < 24 and minute < 60 and int(second or 0) < 60:
                return time(hour, minute)
    return None


def parse_timestamp(text: str) -> Parsed[str]:
    """The time that a text says, as ISO 8601 to the minute.

    Example:
        >>> parse_timestamp("Thời gian: 08:06 11.08.2020").value
        '2020-08-11T08:06'
        >>> parse_timestamp("Ngày 31/02/2020").reason
        "'31/02/2020' is no date"
    """
    repaired, notes = repair_digits(unicodedata.normalize("NFC", text))
    day, (start, end) = find_date(repaired)
    if day.value is None:
        return Parsed(None, day.reason, notes)
    folded = _folded(repaired)
    at = find_time(f"{folded[end:]} ; {folded[:start]}", beside_date=True)
    value = day.value.isoformat() + (f"T{at:%H:%M}" if at else "")
    return Parsed(value, notes=(*notes, *day.notes))


def _folded(text: str) -> str:
    """Text in small letters without marks, and with single spaces."""
    return " ".join(without_marks(text).casefold().split())
