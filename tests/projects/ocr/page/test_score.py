"""Bag-of-words F1: by hand, by properties, and in the forms of a score."""

import random
import unicodedata
from collections import Counter

import pytest

from coursepkg.metrics.scoring import score, sentence_scores
from coursepkg.projects.ocr.page.words import (
    BagOfWords,
    MatchedWordCER,
    MeanBagOfWords,
    describe_score,
    matched_words,
    missed_words,
)

PRINTED = "TỔNG TIỀN 22.000\nTIỀN MẶT 22.000\nCẢM ƠN"


def f1(read: str, printed: str) -> float:
    return score(BagOfWords(), [read], [printed]).value


def test_by_hand() -> None:
    found = score(BagOfWords(), ["TỔNG TIEN 22.000 22.000 22.000"], [PRINTED])
    # Right are TỔNG and two of the three 22.000.
    assert found.details == {"precision": 3 / 5, "recall": 3 / 8, "matches": 3, "read": 5, "printed": 8}
    assert found.value == pytest.approx(6 / 13)
    assert "3 words right of 5 read and 8 printed" in describe_score(found)
    assert "unicode:NFC" in found.signature


def test_order_and_lines_do_not_count_but_marks_do() -> None:
    words = PRINTED.split()
    random.Random(0).shuffle(words)
    assert f1(" ".join(words), PRINTED) == 1
    assert f1("\n".join(words), PRINTED) == 1
    assert f1(PRINTED.replace("TIỀN", "TIẾN"), PRINTED) == pytest.approx(6 / 8)
    assert f1(PRINTED.lower(), PRINTED) == pytest.approx(2 / 8)


def test_the_unicode_form_does_not_count_unless_asked() -> None:
    apart = unicodedata.normalize("NFD", PRINTED)
    assert f1(apart, PRINTED) == 1
    assert score(BagOfWords(unicode="raw"), [apart], [PRINTED]).value == pytest.approx(2 / 8)
    with pytest.raises(ValueError, match="unicode"):
        BagOfWords(unicode="NFX")


def test_pages_are_summed_before_they_are_divided() -> None:
    pages, printed = ["a b", "c"], ["a b", "x y z"]
    assert score(BagOfWords(), pages, printed).value == pytest.approx(4 / 8)
    assert sentence_scores(BagOfWords(), pages, printed).tolist() == [1.0, 0.0]


def test_empty_pages() -> None:
    assert f1("", "") == 1
    assert f1("a", "") == f1("", "a") == 0


def test_what_was_missed_adds_up() -> None:
    dice = random.Random(1)
    for _ in range(50):
        read, printed = (" ".join(dice.choices("abcde", k=dice.randrange(8))) for _ in range(2))
        missing, wrong = missed_words(read, printed)
        details = score(BagOfWords(), [read], [printed]).details
        assert len(missing) == details["printed"] - details["matches"]
        assert len(wrong) == details["read"] - details["matches"]
        assert Counter(printed.split()) - Counter(missing) == Counter(read.split()) - Counter(wrong)


def test_the_mean_weighs_a_short_page_like_a_long_one() -> None:
    pages, printed = ["a b c d", "x", ""], ["a b c d", "y", "z"]
    found = score(MeanBagOfWords(), pages, printed, n_resamples=100)
    assert found.value == pytest.approx(1 / 3)
    assert found.interval is not None
    assert found.interval.lower <= found.value <= found.interval.upper
    assert score(BagOfWords(), pages, printed).value == pytest.approx(8 / 11)


def test_the_most_alike_words_are_matched_and_each_once() -> None:
    assert set(matched_words(["Tổng", "tiền"], ["tien", "Tong"])) == {("Tổng", "Tong"), ("tiền", "tien")}
    assert matched_words(["12.000"], ["x", "13.00", "12.00"]) == [("12.000", "12.00")]
    assert matched_words([], ["a"]) == []


def test_the_error_rate_of_matched_words_by_hand() -> None:
    # One letter of Tổng is wrong; 9.000 has only "??" left for a partner, five edits away.
    found = score(MatchedWordCER(), ["?? 2.000 Tong"], ["Tổng 2.000 9.000"])
    assert found.details == {"edits": 1 + 5, "characters": 4 + 5 + 5}
    assert score(MatchedWordCER(), ["2.000"], ["2.000 9.000"]).details["edits"] == 5
    assert score(MatchedWordCER(), ["2.000 9.000"], ["2.000"]).details["edits"] == 5
    shuffled = score(MatchedWordCER(), ["Tong 2.000 ??"], ["9.000 2.000 Tổng"])
    assert shuffled.value == found.value
    assert score(MatchedWordCER(), [PRINTED], [PRINTED]).value == 0
    assert score(MatchedWordCER(), [""], ["ab cd"]).value == 1
