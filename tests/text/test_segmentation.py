import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.text.segmentation import join_words, split_words, stray_underscores, unjoin

SYLLABLES = st.text(
    st.characters(exclude_categories=("Z", "C"), exclude_characters="＿"), min_size=1, max_size=5
)
WORDS = st.lists(SYLLABLES, min_size=1, max_size=4).map(" ".join)


@given(st.lists(WORDS, max_size=6))
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
