from datetime import datetime
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.ocr.fields.values import (
    find_amounts,
    foreign_currency,
    has_hours,
    parse_amount,
    parse_timestamp,
    repair_digits,
)

MOMENT = "2020-08-11T08:06"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("11/08/2020 08:06", MOMENT),
        ("2020-08-11", "2020-08-11"),
        ("11-08-20 8h06", MOMENT),
        ("Ngày : 11/08/2020 - 08:06:59", MOMENT),
        ("Thời gian: 08:06 11.08.2020", MOMENT),
        ("ngày 11 tháng 8 năm 2020", "2020-08-11"),
        ("ngày 11 tháng tám năm 2020 lúc 8 giờ 06", MOMENT),
        ("Ngày 11 thang, 8 nam. 2020", "2020-08-11"),
        ("11.08.2020 08.06", MOMENT),
        ("11 Aug 2020 8:06 AM", MOMENT),
        ("11/8/2020 08:06 CH", "2020-08-11T20:06"),
        ("O1/O2/2O21", "2021-02-01"),
        ("11/8/2020 8:06 tối", "2020-08-11T20:06"),
        ("11/8/2020 2h30 chiều", "2020-08-11T14:30"),
        ("11/8/2020 chiều 2h30", "2020-08-11T14:30"),
        ("11/8/2020 8:06 tới 10:30", MOMENT),
        ("Ngày: 11/08/2020 - 08.06", MOMENT),
        ("HD 2020-11/08/2021", "2021-08-11"),
        ("11/08/2020 08:06 - 11/08/2020 10:30", MOMENT),
        ("Aug 11, 2020 8:06 AM", MOMENT),
        ("August 11th 2020", "2020-08-11"),
        ("11,08.2020 08.06", MOMENT),
        ("11/08/2020 luc8:06", MOMENT),
        ("11/08/2020 8 : 06", MOMENT),
        ("11/08/2020 luc8: 06", MOMENT),
        ("11/08/2020 Giờ8: 06", MOMENT),
        ("CS1: 21-25 Hoa Mai 11/08/2020", "2020-08-11"),
        ("Cơ sở 1: 21 Hoa Mai 11/08/2020", "2020-08-11"),
        ("Chi nhánh 1: 21 Hoa Mai 11/08/2020", "2020-08-11"),
        ("Cs 5: 37 Hoa Mai 11/08/2020", "2020-08-11"),
        ("11-Aug-20 8:06", MOMENT),
        ("Ngày 11 tháng 08 năm 20", "2020-08-11"),
        ("Ngày: 20200811", "2020-08-11"),
        ("11/08/20luc8:06", MOMENT),
        ("11/08/202008:06", MOMENT),
        ("11-08-20208:06:59", MOMENT),
        ("2020-08-11 - 8:06", MOMENT),
        ("Ngày bán:11/O8/2O20O8:06", MOMENT),
    ],
)
def test_times_are_read_in_every_notation(text: str, value: str) -> None:
    assert parse_timestamp(text).value == value


@pytest.mark.parametrize(
    ("text", "is_range"),
    [
        ("Phục vụ từ 6h30 đến 22h", True),
        ("7:00 - 22:00", True),
        ("7:00 AM – 10:30 PM", True),
        ("8h~22h", True),
        ("8 giờ tới 22 giờ", True),
        ("18/08/2024 - 8:30", False),
        ("08:06:59 CH", False),
        ("Bàn 5 - 8h30", False),
        ("8h30", False),
    ],
)
def test_hours_from_when_to_when_are_told_from_a_time(text: str, is_range: bool) -> None:
    assert has_hours(text) is is_range


def test_the_day_comes_first_where_both_orders_are_dates() -> None:
    assert parse_timestamp("03/04/2021").value == "2021-04-03"
    swapped = parse_timestamp("04/25/2021")
    assert swapped.value == "2021-04-25"
    assert "month first" in swapped.notes[0]


@pytest.mark.parametrize(
    ("text", "value", "other"),
    [
        ("21/01/16", "2016-01-21", "2021-01-16"),
        ("03/04/05", "2005-04-03", "2003-04-05"),
        ("11-08-20 8h06", MOMENT, "2011-08-20"),
    ],
)
def test_a_year_of_two_digits_may_stand_first(text: str, value: str, other: str) -> None:
    parsed = parse_timestamp(text)
    assert parsed.value == value
    assert f"with the year first: {other}" in parsed.notes[0]


@pytest.mark.parametrize(
    ("text", "is_doubtful"), [("21-01-16", True), ("11-08-20 8h06", False), ("21/01/16", False)]
)
def test_hyphens_with_a_later_year_in_front_leave_a_doubt(text: str, is_doubtful: bool) -> None:
    assert parse_timestamp(text).is_doubtful is is_doubtful


@pytest.mark.parametrize("text", ["11/08/2020", "11/11/11", "31/08/45 11/11/11"])
def test_a_date_with_one_reading_has_no_note(text: str) -> None:
    parsed = parse_timestamp(text)
    assert parsed.value
    assert parsed.notes == ()


def test_two_dates_are_no_date() -> None:
    parsed = parse_timestamp("11/08/2020 - 12/08/2020")
    assert parsed.value is None
    assert "two dates: 2020-08-11 and 2020-08-12" in parsed.reason


@pytest.mark.parametrize("text", ["11/08/2063", "11/08/63", "2063-08-11"])
def test_a_year_in_the_far_future_has_a_reason(text: str) -> None:
    assert "the year 2063 is out of range" in parse_timestamp(text).reason


@pytest.mark.parametrize(
    "text",
    [
        "Ký hiệu 12/11/20P",
        "Kỳ 1 tháng 01/2021",
        "20210116",
        "16 Jan 08:58",
        "11/08/202099:06",
        "31/02/2021",
        "13/88/2021",
        "01/01/1875",
        "08:06",
        "Tổng tiền 12.000",
        "",
    ],
)
def test_what_is_no_date_has_a_reason(text: str) -> None:
    parsed = parse_timestamp(text)
    assert parsed.value is None
    assert parsed.reason


DATES = ("%d/%m/%Y", "%d-%m-%Y", "%d.%m.%Y", "%Y-%m-%d", "%d/%m/%y", "ngày %d tháng %m năm %Y")
TIMES = ("%H:%M", "%H:%M:%S", "%Hh%M", "%I:%M %p")


@given(
    moment=st.datetimes(datetime(2000, 1, 1), datetime(2039, 12, 31)),
    day=st.sampled_from(DATES),
    clock=st.sampled_from(TIMES),
    joint=st.sampled_from((" ", " - ", "  ", ", ")),
    name=st.sampled_from(("", "Ngày: ", "Thời gian : ", "In lúc ")),
)
def test_what_was_written_is_read_back(moment: datetime, day: str, clock: str, joint: str, name: str) -> None:
    text = name + moment.strftime(day) + joint + moment.strftime(clock)
    assert parse_timestamp(text).value == f"{moment:%Y-%m-%dT%H:%M}"


@pytest.mark.parametrize(
    "text",
    [
        *("74,000", "74.000đ", "74 000 VND", "74000", "VNĐ 74.000", "74k", "74.OOO", "74, 000"),
        *("VND74000", "74000.00", "74 .000", "74'000", "74 nghìn", "74 ngàn đồng"),
    ],
)
def test_amounts_are_read_in_every_notation(text: str) -> None:
    assert parse_amount(text).value == 74_000


@pytest.mark.parametrize(
    "text", ["1.234.500,00", "1,234,500.00", "1 234 500", "Tổng: 1.234.500 đồng", "1-234-500 đ"]
)
def test_zero_hundredths_are_no_part_of_an_amount(text: str) -> None:
    assert parse_amount(text).value == 1_234_500


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,2 triệu", 1_200_000),
        ("1.25 TRIỆU đồng", 1_250_000),
        ("-1,2 triệu", -1_200_000),
        ("200 trieu", 200_000_000),
    ],
)
def test_millions_may_be_a_word(text: str, value: int) -> None:
    (found,) = find_amounts(text)
    assert (found.value, found.is_marked, found.follows_digit) == (value, True, False)
    assert parse_amount(text).value == value


@pytest.mark.parametrize(
    "text", ["55.5K", "55,5k", "55.5 nghìn", "55,50 ngàn đồng", "O55.5OO", "55.5OOđ", "55.5ooVND", "O55,500đ"]
)
def test_thousands_may_be_a_word_and_a_zero_the_letter_o(text: str) -> None:
    (found,) = find_amounts(repair_digits(text)[0])
    assert (found.value, found.is_marked) == (55_500, True)
    assert parse_amount(f"Tổng cộng: {text}").value == 55_500
    assert bool(parse_amount(text).notes) == ("o" in text.split()[0].casefold())


@pytest.mark.parametrize("text", ["5kg", "5 km", "5,5kg", "1.5 km", "5.5 K", "OBOd", "8OS1D", "2.5"])
def test_weights_distances_and_codes_are_no_thousands(text: str) -> None:
    assert list(find_amounts(repair_digits(text)[0])) == []


@pytest.mark.parametrize(
    "text",
    [
        *("1 triệu 200 nghìn", "1.200.000 triệu", "12 000 000 triệu", "1.200 triệu", "1.2 triệuđ"),
        *("Tổng 1,5 triệu 2 khách", "1,25 triệu 3"),
    ],
)
def test_a_part_of_a_number_before_a_million_is_no_amount(text: str) -> None:
    assert list(find_amounts(text)) == []


@pytest.mark.parametrize("text", ["1 200 triệu", "12 200 triệu"])
def test_digits_that_stand_apart_before_millions_leave_them_open(text: str) -> None:
    (found,) = find_amounts(text)
    assert (found.value, found.follows_digit) == (200_000_000, True)
    assert "a digit stands apart" in parse_amount(text).reason


@pytest.mark.parametrize("text", ["100-200", "0900-123-456", "123-456-789-01"])
def test_hyphens_alone_make_no_thousands(text: str) -> None:
    assert not any(one.is_marked for one in find_amounts(text))


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("$12.50", "US dollars"),
        ("US$ 42.000", "US dollars"),
        ("EUR 30", "euros"),
        ("3.500 ¥", "yen or yuan"),
        ("2,500 Baht", "Thai baht"),
        ("฿ 4,200", "Thai baht"),
        ("42.000 KIP", "Lao kip"),
        ("5.000 riel", "Cambodian riel"),
        ("RM42.000", "ringgit"),
        ("CHF 42.000", "Swiss francs"),
        ("HK$ 42.000", "Hong Kong dollars"),
        ("S$4,200", "Singapore dollars"),
        ("NT$ 4,200", "Taiwan dollars"),
        ("A$ 4,200", "Australian dollars"),
        ("AU$ 4,200", "Australian dollars"),
        ("CA$ 4,200", "Canadian dollars"),
        ("4,200 CAD", "Canadian dollars"),
        ("NZ$ 4,200", "New Zealand dollars"),
        ("42.000 IDR", "rupiah"),
        ("Rp 42.000", "rupiah"),
        ("Rp. 42.000", "rupiah"),
        ("42,000원", "won"),
        ("1.200 円", "yen"),
        ("1.200元", "yuan"),
        ("￥1.200", "yen or yuan"),
        ("₱4,200", "Philippine pesos"),
        ("₹4,200", "Indian rupees"),
        ("4.200 ₽", "roubles"),
        ("Total (USD): 4,200", "US dollars"),
        ("HD 123456 Total $12.50", "US dollars"),
        ("55.500 Euro", "euros"),
        ("1.250 euros", "euros"),
        ("1,250 dollars", "dollars"),
        ("1.250 Đô la", "dollars"),
        ("55.500 đôla", "dollars"),
        ("1.250 do la", "dollars"),
        ("40 đô", "dollars"),
        ("55.500 đô Mỹ", "dollars"),
        ("USDT 1.250", "USDT"),
        ("1.250 USDT", "USDT"),
        ("1.250 kr", "kroner"),
        ("55.000 won", "won"),
        ("5.500 Yen", "yen"),
        ("1.250 nhân dân tệ", "yuan"),
    ],
)
def test_a_foreign_currency_is_refused(text: str, currency: str) -> None:
    parsed = parse_amount(text)
    assert parsed.value is None
    assert f"in {currency}, not in dong" in parsed.reason


@pytest.mark.parametrize(
    "text",
    [
        *("Thủ đô 42.000", "12 Đô Thị 42.000", "2 won ton 42.000", "Số 5 Yen Bai 42.000", "Won 42.000"),
        *("Eurowindow 42.000", "Euro 4 42.000", "Đô la 42.000", "2 đô thị 42.000đ", "2 krông 42.000"),
    ],
)
def test_syllables_of_names_are_no_currency(text: str) -> None:
    assert list(find_amounts(text))[-1].value == 42_000
    assert foreign_currency(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "42.000đ ($1.80)",
        "1.80 đô 42.000đ",
        "42.000đ (2 Euro)",
        "42.000 (USD 1.80)",
        "1.80 USD = 42,000 VND",
        "$1.80 42.000đ",
    ],
)
def test_dong_beside_another_currency_are_read(text: str) -> None:
    assert parse_amount(text).value == 42_000


def test_a_lone_digit_before_an_amount_leaves_it_open() -> None:
    assert "a digit stands apart" in parse_amount("4 2.000").reason
    assert [one.value for one in find_amounts("Nước sâm 1 12.000")] == [12_000]


@pytest.mark.parametrize(
    "text", ["0900000000", "8930000000001", "74.00", "1.000 2.000", "4 2.000", "miễn phí"]
)
def test_what_is_no_one_amount_has_a_reason(text: str) -> None:
    parsed = parse_amount(text)
    assert parsed.value is None
    assert parsed.reason


@given(st.integers(1000, 10**10), st.sampled_from(",. "), st.sampled_from(("", "đ", " đ", " VND", "₫")))
def test_an_amount_survives_its_notation(amount: int, joint: str, tail: str) -> None:
    assert parse_amount(f"{amount:,}".replace(",", joint) + tail).value == amount


@given(st.integers(1000, 10**9), st.sampled_from(tuple(zip("0158", "OISB", strict=True))))
def test_confused_letters_behind_a_digit_are_said(amount: int, pair: tuple[str, str]) -> None:
    digit, letter = pair
    written = f"{amount:,}"
    confused = written[0] + written[1:].replace(digit, letter)
    parsed = parse_amount(confused)
    assert parsed.value == amount
    assert bool(parsed.notes) == (confused != written)


@given(st.text(max_size=60))
def test_any_text_is_parsed_without_an_error(text: str) -> None:
    for parsed in (parse_amount(text), parse_timestamp(text)):
        assert (parsed.value is None) == bool(parsed.reason)
    assert all(one.start < one.end for one in find_amounts(text))


def test_words_keep_their_letters() -> None:
    assert repair_digits("SOL BIO IO5 Ba") == ("SOL BIO IO5 Ba", ())


@pytest.mark.parametrize("text", ["Tổng:45.000", "Tổng cộng:45.000", "Khách đưa:45.000đ", "Tổng cộng:45000"])
def test_an_amount_may_stand_directly_behind_a_colon(text: str) -> None:
    assert [one.value for one in find_amounts(text)] == [45_000]


@pytest.mark.parametrize(
    "text",
    [
        *("0912 345 678", "0912.345.678", "0912-345-678", "091 234 5678", "0912 345678", "0912 34 56 78"),
        *("+84 912 345 678", "(+84) 24 3795 4888", "84 912 345 678", "024 38 221 234", "024 38.221.234"),
        *(
            "(024) 3795 4888",
            "0236 3 822 123",
            "04 3795 4888",
            "024 3936 2000",
            "0123 456 7890",
            "1900 636 467",
            "1900 1234",
        ),
        *("Hotline:0912 345 678 - 0987 654 321", "ĐT.0912 345 678/024 3795 4888", "MST: 0312 345 678"),
        "ĐT 0912 345 678 Đồng Nai",
    ],
)
def test_a_telephone_number_is_no_amount(text: str) -> None:
    assert list(find_amounts(text)) == []
    assert [one.value for one in find_amounts(f"Nạp {text} 100.000")] == [100_000]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2 15.000 30.000", [15_000, 30_000]),
        ("0,5 30.000 15.000", [30_000, 15_000]),
        ("02 5.000 10.000", [5_000, 10_000]),
        ("05 10 000 50 000", [10_000, 50_000]),
        ("0123 150.000", [150_000]),
        ("0123 150 000", [150_000]),
        ("1900 3800", [1_900, 3_800]),
        ("1900 000", [1_900]),
        ("1 900 636 467", [1_900_636_467]),
        ("84.500.000", [84_500_000]),
        ("021 10.000.000", [10_000_000]),
        ("02 1500 3000", [1_500, 3_000]),
        ("SL:02 1500 3000", [1_500, 3_000]),
        ("03 2500 7500", [2_500, 7_500]),
        ("02 5000 5000", [5_000, 5_000]),
        ("05 1000 5000", [1_000, 5_000]),
        ("04 1250 5000", [1_250, 5_000]),
        ("08 1500 1250", [1_500, 1_250]),
        ("02-5000-5000", [5_000, 5_000]),
        ("1900 2850", [1_900, 2_850]),
        ("1900 3850đ", [1_900, 3_850]),
        ("1900 3855 VND", [1_900, 3_855]),
        ("099 1 500 000", [1_500_000]),
        ("024 12 500 000", [12_500_000]),
        ("0235 100 000", [100_000]),
        ("Mã 0251 350 000", [350_000]),
        ("0251 3 500 000", [3_500_000]),
        ("0251 350 125đ", [350_125]),
    ],
)
def test_counts_codes_and_prices_are_no_telephone_number(text: str, values: list[int]) -> None:
    assert [one.value for one in find_amounts(text)] == values


def test_the_minutes_of_a_time_are_no_amount() -> None:
    assert list(find_amounts("lúc 12:123")) == []


def test_many_spaces_do_not_take_long() -> None:
    before = perf_counter()
    assert parse_timestamp("Ngày 11" + " " * 20_000 + "x").value is None
    assert parse_timestamp("Ngày 11/08/2020 8" + " " * 20_000 + ":06").value == MOMENT
    assert perf_counter() - before < 2
