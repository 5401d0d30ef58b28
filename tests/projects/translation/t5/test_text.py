"""Tasks as text: prefixes, STS-B's 21 strings, labels that must match, spans that are cut out.

The filters of C4, each on a page that it alone changes.
"""

from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.translation.t5.text import (
    PREFIXES,
    STS_LABELS,
    c4_filters,
    corrupt_spans,
    label_accuracy,
    label_of,
    page_fault,
    prefix_of,
    split_sentences,
    sts_to_text,
    text_to_sts,
    without_repeated_spans,
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


PROSE = "The house stands by the river. It is old. Nobody lives there now. The door is open. We went in!"


def test_prose_stays_as_it_is() -> None:
    found = c4_filters(PROSE)
    assert (found.lines, found.removed, found.page_removed) == ((PROSE,), (), "")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("Home | About us | Contact", "no terminal punctuation"),
        ("Read more.", "fewer than 3 words"),
        ("Please turn on Javascript to see this page.", "says javascript"),
        ("Ends with an ellipsis of another sign…", "no terminal punctuation"),
    ],
)
def test_a_line_is_removed_and_the_page_stays(line: str, reason: str) -> None:
    found = c4_filters(f"{line}\n\n  {PROSE}  ")
    assert found.lines == (PROSE,)
    assert found.removed == ((line, reason),)
    assert not found.page_removed


@pytest.mark.parametrize("end", [".", "!", "?", '"', "”"])
def test_every_terminal_mark_counts(end: str) -> None:
    assert c4_filters(f"{PROSE}\nThis is a line{end}").lines == (PROSE, f"This is a line{end}")


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (f"{PROSE}\nfunction f() {{ return 1; }}", "curly bracket"),
        (f"{PROSE}\nLorem ipsum dolor sit amet.", "lorem ipsum"),
        ("This page says little. It ends here at once.", "fewer than 5 sentences"),
        ("", "fewer than 5 sentences"),
    ],
)
def test_a_page_is_removed(page: str, reason: str) -> None:
    found = c4_filters(page)
    assert (found.lines, found.page_removed) == ((), reason)


def test_sentences_are_counted_after_lines_were_removed() -> None:
    page = "Menu one. Menu two. Menu three. Menu four. And a last line without an end"
    assert c4_filters(page).page_removed == "fewer than 5 sentences"
    assert page_fault(page, [page], min_sentences=5) == ""


def test_the_other_printing_of_the_paper_differs() -> None:
    page = "It rains hard. We stay. The cat sleeps by the fire."
    assert c4_filters(page).page_removed == "fewer than 5 sentences"
    assert c4_filters(page, min_sentences=3, min_words=5).lines == (page,)
    assert c4_filters(f"{PROSE}\nToo few words.", min_sentences=3, min_words=5).lines == (PROSE,)


@pytest.mark.parametrize("limit", ["min_sentences", "min_words"])
def test_limits_below_one_are_refused(limit: str) -> None:
    with pytest.raises(ValueError, match=limit):
        c4_filters(PROSE, **{limit: 0})


def test_sentences_are_not_cut_inside_numbers_and_quotations() -> None:
    found = split_sentences('It costs 3.5 dollars. "Really?" she said. Yes')
    assert found == ["It costs 3.5 dollars.", '"Really?"', "she said.", "Yes"]


def test_a_span_of_three_sentences_stays_once() -> None:
    spam = "Buy it now. It is cheap. Call us today."
    first, second = without_repeated_spans([[f"{spam} Dear reader."], ["A new page.", f"{spam}", "It ends."]])
    assert first == [["Buy it now.", "It is cheap.", "Call us today.", "Dear reader."]]
    assert second == [["A new page."], [], ["It ends."]]


def test_two_repeated_sentences_are_not_enough_and_case_and_spaces_do_not_matter() -> None:
    pages = [["One. Two. Three."], ["One. Two. Four."], ["Five.", "ONE.  Two.", "three."]]
    first, second, third = without_repeated_spans(pages)
    assert (first, second) == ([["One.", "Two.", "Three."]], [["One.", "Two.", "Four."]])
    assert third == [["Five."], [], []]


def test_a_span_that_repeats_inside_one_page_goes_too() -> None:
    (lines,) = without_repeated_spans([["A b. C d. E f. A b. C d. E f. G h."]])
    assert lines == [["A b.", "C d.", "E f.", "G h."]]
