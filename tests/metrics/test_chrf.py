"""chrF and chrF++ against SacreBLEU, and by hand."""

import random

import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from coursepkg.metrics import CHRF, score, sentence_scores
from tests.metrics.texts import exactly, few_words, random_corpus, sacrebleu_fields, sentences


@pytest.mark.parametrize("word_order", [0, 1, 2])
def test_equals_sacrebleu_on_random_corpora(word_order: int) -> None:
    rng = random.Random(word_order)
    for _ in range(350):
        options = {
            "beta": rng.choice([1, 2, 3]),
            "lowercase": rng.random() < 0.5,
            "char_order": rng.choice([1, 6]),
        }
        ours = CHRF(word_order=word_order, **options)
        theirs = sacrebleu.CHRF(word_order=word_order, **options)
        hypotheses, references = random_corpus(rng)
        found = score(ours, hypotheses, references)
        expected = theirs.corpus_score(hypotheses, list(zip(*references, strict=True)))
        assert found.value == pytest.approx(expected.score, rel=0, abs=1e-9)
        assert found.name == expected.name
        assert sacrebleu_fields(found.signature) == str(theirs.get_signature()).rpartition("|version:")[0]
        alone = sentence_scores(ours, hypotheses[:1], references[:1])[0]
        assert alone == pytest.approx(theirs.sentence_score(hypotheses[0], references[0]).score, abs=1e-9)


@settings(max_examples=200, deadline=None)
@given(hypothesis=st.text(max_size=12) | few_words, reference=st.text(max_size=12) | few_words | sentences)
def test_equals_sacrebleu_on_any_text(hypothesis: str, reference: str) -> None:
    for word_order in (0, 2):
        expected = sacrebleu.CHRF(word_order=word_order).corpus_score([hypothesis], [[reference]]).score
        assert score(CHRF(word_order=word_order), [hypothesis], [reference]).value == pytest.approx(
            expected, rel=0, abs=1e-9
        )


def test_by_hand() -> None:
    """mà against má: 1 of 2 letters, 0 of 1 pair; the four longer orders exist on neither side."""
    found = score(CHRF(), ["mà"], ["má"])
    assert found.details == {"precision": 0.25, "recall": 0.25}
    assert found.value == pytest.approx(25)
    # a + ba + bab against a + b: 1/2 of the letters are right, both of the right ones are there
    found = score(CHRF(char_order=1, beta=2), ["abxy"], ["ab"])
    assert found.value == pytest.approx(100 * 5 * 0.5 * 1 / (4 * 0.5 + 1))


def test_empty_sides_score_0() -> None:
    assert score(CHRF(), ["", "a", ""], ["a", "", ""]).value == 0
    assert score(CHRF(word_order=2), [""], [""]).value == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"char_order": 0}, "char_order must be an integer of at least 1, got 0"),
        ({"word_order": -1}, "word_order must be an integer of at least 0, got -1"),
        ({"beta": 0}, "beta must be an integer of at least 1, got 0"),
        ({"unicode": "nfc"}, "unicode must be one of raw, NFC, got 'nfc'"),
    ],
)
def test_bad_settings(settings: dict, message: str) -> None:
    with pytest.raises(ValueError, match=exactly(message)):
        CHRF(**settings)
