"""Times and amounts as Vietnamese receipts write them, made into typed values.

A time becomes ISO 8601 to the minute, `2020-08-11T08:06`, or the date alone where no
time is printed. A date is read with the day first, as in Viet Nam; the month is first
only where no other reading is a date, and a note says where a year of two digits may
be first. An amount becomes an integer number of dong: dong have no smaller coin, so
two zeros behind a last separator are dropped.

Letters that readers take for digits (O for 0, I and l for 1, S for 5, B for 8) are
replaced inside of numbers (see `repair_digits`), and a note says so. What cannot be
read for certain has no value, and the reason is given.
"""

import re
import unicodedata
from calendar import month_abbr, month_name
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
    is_doubtful: bool = False
    """Another reading is as likely; a note says which."""


CONFUSED = str.maketrans("OoQIl|SB", "00011158")
"""Letters that readers write for digits, and the digits."""
_SYMBOL = "[0-9OoQIl|SB]"
_CURRENCY = r"(?:đồng|đong|dong|vnđ|vnd|đ|₫|d)(?![^\W\d_])"
# Letters end a code, as in `8OS1D`, so none may stand behind a number. Those of a
# currency may behind groups of thousands, which no code has: `55.5OOđ`.
_RUN = re.compile(
    rf"(?<!\w)(?:[\dOo]{{1,3}}(?:[.,][\dOo]{{3}})+(?=(?i:{_CURRENCY}))"
    rf"|{_SYMBOL}+(?:[.,:/-]{_SYMBOL}+)*(?![^\W\d_]))"
)
_LEADING_ZERO = re.compile(r"0\d{1,2}(?:[.,]\d{3})+")


def repair_digits(text: str) -> tuple[str, tuple[str, ...]]:
    """Replace letters by the digits that they stand for, inside of numbers alone.

    A number has four symbols or more; it begins with a digit, or at least half of it
    are digits. A letter O before a whole amount, as in `O55.000`, is no digit of it; a
    space takes its place, so that all others keep theirs.

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
        if token[0] in "Oo" and _LEADING_ZERO.fullmatch(fixed):
            fixed = f" {fixed[1:]}"
        if fixed != token:
            notes.append(f"{token!r} is read as {fixed.strip()!r}")
        return fixed

    return _RUN.sub(repaired, text), tuple(notes)


_FOREIGN = {
    "Hong Kong dollars": ("hk$", "hkd"),
    "Singapore dollars": ("s$", "sgd"),
    "Taiwan dollars": ("nt$", "twd"),
    "Australian dollars": ("a$", "au$", "aud"),
    "Canadian dollars": ("c$", "ca$", "cad"),
    "New Zealand dollars": ("nz$", "nzd"),
    "US dollars": ("us$", "usd", "$"),
    "USDT": ("usdt",),
    "euros": ("€", "eur"),
    "pounds": ("£", "gbp"),
    "yen": ("jpy", "円"),
    "yuan": ("cny", "rmb", "元"),
    "yen or yuan": ("¥", "￥"),
    "won": ("₩", "krw", "원"),
    "rupiah": ("rp", "idr"),
    "Philippine pesos": ("₱", "php"),
    "Indian rupees": ("₹", "inr"),
    "roubles": ("₽", "rub"),
    "Thai baht": ("฿", "thb", "baht"),
    "Lao kip": ("₭", "lak", "kip"),
    "Cambodian riel": ("៛", "khr", "riel"),
    "ringgit": ("rm", "myr"),
    "Swiss francs": ("chf",),
}
"""Currencies of elsewhere, and how receipts write them."""
_FOREIGN_WORDS = {
    "euros": r"euros?",
    "dollars": r"dollars?|đ[ôo] ?la|do ?la|đô(?= mỹ|(?! ?[^\W\d_]))",
    "kroner": r"kr(?! ?[^\W\d_])|kron[aeo]r?",
    "won": r"won(?! ?[^\W\d_])",
    "yen": r"yen(?! ?[^\W\d_])",
    "yuan": r"(?:nhân dân )?tệ(?! ?[^\W\d_])",
}
"""Currencies in words, which count directly behind a number alone. The short ones are
syllables of names, too: no word stands behind them, as in `12 Đô Thị` and `2 won ton`.
"""


def _currency_pattern(written: tuple[str, ...]) -> str:
    """No letter stands beside those that begin or end with a letter."""
    return "|".join(
        r"(?<![^\W\d_])" * one[0].isalpha()
        + re.escape(one)
        + r"(?![^\W\d_])" * one[-1].isalpha()
        for one in written
    )


_FOREIGN_NAME = "|".join(map(_currency_pattern, _FOREIGN.values()))
_FOREIGN_WORD = rf"(?:{'|'.join(_FOREIGN_WORDS.values())})(?![^\W\d_])"
_FOREIGN_NAMES = [
    *(
        (name, re.compile(_currency_pattern(written), re.I))
        for name, written in _FOREIGN.items()
    ),
    *(
        (name, re.compile(rf"\d ?(?:{written})(?![^\W\d_])(?! ?\d)", re.I))
        for name, written in _FOREIGN_WORDS.items()
    ),
]
_GROUPED = (
    r"\d{1,3}(?:(?:(?:[.,'’]\s?|\s[.,])\d{3})+(?:[.,]\d{2})?|(?:-\d{3}){2,})(?![\d-])"
)
_SPACED = r"\d{1,3}(?: \d{3})+(?!\d)"
_PLAIN = r"\d{4,}[.,]00(?!\d)|\d+"
_AMOUNT = re.compile(
    r"(?<![\d.,/])(?<!\d:)(?<!tri[ệe]u )(?P<sign>-)?"
    r"(?:(?P<millions>(?!0\d)\d{1,3}(?:[.,]\d{1,2})?)\s?tri[ệe]u(?!\s?\d|[^\W\d_])"
    r"|(?P<thousands>(?!0\d)\d{1,3}[.,]\d{1,2})"
    r"(?:k|\s?ng(?:hìn|hin|àn|an))(?![^\W\d_])"
    rf"|(?P<number>{_GROUPED}|{_SPACED}|{_PLAIN})"
    r"(?![.,]?\d|(?: \d{3})*\s?tri[ệe]u)"
    rf"(?:\s?(?P<currency>{_CURRENCY})"
    r"|(?P<thousand>k|\s?ng(?:hìn|hin|àn|an))(?![^\W\d_]))?)",
    re.I,
)
_FIGURE = r"\d(?:[\d.,]*\d)?"
_FOREIGN_AMOUNT = re.compile(
    rf"(?:{_FOREIGN_NAME})\.?\s?{_FIGURE}(?![.,]?\d|\s?{_CURRENCY})"
    rf"|(?<![\d.,]){_FIGURE}\s?(?:{_FOREIGN_NAME}|{_FOREIGN_WORD})(?!\s?\d)",
    re.I,
)
"""An amount in another currency, written before or behind it."""
_DONG_BEFORE = re.compile(
    r"(?<![^\W\d_])(?<![\d.,]\s)(?<![\d.,])(?:vnđ|vnd)(?=\s?-?\d)", re.I
)
"""Letters of dong directly before digits."""
_PARTS = {
    6: "6 33 24 42 222",
    7: "7 34 43 133 223 232 322",
    8: "8 44 134 233 323 332 2222",
}
"""Digits of the groups of a telephone number behind its first group."""


def _grouped(n_digits: int, joint: str) -> str:
    """A pattern of so many digits in groups with the same joint between them."""
    ways = (
        joint.join(rf"\d{{{size}}}" for size in sizes)
        for sizes in _PARTS[n_digits].split()
    )
    return f"(?:{'|'.join(ways)})"


_SIX, _SEVEN, _EIGHT = (_grouped(size, "(?P=joint)") for size in _PARTS)
_TELEPHONE = re.compile(
    r"(?<!\d)(?<!\d[.,])(?:"
    r"\(?\+ ?84(?:[ .()-]{0,3}\d){9,10}"
    rf"|\(0[2-9]\d{{0,2}}\)[ .-]?(?:{'|'.join(_grouped(n, '[ .-]') for n in _PARTS)})"
    rf"|02\d ?{_grouped(8, '[ .-]')}(?<!000)"
    r"|(?=(?:[01]\d*|84)(?P<joint>[ .-]))(?:"
    r"84(?P=joint)[35789]\d\d(?P=joint)\d{3}(?P=joint)\d{3}"
    # `02 1500 3000` is a count, a price and an amount.
    r"|0[48](?:(?P=joint)\d{4}(?<!00)){2}"
    rf"|0[2-9]\d(?P=joint)(?:{_SEVEN}|{_EIGHT})(?<![ .-]000)"
    rf"|0[2-9]\d\d(?P=joint)(?:{_SIX}(?<!000)|{_SEVEN}(?<![ .-]000))"
    rf"|01\d\d(?P=joint){_SEVEN}(?<![ .-]000)"
    # `1900 3800` and `1900 2850` may be a price and an amount.
    rf"|1[89]00(?P=joint)(?:{_SIX}|\d{{4}}(?<!50))(?<!00)))"
    rf"(?![.,-]?\d| \d{{3}}(?![\d.,])|(?i:\s?{_CURRENCY}(?! ?[^\W\d_])))"
)
"""A telephone number in groups. Its first digits may as well be a count such as `02`, a
code such as `0235` or a price such as `1900`: where the others end as amounts do, or
with a currency, it is none; the province Đồng Nai is no currency."""
_LONE_DIGIT = re.compile(r"(?<![^\s:=])\d $")
_DIGITS = re.compile(r"\d $")
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
    follows_digit: bool
    """A lone digit stands before it, as in `4 2.000`: its first one, or a count; before
    millions, as in `12 500 triệu`, any number."""


def find_amounts(text: str) -> Iterator[FoundAmount]:
    """Every amount in dong in a text whose digits are repaired, from left to right.

    Thousands are set apart by points, commas, spaces, or nothing; in millions also by
    hyphens, which readers see in points. A telephone number is none, a long number
    without separators and one that begins with 0 are codes, one of few digits is a
    count. A 0 at the end is an amount: there is no change. An amount in another
    currency is left out; where such a currency stands alone, as in `Total (USD)`, an
    amount in dong has its own.

    Example:
        >>> [one.value for one in find_amounts("2 x 37.000 = 74 000đ")]
        [37000, 74000]
    """
    text = _blanked(_TELEPHONE, _blanked(_DONG_BEFORE, text))
    has_other = is_foreign = bool(foreign_currency(text))
    if is_foreign:
        text = _blanked(_FOREIGN_AMOUNT, text)
        has_other = bool(foreign_currency(text))
    for found in _AMOUNT.finditer(text):
        before, sign = text[: found.start()], -1 if found["sign"] else 1
        if short := found["millions"] or found["thousands"]:
            unit = 1_000_000 if found["millions"] else 1000
            value = sign * round(float(short.replace(",", ".")) * unit)
            digit = (_DIGITS if found["millions"] else _LONE_DIGIT).search(before)
            yield FoundAmount(value, *found.span(), True, digit is not None)
            continue
        number = found["number"]
        digits = re.sub(r"\D", "", _without_fraction(number))
        has_unit = found["currency"] is not None
        is_marked = number != digits or (has_unit and len(digits) >= LEAST_PLAIN + 1)
        is_marked |= found["thousand"] is not None
        is_code = len(digits) > MOST_DIGITS or (len(digits) > 1 and digits[0] == "0")
        is_code |= not is_marked and before[-1:].isalpha()
        is_nothing = digits == "0" and not text[found.end() :].strip()
        is_enough = is_nothing or len(digits) >= LEAST_PLAIN
        if is_code or not (is_marked or (is_enough and not is_foreign)):
            continue
        if has_other and not has_unit:
            continue
        value = sign * int(digits) * (1000 if found["thousand"] else 1)
        follows_digit = _LONE_DIGIT.search(before) is not None
        yield FoundAmount(value, *found.span(), is_marked, follows_digit)


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    """A text with spaces in place of what a pattern matches."""
    return pattern.sub(lambda found: " " * len(found[0]), text)


def _without_fraction(number: str) -> str:
    """A number without two digits behind a last separator."""
    return re.sub(r"[.,]\d{2}$", "", number)


_DONG = re.compile(
    r"vnđ|vnd|₫|(?<![^\W\d_])(?:đồng|dong)(?![^\W\d_])|\d\s?[đd](?![^\W\d_])|\([đd]\)",
    re.I,
)


def names_dong(text: str) -> bool:
    """Whether a text names dong, as `42.000đ` does."""
    return _DONG.search(text) is not None


def foreign_currency(text: str) -> str:
    """The name of a foreign currency that a text names; else an empty text."""
    for name, written in _FOREIGN_NAMES:
        if written.search(text):
            return name
    return ""


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
    found = list(find_amounts(repaired))
    if not found:
        return Parsed(None, _why_no_amount(text, repaired))
    marked = [one for one in found if one.is_marked] or found
    values = {one.value for one in marked}
    if len(values) > 1:
        several = ", ".join(f"{one.value:,}" for one in marked)
        return Parsed(None, f"{text!r} says several amounts: {several}")
    if marked[-1].follows_digit:
        return Parsed(None, f"{text!r}: a digit stands apart before the amount")
    fraction = re.search(r"[.,](\d{2})$", repaired[: marked[-1].end].rstrip(" đdĐD₫"))
    if fraction and fraction[1] != "00":
        notes = (*notes, f"the {fraction[1]} hundredths of a dong are left out")
    return Parsed(values.pop(), notes=notes)


def _why_no_amount(text: str, repaired: str) -> str:
    currency = foreign_currency(repaired)
    if currency:
        return f"the amount is in {currency}, not in dong"
    has_digit = any(map(str.isdigit, repaired))
    reason = "its digits are no amount in dong" if has_digit else "there is no number"
    return f"{text!r}: {reason}"


_ONES = ("mot", "hai", "ba", "bon", "nam", "sau", "bay", "tam", "chin", "muoi")
_MONTHS = {name: number for number, name in enumerate(_ONES, 1)} | {
    "gieng": 1,
    "tu": 4,
    "muoi mot": 11,
    "muoi hai": 12,
    "chap": 12,
}
_ENGLISH_MONTHS = {
    name.lower(): number
    for names in (month_abbr, month_name)
    for number, name in enumerate(names)
    if number
}
_VIETNAMESE, _ENGLISH = (
    "|".join(sorted(names, key=len, reverse=True))
    for names in (_MONTHS, _ENGLISH_MONTHS)
)
_MONTHS |= _ENGLISH_MONTHS
_GAP = r"\s*[-/.]\s*"
_DATES = (
    re.compile(
        r"(?<![\d/.-])(?P<y>\d{4})\s*(?P<joint>[-/.])\s*(?P<m>\d{1,2})"
        r"\s*(?P=joint)\s*(?P<d>\d{1,2})(?!\d)"
    ),
    re.compile(
        rf"(?<!\d)(?P<d>\d{{1,2}})(?:{_GAP}|,)(?P<m>\d{{1,2}})(?:{_GAP}|,)"
        r"(?P<y>\d{4})(?!\d)"
    ),
    re.compile(r"(?<!\d)(?P<d>\d{1,2}):(?P<m>\d{1,2}):(?P<y>\d{4})(?!\d)"),
    re.compile(r"(?:ngay|date)[\s:.]*(?P<y>20\d{2})(?P<m>[01]\d)(?P<d>[0-3]\d)(?!\d)"),
    re.compile(
        # `Kỳ 1 tháng 12/2022` is a period.
        r"(?<!\d)(?<!ky )(?P<d>\d{1,2})\s*thang[\s,.:]*"
        rf"(?P<m>\d{{1,2}}(?!\d)|{_VIETNAMESE})"
        r"[\s,./-]*(?:nam[\s,.:]*)?(?P<y>\d{4})(?!\d)"
    ),
    re.compile(
        rf"(?<!\d)(?P<d>\d{{1,2}})\s*[-/ ]\s*(?P<m>\d{{1,2}}(?!\d)|{_ENGLISH})"
        r"[a-z]*[\s,/-]*(?:nam\s*)?(?P<y>\d{4})(?!\d)"
    ),
    re.compile(
        rf"(?<![a-z])(?P<m>{_ENGLISH})\.?\s*(?P<d>\d{{1,2}})(?:st|nd|rd|th)?"
        r"[\s,]+(?P<y>\d{4})(?!\d)"
    ),
)
"""Ways of writing a date in folded text, the surest first."""
_SHORT_DATE = re.compile(
    rf"(?<!\d)(?P<d>\d{{1,2}}){_GAP}(?P<m>\d{{1,2}}){_GAP}(?P<y>\d{{2}})"
    # `12/11/20P` is the series of an invoice.
    r"(?!\d|(?!luc|gio)[a-z])"
)
"""A date whose year has two digits; beside a year of four digits it is none."""
_SHORT_NAMED = (
    re.compile(
        r"(?<!\d)(?P<d>\d{1,2})\s*thang\s*(?P<m>\d{1,2})\s*nam\s*(?P<y>\d{2})(?!\d)"
    ),
    re.compile(
        rf"(?<!\d)(?P<d>\d{{1,2}})[-/ ](?P<m>{_ENGLISH})[-/ ,]\s?(?P<y>\d{{2}})"
        r"(?!\s?[:hg]|\d)"
    ),
)
"""Dates with a year of two digits and a month that is named."""
_TIMES = (
    re.compile(
        r"(?:(?<![a-z])(?P<before>chieu|toi)\s*)?"
        # `CS1: 21` is a branch and the number of its house.
        r"(?<![\d/])(?!(?:(?<=cs)|(?<=cs )|(?<=co so )|(?<=nhanh ))\d{1,2}: )"
        r"(?P<h>\d{1,2})\s*(?::|h|g|gio)\s*(?P<m>\d{2})"
        # `20g 12.000` is a weight and a price.
        r"(?!\d|[.,]\d{3}(?!\d))"
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
FIRST_YEAR, LAST_YEAR = 1990, 2039
"""Of a sale; a date outside of them was misread."""


def find_date(text: str) -> tuple[Parsed[date], tuple[int, int]]:
    """The date of a text, and where it first stands in its folded form.

    Where digits have the form of a date and are none, such as 31/02/2020, that is the
    reason, and their place is given; so it is where two dates differ. Without any, the
    place is (0, 0).

    Example:
        >>> find_date("ngày 11 tháng 8 năm 2020")[0].value
        datetime.date(2020, 8, 11)
    """
    found = _dates(_folded(text))
    valid = [one for one in found if one[0].value is not None]
    if not found:
        return Parsed(None, "there is no date in it"), (0, 0)
    if not valid:
        return found[-1]
    first, place = valid[0]
    for other, _ in valid:
        if other.value != first.value:
            reason = f"{text!r} says two dates: {first.value} and {other.value}"
            return Parsed(None, reason), place
    return first, place


def _dates(folded: str) -> list[tuple[Parsed[date], tuple[int, int]]]:
    """Whatever has the form of a date, and its place; the surest form first."""
    found: list[tuple[Parsed[date], tuple[int, int]]] = []
    for pattern in (*_DATES, *_SHORT_NAMED, _SHORT_DATE):
        if pattern not in _DATES and found:
            break
        for match in pattern.finditer(folded):
            start, end = match.span()
            if all(end <= first or last <= start for _, (first, last) in found):
                found.append((_as_date(match), match.span()))
    return found


def _as_date(found: re.Match[str]) -> Parsed[date]:
    said = found[0]
    day, month, year = (found[name] for name in "dmy")
    parsed = _checked_date(int(day), _MONTHS.get(month) or int(month), int(year), said)
    is_named = not month.isdigit() or "thang" in said
    if parsed.value is None or len(year) == 4 or is_named:
        return parsed
    other = _checked_date(int(year), int(month), int(day), said)
    if other.value in (None, parsed.value) or other.notes:
        return parsed
    note = f"{said!r} is read with the day first; with the year first: {other.value}"
    # With hyphens the year often stands first; a receipt is more likely of the later
    # date.
    doubt = "-" in said and other.value > parsed.value
    return Parsed(parsed.value, notes=(*parsed.notes, note), is_doubtful=doubt)


def _checked_date(day: int, month: int, year: int, said: str) -> Parsed[date]:
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


_HOUR = r"\d{1,2}\s*(?:[:hg]|gio)\s*(?:\d{2}(?!\d))?\s*(?:[ap]m|sa|ch)?"
_HOURS = re.compile(rf"(?<![\d/.]){_HOUR}\s*(?:[-–~]|den|toi|to)\s*{_HOUR}")


def has_hours(text: str) -> bool:
    """Whether a text says from when to when, as opening hours do.

    Example:
        >>> has_hours("Phục vụ từ 6h30 đến 22h")
        True
    """
    return _HOURS.search(_folded(text)) is not None


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
    notes = (*notes, *day.notes)
    return Parsed(value, notes=notes, is_doubtful=day.is_doubtful)


# Readers drop the space between a date and a time of day, as in `16/01/202108:58`. The
# digits of the hour would then belong to the year, and neither would be found.
_GLUED = re.compile(r"([-/.](?:19|20)\d{2})(?=[0-2]?\d:[0-5]\d)")


def _folded(text: str) -> str:
    """Text in small letters without marks, and with single spaces.

    One stands between a year and a time of day as well.
    """
    return _GLUED.sub(r"\1 ", " ".join(without_marks(text).casefold().split()))
