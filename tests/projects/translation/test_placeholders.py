"""What is copied: found, masked, carried over, put back, counted."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.translation.corpus import SentencePair, to_model, to_reader
from coursepkg.projects.translation.placeholders import (
    MARKS,
    Masked,
    capitalised_words,
    copied_strings,
    copies,
    cut_crowded,
    emptied_tags,
    invented_numbers,
    mask,
    mask_pair,
    missing_copies,
    n_lost,
    notes_on_codes,
    restore,
    unmask,
    with_own_marks,
)

COPIED = [
    "%1$s", "%d", "%@", "{0}", "{{count}}", "<b>", "</b>", '<a href="x y">', "\\n", "me@mail.org",
    "https://a.org/b?c=1", "10.0.0.1", "2021-01-16", "8:30", "1,024.5", "1987", "7", "Data_Id1", "①",
]  # fmt: skip


@pytest.mark.parametrize("text", COPIED)
def test_each_kind_is_found_inside_a_sentence(text: str) -> None:
    assert copied_strings(f"Use {text} now") == [text]
    assert mask(f"Use {text} now").text == "Use ① now"


@pytest.mark.parametrize(
    "text",
    [
        "Windows ten",
        "khách_sạn",
        "MP3 v2",
        "the 1st of them",
        "a < b",
        "H2O",
        "v2.0",
        "IDs of PCs",
        "thờiGian",
    ],
)
def test_usual_text_is_left_to_the_model(text: str) -> None:
    assert copied_strings(text) == []


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Windows 10", ["10"]),
        ("100% sure", ["100"]),
        ("5 % of them", ["5"]),
        ("Số 12, 13", ["12", "13"]),
        ("我要3本书。", ["3"]),
        ("in 1987.", ["1987"]),
        ("at 10:30am", ["10:30"]),
        ("1,024MB, 2.000,5km", ["1,024", "2.000,5"]),
    ],
)
def test_numbers_are_copied_without_what_stands_around_them(text: str, numbers: list[str]) -> None:
    assert copied_strings(text) == numbers


def test_names_in_camel_case_are_copied_whole_and_beside_chinese() -> None:
    assert copied_strings("DeviceInfo.OsBuild - YouTube's iPhone8.") == [
        "DeviceInfo.OsBuild",
        "YouTube",
        "iPhone8",
    ]
    assert copied_strings("使用OneDrive保存my_File2。") == ["OneDrive", "my_File2"]
    assert copied_strings("Wait...useState(a)") == ["useState"]


def test_a_link_ends_where_the_sentence_does() -> None:
    assert copied_strings("See https://a.org/b, (http://c.vn).") == ["https://a.org/b", "http://c.vn"]
    assert copied_strings("请访问https://a.cn/x。谢谢") == ["https://a.cn/x"]
    assert copied_strings("访问https://a.cn/x！“https://b.cn”、http://c.cn？") == [
        "https://a.cn/x",
        "https://b.cn",
        "http://c.cn",
    ]


def test_a_mail_address_ends_where_chinese_begins() -> None:
    assert copied_strings("请把文件发送到a.b@example.org谢谢。") == ["a.b@example.org"]


def test_the_number_of_an_entity_is_no_number() -> None:
    assert mask("I don&#39;t know #39.").text == "I don&#39;t know #①."


@given(st.lists(st.sampled_from([*COPIED, "the", "hotel", ",", "(", "?"]), max_size=14))
def test_masking_and_restoring_give_the_text_back(words: list[str]) -> None:
    text = " ".join(words)
    masked = mask(text)
    assert restore(masked.text, masked.values) == text
    if len(set(copied_strings(text))) <= len(MARKS):
        assert copied_strings(masked.text) == [sign for sign in masked.text if sign in MARKS]


def test_marks_survive_the_spacing_of_each_language() -> None:
    masked = mask("Allow %1$s (or {0}) on <b>%2$s</b>?")
    for language in ("en", "vi"):
        line = to_model(masked.text, language)
        assert restore(to_reader(line, language), masked.values) == "Allow %1$s (or {0}) on <b>%2$s</b>?"
    chinese = mask("允许%1$s在%2$s上访问吗？")
    assert (
        restore(to_reader(to_model(chinese.text, "zh"), "zh"), chinese.values) == "允许%1$s在%2$s上访问吗？"
    )


def test_a_pair_is_masked_alike_on_both_sides_and_only_where_both_agree() -> None:
    pair = mask_pair(SentencePair("Use %1$s of 1,024 MB", "Dùng %1$s trong 1.024 MB"))
    (mark,) = set(pair.source) & set(MARKS)
    assert pair[:2] == (f"Use {mark} of 1,024 MB", f"Dùng {mark} trong 1.024 MB")
    plain = SentencePair("%s and %s", "%s")
    assert mask_pair(plain) == plain


def test_training_pairs_use_all_marks() -> None:
    pairs = [mask_pair(SentencePair(f"Sentence {n} of %s", f"Câu {n} của %s")) for n in range(10, 99)]
    assert set(MARKS) == {sign for pair in pairs for sign in pair.target} & set(MARKS)


def test_a_mark_that_was_put_right_is_not_lost() -> None:
    part = Masked("① và ②", {"①": "%1$s", "②": "{0}"})
    assert n_lost(with_own_marks("③ và ②", part.values), part) == 0
    assert n_lost(with_own_marks("③ và ④", part.values), part) == 4


def test_a_number_does_not_stick_to_a_word() -> None:
    assert restore("WIP①美元", {"①": "200"}) == "WIP 200美元"
    assert restore("giá①đồng", {"①": "5"}) == "giá 5 đồng"
    assert restore("①MB的②here③", {"①": "5", "②": "<b>", "③": "</b>"}) == "5 MB的<b>here</b>"
    stamp = "2024-01-02T10:30:00Z"
    masked = mask(stamp)
    assert restore(masked.text, masked.values) == stamp


@pytest.mark.parametrize(
    "text", ["Open at 10:30am.", "8:05PM", "from 8:30am to 5:15pm", "Lúc 7:00am、8:00pm", "10:30am/pm"]
)
def test_a_time_of_day_is_not_parted_from_am_and_pm(text: str) -> None:
    masked = mask(text)
    assert restore(masked.text, masked.values) == text


def test_only_a_time_of_day_sticks_to_am_and_pm() -> None:
    values = {"①": "10:30", "②": "1,024"}
    assert restore("①america ①pmol ②am ①giờ", values) == "10:30 america 10:30 pmol 1,024 am 10:30 giờ"
    assert restore("① am", values) == "10:30 am"


def test_a_mark_of_the_text_itself_comes_back_and_is_taken_for_no_other() -> None:
    assert restore("Nhấn ① rồi ②.", {"①": "②", "②": "5"}) == "Nhấn ② rồi 5."
    for text in ("Press ② and then 5.", "1 2 3 4 5 6 7 8 9 and ③"):
        masked = mask(text)
        assert restore(masked.text, masked.values) == text
        assert set(masked.text) & set(MARKS) == masked.values.keys()


def test_a_part_of_a_text_is_unmasked_as_it_stood() -> None:
    text = "MB1 %s2, ② và 10:30am; 7"
    masked = mask(text)
    assert unmask(masked.text, masked.values) == text
    assert unmask("② ⑨", {"②": "5"}) == "5 ⑨"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1 2 3 4 5 6 7 8 9", ["1 2 3 4 5 6 7 8 9"]),
        ("1 1 2 2 3 3 4 5 6 7 8 9 9", ["1 1 2 2 3 3 4 5 6 7 8 9 9"]),
        ("1 2 3 4 5 6 7 8 9 10", ["1 2 3 4 5 6 7 8 9", "10"]),
        (
            "Room 1 and 2. Room 3, 4, 5; rooms 6, 7, 8. Then 9, 10 and 11.",
            ["Room 1 and 2. Room 3, 4, 5; rooms 6, 7, 8.", "Then 9, 10 and 11."],
        ),
        ('1 2 3 4 5 6 7 8 9 <a href="x"> go', ["1 2 3 4 5 6 7 8 9", '<a href="x"> go']),
        ('① ② ③ ④ ⑤ ⑥ ⑦ ⑧ <a href="x, y"> 9 10', ['① ② ③ ④ ⑤ ⑥ ⑦ ⑧ <a href="x, y">', "9 10"]),
        (
            "1、2、3、4、5、6、7、8、9和10元联系a.b@example.org吧",
            ["1、2、3、4、5、6、7、8、", "9和10元联系a.b@example.org吧"],
        ),
        (
            "1, 2, 3, 4, 5, 6, 7, 8, 9 and 1,024 of {{name}}",
            ["1, 2, 3, 4, 5, 6, 7, 8,", "9 and 1,024 of {{name}}"],
        ),
    ],
)
def test_a_text_with_more_strings_than_marks_is_cut_between_them(text: str, parts: list[str]) -> None:
    assert cut_crowded(text) == parts


def test_a_wrong_mark_takes_the_place_of_the_only_one_that_is_missing() -> None:
    values = {"①": "%1$s", "②": "{0}"}
    assert restore("③ và ②", values) == "%1$s và {0}"
    assert restore("③ và ④", values) == " và "
    part = Masked("Dùng ① và ②", values)
    assert [n_lost(line, part) for line in ("② ①", "①", "① ② ③", "③")] == [0, 1, 1, 3]


def test_copies_are_counted_as_whole_numbers_that_the_reference_has() -> None:
    source, reference = "3 of 10 on 8:30, %s, 1,024", "3 trên 10 lúc 8:30, %s, 1.024"
    assert copies(source, reference, reference) == (4, 4)
    assert copies(source, "10 trên %s", reference) == (2, 4)
    assert copies("3", "13", "3") == (0, 1)
    assert copies("không", "no", "no") == (0, 0)


def test_an_ordinal_in_digits_is_copied_without_its_ending() -> None:
    masked = mask("On the 21st of May, for the 3rd time in the 1990s.")
    assert masked == ("On the ① of May, for the ② time in the 1990s.", {"①": "21", "②": "3"})
    assert restore("Ngày ① tháng 5", masked.values) == "Ngày 21 tháng 5"


@pytest.mark.parametrize(
    ("source", "language", "text", "wanted"),
    [
        ("She was born on the 21st of June.", "en", "Cô ấy sinh ngày 21 tháng 6 năm 2006.", ["2006"]),
        ("The talks start on the 14th.", "en", "Từ thế kỷ 20.", ["20"]),
        ("twenty-five cats and 10,000 dogs", "en", "25 con mèo và 10.000 con chó", []),
        ("一千二百零五个人", "zh", "1.205 người", []),
        ("hai nghìn đồng, 3,5 lít", "vi", "2000 dong, 3.5 liters", []),
        ("Four dogs.", "en", "5 con chó.", []),  # small numbers may be names of months and days
    ],
)
def test_a_number_that_the_source_neither_has_nor_says_is_invented(
    source: str, language: str, text: str, wanted: list[str]
) -> None:
    assert invented_numbers(source, text, language) == wanted


@pytest.mark.parametrize(
    ("source", "text", "wanted"),
    [
        ("Press <b>Save</b>.", "Nhấn <b>Lưu</b>.", []),
        ("Press <b>Save</b>.", "Nhấn <b> </b> Lưu.", ["<b>"]),
        ("Press <b>Save</b>.", "Nhấn </b> Lưu <b>.", ["<b>"]),
        ("Press <b>Save</b>.", "Nhấn Lưu</b>.", []),  # a tag that is lost is told already
        ('<a href="x y">Here</a> or <i>there</i>', '<i>Đây</i> <a href="x y"></a>', ["<a>"]),
        ("<b>one</b> and <b>two</b>", "<b>một</b> và <b></b> hai", ["<b>"]),
        ("<b>one</b><i></i>", "<b>một</b><i></i>", []),  # the source has nothing there either
        ("<b>one</b><b>two</b>", "<b>một<b>hai</b></b>", []),
        ("<b>%1$s</b>", "<b></b>%1$s", ["<b>"]),
        ("</p> one <p>", "</p> một <p>", []),
        ("one<br/><br />two", "<br/>một<br />hai", []),
        ("a < b and b > a", "a < b và b > a", []),
    ],
)
def test_tags_that_lose_their_text_are_told(source: str, text: str, wanted: list[str]) -> None:
    assert emptied_tags(source, text) == wanted


def test_the_notes_name_numbers_and_tags() -> None:
    assert notes_on_codes("<b>Two</b> dogs", "<b></b>25 con chó", "en") == [
        "number not in the source: 25",
        "tags that lost their text: <b>",
    ]
    assert notes_on_codes("<b>Two</b> dogs", "<b>2</b> con chó", "en") == []


def test_words_with_a_capital_are_found_outside_of_what_is_copied() -> None:
    text = "Tom gặp Mary ở Hà Nội, B12 và Windows10."
    assert capitalised_words(text) == ["Tom", "Mary", "B12", "Windows10"]
    assert capitalised_words(unicodedata.normalize("NFD", text)) == ["Tom", "Mary", "B12", "Windows10"]
    assert capitalised_words("在Microsoft Project中打开") == ["Microsoft", "Project"]
    assert capitalised_words("Đây là tôi. I am A. Ôm FILE_NAME https://GitHub.com/A <Bold>") == []


def test_a_word_with_a_capital_counts_where_source_and_reference_hold_it() -> None:
    source, reference = "The boy saw Tom in Paris.", "Cậu bé thấy Tom ở Paris."
    assert copies(source, reference, reference, find=capitalised_words) == (2, 2)
    assert copies(source, "Cậu bé thấy Tomi ở Paris.", reference, find=capitalised_words) == (1, 2)
    assert copies("The end.", "Hết.", "Hết.", find=capitalised_words) == (0, 0)


@pytest.mark.parametrize(
    ("source", "text", "missing"),
    [
        ("数组包含 [0, 2]。", "Mảng chứa [0, 2].", []),
        ("数组包含 [0, 2]。", "Các mảng chứa [0.2].", ["0", "2"]),
        ("8 小时 100，8 小时 50。", "100 cho 8 giờ, 50.", ["8"]),
        ("Open %1$s in 2024.", "Mở %1$s năm 2024, 2024.", []),
        ("Câu không có gì.", "没有。", []),
        ("年龄10到20岁。", "10-20 tuổi.", []),
        ("2024年5月6日", "6/5/2024", []),
        ("Xem http://x.com/a để biết.", "请看http://x.com/a了解。", []),
        ("Xem http://x.com/a để biết.", "请看了解。", ["http://x.com/a"]),
    ],
)
def test_what_stands_fewer_times_than_in_the_source_is_told(
    source: str, text: str, missing: list[str]
) -> None:
    assert missing_copies(mask(source), text) == missing
