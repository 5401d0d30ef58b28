"""TER against SacreBLEU, its edits against the plain edit distance, and by hand."""

import random

import pytest
import sacrebleu
from hypothesis import given, settings
from sacrebleu.metrics.lib_ter import translation_edit_rate

from coursepkg.metrics import TER, edit_distance, score
from coursepkg.metrics.ter import count_edits
from tests.metrics.texts import disturb, few_words, random_corpus, random_sentence, sacrebleu_fields


@pytest.mark.parametrize("asian", [False, True])
@pytest.mark.parametrize("normalized", [False, True])
def test_equals_sacrebleu_on_random_corpora(normalized: bool, asian: bool) -> None:
    rng = random.Random(f"{normalized} {asian}")
    for _ in range(100):
        options = {
            "no_punct": rng.random() < 0.5,
            "case_sensitive": rng.random() < 0.5,
            "normalized": normalized,
        }
        theirs = sacrebleu.TER(asian_support=asian, **options)
        hypotheses, references = random_corpus(rng)
        found = score(TER(asian=asian, **options), hypotheses, references)
        expected = theirs.corpus_score(hypotheses, list(zip(*references, strict=True)))
        assert found.value == pytest.approx(expected.score, rel=0, abs=1e-9)
        assert found.details["edits"] == expected.num_edits
        assert sacrebleu_fields(found.signature) == str(theirs.get_signature()).rpartition("|version:")[0]


@settings(max_examples=300, deadline=None)
@given(hypothesis=few_words, reference=few_words)
def test_edits_equal_sacrebleu_where_words_repeat(hypothesis: str, reference: str) -> None:
    words, other = hypothesis.split(), reference.split()
    assert count_edits(words, other) == translation_edit_rate(words, other)[0]
    assert count_edits(words, other) <= edit_distance(words, other)


@pytest.mark.parametrize(
    ("n_words", "n_other"), [(60, 60), (120, 100), (40, 90), (2, 120), (1, 200), (150, 3), (80, 20)], ids=str
)
def test_edits_equal_sacrebleu_beyond_the_beam_and_the_limits(n_words: int, n_other: int) -> None:
    """Far from the diagonal the edit distance is not exact any more, and a search is cut short: by the same rules."""
    rng = random.Random(n_words)
    for vocabulary in ("abcdefghij", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"):
        other = rng.choices(vocabulary, k=n_other)
        words = disturb(rng, " ".join(other)).split()[:n_words]
        words += rng.choices(vocabulary, k=n_words - len(words))
        assert count_edits(words, other) == translation_edit_rate(words, other)[0]


def test_a_run_moved_far_costs_one_edit() -> None:
    words = [f"w{i}" for i in range(30)]
    assert count_edits(words[10:] + words[:10], words) == 1
    assert count_edits(words[11:] + words[:11], words) == 2  # eleven words are two runs of at most ten
    assert edit_distance(words[10:] + words[:10], words) == 20


def test_by_hand() -> None:
    # "nay" for "hôm nay", then "tôi" goes behind it
    found = score(TER(), ["tôi nay đi học"], ["hôm nay tôi đi học"])
    assert found.details == {"edits": 2, "reference_length": 5.0}
    assert found.value == 40
    assert score(TER(), ["a b c d"], ["x"]).value == 400


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"), [("", "", 0), ("a b", "", 100), ("", "a b", 100)]
)
def test_empty_sides(hypothesis: str, reference: str, expected: float) -> None:
    assert score(TER(), [hypothesis], [reference]).value == expected
    assert sacrebleu.TER().corpus_score([hypothesis], [[reference]]).score == expected


def test_chinese_needs_the_asian_rules() -> None:
    hypothesis, reference = ["我们去上海。"], ["我们去北京。"]
    assert score(TER(), hypothesis, reference).value == 100
    assert score(TER(normalized=True, asian=True), hypothesis, reference).value == pytest.approx(100 * 2 / 6)


def test_words_of_a_long_sentence_are_found_in_reasonable_steps() -> None:
    rng = random.Random(3)
    sentence = random_sentence(rng, 80)
    assert score(TER(), [sentence], [sentence]).value == 0


def test_bad_settings() -> None:
    with pytest.raises(ValueError, match=r"^unicode must be one of raw, NFC, got 'NFKC'$"):
        TER(unicode="NFKC")
