"""Tasks as text: prefixes, STS-B's 21 strings, labels that must match, spans that are cut out."""

from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.translation.t5.text import (
    PREFIXES,
    STS_LABELS,
    corrupt_spans,
    label_accuracy,
    label_of,
    prefix_of,
    sts_to_text,
    text_to_sts,
)


def test_prefixes_name_both_languages_and_tell_directions_apart() -> None:
    assert prefix_of("zh", "vi") == "translate Chinese to Vietnamese: "
    assert prefix_of("vi", "nom") == "translate Vietnamese to Nom: "
    assert len(set(PREFIXES.values())) == len(PREFIXES)
    assert all((target, source) in PREFIXES for source, target in PREFIXES)


@pytest.mark.parametrize(("source", "target"), [("zh", "zh"), ("nom", "zh"), ("de", "vi"), ("", "vi")])
def test_an_unknown_direction_is_refused_with_those_that_exist(source: str, target: str) -> None:
    with pytest.raises(ValueError, match=r"no prefix for .* the directions are zh to vi, ") as error:
        prefix_of(source, target)
    assert "\n" not in str(error.value)


def test_similarities_are_21_classes() -> None:
    assert len(STS_LABELS) == len(set(STS_LABELS)) == 21
    assert {sts_to_text(1 + i / 1000) for i in range(4001)} == set(STS_LABELS)
    assert sts_to_text(2.57) == "2.6"  # the paper's example
    assert (sts_to_text(1), sts_to_text(5)) == ("1.0", "5.0")


@given(st.integers(min_value=100, max_value=500))
def test_similarities_round_as_decimal_arithmetic_does(hundredths: int) -> None:
    exact = (Decimal(hundredths) / 20).quantize(Decimal(1), ROUND_HALF_UP) / 5
    said = sts_to_text(hundredths / 100)
    # At a tie of two classes the binary fraction may lie on either side.
    is_tie = hundredths % 20 == 10
    assert said == f"{exact:.1f}" or (is_tie and abs(float(said) - hundredths / 100) < 0.1 + 1e-9)
    assert text_to_sts(said) == pytest.approx(float(said))


@pytest.mark.parametrize("similarity", [0.99, 5.01, -1, float("nan"), float("inf")])
def test_a_similarity_outside_is_refused(similarity: float) -> None:
    with pytest.raises(ValueError, match=r"must lie in 1\.\.5"):
        sts_to_text(similarity)


@pytest.mark.parametrize(
    "text", ["", "five", "0.9", "5.1", "3,2", "-2.0", "2.6 2.6", "nan", "inf", "1e0", "²"]
)
def test_an_output_that_is_no_similarity_counts_as_wrong(text: str) -> None:
    assert text_to_sts(text) is None


def test_any_number_from_1_to_5_counts() -> None:
    assert (text_to_sts("3.8"), text_to_sts(" 4 "), text_to_sts("2.57")) == (3.8, 4.0, 2.57)


@pytest.mark.parametrize("text", ["hamburger", "positive.", "Positive", "", "positive negative"])
def test_an_output_that_is_no_label_counts_as_wrong(text: str) -> None:
    assert label_of(text, ("positive", "negative")) is None


def test_accuracy_counts_stray_outputs_as_wrong_and_says_how_many() -> None:
    labels = ["positive", "negative"]
    truths = ["positive", "negative", "negative", "positive"]
    outputs = ["positive", "positive", "hamburger", " positive "]
    assert label_accuracy(outputs, truths, labels) == (0.5, 1)


def test_accuracy_refuses_what_cannot_be_judged() -> None:
    with pytest.raises(ValueError, match="one length, got 1 and 2"):
        label_accuracy(["a"], ["a", "b"], ["a", "b"])
    with pytest.raises(ValueError, match="one length, got 0 and 0"):
        label_accuracy([], [], ["a"])
    with pytest.raises(ValueError, match="among a, b, got 'c'"):
        label_accuracy(["a"], ["c"], ["a", "b"])
    with pytest.raises(ValueError, match="labels must be several words"):
        label_of("positive", "positive")


WORDS = ["Thank", "you", "for", "inviting", "me", "to", "your", "party", "last", "week", "."]


def test_spans_of_the_paper() -> None:
    # Figure 2 of arXiv 1910.10683, with <X>, <Y>, <Z> under the names that the vocabulary has.
    source, target = corrupt_spans(WORDS, [(2, 4), (8, 9)])
    assert source == "Thank you <extra_id_0> me to your party <extra_id_1> week ."
    assert target == "<extra_id_0> for inviting <extra_id_1> last <extra_id_2>"


@given(st.data())
def test_source_and_target_together_hold_every_word_once(data: st.DataObject) -> None:
    spans, end = [], 0
    while end < len(WORDS) - 1 and data.draw(st.booleans()):
        first = data.draw(st.integers(end + bool(spans), len(WORDS) - 1))
        end = data.draw(st.integers(first + 1, len(WORDS)))
        spans.append((first, end))
        if end == len(WORDS):
            break
    source, target = corrupt_spans(WORDS, spans)
    kept = [w for w in (source + " " + target).split() if not w.startswith("<extra_id_")]
    assert sorted(kept) == sorted(WORDS)
    assert source.count("<extra_id_") == len(spans) == target.count("<extra_id_") - 1


@pytest.mark.parametrize(
    "spans", [[(3, 3)], [(4, 2)], [(0, 99)], [(2, 4), (4, 5)], [(5, 6), (1, 2)], [(-1, 2)]]
)
def test_spans_that_touch_or_leave_the_text_are_refused(spans: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match=r"spans\[\d\] must lie behind the one before"):
        corrupt_spans(WORDS, spans)
