"""CER, WER and edit distance against jiwer and RapidFuzz, and by hand."""

import random
import unicodedata
from itertools import pairwise

import jiwer
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from coursepkg.metrics import CER, WER, align, edit_distance, score, sentence_scores
from coursepkg.metrics.edit import Edit, ErrorRate
from tests.metrics.texts import WORDS, disturb, few_words, sentences


def corpus(rng: random.Random) -> tuple[list[str], list[str]]:
    lines = [" ".join(rng.choices(WORDS, k=rng.randint(0, 12))) for _ in range(rng.randint(1, 5))]
    said = [disturb(rng, line) if rng.random() < 0.8 else "" for line in lines]
    return said, lines


def assert_equal(hypotheses: list[str], references: list[str]) -> None:
    words = jiwer.process_words(references, hypotheses)
    characters = jiwer.process_characters(references, hypotheses)
    for metric, theirs, rate in ((WER("raw"), words, words.wer), (CER("raw"), characters, characters.cer)):
        found = score(metric, hypotheses, references)
        assert found.value == pytest.approx(rate, rel=0, abs=1e-12)
        assert found.details == {
            "hits": theirs.hits,
            "substitutions": theirs.substitutions,
            "deletions": theirs.deletions,
            "insertions": theirs.insertions,
        }


def test_equals_jiwer_on_random_corpora() -> None:
    rng = random.Random(0)
    for _ in range(500):
        assert_equal(*corpus(rng))


@settings(max_examples=300, deadline=None)
@given(pairs=st.lists(st.tuples(few_words | sentences, few_words | sentences), min_size=1, max_size=3))
def test_equals_jiwer_where_words_repeat(pairs: list[tuple[str, str]]) -> None:
    assert_equal([pair[0] for pair in pairs], [pair[1] for pair in pairs])


@settings(max_examples=200, deadline=None)
@given(hypothesis=st.text(max_size=12), reference=st.text(max_size=12))
def test_characters_equal_jiwer_on_any_text(hypothesis: str, reference: str) -> None:
    found = score(CER("raw"), [hypothesis], [reference]).value
    assert found == pytest.approx(jiwer.process_characters([reference], [hypothesis]).cer, abs=1e-12)


def test_by_hand() -> None:
    # ô -> o, ò -> o and a -> à: 3 of 8 characters, 2 of 2 words
    found = score(CER(), ["Cong hoà"], ["Cộng hòa"])
    assert (found.value, found.details["substitutions"]) == (3 / 8, 3)
    assert score(WER(), ["Cong hoà"], ["Cộng hòa"]).value == 1


def test_the_corpus_is_not_the_mean_of_its_lines() -> None:
    hypotheses, references = ["xy", "a" * 98], ["ab", "a" * 98]
    assert sentence_scores(CER(), hypotheses, references).tolist() == [1.0, 0.0]
    assert score(CER(), hypotheses, references).value == 2 / 100


def test_can_exceed_1() -> None:
    assert score(CER(), ["aaaaaa"], ["bb"]).value == 3


def test_without_a_reference_the_insertions_are_the_score() -> None:
    assert score(CER(), ["abc"], [""]).value == 3 == jiwer.process_characters([""], ["abc"]).cer
    assert score(CER(), ["", ""], ["", ""]).value == 0
    assert score(CER(), ["abc", "ab"], ["", "ab"]).value == 3 / 2


def test_spaces_at_the_ends_do_not_count_those_inside_do() -> None:
    assert score(CER(), ["  ab "], ["ab"]).value == 0
    assert score(CER(), ["a  b"], ["a b"]).value == 1 / 3


def test_nfc_is_the_default_and_is_declared() -> None:
    line = "Phở bò tái nạm"
    decomposed = unicodedata.normalize("NFD", line)
    composed = score(CER(), [decomposed], [line])
    assert composed.value == 0
    assert "|unicode:NFC|" in composed.signature
    raw = score(CER("raw"), [decomposed], [line])
    assert raw.value > 0.5
    assert "|unicode:raw|" in raw.signature


def test_bad_settings() -> None:
    with pytest.raises(ValueError, match=r"^unit must be one of character, word, got 'line'$"):
        ErrorRate("line")
    with pytest.raises(ValueError, match=r"^unicode must be one of raw, NFC, got 'NFD'$"):
        WER("NFD")


words = few_words.map(str.split)
letters = st.text(alphabet="abc", max_size=12)


@settings(max_examples=150, deadline=None)
@given(first=letters, second=letters, third=letters)
def test_is_a_metric(first: str, second: str, third: str) -> None:
    distance = edit_distance(first, second)
    assert distance == edit_distance(second, first)
    assert (distance == 0) == (first == second)
    assert distance <= edit_distance(first, third) + edit_distance(third, second)
    assert abs(len(first) - len(second)) <= distance <= max(len(first), len(second))


@settings(max_examples=150, deadline=None)
@given(hypothesis=letters | words, reference=letters | words)
def test_edits_turn_the_reference_into_the_hypothesis(hypothesis: str, reference: str) -> None:
    edits = align(hypothesis, reference)
    assert [edit.reference for edit in edits if edit.kind != "insert"] == list(reference)
    assert [edit.hypothesis for edit in edits if edit.kind != "delete"] == list(hypothesis)
    assert all((edit.kind == "equal") == (edit.reference == edit.hypothesis) for edit in edits)
    assert sum(edit.kind != "equal" for edit in edits) == edit_distance(hypothesis, reference)


def rapidfuzz_kinds(hypothesis: str, reference: str) -> list[str]:
    kinds = []
    for chunk in Levenshtein.opcodes(reference, hypothesis):
        n = max(chunk.src_end - chunk.src_start, chunk.dest_end - chunk.dest_start)
        kinds += ["substitute" if chunk.tag == "replace" else chunk.tag] * n
    return kinds


@settings(max_examples=300, deadline=None)
@given(hypothesis=letters, reference=letters)
def test_of_several_shortest_alignments_it_is_that_of_rapidfuzz(hypothesis: str, reference: str) -> None:
    assert [edit.kind for edit in align(hypothesis, reference)] == rapidfuzz_kinds(hypothesis, reference)


def test_long_lines_equal_rapidfuzz() -> None:
    rng = random.Random(0)
    for n in (63, 64, 65, 130, 400):
        reference, hypothesis = ("".join(rng.choices("abcdefgh ", k=rng.randint(n - 9, n))) for _ in range(2))
        assert edit_distance(hypothesis, reference) == Levenshtein.distance(hypothesis, reference)
        assert [edit.kind for edit in align(hypothesis, reference)] == rapidfuzz_kinds(hypothesis, reference)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"), [("", "", 0), ("", "abc", 3), ("abc", "", 3)]
)
def test_empty_sides(hypothesis: str, reference: str, expected: int) -> None:
    assert edit_distance(hypothesis, reference) == len(align(hypothesis, reference)) == expected


def test_edits_by_hand() -> None:
    assert edit_distance("sitting", "kitten") == 3
    assert align("sitting", "kitten") == [
        Edit("substitute", "k", "s"),
        *(Edit("equal", letter, letter) for letter in "itt"),
        Edit("substitute", "e", "i"),
        Edit("equal", "n", "n"),
        Edit("insert", None, "g"),
    ]


def test_a_wrong_tone_mark_is_one_substitution_in_nfc() -> None:
    tones = ["ma", "mà", "má", "mả", "mã", "mạ"]
    assert all(edit_distance(one, other) == 1 for one, other in pairwise(tones))
