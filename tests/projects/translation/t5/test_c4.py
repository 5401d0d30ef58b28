"""The filters of C4, each on a page that it alone changes."""

import pytest

from coursepkg.projects.translation.t5.c4 import (
    c4_filters,
    page_fault,
    split_sentences,
    without_repeated_spans,
)

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
    assert split_sentences('It costs 3.5 dollars. "Really?" she said. Yes') == [
        "It costs 3.5 dollars.",
        '"Really?"',
        "she said.",
        "Yes",
    ]


def test_a_span_of_three_sentences_stays_once() -> None:
    spam = "Buy it now. It is cheap. Call us today."
    first, second = without_repeated_spans([[f"{spam} Dear reader."], ["A new page.", f"{spam}", "It ends."]])
    assert first == [["Buy it now.", "It is cheap.", "Call us today.", "Dear reader."]]
    assert second == [["A new page."], [], ["It ends."]]


def test_two_repeated_sentences_are_not_enough_and_case_and_spaces_do_not_matter() -> None:
    pages = [["One. Two. Three."], ["One. Two. Four."], ["Five.", "ONE.  Two.", "three."]]
    assert without_repeated_spans(pages) == [
        [["One.", "Two.", "Three."]],
        [["One.", "Two.", "Four."]],
        [["Five."], [], []],
    ]


def test_a_span_that_repeats_inside_one_page_goes_too() -> None:
    (lines,) = without_repeated_spans([["A b. C d. E f. A b. C d. E f. G h."]])
    assert lines == [["A b.", "C d.", "E f.", "G h."]]
