"""Amounts of money in words, and the prices that shops ask."""

from collections.abc import Iterable

from coursepkg.projects.translation.phrasebook.interlinear import Phrase, phrase
from coursepkg.projects.translation.phrasebook.numerals import number

SHOP_YUAN = (
    *(
        2,
        3,
        4,
        5,
        6,
        8,
        10,
        12,
        15,
        18,
        20,
        22,
        25,
        28,
        30,
        35,
        40,
        45,
        50,
        55,
        60,
        65,
        70,
        75,
        80,
        90,
        95,
        100,
    ),
    *(110, 120, 130, 140, 150, 160, 180, 200, 220, 250, 280, 300, 350, 400, 450, 500, 600, 700, 800, 900),
    *(1000, 1200, 1500, 2000, 2500, 3000, 4000, 5000, 6000),
)
SHOP_THOUSANDS_OF_DONG = (
    *(5, 8, 10, 12, 15, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100, 120, 150, 180, 200, 250),
    *(300, 350, 400, 500, 600, 700, 800),
)
SHOP_DOLLARS = (
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    12,
    15,
    20,
    25,
    30,
    35,
    40,
    45,
    50,
    60,
    80,
    100,
    200,
    300,
    400,
    500,
)

# currency: (zh, en singular, en plural, vi)
CURRENCIES = {
    "yuan": ("块", "yuan", "yuan", "tệ"),
    "dong": ("越南盾", "dong", "dong", "đồng"),
    "dollar": ("美元", "dollar", "dollars", "đô_la"),
}


def money(n: int, currency: str) -> Phrase:
    """An amount of money in words."""
    zh, one, many, vi = CURRENCIES[currency]
    count = number(n)
    unit = phrase(currency, {"zh": zh, "en": one if n == 1 else many, "vi": vi})
    slots = {"n": count, "unit": unit}
    sides = dict.fromkeys(("zh", "en", "vi"), "{n} {unit}")
    return phrase(f"{n} {currency}", sides, slots)


def amounts(
    *, yuan: Iterable[int] = (), thousands_of_dong: Iterable[int] = (), dollars: Iterable[int] = ()
) -> tuple[Phrase, ...]:
    """Amounts in the three currencies, in this order."""
    return (
        *(money(n, "yuan") for n in yuan),
        *(money(1000 * n, "dong") for n in thousands_of_dong),
        *(money(n, "dollar") for n in dollars),
    )
