"""Numbers in words in Chinese, English and Vietnamese."""

from coursepkg.projects.translation.phrasebook.interlinear import Phrase, phrase

ZH_DIGITS = "零一二三四五六七八九"
EN_SMALL = (
    *(
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
    ),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
EN_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
VI_DIGITS = ("không", "một", "hai", "ba", "bốn", "năm", "sáu", "bảy", "tám", "chín")


def chinese(n: int) -> str:
    """A number below one hundred million: ``chinese(25) == "二十五"``, ``chinese(200) == "两百"``."""
    if n >= 10_000:
        high, low = divmod(n, 10_000)
        head = ("两" if high == 2 else chinese(high)) + "万"
        return head + (("零" if low < 1000 else "") + chinese(low) if low else "")
    if n < 20:
        return ZH_DIGITS[n] if n < 10 else "十" + (ZH_DIGITS[n - 10] if n > 10 else "")
    for unit, name in ((1000, "千"), (100, "百"), (10, "十")):
        if n >= unit:
            high, low = divmod(n, unit)
            head = ("两" if high == 2 and unit > 10 else ZH_DIGITS[high]) + name
            if not low:
                return head
            gap = "零" if low < unit // 10 else ""
            # After a hundred, ten is said "one ten": 一百一十五.
            return head + gap + ("一" if 10 <= low < 20 else "") + chinese(low)
    raise AssertionError("unreachable")


def english(n: int) -> str:
    """A number below one million: ``english(125) == "one hundred and twenty-five"``."""
    if n < 20:
        return EN_SMALL[n]
    if n < 100:
        tens, units = divmod(n, 10)
        return EN_TENS[tens] + (f"-{EN_SMALL[units]}" if units else "")
    unit, name = (1000, "thousand") if n >= 1000 else (100, "hundred")
    high, low = divmod(n, unit)
    link = " and " if low < 100 else " "
    return f"{english(high)} {name}" + (link + english(low) if low else "")


def vietnamese(n: int) -> str:
    """A number below one million: ``mươi``, ``mốt``, ``tư``, ``lăm`` and ``linh`` where they are said."""
    if n < 10:
        return VI_DIGITS[n]
    if n < 100:
        tens, units = divmod(n, 10)
        head = "mười" if tens == 1 else f"{VI_DIGITS[tens]} mươi"
        special = {5: "lăm"} if tens == 1 else {1: "mốt", 4: "tư", 5: "lăm"}
        return head + (f" {special.get(units, VI_DIGITS[units])}" if units else "")
    unit, name = (1000, "nghìn") if n >= 1000 else (100, "trăm")
    high, low = divmod(n, unit)
    head = f"{vietnamese(high)} {name}"
    if not low:
        return head
    if unit == 1000 and low < 100:
        return f"{head} không trăm {'linh ' if low < 10 else ''}{vietnamese(low)}"
    return f"{head} {'linh ' if low < 10 else ''}{vietnamese(low)}"


def number(n: int) -> Phrase:
    """A number that counts something: two is 两 before a measure word."""
    zh = "两" if n == 2 else chinese(n)
    return phrase(english(n), {"zh": zh, "en": english(n), "vi": vietnamese(n)})


def plain_number(n: int) -> Phrase:
    """A number that names something (a room, a page, a bus): two is 二."""
    return phrase(english(n), {"zh": chinese(n), "en": english(n), "vi": vietnamese(n)})
