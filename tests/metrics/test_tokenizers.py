"""Tokenizers against SacreBLEU's and rouge-score's."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.tokenize import tokenize as rouge_tokenize
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_char import TokenizerChar
from sacrebleu.tokenizers.tokenizer_none import NoneTokenizer
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from coursepkg.metrics.tokenizers import split_zh, tokenize
from tests.metrics.texts import random_sentence

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
