"""What every metric refuses, in one line that says what and where.

Tokenizers against SacreBLEU's and rouge-score's.
"""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.tokenize import tokenize as rouge_tokenize
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_char import TokenizerChar
from sacrebleu.tokenizers.tokenizer_none import NoneTokenizer
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from coursepkg.metrics import BLEU, CER, CHRF, METEOR, ROUGE, TER, score
from coursepkg.metrics.ngrams import read_pairs, split_zh, tokenize
from tests.metrics.texts import exactly, random_sentence
from tests.refusals import assert_refused

METRICS = [BLEU(), CHRF(), TER(), ROUGE(), METEOR(), CER()]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_different_lengths_name_both_counts(metric) -> None:
    message = (
        "hypotheses and references must be of one length, got 3 hypotheses and 2 references"
        " (references[i] belongs to hypotheses[i])"
    )
    with pytest.raises(ValueError, match=exactly(message)):
        score(metric, ["a", "b", "c"], ["a", "b"])


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_nothing_to_score(metric) -> None:
    with pytest.raises(
        ValueError, match=exactly("hypotheses must hold at least one entry, got an empty list")
    ):
        score(metric, [], [])


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_empty_texts_are_scored_not_skipped(metric) -> None:
    found = score(metric, ["", "tôi đi học"], ["tôi đi làm", ""])
    assert "|n:2/2|" in found.signature
    assert found.value == found.value  # no NaN


def test_one_string_is_no_list_of_sentences() -> None:
    with pytest.raises(
        ValueError, match=exactly("hypotheses must be a list with one entry a sentence, got 'abc'")
    ):
        score(BLEU(), "abc", ["a", "b", "c"])
    with pytest.raises(
        ValueError, match=exactly("references must be a list with one entry a sentence, got 'abc'")
    ):
        score(BLEU(), ["a", "b", "c"], "abc")


def test_a_sentence_without_references() -> None:
    with pytest.raises(
        ValueError, match=r"^references\[1\] must hold at least one reference, got an empty list$"
    ):
        score(BLEU(), ["a", "b"], [["a"], []])


def test_single_references_need_no_list() -> None:
    assert read_pairs(["a", "b"], ["c", ["d", "e"]]) == [("a", ("c",)), ("b", ("d", "e"))]


def test_wrong_types() -> None:
    assert_refused(
        "from coursepkg.metrics import *",
        {
            "score(BLEU(), ['a', None], ['a', 'b'])": "hypotheses[1] must be a string, got None",
            "score(BLEU(), ['a', 'b'], ['a', 5])": "references[1] must be a string or a list of strings, got 5",
            "score(BLEU(), ['a'], [['a', 5]])": "references[0] must be a string or a list of strings, got list",
            "score(CER(), ['a', 'b'], ['a', ['b', 'c']])": "references[1] must be a string, got list",
            "score(CER(), ['a'], [None])": "references[0] must be a string, got None",
            "score(BLEU(), 5, ['a'])": "hypotheses must be a list with one entry a sentence, got 5",
            "score(BLEU(), (line for line in 'ab'), ['a'])": (
                "hypotheses must be a list with one entry a sentence, got generator"
            ),
            "BLEU(max_order=2.5)": "max_order must be an integer of at least 1, got 2.5",
            "score(MacroF1('ab'), ['a'], ['a'])": "labels must be a list of at least one label, got 'ab'",
        },
    )


THEIRS = {"13a": Tokenizer13a(), "zh": TokenizerZh(), "char": TokenizerChar(), "none": NoneTokenizer()}


@pytest.mark.parametrize("name", THEIRS)
def test_equal_to_sacrebleu_on_random_sentences(name: str) -> None:
    rng = random.Random(0)
    for _ in range(1000):
        text = random_sentence(rng)
        assert list(tokenize(text, name)) == THEIRS[name](text.rstrip()).split()


@pytest.mark.parametrize("name", THEIRS)
@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=30))
def test_equal_to_sacrebleu_on_any_text(name: str, text: str) -> None:
    assert list(tokenize(text, name)) == THEIRS[name](text.rstrip()).split()


def test_chinese_tokenizer_parts_the_same_characters() -> None:
    for code in (*range(0x80, 0xD800), *range(0xE000, 0x10000), *range(0x1F000, 0x31000, 7)):
        is_apart = len(split_zh(f"a{chr(code)}b")) == 3
        assert is_apart == (THEIRS["zh"]._is_chinese_char(chr(code)) and not chr(code).isspace()), hex(code)


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=30))
def test_rouge_tokenizer_is_that_of_rouge_score(text: str) -> None:
    assert list(tokenize(text, "rouge")) == rouge_tokenize(text, None)


def test_what_each_does_to_vietnamese_and_chinese() -> None:
    assert tokenize("Giá 1.000.000 đồng, phải không?") == (
        "Giá",
        "1.000.000",
        "đồng",
        ",",
        "phải",
        "không",
        "?",
    )
    assert tokenize("你好，世界！") == ("你好，世界！",)
    assert tokenize("你好，world", "zh") == ("你", "好", "，", "world")
    assert tokenize("phở bò", "char") == tuple("phởbò")
    assert tokenize("phở bò", "rouge") == ("ph", "b")


def test_unknown_name() -> None:
    with pytest.raises(ValueError, match=r"^tokenize must be one of none, 13a, zh, char, rouge, got 'intl'$"):
        tokenize("a", "intl")
