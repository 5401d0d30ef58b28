"""METEOR against nltk's with a stemmer and a WordNet that find nothing, and by hand."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.meteor_score import meteor_score

from coursepkg.metrics import METEOR, score, sentence_scores
from coursepkg.metrics.meteor import count_chunks, match_words
from coursepkg.metrics.ngrams import tokenize
from tests.metrics.texts import exactly, few_words, random_corpus, sentences


class NoStemmer:
    """Leaves every word as it is."""

    def stem(self, word: str) -> str:
        return word


class NoWordNet:
    """Knows no word."""

    def synsets(self, word: str) -> list:
        return []


def nltk_meteor(hypothesis: list[str], references: list[list[str]], **options) -> float:
    return meteor_score(references, hypothesis, stemmer=NoStemmer(), wordnet=NoWordNet(), **options)


@pytest.mark.parametrize("tokenizer", ["none", "13a", "zh"])
def test_equals_nltk_on_random_corpora(tokenizer: str) -> None:
    rng = random.Random(tokenizer)
    for _ in range(300):
        options = rng.choice([{}, {"alpha": 0.5, "beta": 1.0, "gamma": 0.3}, {"gamma": 0.0}])
        hypotheses, references = random_corpus(rng)
        expected = [
            nltk_meteor(
                list(tokenize(hypothesis.lower(), tokenizer)),
                [list(tokenize(text.lower(), tokenizer)) for text in texts],
                **options,
            )
            for hypothesis, texts in zip(hypotheses, references, strict=True)
        ]
        metric = METEOR(tokenize=tokenizer, **options)
        assert sentence_scores(metric, hypotheses, references).tolist() == pytest.approx(expected, abs=1e-12)
        found = score(metric, hypotheses, references)
        assert found.value == pytest.approx(sum(expected) / len(expected), abs=1e-12)
        assert found.details == {"sentences": len(expected)}


@settings(max_examples=150, deadline=None)
@given(hypothesis=few_words | sentences, reference=few_words | sentences)
def test_equals_nltk_where_words_repeat(hypothesis: str, reference: str) -> None:
    found = score(METEOR(tokenize="none"), [hypothesis], [reference]).value
    assert found == pytest.approx(nltk_meteor(hypothesis.split(), [reference.split()]), abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from("ab"), max_size=8), st.lists(st.sampled_from("ab"), max_size=8))
def test_matching_is_one_to_one_and_as_large_as_can_be(words: list[str], other: list[str]) -> None:
    matches = match_words(words, other)
    assert all(words[i] == other[j] for i, j in matches)
    assert len({i for i, _ in matches}) == len({j for _, j in matches}) == len(matches)
    assert len(matches) == sum(min(words.count(word), other.count(word)) for word in "ab")
    assert matches == sorted(matches)


def test_by_hand() -> None:
    # all 4 words match, in 2 runs: "đi học" and "hôm nay"
    words, other = ["hôm", "nay", "đi", "học"], ["đi", "học", "hôm", "nay"]
    assert match_words(words, other) == [(0, 2), (1, 3), (2, 0), (3, 1)]
    assert count_chunks(match_words(words, other)) == 2
    assert score(METEOR(), ["hôm nay đi học"], ["đi học hôm nay"]).value == pytest.approx(
        1 - 0.5 * (2 / 4) ** 3
    )
    # 2 of 3 and 2 of 4 words in one run
    expected = (2 / 3 * 2 / 4) / (0.9 * 2 / 3 + 0.1 * 2 / 4) * (1 - 0.5 * (1 / 2) ** 3)
    assert score(METEOR(), ["a b x"], ["a b c d"]).value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"alpha": 1.5}, "alpha must lie between 0 and 1, got 1.5"),
        ({"gamma": -0.5}, "gamma must lie between 0 and 1, got -0.5"),
        ({"beta": -1.0}, "beta must be at least 0, got -1.0"),
        ({"beta": float("nan")}, "beta must be at least 0, got nan"),
    ],
)
def test_bad_settings(settings: dict, message: str) -> None:
    with pytest.raises(ValueError, match=exactly(message)):
        METEOR(**settings)
