"""Numbers in Chinese, Vietnamese and English text: read, and written in words.

    三十五, ba mươi lăm, thirty-five, 35  ->  35

A value is a sum of digits times scales. Chinese counts in steps of ten thousand, the
other two in steps of a thousand. Left out is what does not carry over from one language
to another: 0 and 1 (không, một and 一 are mostly no numbers), and whatever follows thứ,
第, 星期, 周 or 礼拜, since Tuesday is the third day in Vietnamese and the second in Chinese.
"""

from collections.abc import Sequence
from typing import NamedTuple

from coursepkg.text.languages import LANGUAGES
from coursepkg.validation import check_choice

_FIGURES = ""
"""Stands for the languages whose number words are not known; these have figures."""
CHINESE_DIGITS = "零一二三四五六七八九"
_WORDS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen;
twenty thirty forty fifty sixty seventy eighty ninety;
không một hai ba bốn năm sáu bảy tám chín
"""
ENGLISH_SMALL, ENGLISH_TENS, VIETNAMESE_DIGITS = map(str.split, _WORDS.split(";"))

_DIGITS = {
    "zh": (
        {digit: value for value, digit in enumerate(CHINESE_DIGITS)}
        | {"〇": 0, "两": 2, "兩": 2, "俩": 2}
    ),
    "vi": (
        {digit: value for value, digit in enumerate(VIETNAMESE_DIGITS)}
        | {"mốt": 1, "tư": 4, "lăm": 5, "nhăm": 5, "bẩy": 7}
    ),
    "en": {digit: value for value, digit in enumerate(ENGLISH_SMALL)},
    _FIGURES: {},
}
_TENS = {
    "zh": {},
    "vi": {"mười": 10},
    "en": {word: 10 * n for n, word in enumerate(ENGLISH_TENS, start=2)},
    _FIGURES: {},
}
_SCALES = {
    "zh": {"十": 10, "百": 10**2, "千": 10**3, "万": 10**4, "亿": 10**8},
    "vi": (
        {"mươi": 10, "chục": 10, "trăm": 10**2, "nghìn": 10**3, "ngàn": 10**3}
        | {"vạn": 10**4, "triệu": 10**6, "tỷ": 10**9, "tỉ": 10**9}
    ),
    "en": {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9},
    _FIGURES: {},
}
_FILLERS: dict[str, set[str]] = {
    "zh": {"零", "〇"},
    "vi": {"linh", "lẻ"},
    "en": {"and", "-"},
    _FIGURES: set(),
}
_NO_QUANTITY_AFTER: dict[str, set[str]] = {
    "zh": {"第", "期", "周", "拜"},
    "vi": {"thứ"},
    "en": set(),
    _FIGURES: set(),
}
_ONLY_BEHIND_TENS = {"mốt", "tư", "lăm", "nhăm"}
# Words beside năm that make it a year, and behind ba that make it a father.
_YEAR_BEFORE = {"nay", "ngoái", "sau", "trước", "tới", "mới", "nào", "thứ"}
_YEAR_AFTER = {"mỗi", "sang", "hàng", "hằng", "cả", "đầu"} | {
    *("cuối", "trong", "nhiều", "mấy", "những", "các")
}
_FATHER_BEFORE = {"tôi", "của", "mẹ", "má", "là"}
_STEP = {"zh": 10**4, "vi": 10**3, "en": 10**3, _FIGURES: 10**3}


class Number(NamedTuple):
    """A number in a list of pieces."""

    value: int | float
    first: int
    """Its first piece."""
    stop: int
    """The first piece behind it."""
    is_figures: bool
    """Whether it is one piece of figures, not words."""


def find_numbers(texts: Sequence[str], language: str) -> list[Number]:
    """The numbers in folded pieces (`surface.folded`), without 0, 1 and ordinals.

    Example:
        >>> find_numbers(["hai", "mươi", "lăm", "tệ"], "vi")
        [Number(value=25, first=0, stop=3, is_figures=False)]

    Raises:
        ValueError: the language is not one of `LANGUAGES`.
    """
    check_choice("language", language, tuple(LANGUAGES))
    language = language if language in _DIGITS else _FIGURES
    found = []
    first = 0
    while first < len(texts):
        given = texts, first, language
        value, stop = _spoken_figures(*given) or _read(*given)
        is_number = stop > first and value not in (0, 1)
        if is_number and _is_quantity(texts, first, stop, language):
            is_figures = stop == first + 1 and texts[first][0].isdecimal()
            found.append(Number(value, first, stop, is_figures))
        first = max(stop, first + 1)
    return found


def is_number_word(text: str, language: str) -> bool:
    """Whether a folded piece is figures or can be a part of a number in words."""
    return text[0].isdecimal() or any(
        text in table.get(language, ()) for table in (_DIGITS, _TENS, _SCALES)
    )


def spell(value: int, language: str) -> str | None:
    """A number from 2 to 999,999 in Vietnamese or Chinese words; else None.

    Example:
        >>> spell(1205, "vi"), spell(1205, "zh")
        ('một nghìn hai trăm linh năm', '一千二百零五')
    """
    if not 2 <= value < 10**6:
        return None
    spellings = {"zh": chinese_number, "vi": vietnamese_number}
    return spellings[language](value) if language in spellings else None


def chinese_number(n: int, two: str = "二") -> str:
    """A number below 10^8 in words, with 二 or 两 before a hundred and what is above."""
    if n < 20:
        return ("十" if n > 9 else "") + (CHINESE_DIGITS[n % 10] if n != 10 else "")
    scales = ((10_000, "万"), (1000, "千"), (100, "百"), (10, "十"))
    unit, name = next(pair for pair in scales if n >= pair[0])
    high, low = divmod(n, unit)
    head = two if high == 2 and unit > 10 else chinese_number(high, two)
    if not low:
        return head + name
    gap = "零" if low < unit // 10 else ""
    # Behind a higher unit ten is said "one ten": 一百一十五.
    gap += "一" if 10 <= low < 20 else ""
    return head + name + gap + chinese_number(low, two)


def vietnamese_number(n: int, four: str = "bốn") -> str:
    """A number below one million in words: ``mươi``, ``mốt``, ``lăm``, ``linh``.

    Args:
        four: behind twenty and more, bốn or tư.
    """
    if n < 10:
        return VIETNAMESE_DIGITS[n]
    if n < 100:
        tens, units = divmod(n, 10)
        head = "mười" if tens == 1 else f"{VIETNAMESE_DIGITS[tens]} mươi"
        special = {5: "lăm"} if tens == 1 else {1: "mốt", 4: four, 5: "lăm"}
        last = special.get(units, VIETNAMESE_DIGITS[units])
        return f"{head} {last}" if units else head
    unit, name = (1000, "nghìn") if n >= 1000 else (100, "trăm")
    high, low = divmod(n, unit)
    head = f"{vietnamese_number(high, four)} {name}"
    if not low:
        return head
    hundreds = " không trăm" if unit == 1000 and low < 100 else ""
    joint = "linh " if low < 10 else ""
    return f"{head}{hundreds} {joint}{vietnamese_number(low, four)}"


def _figures(text: str) -> int | float:
    """`1.000` and `1,000` are a thousand, `3,5` and `3.5` three and a half."""
    parts = text.replace(",", ".").split(".")
    is_grouped = len(parts[0]) <= 3 and all(len(part) == 3 for part in parts[1:])
    if len(parts) == 2 and not is_grouped:
        return float(".".join(parts))
    return int("".join(parts))


def _spoken_figures(
    texts: Sequence[str], first: int, language: str
) -> tuple[int, int] | None:
    """Three or more digits read one by one, as rooms are: 二零五, hai không năm."""
    digits = _DIGITS[language]
    stop = first
    while stop < len(texts) and digits.get(texts[stop], 10) < 10:
        stop += 1
    if stop < len(texts) and texts[stop] in _SCALES[language]:
        return None
    # A question ends in không: there it is no zero.
    while language == "vi" and stop > first and texts[stop - 1] == "không":
        stop -= 1
    row = texts[first:stop]
    # ba năm một lần, once in three years, is no 351; hai không năm is 205.
    is_year = (
        len(row) == 3 and language == "vi" and "năm" in row[1:] and "không" not in row
    )
    if len(row) < 3 or row[0] == "không" or is_year:
        return None
    return int("".join(str(digits[text]) for text in row)), stop


def _read(texts: Sequence[str], first: int, language: str) -> tuple[int | float, int]:
    """The value of the number that begins here (if any), and the piece behind it."""
    digits, tens, scales = _DIGITS[language], _TENS[language], _SCALES[language]
    total: int | float = 0
    section: int | float = 0  # what is below the next step of the language
    last: int | float | None = None  # a digit that still waits for its scale
    at = first
    while at < len(texts):
        text = texts[at]
        if text[0].isdecimal() and at == first:
            at = _end_of_groups(texts, at)
            last = _figures("".join(texts[first : at + 1]))
        elif text in scales and (
            last is not None or (scales[text] >= _STEP[language] and section)
        ):
            amount = section + (last or 0)
            if scales[text] >= _STEP[language]:
                total, section = total + amount * scales[text], 0
            else:
                section += (last or 0) * scales[text]
            last = None
        elif text == "十" and last is None and language == "zh":
            section += 10
        elif (
            last is None
            and at > first
            and text in _FILLERS[language]
            and _goes_on(texts, at, language)
        ):
            pass
        elif (
            last is None
            and text in digits
            and not (digits[text] > 9 and section % 100)
            and not _ends_here(texts, first, at, language)
        ):
            last = digits[text]
        elif last is None and text in tens and not section % 100:
            section += tens[text]
        else:
            break
        at += 1
    if language == "zh" and last is not None and at - first > 2:
        # 一万五 is short for 一万五千: with 零 it would be 10,005.
        last *= max(_SCALES["zh"].get(texts[at - 2], 1) // 10, 1)
    return total + section + (last or 0), at


def _end_of_groups(texts: Sequence[str], at: int) -> int:
    """The last piece of figures in groups of three set apart: `1 . 600 . 000`."""
    while (
        len(texts[at]) <= 3
        and texts[at + 1 : at + 2] in ([","], ["."])
        and len("".join(texts[at + 2 : at + 3])) == 3
        and texts[at + 2].isdecimal()
    ):
        at += 2
    return at


def _is_quantity(texts: Sequence[str], first: int, stop: int, language: str) -> bool:
    """Whether what was read is a number: no weekday, no ordinal, no other word."""
    before = texts[first - 1] if first else ""
    behind = texts[stop] if stop < len(texts) else ""
    # 九折 is nine tenths of the price: ten per cent off in other languages.
    if before in _NO_QUANTITY_AFTER[language] or behind == "折":
        return False
    if language != "vi" or stop > first + 1:
        return True
    word = texts[first]
    if word == "năm":
        is_year = (
            before in _YEAR_AFTER or behind in _YEAR_BEFORE or behind[:1].isdecimal()
        )
        return not is_year and not (before and is_number_word(before, "vi"))
    if word in _ONLY_BEHIND_TENS:
        return word == "tư" and before == "tháng"
    return word != "ba" or behind not in _FATHER_BEFORE


def _goes_on(texts: Sequence[str], at: int, language: str) -> bool:
    """Whether a number goes on behind a filler such as linh, 零 or and."""
    behind = texts[at + 1] if at + 1 < len(texts) else ""
    # thirty-five, but thirty and forty; one hundred and five, but one hundred - five.
    if language == "en" and (texts[at] == "-") != (texts[at - 1] in _TENS["en"]):
        return False
    return (
        (
            behind in _DIGITS[language]
            and not _begins_anew(texts, at - 1, at + 1, language)
        )
        or behind in _TENS[language]
        or (behind == "十" and language == "zh")
    )


def _begins_anew(texts: Sequence[str], before: int, at: int, language: str) -> bool:
    """Whether a digit begins a number behind another one: hai trăm, ba trăm.

    Scales of one number fall, in hundreds as in thousands.
    """
    scales, step = _SCALES[language], _STEP[language]
    behind = texts[at + 1] if at + 1 < len(texts) else ""
    last, own = scales.get(texts[before], 0), scales.get(behind, 0)
    return 0 < last <= own and (last < step) == (own < step)


def _ends_here(texts: Sequence[str], first: int, at: int, language: str) -> bool:
    """Whether a number ends in front of a digit.

    It does where the digit begins another one, or is năm, year: mười năm is ten years.
    """
    if at > first and _begins_anew(texts, at - 1, at, language):
        return True
    if (
        language != "vi"
        or texts[at] != "năm"
        or at == first
        or texts[at - 1] in _FILLERS["vi"]
    ):
        return False
    return at + 1 == len(texts) or texts[at + 1] not in _SCALES["vi"]
