"""The lists of errors have fifty rows, known labels and a reason for each."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from itertools import zip_longest

import pytest

from coursepkg.checks import alignment_attention, decoding, ocr_errors, rope, sign_extensions
from coursepkg.checks.error_lists import read_errors, read_labels
from coursepkg.projects.translation.errors.labelled import ERROR_KINDS

LISTS = {
    "gru_translations": ({"source", "reference", "output"}, alignment_attention.LABELS),
    "recalled_symbols": ({"layer", "symbols", "right", "answered"}, rope.LABELS),
    "greedy_translations": (
        {"source", "reference", "output", "log p of reference", "log p of output"},
        decoding.LABELS,
    ),
    "ocr_misread_lines": ({"truth", "read"}, ocr_errors.LABELS),
    "translation_errors": ({"source", "output", "reference", "attribution"}, tuple(ERROR_KINDS)),
    "wrong_signs": (
        {
            "clip",
            "signed",
            "answered",
            "film",
            "frames",
            "hand",
            "signed as",
            "answered as",
            "training clips",
        },
        sign_extensions.LABELS,
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_fifty_errors_with_a_label_and_a_reason_each(name: str) -> None:
    errors, (labels, reasons) = read_errors(name), read_labels(name)
    columns, known = LISTS[name]
    assert len(errors) == len(labels) == len(reasons) == 50
    assert all(set(error) == columns and all(error.values()) for error in errors)
    assert set(labels) <= set(known)
    assert all(reasons)
    assert len({tuple(error.items()) for error in errors}) == 50


def test_each_line_has_one_error() -> None:
    assert all(error["truth"] != error["read"] for error in read_errors("ocr_misread_lines"))
    assert all(error["signed"] != error["answered"] for error in read_errors("wrong_signs"))


def test_a_list_that_is_not_there() -> None:
    with pytest.raises(
        ValueError,
        match=r"'signs' is no list; need one of \['greedy_translations', 'gru_translations', 'ocr_misread_lines', ",
    ):
        read_errors("signs")


NUMERALS = r"\b(?:một|hai|ba|bốn|năm|sáu|bảy|tám|chín|mười|mươi|lăm|trăm) "


def of_gru(error: dict[str, str]) -> Iterator[str]:
    """Every label whose condition holds, in the order of the exercise."""
    right, said = error["reference"].lower(), error["output"].lower()
    if re.sub(NUMERALS, "", right) == re.sub(NUMERALS, "", said):
        yield "number"
    a, b = right.split(), said.split()
    if any(word in a for word in (Counter(b) - Counter(a))):
        yield "repetition"
    steps = [step for step in SequenceMatcher(None, a, b, autojunk=False).get_opcodes() if step[0] != "equal"]
    kinds = {step[0] for step in steps}
    if kinds == {"delete"}:
        yield "omission"
    if kinds == {"insert"}:
        yield "addition"
    begin = alike(a, b)
    end = alike(a[begin:][::-1], b[begin:][::-1])
    yield "one place" if max(len(a), len(b)) - begin - end <= 3 else "several places"


def alike(a: list[str], b: list[str]) -> int:
    """Number of words with which two lists begin alike."""
    return next((i for i, (one, other) in enumerate(zip_longest(a, b)) if one != other), len(a))


def of_layer(error: dict[str, str]) -> Iterator[str]:
    symbols = error["symbols"].split()
    for label, places in (
        ("six back", [6]),
        ("nearer", [0, 1, 2]),
        ("five or seven back", [5, 7]),
        ("farther", [4, 8, 9, 10, 11, 12, 13, 14, 15]),
    ):
        if error["answered"] in [symbols[-1 - place] for place in places]:
            yield label
    yield "not shown"


def of_greedy(error: dict[str, str]) -> Iterator[str]:
    a, b = (error[name].lower().split() for name in ("reference", "output"))
    if float(error["log p of reference"]) > float(error["log p of output"]):
        yield "search error"
    if re.search(r"(?<!\S)(\S+) \1(?!\S)", error["output"].lower()):
        yield "repetition"
    if Counter(a) == Counter(b):
        yield "other order"
    if len(b) < len(a):
        yield "shorter"
    n_wrong = sum(one != other for one, other in zip_longest(a, b))
    yield "one word" if len(a) == len(b) and n_wrong == 1 else "several words"


@pytest.mark.parametrize(
    ("name", "rule"),
    [("gru_translations", of_gru), ("recalled_symbols", of_layer), ("greedy_translations", of_greedy)],
)
def test_labels_follow_the_rule_that_the_exercise_states(
    name: str, rule: Callable[[dict[str, str]], Iterator[str]]
) -> None:
    assert [next(rule(error)) for error in read_errors(name)] == read_labels(name)[0]


def test_a_recalled_symbol_is_wrong_and_the_right_one_stands_three_back() -> None:
    for error in read_errors("recalled_symbols"):
        symbols = error["symbols"].split()
        assert len(symbols) == 16
        assert symbols[-4] == error["right"] != error["answered"]


@pytest.mark.parametrize("name", ["gru_translations", "greedy_translations"])
def test_at_most_twelve_translations_of_a_label(name: str) -> None:
    assert all(error["reference"] != error["output"] for error in read_errors(name))
    assert max(Counter(read_labels(name)[0]).values()) <= 12
