"""Clock times, weekdays, dates and durations in words."""

from functools import cache

from coursepkg.projects.translation.phrasebook.english import plural
from coursepkg.projects.translation.phrasebook.interlinear import Phrase, phrase
from coursepkg.projects.translation.phrasebook.numerals import chinese, english, number, vietnamese
from coursepkg.projects.translation.phrasebook.tables import having, simple

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
DAYS_IN_MONTH = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
WEEKDAYS = (
    ("星期一", "Monday", "thứ_hai"),
    ("星期二", "Tuesday", "thứ_ba"),
    ("星期三", "Wednesday", "thứ_tư"),
    ("星期四", "Thursday", "thứ_năm"),
    ("星期五", "Friday", "thứ_sáu"),
    ("星期六", "Saturday", "thứ_bảy"),
    ("星期天", "Sunday", "chủ_nhật"),
)
# zh, en, vi; Chinese and Vietnamese cut the day at other hours than English does.
PARTS_OF_DAY = {
    "early": ("早上/p", "in the morning/p", "sáng/p"),
    "morning": ("上午/p", "in the morning/p", "sáng/p"),
    "afternoon": ("下午/p", "in the afternoon/p", "chiều/p"),
    "evening": ("晚上/p", "in the evening/p", "tối/p"),
}
# minutes: the words after the Chinese hour, around the English one, after the Vietnamese one
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
IRREGULAR_ORDINALS = {
    **{"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth"},
    **{"nine": "ninth", "twelve": "twelfth"},
}


@cache
def times(*tags: str) -> tuple[Phrase, ...]:
    """Days and parts of days that have one of the tags: yesterday, tomorrow morning, every Sunday."""
    return having(simple("times"), tags)


def clock(hour: int, minute: int = 0, part: str | None = None) -> Phrase:
    """A time of day, with its part of the day if one is named; hours 1 to 12."""
    zh_part, en_part, vi_part = PARTS_OF_DAY[part] if part else ("", "", "")
    zh, en, vi = MINUTES[minute]
    sides = {"zh": f"{zh_part} {{h}} {zh}", "en": f"{en} {en_part}", "vi": f"{{h}} {vi} {vi_part}"}
    name = f"{hour}:{minute:02d} {part or ''}".strip()
    return phrase(name, sides, {"h": number(hour)}, tags=frozenset({part} if part else ()))


def clocks(part: str, first: int, last: int, *minutes: int) -> tuple[Phrase, ...]:
    """Every named minute of the hours from first to last."""
    return tuple(
        clock(hour, minute, part) for hour in range(first, last + 1) for minute in minutes or (0, 30)
    )


def weekdays() -> tuple[Phrase, ...]:
    """Monday to Sunday."""
    return tuple(phrase(en, {"zh": zh, "en": en, "vi": vi}) for zh, en, vi in WEEKDAYS)


def ordinal(n: int) -> str:
    """An English ordinal: ``ordinal(21) == "twenty-first"``."""
    head, dash, last = english(n).rpartition("-")
    if last.endswith("y"):
        return f"{head}{dash}{last[:-1]}ieth"
    return f"{head}{dash}{IRREGULAR_ORDINALS.get(last, last + 'th')}"


def date(month: int, day: int) -> Phrase:
    """A day of the year; the first ten days of a month are ``mùng`` in Vietnamese."""
    early = "mùng/u " if day <= 10 else ""
    numeral = " ".join(f"{word}/d" for word in vietnamese(day).split())
    named = "tư" if month == 4 else vietnamese(month)
    vi_month = " ".join(f"{word}/m" for word in ("tháng", *named.split()))
    sides = {
        "zh": f"{chinese(month)}月/m {chinese(day)}/d 号/u",
        "en": f"the {ordinal(day)}/d of {MONTHS[month - 1]}/m",
        "vi": f"ngày/u {early}{numeral} {vi_month}",
    }
    return phrase(f"{MONTHS[month - 1]} {day}", sides)


def dates() -> tuple[Phrase, ...]:
    """Every day of a year."""
    return tuple(date(m, d) for m, last in enumerate(DAYS_IN_MONTH, 1) for d in range(1, last + 1))


def duration(n: int, unit: str) -> Phrase:
    """A length of time: ``duration(2, "hour")`` is 两 个 小时, "two hours", hai tiếng."""
    zh, vi = UNITS[unit]
    en = unit if n == 1 else plural(unit)
    sides = {"zh": f"{{n}} {zh}", "en": f"{{n}} {en}/u", "vi": f"{{n}} {vi}"}
    return phrase(f"{n} {en}", sides, {"n": number(n)})


def durations(unit: str, *counts: int) -> tuple[Phrase, ...]:
    """Lengths of time in one unit."""
    return tuple(duration(n, unit) for n in counts)
