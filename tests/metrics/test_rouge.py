"""ROUGE against rouge-score, its longest common subsequence against the plain table, and by hand."""

import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from rouge_score.rouge_scorer import RougeScorer

from coursepkg.metrics import ROUGE, score, sentence_scores
from coursepkg.metrics.ngrams import tokenize
from coursepkg.metrics.rouge import lcs_length
from tests.metrics.texts import few_words, random_corpus

TYPES = {"L": "rougeL", "1": "rouge1", "2": "rouge2", "4": "rouge4"}


class Tokenizer:
    """One of our tokenizers in the form that rouge-score takes."""

    def __init__(self, name: str) -> None:
        self.name = name

    def tokenize(self, text: str) -> list[str]:
        return list(tokenize(text.lower(), self.name))


@pytest.mark.parametrize("tokenizer", ["rouge", "13a", "char"])
@pytest.mark.parametrize("variant", TYPES)
def test_equals_rouge_score_on_random_corpora(variant: str, tokenizer: str) -> None:
    rng = random.Random(variant + tokenizer)
    # its own tokenizer is the default there
    theirs = RougeScorer([TYPES[variant]], tokenizer=None if tokenizer == "rouge" else Tokenizer(tokenizer))
    for _ in range(150):
        hypotheses, references = random_corpus(rng)
        expected = [
            theirs.score_multi(texts, hypothesis)[TYPES[variant]]
            for hypothesis, texts in zip(hypotheses, references, strict=True)
        ]
        metric = ROUGE(variant, tokenize=tokenizer)
        alone = sentence_scores(metric, hypotheses, references)
        assert alone.tolist() == pytest.approx([one.fmeasure for one in expected], abs=1e-12)
        found = score(metric, hypotheses, references)
        n = len(hypotheses)
        assert found.value == pytest.approx(sum(one.fmeasure for one in expected) / n, abs=1e-12)
        assert found.details["precision"] == pytest.approx(
            sum(one.precision for one in expected) / n, abs=1e-12
        )
        assert found.details["recall"] == pytest.approx(sum(one.recall for one in expected) / n, abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(first=few_words, second=few_words)
def test_longest_common_subsequence_by_trying_all(first: str, second: str) -> None:
    words, other = first.split()[:9], second.split()[:9]
    in_other = {subset for n in range(len(other) + 1) for subset in combinations(other, n)}
    longest = max(n for n in range(len(words) + 1) if in_other.intersection(combinations(words, n)))
    assert lcs_length(words, other) == longest == lcs_length(other, words)


def test_by_hand() -> None:
    # LCS "the cat sat": 3 of 3 and 3 of 6
    found = score(ROUGE(), ["the cat sat"], ["the cat on the mat sat"])
    assert found.details == {"precision": 1.0, "recall": 0.5}
    assert found.value == pytest.approx(2 / 3)
    assert score(ROUGE("2"), ["the cat sat"], ["the cat on the mat sat"]).value == pytest.approx(
        2 * 1 / (2 + 5)
    )


def test_the_tokenizer_of_the_package_loses_vietnamese_tones_and_all_chinese() -> None:
    metric = ROUGE(tokenize="rouge")
    assert score(metric, ["bò"], ["bố"]).value == 1
    assert score(metric, ["我们去北京"], ["我们去北京"]).value == 0


@pytest.mark.parametrize("variant", ["0", "l", "W", "10", ""])
def test_bad_variant(variant: str) -> None:
    with pytest.raises(
        ValueError, match=rf"^variant must be 'L' or a digit from '1' to '9', got '{variant}'$"
    ):
        ROUGE(variant)
