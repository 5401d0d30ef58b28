"""Duplicates: what spellings have in common, and near duplicates against a comparison of all sentences."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.data.audit_duplicates import _deletions, _hash, near_duplicates, normalised, tokens


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("Khách_sạn ở đâu ?", "khách sạn ở đâu", "vi"),
        ("Ho\u0300a bi\u0300nh", "Hòa bình", "vi"),
        ("我 不 知道 。", "我不知道", "zh"),
        ("It &apos;s  late .", "it's late!", "en"),
        ("ẤM", "ấm", "vi"),
    ],
)
def test_spellings_of_a_sentence_have_one_key(one: str, other: str, language: str) -> None:
    assert normalised(one, language) == normalised(other, language) != ""


@pytest.mark.parametrize(
    ("one", "other"), [("hòa", "hóa"), ("ma", "má"), ("3.5", "3.6"), ("?", "!"), ("क", "कि")]
)
def test_different_sentences_have_different_keys(one: str, other: str) -> None:
    assert normalised(one, "vi") != normalised(other, "vi")


def test_nothing_has_an_empty_key() -> None:
    assert normalised(" \t", "vi") == ""
    assert normalised(" ... ", "vi") == "..."


def test_tokens_are_words_or_chinese_characters() -> None:
    assert tokens("Khách_sạn Ở đâu ?", "vi") == ("khách_sạn", "ở", "đâu")
    assert tokens("我 不 知道 。", "zh") == ("我", "不", "知道")
    assert tokens("我不知道。", "zh") == ("我", "不", "知", "道")
    assert tokens("It &apos;s late !", "en") == ("it", "'s", "late")
    assert tokens("...", "vi") == ()


def edit_distance_is_one(one, other) -> bool:
    """By trying every edit."""
    if len(one) == len(other):
        return sum(a != b for a, b in zip(one, other, strict=True)) == 1
    short, long = sorted((one, other), key=len)
    return len(long) == len(short) + 1 and any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


sentences = st.lists(
    st.lists(st.sampled_from("abc"), min_size=0, max_size=6).map(tuple), max_size=25, unique=True
)


@given(sentences, st.integers(2, 4))
def test_near_duplicates_are_what_a_comparison_of_all_pairs_finds(several, least: int) -> None:
    groups = near_duplicates(several, least=least)
    pairs = {(i, j) for group in groups for i in group for j in group if i < j}
    slow = {
        (i, j)
        for i, one in enumerate(several)
        for j, other in enumerate(several)
        if i < j and min(len(one), len(other)) >= least and edit_distance_is_one(one, other)
    }
    assert {i for pair in pairs for i in pair} == {i for pair in slow for i in pair}
    assert pairs == slow


def test_equal_sentences_form_no_group() -> None:
    one = ("a", "b", "c", "d")
    assert near_duplicates([one, one]) == []
    assert near_duplicates([]) == []
    assert near_duplicates([("a", "b", "c"), ("a", "b", "x")]) == []
    assert near_duplicates([("a", "b", "c"), ("a", "b", "x")], least=3) == [(0, 1)]


def test_a_token_that_moved_is_no_neighbour_and_hides_none() -> None:
    moved, one, other = ("b", "c", "d", "a"), ("a", "b", "c", "d"), ("x", "b", "c", "d")
    assert near_duplicates([moved, one]) == []
    assert near_duplicates([moved, one, other]) == [(1, 2)]


def test_a_planted_neighbour_is_found_among_many() -> None:
    draw = random.Random(0)
    words = [f"w{i}" for i in range(500)]
    many = [tuple(draw.choices(words, k=draw.randint(8, 12))) for _ in range(5000)]
    changed = (*many[77][:4], "other", *many[77][5:])
    longer = (*many[99], "more")
    assert near_duplicates([*many, changed, longer]) == [(77, 5000), (99, 5001)]


def test_one_token_is_too_short_to_compare() -> None:
    with pytest.raises(ValueError, match="least must be at least 2 tokens, got 1"):
        near_duplicates([], least=1)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=12))
def test_the_hash_of_a_deletion_is_the_hash_of_what_is_left(code) -> None:
    assert list(_deletions(code)) == [_hash(code[:i] + code[i + 1 :]) for i in range(len(code))]
