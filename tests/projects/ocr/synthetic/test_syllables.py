"""Syllables: the rules of spelling, against words that exist and against forms that spelling forbids."""

import random
import re
import unicodedata
from collections import Counter

import pytest

from coursepkg.projects.ocr.synthetic.receipt_text import words
from coursepkg.projects.ocr.synthetic.texts import draw_syllable, spell, syllables
from coursepkg.text.vietnamese import ACCENTED

ALL = frozenset(syllables())
WORDS = """
    nghiêng nghỉ ngoằn ngoèo khuỷu tay khúc khuỷu giếng giặt gì gìn giữ ghi ghế gà góa goá quý quỷ quốc quyển quyết
    quẹo quờ quạng huỳnh huých khuya yêu yếm yến iếc ỷ y tế kỹ thuật kĩ mỹ lý sỹ xoong xoóng hòa hoà thúy thuý hoạt
    thuở luật uyên uống ướt ưa chuột rượu bướu hươu chẳng nhẫn ngẫm ẵm nghễnh ngãng ngượng nguệch ngoạc xuề xoà đã đỗ
"""
FORBIDDEN = """
    ka ce ci ngi nge ghà gê ngha cuan qan qoan hoaf màt cãc tỏch boan voét giia quôn phuy
"""


def test_the_number_of_syllables() -> None:
    assert 15_000 < len(ALL) < 18_000
    assert len(syllables()) == len(ALL)
    assert all(unicodedata.is_normalized("NFC", syllable) for syllable in ALL)


def test_words_that_exist_are_made() -> None:
    assert [word for word in WORDS.split() if word not in ALL] == []


def test_the_word_table_has_few_others() -> None:
    marked = (
        w for kind in ("word", "noun", "verb", "item") for entry in words(kind) for w in entry.lower().split()
    )
    found = {w.strip(",.()") for w in marked}
    assert {w for w in found - ALL if not w.isascii()} <= {"vắc-xin", "i-ốt"}


def test_what_spelling_forbids_is_not_made() -> None:
    assert [form for form in FORBIDDEN.split() if form in ALL] == []


def test_a_stopped_rhyme_takes_two_tones() -> None:
    for syllable in ALL:
        marks = unicodedata.normalize("NFD", syllable)
        if re.search(r"(c|ch|p|t)$", syllable):
            assert re.search("[\u0301\u0323]", marks), syllable


def test_a_syllable_has_one_tone_mark_at_most() -> None:
    for syllable in ALL:
        tones = re.findall("[\u0300\u0301\u0303\u0309\u0323]", unicodedata.normalize("NFD", syllable))
        assert len(tones) <= 1, syllable


@pytest.mark.parametrize("pair", [("hoà", "hòa"), ("khoẻ", "khỏe"), ("thuỳ", "thùy"), ("uỷ", "ủy")])
def test_both_places_of_the_mark_are_made(pair: tuple[str, str]) -> None:
    assert set(pair) <= ALL


def test_pairs_that_do_not_go_together() -> None:
    assert spell("b", "oan") is None
    assert spell("q", "a") is None
    assert spell("gi", "ia") is None


def test_drawing_makes_no_letter_rare() -> None:
    dice = random.Random(0)
    even = Counter("".join(draw_syllable(dice, 1.0) for _ in range(20_000)))
    plain = Counter("".join(draw_syllable(dice, 0.0) for _ in range(20_000)))
    assert set(ACCENTED) <= even.keys()
    assert min(even[letter] for letter in ACCENTED) > 20_000 / 67 * 0.7
    assert min(plain[letter] for letter in ACCENTED) < min(even[letter] for letter in ACCENTED) / 2
    assert draw_syllable(random.Random(5)) == draw_syllable(random.Random(5))
