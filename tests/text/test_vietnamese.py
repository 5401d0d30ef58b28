import re
import unicodedata
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.text.vietnamese import (
    ACCENTED,
    LETTERS,
    TONE_MARKS,
    TONES,
    VOWELS,
    compose,
    count_tone_styles,
    join_tone,
    place_tones,
    split_tone,
    tone_place,
    unicode_form,
    without_marks,
)

VIETNAMESE = st.text(st.sampled_from(LETTERS + " ,.?!0123456789"))


def test_there_are_67_accented_letters_in_both_cases() -> None:
    assert len(ACCENTED) == len(set(ACCENTED)) == 67
    assert ACCENTED.islower()
    assert len(set(ACCENTED + ACCENTED.upper())) == 134
    assert all(len(letter.encode()) in (2, 3) for letter in ACCENTED)


def test_the_67_are_the_letters_that_vietnamese_writes() -> None:
    written = (
        "áàảãạ ăắằẳẵặ âấầẩẫậ đ éèẻẽẹ êếềểễệ íìỉĩị óòỏõọ ôốồổỗộ ơớờởỡợ úùủũụ ưứừửữự ýỳỷỹỵ"  # typed by hand
    )
    assert set(ACCENTED) == set(unicodedata.normalize("NFC", written).replace(" ", ""))


def test_all_letters_are_186_and_every_one_is_a_single_nfc_code_point() -> None:
    assert len(LETTERS) == len(set(LETTERS)) == 186
    assert set(LETTERS) == set(ACCENTED + ACCENTED.upper()) | {
        chr(code) for code in (*range(65, 91), *range(97, 123))
    }
    assert unicodedata.is_normalized("NFC", LETTERS)


def test_tones_of_every_vowel_in_both_cases() -> None:
    assert len(TONES) == 12 * 6 * 2
    assert TONES["ấ"] == ("â", "sắc")
    assert TONES["Ợ"] == ("Ơ", "nặng")
    assert TONES["y"] == ("y", "ngang")
    for letter, (vowel, tone) in TONES.items():
        assert vowel.lower() in VOWELS
        assert unicodedata.normalize("NFC", vowel + TONE_MARKS[tone]) == letter


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("hoa", "either"),
        ("", "either"),
        ("你好", "either"),
        ("hòa", "NFC"),
        ("ho\u0300a", "NFD"),
        ("hòa ho\u0300a", "mixed"),
        ("đ", "either"),
        # ế in one and a half pieces: ê with a combining acute is neither form
        ("\u00ea\u0301", "mixed"),
    ],
)
def test_unicode_form(text: str, form: str) -> None:
    assert unicode_form(text) == form


@pytest.mark.parametrize("letter", ACCENTED + ACCENTED.upper())
def test_every_order_of_the_marks_composes(letter: str) -> None:
    base, *marks = unicodedata.normalize("NFD", letter)
    assert compose(base + "".join(marks)) == letter
    assert compose(base + "".join(reversed(marks))) == letter


def test_marks_on_a_letter_that_vietnamese_lacks_stay() -> None:
    dotless = "ı\u0301\u0302"
    assert compose(dotless) == dotless


def test_the_order_that_nfc_leaves_in_pieces() -> None:
    tone_first = "a\u0301\u0302"
    assert unicodedata.normalize("NFC", tone_first) == "á\u0302"
    assert compose(tone_first) == compose("á\u0302") == "ấ"
    assert compose("tie\u0323\u0302n") == "tiện"
    assert compose("U\u0301\u031b") == "Ứ"


@pytest.mark.parametrize(
    "text", ["e\u0306\u0301", "a\u0308\u0301", "a\u0302\u0306", "o\u0301\u0301", " \u0301"]
)
def test_marks_that_vietnamese_does_not_combine_stay_as_nfc_has_them(text: str) -> None:
    assert compose(text) == unicodedata.normalize("NFC", text)


@given(st.text())
def test_compose_is_idempotent_and_nfc(text: str) -> None:
    composed = compose(text)
    assert compose(composed) == composed
    assert unicodedata.is_normalized("NFC", composed)


@given(VIETNAMESE)
def test_compose_undoes_nfd(text: str) -> None:
    assert compose(unicodedata.normalize("NFD", text)) == text == compose(text)
    assert unicode_form(text) in ("NFC", "either")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_letters_without_marks_are_those_of_ascii(form: str) -> None:
    bare = without_marks(unicodedata.normalize(form, LETTERS))
    assert bare.isascii()
    assert len(bare) == len(LETTERS)
    assert (
        without_marks(unicodedata.normalize(form, "Đường số 5, Ỷ Lan: 45.000đ"))
        == "Duong so 5, Y Lan: 45.000d"
    )


# old style, new style: the only three rhymes in which they differ
DIFFERENT = """
hòa hoà | tòa toà | hóa hoá | họa hoạ | lòa loà | xóa xoá | tỏa toả | thỏa thoả | đóa đoá | khóa khoá | dọa doạ
khỏe khoẻ | xòe xoè | lóe loé | tòe toè | hòe hoè | ọe oẹ | chóe choé | nhòe nhoè
thủy thuỷ | túy tuý | hủy huỷ | lũy luỹ | tùy tuỳ | ủy uỷ | thúy thuý | ngụy nguỵ | xúy xuý | nhụy nhuỵ | trụy truỵ
Hòa Hoà | HÓA HOÁ | Thủy Thuỷ | ỦY UỶ
"""
# letters without a tone, tone, the syllable in both styles
SAME = """
toan huyền toàn | hoan huyền hoàn | loan nặng loạn | hoat nặng hoạt | khoang hỏi khoảng | hoach nặng hoạch
khoet sắc khoét | xoen huyền xoèn | loeng hỏi loẻng | huyt sắc huýt | huynh huyền huỳnh | quyt sắc quýt | tuyp sắc tuýp
quy sắc quý | quy huyền quỳ | qua huyền quà | que hỏi quẻ | quay sắc quáy | quai sắc quái | quôc sắc quốc
quây huyền quầy | quơ hỏi quở | quyên sắc quyến | quăng nặng quặng | quit sắc quít | quau nặng quạu | quyên hỏi quyển
gia huyền già | gi huyền gì | gin huyền gìn | giêng sắc giếng | giêt sắc giết | giưa ngã giữa | giơ huyền giờ
giau huyền giàu | gioi hỏi giỏi | giăt nặng giặt | giương huyền giường | gieo ngang gieo | giup sắc giúp
Huê sắc Huế | tuê nặng tuệ | thuê sắc thuế | thuơ hỏi thuở | huơ ngang huơ
ngoai huyền ngoài | thoai nặng thoại | xoay sắc xoáy | ngoeo huyền ngoèo | ngoao sắc ngoáo
khuyu hỏi khuỷu | khuây sắc khuấy | luât nặng luật | tuân huyền tuần | hoăc nặng hoặc | ngoăn huyền ngoằn
tiêng sắc tiếng | viêt nặng việt | yêu sắc yếu | yên sắc yến | muôn sắc muốn | cuôi sắc cuối | chuôi sắc chuối
nươc sắc nước | ngươi huyền người | rươu nặng rượu | khươu sắc khướu | điêu huyền điều | chuyên nặng chuyện
tuyêt sắc tuyết | nguyên ngã nguyễn | bươi hỏi bưởi | đươc nặng được
cua hỏi của | mua huyền mùa | kia huyền kìa | đia ngã đĩa | mưa sắc mứa | sưa ngã sữa | cưu sắc cứu | gưi hỏi gửi
may sắc máy | thây sắc thấy | đâu nặng đậu | cao sắc cáo | mau huyền màu | keo nặng kẹo | đêu huyền đều | chiu nặng chịu
tui sắc túi | noi sắc nói | tôi sắc tối | mơi sắc mới | xoong ngang xoong | mooc sắc moóc
a huyền à | y sắc ý | ô huyền ồ | u hỏi ủ | đi ngang đi | anh hỏi ảnh | ngay huyền ngày | nghi hỏi nghỉ
nghiêng ngang nghiêng | LY sắc LÝ | Đia nặng Địa | TIÊNG sắc TIẾNG | Ao sắc Áo
"""


def entries(table: str) -> list[list[str]]:
    return [entry.split() for line in table.strip().splitlines() for entry in line.split("|")]


@pytest.mark.parametrize(("old", "new"), entries(DIFFERENT))
def test_the_two_styles(old: str, new: str) -> None:
    assert split_tone(old) == split_tone(new)
    assert join_tone(*split_tone(old), "old") == old == place_tones(new, "old") == place_tones(old, "old")
    assert join_tone(*split_tone(old), "new") == new == place_tones(old, "new") == place_tones(new, "new")


@pytest.mark.parametrize(("letters", "tone", "syllable"), entries(SAME))
def test_syllables_that_both_styles_write_alike(letters: str, tone: str, syllable: str) -> None:
    assert split_tone(syllable) == (letters, tone)
    for style in ("old", "new"):
        assert join_tone(letters, tone, style) == place_tones(syllable, style) == syllable


@pytest.mark.parametrize("letter", ACCENTED + ACCENTED.upper() + "aeiouy")
def test_every_letter_comes_apart_and_together(letter: str) -> None:
    assert join_tone(*split_tone(letter)) == letter


ONSETS = re.findall(r"\w+", "b c ch d đ g gh h k kh l m n ng ngh nh p ph qu r s t th tr v x gi")
RHYMES = re.findall(
    r"\w+", "a an oa oan oai oe uy uyn uyên uya ia iêu iêng ua ươi ưu ai ay âu êu uê uơ i y ê ươ"
)


@given(
    st.sampled_from(list(product(["", *ONSETS], RHYMES))), st.sampled_from(list(TONE_MARKS)), st.booleans()
)
def test_splitting_undoes_joining_in_both_styles(parts: tuple[str, str], tone: str, upper: bool) -> None:
    letters = "".join(parts).upper() if upper else "".join(parts)
    if tone_place(letters) is None:  # such as quoan: q has no second u
        return
    for style in ("old", "new"):
        syllable = join_tone(letters, tone, style)
        assert split_tone(syllable) == (letters, tone)
        assert len(syllable) == len(letters)


@given(st.text(st.sampled_from(LETTERS + " _.,-"), max_size=40), st.sampled_from(["old", "new"]))
def test_placing_twice_is_placing_once_and_keeps_every_letter(text: str, style: str) -> None:
    placed = place_tones(text, style)
    assert place_tones(placed, style) == placed
    assert len(placed) == len(text)


def test_a_text_keeps_all_else() -> None:
    old = "Hòa_bình, THỦY-tinh 2hóa! Zoé, café, Noël, résumé, voilà, Perú, señor, país; quý già toàn."
    new = "Hoà_bình, THUỶ-tinh 2hoá! Zoé, café, Noël, résumé, voilà, Perú, señor, país; quý già toàn."
    assert place_tones(old, "new") == new
    assert place_tones(new, "old") == old
    assert place_tones("ho\u0300a", "new") == "hoà"


@pytest.mark.parametrize(
    ("slip", "right"),
    [
        ("hòan", "hoàn"),
        ("tóan", "toán"),
        ("ngòai", "ngoài"),
        ("qúy", "quý"),
        ("qùa", "quà"),
        ("gía", "giá"),
        ("gìơ", "giờ"),
        ("Húê", "Huế"),
        ("thủơ", "thuở"),
        ("trứơc", "trước"),
        ("hùynh", "huỳnh"),
        ("tíêng", "tiếng"),
        ("thúôc", "thuốc"),
        ("tùân", "tuần"),
        ("khuýên", "khuyến"),
        ("chuôí", "chuối"),
        ("ngừơi", "người"),
    ],
)
def test_frequent_slips_are_put_right(slip: str, right: str) -> None:
    assert place_tones(slip, "old") == place_tones(slip, "new") == right


@pytest.mark.parametrize("word", ["oí", "caí", "huí", "gịa", "GỊA", "pingüí", "hòá", "Lắk", "Krông", "Đắk"])
def test_words_that_are_no_slips_stay(word: str) -> None:
    assert place_tones(word, "old") == place_tones(word, "new") == word


def test_what_is_no_syllable_has_no_place() -> None:
    assert tone_place("strong") is None
    assert tone_place("qu") is None
    assert tone_place("hòa") is None  # it has its tone
    assert tone_place("ain") is None
    assert tone_place("İa") is None  # grows in lower case
    assert tone_place("") is None
    assert tone_place("bcd") is None


def test_styles_are_counted() -> None:
    assert count_tone_styles("Hòa thuỷ hoá khỏe toàn café hòan") == {"old": 2, "new": 2}
    assert count_tone_styles("") == {"old": 0, "new": 0}


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="syllable must carry at most one tone mark, got 'hòá' with 2"):
        split_tone("hòá")
    with pytest.raises(ValueError, match=r"tone must be one of ngang, huyền, .* got 'acute'"):
        join_tone("hoa", "acute")
    with pytest.raises(ValueError, match=r"letters must be a Vietnamese syllable .* got 'string'"):
        join_tone("string", "sắc")
    for tone in ("sắc", "ngang"):
        with pytest.raises(ValueError, match="without a tone mark, got 'hòa'"):
            join_tone("hòa", tone)
    for place in (place_tones, tone_place):
        with pytest.raises(ValueError, match="style must be one of old, new, got 'modern'"):
            place("hoa", "modern")


def test_a_consonant_takes_no_tone_and_vowels_take_all() -> None:
    assert split_tone("ñ") == ("ñ", "ngang")
    assert join_tone("đ", "ngang") == "đ"
    for vowel, tone in product(VOWELS, TONE_MARKS):
        assert split_tone(join_tone(vowel, tone)) == (vowel, tone)
