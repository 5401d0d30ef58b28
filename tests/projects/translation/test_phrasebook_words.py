"""Numbers, dates and inflected words of the Phrasebook, against forms written by hand."""

import pytest

from coursepkg.projects.translation.phrasebook import interlinear, numbers
from coursepkg.projects.translation.phrasebook.interlinear import LANGUAGES, Phrase, phrase, wording
from coursepkg.projects.translation.phrasebook.numbers import money
from coursepkg.projects.translation.phrasebook.patterns import COLUMNS, phrases, read_patterns


def said(made: Phrase) -> tuple[str, ...]:
    return tuple(" ".join(word.text for word in made.forms[language]) for language in LANGUAGES)


@pytest.mark.parametrize(
    ("n", "zh", "en", "vi"),
    [
        (1, "一", "one", "một"),
        (2, "二", "two", "hai"),
        (10, "十", "ten", "mười"),
        (11, "十一", "eleven", "mười một"),
        (14, "十四", "fourteen", "mười bốn"),
        (15, "十五", "fifteen", "mười lăm"),
        (20, "二十", "twenty", "hai mươi"),
        (21, "二十一", "twenty-one", "hai mươi mốt"),
        (24, "二十四", "twenty-four", "hai mươi tư"),
        (55, "五十五", "fifty-five", "năm mươi lăm"),
        (100, "一百", "one hundred", "một trăm"),
        (105, "一百零五", "one hundred and five", "một trăm linh năm"),
        (110, "一百一十", "one hundred and ten", "một trăm mười"),
        (115, "一百一十五", "one hundred and fifteen", "một trăm mười lăm"),
        (222, "两百二十二", "two hundred and twenty-two", "hai trăm hai mươi hai"),
        (1000, "一千", "one thousand", "một nghìn"),
        (1050, "一千零五十", "one thousand and fifty", "một nghìn không trăm năm mươi"),
        (2500, "两千五百", "two thousand five hundred", "hai nghìn năm trăm"),
        (20_000, "两万", "twenty thousand", "hai mươi nghìn"),
        (35_000, "三万五千", "thirty-five thousand", "ba mươi lăm nghìn"),
        (120_000, "十二万", "one hundred and twenty thousand", "một trăm hai mươi nghìn"),
        (200_000, "二十万", "two hundred thousand", "hai trăm nghìn"),
        (950_000, "九十五万", "nine hundred and fifty thousand", "chín trăm năm mươi nghìn"),
    ],
)
def test_numbers(n, zh, en, vi):
    assert (numbers.chinese(n), numbers.english(n), numbers.vietnamese(n)) == (zh, en, vi)


def test_two_of_something_is_liang_but_number_two_is_er():
    assert said(numbers.number(2))[0] == "两"
    assert said(numbers.plain_number(2))[0] == "二"
    assert said(numbers.number(12))[0] == "十二"


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (money(1, "dollar"), ("一 美元", "one dollar", "một đô_la")),
        (money(2, "yuan"), ("两 块", "two yuan", "hai tệ")),
        (money(15_000, "dong"), ("一万五千 越南盾", "fifteen thousand dong", "mười lăm nghìn đồng")),
        (
            numbers.clock(2, 30, "afternoon"),
            ("下午 两 点 半", "half past two in the afternoon", "hai giờ rưỡi chiều"),
        ),
        (numbers.clock(12, 15), ("十二 点 一刻", "a quarter past twelve", "mười hai giờ mười lăm phút")),
        (numbers.date(4, 24), ("四月 二十四 号", "the twenty-fourth of April", "ngày hai mươi tư tháng tư")),
        (numbers.date(12, 2), ("十二月 二 号", "the second of December", "ngày mùng hai tháng mười hai")),
        (numbers.date(1, 10), ("一月 十 号", "the tenth of January", "ngày mùng mười tháng một")),
        (numbers.duration(1, "month"), ("一 个 月", "one month", "một tháng")),
        (numbers.duration(2, "hour"), ("两 个 小时", "two hours", "hai tiếng")),
        (numbers.duration(2, "year"), ("两 年", "two years", "hai năm")),
    ],
)
def test_money_and_time(made, expected):
    assert said(made) == expected


def test_a_year_has_365_dates():
    assert len({said(date) for date in numbers.dates()}) == 365


ORDINALS = "1 first, 2 second, 3 third, 5 fifth, 8 eighth, 9 ninth, 12 twelfth, 13 thirteenth, 20 twentieth"
ORDINALS += ", 22 twenty-second, 30 thirtieth, 31 thirty-first, 100 one hundredth, 103 one hundred and third"
ORDINALS += ", 112 one hundred and twelfth, 120 one hundred and twentieth, 1002 one thousand and second"


@pytest.mark.parametrize("row", ORDINALS.split(", "))
def test_ordinals(row):
    n, expected = row.split(maxsplit=1)
    assert numbers.ordinal(int(n)) == expected


VERBS = """
go goes went gone going, watch watches watched watched watching, study studies studied studied studying,
play plays played played playing, swim swims swam swum swimming, bake bakes baked baked baking,
jog jogs jogged jogged jogging, have has had had having, fix fixes fixed fixed fixing
"""


@pytest.mark.parametrize("row", VERBS.strip().replace(",\n", ", ").split(", "))
def test_verbs(row):
    verb, third, past, participle, progressive = row.split()
    assert interlinear.third_person(verb) == third
    assert interlinear.past(verb) == past
    assert interlinear.participle(verb) == participle
    assert interlinear.progressive(verb) == progressive


PLURALS = "knife/knives, steamed bun/steamed buns, dictionary/dictionaries, key/keys, watch/watches"
PLURALS += ", child/children, mango/mangoes, fish/fish, scarf/scarves, bus/buses"


@pytest.mark.parametrize("row", PLURALS.split(", "))
def test_plurals(row):
    one, many = row.split("/")
    assert interlinear.plural(one) == many


ARTICLES = (
    "an apple, an umbrella, an hour, an older, a university, a European, a hotel, a useful, a one, an egg"
)


@pytest.mark.parametrize("row", ARTICLES.split(", "))
def test_articles(row):
    article, word = row.split()
    assert interlinear.article(word) == article


def test_the_notation_keeps_the_marks_of_a_slot_apart():
    tea = phrase("tea", {"zh": "茶", "en": "tea", "en.one": "a/d cup/m of tea/n", "vi": "trà"}, {})
    he = phrase("he", {"zh": "他/1", "en": "he/1", "vi": "anh/1 ấy/1"}, person="3s")
    words = wording("{who} {want@who}/1 {x.one}", "en", {"who": he, "x": tea})
    assert [word.text for word in words] == ["he", "wants", "a", "cup", "of", "tea"]
    assert [word.marks for word in words] == [("who.1",), ("1",), ("x.d",), ("x.m",), (), ("x.n",)]
    assert wording("{who} 想/1 {x.one}", "zh", {"who": he, "x": tea})[-1].text == "茶"


def test_phrases_of_an_expression():
    assert [one.concept for one in phrases("number:2-3,9 + minute:5-15/5")] == [
        *("two", "three", "nine", "5 minutes", "10 minutes", "15 minutes")
    ]
    assert [one.concept for one in phrases("early:6-7@0,30")][:2] == ["6:00 early", "6:30 early"]
    assert "photo" not in {one.concept for one in phrases("nouns:lost !photo")}
    assert {one.concept for one in phrases("told &self")} == {"I"}
    assert len(phrases("asked [:2]")) == 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a\tb", "needs 7 columns, got 2"),
        ("n\tz 。\te .\tv .\tx=nothing\t\t", "no table or set 'lexicon/nothing.tsv'"),
        ("n\tz 。\te .\tv .\tx=goods !moon\t\t", "!moon: there is no 'moon'"),
        ("n\tz 。\te .\tv .\tx=goods ?moon\t\t", "filter '\\?moon' must begin"),
        ("n\tz 。\te .\tv .\tx=goods &moon\t\t", "has no phrases"),
        ("n\tz 。\te .\tv .\tx=number:two\t\t", "'two' must be a number or a range"),
        ("n\tz 。\te .\tv .\tx=goods\tlikes(x)\t", "is no restriction such as"),
        ("n\tz 。\te .\tv .\tx=goods\twears(who,x)\t", "there is no slot 'who'"),
        ("n\tz 。\te .\tv .\tx=goods\t\tmany", "limit must be a number"),
    ],
)
def test_a_malformed_pattern_is_named_by_file_and_line(row, message):
    text = "\t".join(COLUMNS) + "\n" + row + "\n"
    with pytest.raises(ValueError, match=f"topics/shopping.tsv, line 2: .*{message}"):
        list(read_patterns(text, "shopping"))
    with pytest.raises(ValueError, match="line 1: the columns must be name, zh"):
        list(read_patterns(row, "shopping"))
