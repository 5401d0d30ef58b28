import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.text.spacing import (
    capitalize,
    detokenize,
    is_han,
    join_words,
    remove_spaces,
    space_punctuation,
    split_characters,
    split_words,
    stray_underscores,
    unjoin,
)

PAIRS = [
    ("Xin chào , bạn !", "Xin chào, bạn!"),
    ('Anh ấy nói : " Xin chào , bạn ! " rồi đi .', 'Anh ấy nói: "Xin chào, bạn!" rồi đi.'),
    ("Giá 3,5 tệ ( khoảng 50 % ) lúc 8:30 ...", "Giá 3,5 tệ (khoảng 50%) lúc 8:30..."),
    ("“ Tốt ” ; [ a ] { b } « c » …", "“Tốt”; [a] {b} «c»…"),
    ("Khách_sạn ở đâu ?", "Khách_sạn ở đâu?"),
    ("T.S . Nguyễn", "T.S. Nguyễn"),
    ("", ""),
]


@pytest.mark.parametrize(("spaced", "read"), PAIRS)
def test_both_ways(spaced: str, read: str) -> None:
    assert detokenize(spaced) == read
    assert space_punctuation(read) == spaced
    assert detokenize(read) == read
    assert space_punctuation(spaced) == spaced


@pytest.mark.parametrize(
    ("spaced", "read"),
    [
        ("1 , 2 và 8 : 30", "1, 2 và 8:30"),
        ("That 's what you don 't know , I 'm sure", "That's what you don't know, I'm sure"),
        ("the 1880 's", "the 1880 's"),  # nothing says that it is no quotation
        ("  xin   chào  ", "xin chào"),
        ('và nói , " Con thấy chưa ?', 'và nói, "Con thấy chưa?'),  # the speech goes on in the next line
        ('Tôi không làm được " .', 'Tôi không làm được".'),  # it began in an earlier one
        ('không ? " Và tôi nói , " Không . "', 'không?" Và tôi nói, "Không."'),
        ("rock ' n ' roll - có", "rock ' n ' roll - có"),
    ],
)
def test_detokenize(spaced: str, read: str) -> None:
    assert detokenize(spaced) == read


WORDS = st.text(st.sampled_from("aấđeoự_"), min_size=1, max_size=4)


@given(st.lists(st.tuples(WORDS, st.sampled_from(["", ",", ".", "?", "!", ";", ":", "...", "%"]))))
def test_spacing_is_undone(words: list[tuple[str, str]]) -> None:
    text = " ".join(word + mark for word, mark in words)
    assert detokenize(space_punctuation(text)) == text


@given(st.text())
def test_only_spaces_change(text: str) -> None:
    for change in (detokenize, space_punctuation):
        assert "".join(change(text).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "capital"),
    [
        ("xin chào USA", "Xin chào USA"),
        ('"ấy là', '"Ấy là'),
        ("đi", "Đi"),
        ("3 người", "3 người"),
        ("?!", "?!"),
    ],
)
def test_capitalize(text: str, capital: str) -> None:
    assert capitalize(text) == capital


SYLLABLES = st.text(
    st.characters(exclude_categories=("Z", "C"), exclude_characters="＿"), min_size=1, max_size=5
)
VIETNAMESE_WORDS = st.lists(SYLLABLES, min_size=1, max_size=4).map(" ".join)


@given(st.lists(VIETNAMESE_WORDS, max_size=6))
def test_splitting_undoes_joining(words: list[str]) -> None:
    line = join_words(words)
    assert split_words(line) == words
    assert line.count(" ") == max(len(words) - 1, 0)


def test_a_segmented_line() -> None:
    words = ["Khách sạn", "ở", "thành phố Hồ Chí Minh", "?"]
    line = "Khách_sạn ở thành_phố_Hồ_Chí_Minh ?"
    assert join_words(words) == line
    assert split_words(line) == words
    assert unjoin(line) == "Khách sạn ở thành phố Hồ Chí Minh ?"


def test_an_underscore_of_the_text_survives() -> None:
    words = ["tệp", "file_name", "_", "__init__", "a _ b"]
    assert join_words(words) == "tệp file＿name ＿ ＿＿init＿＿ a_＿_b"
    assert split_words(join_words(words)) == words


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("JAL_21 Mùng_1 Hàn_Quốc” số_7.", "JAL 21 Mùng 1 Hàn Quốc” số 7."),
        ("Thành_ _a __ _ a__b", "Thành_ _a __ _ a__b"),  # these join nothing
        ("", ""),
        ("không có gì", "không có gì"),
    ],
)
def test_unjoin(text: str, read: str) -> None:
    assert unjoin(text) == read


def test_stray_underscores_are_named_with_their_lines() -> None:
    lines = ["Khách_sạn", "Võ_Thị_ và a__b", "", "Thành_ phố"]
    assert stray_underscores(lines) == [(2, "Võ_Thị_"), (2, "a__b"), (4, "Thành_")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("khách sạn", "words must be a list of words, got the string 'khách sạn'"),
        ([""], "separated by single spaces, got ''"),
        ([" a"], "separated by single spaces, got ' a'"),
        (["a  b"], "separated by single spaces, got 'a  b'"),
        (["a\u00a0b"], "separated by single spaces"),
        (["a＿b"], "words must not hold ＿"),
    ],
)
def test_bad_words(words: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        join_words(words)


CHINESE_WORDS = [
    "如果",
    "我",
    "JAL",
    "4002",
    "iPhone",
    "3.5",
    "e-mail",
    "𠊛",
    "，",
    "。",
    "（",
    "）",
    "“",
    "”",
    "？",
]


@pytest.mark.parametrize(
    "character",
    # unified, 〇 and 々, Extension A, compatibility, and Extensions B, C, D, E, F, G, H, I
    "好一龥〇々㐀㐌豈𠀀𠊛𪚚𪜀𫝀𫠠𬺰\U00030000\U00031722\U0002ebf0",
)
def test_han_characters_of_every_plane(character: str) -> None:
    assert is_han(character)


@pytest.mark.parametrize("text", ["a", "ấ", "，", "。", "あ", "한", "1", "", "好好", "\U000f063f", " "])
def test_what_is_no_han_character(text: str) -> None:
    assert not is_han(text)


@pytest.mark.parametrize(
    ("segmented", "read"),
    [
        ("如果 你 还 有 什么 需要 的 就 告诉 我 。", "如果你还有什么需要的就告诉我。"),
        ("我 想 改变 JAL 4002 航班 。", "我想改变JAL 4002航班。"),
        ("对 不 起 , 我 想 去 C 码头 .", "对不起,我想去C码头."),
        ("他 说 ： “ Hello world ” ， （ 笑 ） 。", "他说：“Hello world”，（笑）。"),
        ("iPhone 15 Pro 吗 ？", "iPhone 15 Pro吗？"),
        (" 𠊛 𠄩\u3000𠀧  ", "𠊛𠄩𠀧"),
        ("JAL\u3000\u30004002 班", "JAL 4002班"),
        ("New   York", "New York"),
        ("", ""),
    ],
)
def test_remove_spaces(segmented: str, read: str) -> None:
    assert remove_spaces(segmented) == read


@given(st.lists(st.sampled_from(CHINESE_WORDS)))
def test_nothing_but_spaces_goes(words: list[str]) -> None:
    read = remove_spaces(" ".join(words))
    assert read.replace(" ", "") == "".join(words)
    assert remove_spaces(read) == read
    assert remove_spaces(" ".join(split_characters(read))) == read


@pytest.mark.parametrize(
    ("line", "tokens"),
    [
        ("我想改变JAL 4002航班。", ["我", "想", "改", "变", "JAL", "4002", "航", "班", "。"]),
        ("下午8:30，3.5元，10,000人", ["下", "午", "8:30", "，", "3.5", "元", "，", "10,000", "人"]),
        ("don't e-mail café,ok.", ["don't", "e-mail", "café", ",", "ok", "."]),
        ("MP3播放器(新)!?", ["MP3", "播", "放", "器", "(", "新", ")", "!", "?"]),
        ("cafe\u0301好", ["cafe\u0301", "好"]),
        ("葛\U000e0100城", ["葛\U000e0100", "城"]),  # a variation selector stays with its character
        ("𠊛\U00031722\U000f063f", ["𠊛", "\U00031722", "\U000f063f"]),
        ("X光片", ["X", "光", "片"]),
        ("  ", []),
    ],
)
def test_split_characters(line: str, tokens: list[str]) -> None:
    assert split_characters(line) == tokens


@given(st.text())
def test_splitting_loses_nothing_but_spaces(text: str) -> None:
    assert "".join(split_characters(text)) == "".join(text.split())
