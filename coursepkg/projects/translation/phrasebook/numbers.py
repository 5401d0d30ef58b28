"""Numbers, amounts of money, clock times, dates and durations in the three languages.

`NUMBERED` lists what a pattern can ask for by number, such as ``hour:1-3``.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product

from coursepkg.projects.translation.errors.numerals import (
    ENGLISH_SMALL,
    ENGLISH_TENS,
    chinese_number,
    vietnamese_number,
)
from coursepkg.projects.translation.phrasebook.interlinear import (
    LANGUAGES,
    Phrase,
    mark_words,
    phrase,
    plural,
)

_MONTHS = """
January February March April May June July August September October November December
"""
MONTHS = _MONTHS.split()
DAYS_IN_MONTH = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
IRREGULAR_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}

# currency: (zh, en singular, en plural, vi)
CURRENCIES = {
    "yuan": ("块", "yuan", "yuan", "tệ"),
    "dong": ("越南盾", "dong", "dong", "đồng"),
    "dollar": ("美元", "dollar", "dollars", "đô_la"),
}
# zh, en, vi; Chinese and Vietnamese cut the day at other hours than English does.
PARTS_OF_DAY = {
    "early": ("早上/p", "in the morning/p", "sáng/p"),
    "morning": ("上午/p", "in the morning/p", "sáng/p"),
    "afternoon": ("下午/p", "in the afternoon/p", "chiều/p"),
    "evening": ("晚上/p", "in the evening/p", "tối/p"),
}
# minutes: the words after the Chinese hour, around the English, after the Vietnamese
MINUTES = {
    0: ("点/o", "{h} o'clock/o", "giờ/o"),
    10: ("点/o 十/m 分/u", "{h} ten/m", "giờ/o mười/m phút/u"),
    15: ("点/o 一刻/m", "a quarter/m past/o {h}", "giờ/o mười/m lăm/m phút"),
    20: ("点/o 二十/m 分/u", "{h} twenty/m", "giờ/o hai/m mươi/m phút/u"),
    30: ("点/o 半/m", "half/m past/o {h}", "giờ/o rưỡi/m"),
    40: ("点/o 四十/m 分/u", "{h} forty/m", "giờ/o bốn/m mươi/m phút/u"),
    50: ("点/o 五十/m 分/u", "{h} fifty/m", "giờ/o năm/m mươi/m phút/u"),
}
UNITS = {
    "minute": ("分钟/u", "phút/u"),
    "hour": ("个 小时/u", "tiếng/u"),
    "day": ("天/u", "ngày/u"),
    "night": ("个 晚上/u", "đêm/u"),
    "week": ("个 星期/u", "tuần/u"),
    "month": ("个 月/u", "tháng/u"),
    "year": ("年/u", "năm/u"),
}


chinese = partial(chinese_number, two="两")
"""A number below 10^8: ``chinese(25) == "二十五"``, ``chinese(200) == "两百"``."""
vietnamese = partial(vietnamese_number, four="tư")
"""A number below one million, with ``mươi``, ``mốt``, ``tư``, ``lăm``, ``linh``."""


def english(n: int) -> str:
    """A number below one million: ``english(125) == "one hundred and twenty-five"``."""
    if n < 20:
        return ENGLISH_SMALL[n]
    if n < 100:
        tens, units = divmod(n, 10)
        return ENGLISH_TENS[tens - 2] + (f"-{ENGLISH_SMALL[units]}" if units else "")
    unit, name = (1000, "thousand") if n >= 1000 else (100, "hundred")
    high, low = divmod(n, unit)
    link = " and " if low < 100 else " "
    return f"{english(high)} {name}" + (link + english(low) if low else "")


def ordinal(n: int) -> str:
    """An English ordinal: ``ordinal(21) == "twenty-first"``."""
    words = english(n)
    last = words.replace("-", " ").rpartition(" ")[2]
    head = words.removesuffix(last)
    if last.endswith("y"):
        return f"{head}{last[:-1]}ieth"
    return f"{head}{IRREGULAR_ORDINALS.get(last, last + 'th')}"


def number(n: int) -> Phrase:
    """A number that counts something: two is 两 before a measure word."""
    return _phrase(
        english(n), "两" if n == 2 else chinese(n), english(n), vietnamese(n)
    )


def plain_number(n: int) -> Phrase:
    """A number that names something (a room, a page, a bus): two is 二."""
    return _phrase(english(n), chinese(n), english(n), vietnamese(n))


def money(n: int, currency: str) -> Phrase:
    """An amount of money in words."""
    zh, one, many, vi = CURRENCIES[currency]
    unit = _phrase(currency, zh, one if n == 1 else many, vi)
    return _phrase(f"{n} {currency}", *["{n} {unit}"] * 3, n=number(n), unit=unit)


def clock(hour: int, minute: int = 0, part: str = "") -> Phrase:
    """A time of day, with its part of the day if one is named; hours 1 to 12."""
    zh_part, en_part, vi_part = PARTS_OF_DAY[part] if part else ("", "", "")
    zh, en, vi = MINUTES[minute]
    sides = {
        "zh": f"{zh_part} {{h}} {zh}",
        "en": f"{en} {en_part}",
        "vi": f"{{h}} {vi} {vi_part}",
    }
    name, tags = f"{hour}:{minute:02d} {part}".strip(), frozenset(part.split())
    return phrase(name, sides, {"h": number(hour)}, tags=tags)


def date(month: int, day: int) -> Phrase:
    """A day of the year; the first ten of a month are ``mùng`` in Vietnamese."""
    early = "mùng/u " if day <= 10 else ""
    named = "tư" if month == 4 else vietnamese(month)
    return _phrase(
        f"{MONTHS[month - 1]} {day}",
        f"{chinese(month)}月/m {chinese(day)}/d 号/u",
        f"the {ordinal(day)}/d of {MONTHS[month - 1]}/m",
        f"ngày/u {early}{mark_words(vietnamese(day), 'd')} tháng/m"
        f" {mark_words(named, 'm')}",
    )


def dates() -> tuple[Phrase, ...]:
    """Every day of a year."""
    months = enumerate(DAYS_IN_MONTH, 1)
    return tuple(date(m, d) for m, last in months for d in range(1, last + 1))


def duration(n: int, unit: str) -> Phrase:
    """A length of time: ``duration(2, "hour")`` is 两 个 小时, "two hours", hai tiếng."""
    zh, vi = UNITS[unit]
    return _measure(n, zh, unit if n == 1 else plural(unit), vi)


def _phrase(name: str, zh: str, en: str, vi: str, **slots: Phrase) -> Phrase:
    return phrase(name, {"zh": zh, "en": en, "vi": vi}, slots or None)


def _measure(n: int, zh: str, en: str, vi: str, name: str = "") -> Phrase:
    sides = f"{{n}} {zh}", f"{{n}} {en}/u", f"{{n}} {vi}"
    return _phrase(name or f"{n} {en}", *sides, n=number(n))


def _floor(n: int) -> Phrase:
    zh, en = f"{chinese(n)}/n 楼/f", f"the {ordinal(n)}/n floor/f"
    return _phrase(f"floor {n}", zh, en, f"tầng/f {mark_words(vietnamese(n), 'n')}")


def _crossing(n: int) -> Phrase:
    zh, en = f"第{chinese(n)}/n 个 路口/c", f"the {ordinal(n)}/n intersection/c"
    nth = {1: "nhất", 4: "tư"}.get(n, vietnamese(n))
    return _phrase(f"intersection {n}", zh, en, f"ngã_tư/c thứ/n {nth}/n")


def _kilometers(n: int) -> Phrase:
    name = f"{english(n)} kilometers"
    return _measure(n, "公里/u", "kilometers", "ki_lô_mét/u", name)


def _clocks(
    part: str, hours: Sequence[int], minutes: Sequence[int] = (0, 30)
) -> tuple[Phrase, ...]:
    return tuple(clock(h, m, part) for h, m in product(hours, minutes))


def _doors(floors: Sequence[int], doors: Sequence[int]) -> tuple[Phrase, ...]:
    numbers = [str(100 * floor + door) for floor, door in product(floors, doors)]
    return tuple(phrase(n, dict.fromkeys(LANGUAGES, n)) for n in numbers)


def _each(
    make: Callable[[int], Phrase],
) -> Callable[[Iterable[int]], tuple[Phrase, ...]]:
    return lambda numbers: tuple(map(make, numbers))


NUMBERED: dict[str, Callable[..., tuple[Phrase, ...]]] = {
    "number": _each(number),
    "plain_number": _each(plain_number),
    "floor": _each(_floor),
    "crossing": _each(_crossing),
    "meters": _each(lambda n: _measure(n, "米/u", "meters", "mét/u")),
    "kilometers": _each(_kilometers),
    "yuan": _each(lambda n: money(n, "yuan")),
    "dong": _each(lambda n: money(1000 * n, "dong")),
    "dollar": _each(lambda n: money(n, "dollar")),
    "clock": partial(_clocks, ""),
    "door": _doors,
    **{part: partial(_clocks, part) for part in PARTS_OF_DAY},
    **{unit: _each(partial(duration, unit=unit)) for unit in UNITS},
    "dates": lambda _: dates(),
}
"""What a pattern can ask for by number: name -> phrases of a list of numbers; of two
lists for hours and minutes, and for floors and doors. ``dong`` are thousands."""
