"""Numbers in three languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.translation.errors.numerals import find_numbers, is_number_word, spell
from coursepkg.projects.translation.errors.surface import folded


def values(line: str, language: str) -> list[int | float]:
    return [number.value for number in find_numbers(folded(line), language)]


@pytest.mark.parametrize(
    ("language", "line", "expected"),
    [
        ("zh", "我 坐 十二 号 去 东京 的 航班 。", [12]),
        ("zh", "一千二百美元和五万日元", [1200, 50_000]),
        ("zh", "二百一十五 房间", [215]),
        ("zh", "一百零三 航班", [103]),
        ("zh", "二零五航班", [205]),
        ("zh", "三千五百万", [35_000_000]),
        ("zh", "一亿二千万", [120_000_000]),
        ("zh", "十万零二十", [100_020]),
        ("zh", "二十四点", [24]),
        ("zh", "两张票, 8：30", [2, 8, 30]),
        ("zh", "5万日元", [50_000]),
        ("zh", "等一下, 千万别去百货, 万一", []),
        ("zh", "第三个, 星期五, 周六", []),
        ("vi", "một ngàn hai trăm đô_la", [1200]),
        ("vi", "ba mươi mốt ngày", [31]),
        ("vi", "mười lăm phút", [15]),
        ("vi", "hai trăm linh năm", [205]),
        ("vi", "hai trăm năm mươi tệ", [250]),
        ("vi", "phòng hai không năm", [205]),
        ("vi", "năm mươi nghìn yên", [50_000]),
        ("vi", "50 nghìn yên lúc 8:30", [50_000, 8, 30]),
        ("vi", "mười năm trước", [10]),
        ("vi", "hai năm nữa", [2]),
        ("zh", "一万五, 两百三, 二十五", [15_000, 230, 25]),
        ("zh", "兩个人打九折", [2]),
        ("vi", "1 . 600 . 000 đồng, 50 , 000 và 8 : 30", [1_600_000, 50_000, 8, 30]),
        ("vi", "ba năm một lần", [3]),
        ("vi", "ba tôi đầu_tư mỗi năm, năm thứ hai", []),
        ("vi", "ngày hai mươi tư tháng tư", [24, 4]),
        ("vi", "năm ngoái, năm 2024, năm cái", [2024, 5]),
        ("vi", "Bạn có một cái không ?", []),
        ("vi", "hai ba ngày", [2, 3]),
        ("vi", "thứ_ba tuần sau", []),
        ("vi", "giá 1.000 hoặc 3,5", [1000, 3.5]),
        ("en", "two hundred and five", [205]),
        ("en", "Thirty-five between two and five", [35, 2, 5]),
        ("en", "fifteen thousand, one dollar", [15_000]),
        ("en", "between thirty and forty, twenty fifteen", [30, 40, 20, 15]),
        ("en", "one hundred and two hundred, one thousand and five", [100, 200, 1005]),
        ("vi", "hai trăm ba trăm, hai mươi ba mươi, hai nghìn ba nghìn", [200, 300, 20, 30, 2000, 3000]),
        ("zh", "三百四百, 二十三十", [300, 400, 20, 30]),
    ],
)
def test_numbers_are_read(language: str, line: str, expected: list[int | float]) -> None:
    assert values(line, language) == expected


@given(st.integers(2, 999_999), st.sampled_from(["vi", "zh"]))
def test_what_is_spelled_is_read_back(value: int, language: str) -> None:
    assert values(str(spell(value, language)), language) == [value]


def test_the_place_covers_all_words_of_the_number() -> None:
    (number,) = find_numbers(folded("Tôi có hai mươi lăm tệ ."), "vi")
    assert (number.first, number.stop, number.is_figures) == (2, 5, False)
    (number,) = find_numbers(folded("Tôi có 25 tệ ."), "vi")
    assert (number.first, number.stop, number.is_figures) == (2, 3, True)


@pytest.mark.parametrize(
    ("value", "language", "expected"),
    [
        (21, "vi", "hai mươi mốt"),
        (11, "vi", "mười một"),
        (15, "vi", "mười lăm"),
        (1005, "vi", "một nghìn không trăm linh năm"),
        (12, "zh", "十二"),
        (112, "zh", "一百一十二"),
        (1005, "zh", "一千零五"),
        (150_000, "zh", "十五万"),
        (2, "en", None),
        (1, "vi", None),
        (10**6, "zh", None),
    ],
)
def test_spelling(value: int, language: str, expected: str | None) -> None:
    assert spell(value, language) == expected


def test_number_words() -> None:
    assert all(is_number_word(text, "vi") for text in ("ba", "mươi", "mười", "7"))
    assert not is_number_word("bàn", "vi")


def test_an_unknown_language_is_named() -> None:
    with pytest.raises(ValueError, match=r"language must be one of zh, vi, en, got 'fr'"):
        find_numbers(["deux"], "fr")
