"""Edit distance and alignment: against RapidFuzz, the properties of a metric, and by hand."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from coursepkg.metrics import align, edit_distance
from coursepkg.metrics.alignment import Edit
from tests.metrics.texts import few_words

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


def test_by_hand() -> None:
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
