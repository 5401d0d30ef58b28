"""BLEU against SacreBLEU, and by hand."""

import math
import random

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from coursepkg.metrics import BLEU, score, sentence_scores
from coursepkg.metrics.bleu import SMOOTHING
from tests.metrics.texts import exactly, few_words, random_corpus, sacrebleu_fields, sentences

TOKENIZERS = ("13a", "zh", "char", "none")
GUARD_RIGHT = "The guard arrived late because it was raining."
GUARD_SAID = "The guard arrived late because of the rain."


def twins(tokenize: str, smooth: str, lowercase: bool, effective_order: bool) -> tuple[BLEU, sacrebleu.BLEU]:
    ours = BLEU(tokenize=tokenize, smooth=smooth, lowercase=lowercase, effective_order=effective_order)
    theirs = sacrebleu.BLEU(
        tokenize=tokenize, smooth_method=smooth, lowercase=lowercase, effective_order=effective_order
    )
    return ours, theirs


def assert_equal(
    ours: BLEU, theirs: sacrebleu.BLEU, hypotheses: list[str], references: list[list[str]]
) -> None:
    found = score(ours, hypotheses, references)
    expected = theirs.corpus_score(hypotheses, list(zip(*references, strict=True)))
    assert found.value == pytest.approx(expected.score, rel=0, abs=1e-9)
    assert [100 * p for p in found.details["precisions"]] == pytest.approx(expected.precisions, abs=1e-9)
    assert found.details["brevity_penalty"] == pytest.approx(expected.bp, abs=1e-12)
    assert found.details["hypothesis_length"] == expected.sys_len
    assert found.details["reference_length"] == expected.ref_len
    assert sacrebleu_fields(found.signature) == str(theirs.get_signature()).rpartition("|version:")[0]


@pytest.mark.parametrize("smooth", SMOOTHING)
@pytest.mark.parametrize("tokenize", TOKENIZERS)
def test_equals_sacrebleu_on_random_corpora(tokenize: str, smooth: str) -> None:
    rng = random.Random(f"{tokenize} {smooth}")
    for _ in range(100):
        ours, theirs = twins(tokenize, smooth, rng.random() < 0.5, rng.random() < 0.5)
        assert_equal(ours, theirs, *random_corpus(rng))


@settings(max_examples=150, deadline=None)
@given(
    pairs=st.lists(st.tuples(few_words | sentences, few_words | sentences), min_size=1, max_size=3),
    smooth=st.sampled_from(list(SMOOTHING)),
    effective_order=st.booleans(),
)
def test_equals_sacrebleu_where_words_repeat(
    pairs: list[tuple[str, str]], smooth: str, effective_order: bool
) -> None:
    hypotheses, references = [pair[0] for pair in pairs], [[pair[1]] for pair in pairs]
    assert_equal(*twins("13a", smooth, False, effective_order), hypotheses, references)


@pytest.mark.parametrize(("smooth", "value"), [("floor", 0.5), ("add-k", 2.0), ("add-k", 0.3)])
@pytest.mark.parametrize("max_order", [1, 2, 4, 6])
def test_equals_sacrebleu_for_other_values_and_orders(smooth: str, value: float, max_order: int) -> None:
    rng = random.Random(max_order)
    ours = BLEU(smooth=smooth, smooth_value=value, max_order=max_order)
    theirs = sacrebleu.BLEU(smooth_method=smooth, smooth_value=value, max_ngram_order=max_order)
    for _ in range(50):
        assert_equal(ours, theirs, *random_corpus(rng))


def test_sentences_equal_sacrebleu() -> None:
    rng = random.Random(5)
    theirs = sacrebleu.BLEU(effective_order=True)
    for _ in range(200):
        hypotheses, references = random_corpus(rng)
        found = sentence_scores(BLEU(effective_order=True), hypotheses, references)
        expected = [theirs.sentence_score(h, r).score for h, r in zip(hypotheses, references, strict=True)]
        assert found.tolist() == pytest.approx(expected, abs=1e-9)


def test_a_variable_number_of_references() -> None:
    hypotheses = ["the cat", "a b c d", "Xin chào!"]
    references = [["the cat sat", "a cat"], ["a b c d e"], ["Xin chào", "Chào!", "Xin chào bạn!"]]
    streams = [
        ["the cat sat", "a b c d e", "Xin chào"],
        ["a cat", None, "Chào!"],
        [None, None, "Xin chào bạn!"],
    ]
    theirs = sacrebleu.BLEU()
    found = score(BLEU(), hypotheses, references)
    assert found.value == pytest.approx(theirs.corpus_score(hypotheses, streams).score, abs=1e-9)
    assert sacrebleu_fields(found.signature) == str(theirs.get_signature()).rpartition("|version:")[0]
    assert found.signature.startswith("nrefs:var|")


@pytest.mark.parametrize(("tokenize", "n_bigrams"), [("none", 7), ("13a", 8)])
def test_the_worked_example_of_the_report(tokenize: str, n_bigrams: int) -> None:
    """The full stop is part of the last word for the one, a token of its own for the other."""
    details = score(BLEU(tokenize=tokenize), [GUARD_SAID], [GUARD_RIGHT]).details
    assert (details["matches"][1], details["counts"][1]) == (4, n_bigrams)
    assert details["precisions"][1] == pytest.approx(4 / n_bigrams)


def test_by_hand() -> None:
    found = score(BLEU(tokenize="none"), ["the the the cat"], ["the cat sat down there"])
    assert found.details["matches"] == (2, 1, 0, 0)
    assert found.details["counts"] == (4, 3, 2, 1)
    # exp smoothing: 1/2 of a match among 2, then 1/4 among 1
    expected = 100 * math.exp(1 - 5 / 4) * (2 / 4 * 1 / 3 * (1 / 2) / 2 * (1 / 4) / 1) ** 0.25
    assert found.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("tokenize", TOKENIZERS)
def test_a_copy_scores_100_and_order_of_sentences_is_nothing(tokenize: str) -> None:
    lines = ["tôi đi học ở Hà Nội .", "hôm nay trời mưa rất to ."]
    metric = BLEU(tokenize=tokenize)
    assert score(metric, lines, lines).value == pytest.approx(100)
    outputs = ["tôi đi học ở Huế .", "hôm nay trời mưa to ."]
    assert score(metric, outputs, lines).value == score(metric, outputs[::-1], lines[::-1]).value


def test_nfc_joins_what_only_looks_different() -> None:
    import unicodedata

    text = "tiếng Việt rất đẹp"
    decomposed = unicodedata.normalize("NFD", text)
    assert score(BLEU(), [decomposed], [text]).value < 1
    assert score(BLEU(unicode="NFC"), [decomposed], [text]).value == pytest.approx(100)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tokenize": "ja"}, "tokenize must be one of none, 13a, zh, char, rouge, got 'ja'"),
        ({"smooth": "exponential"}, "smooth must be one of none, floor, add-k, exp, got 'exponential'"),
        ({"max_order": 0}, "max_order must be an integer of at least 1, got 0"),
        ({"unicode": "NFX"}, "unicode must be one of raw, NFC, got 'NFX'"),
        ({"smooth_value": 1.0}, "smooth_value must be None for smooth='exp', got 1.0"),
        ({"smooth": "floor", "smooth_value": 0.0}, "smooth_value must be above 0, got 0.0"),
        ({"smooth": "floor", "smooth_value": math.nan}, "smooth_value must be above 0, got nan"),
    ],
)
def test_bad_settings(settings: dict, message: str) -> None:
    with pytest.raises(ValueError, match=exactly(message)):
        BLEU(**settings)


def test_the_signature_names_an_unusual_order() -> None:
    pairs = ["a b c"], ["a b d"]
    assert "|order:" not in score(BLEU(), *pairs).signature
    assert "|unicode:raw|order:2|" in score(BLEU(max_order=2), *pairs).signature
