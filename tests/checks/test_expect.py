"""What checks assert with, for answers that are no functions."""

import numpy as np
import pytest
import torch

from coursepkg.checks.expect import choice, close, equal, is_whole, labels, quantity, same
from coursepkg.checks.runner import NotAttempted


@pytest.mark.parametrize(
    ("answer", "unit"),
    [
        ("3.94 GiB", "GiB"),
        ("3.9375GiB", "GiB"),
        (" 4.228 GB ", "GiB"),
        ("4,227,858,432 bytes", "GiB"),
        ("4.2279e9 B", "GiB"),
    ],
)
def test_a_unit_of_the_same_kind_is_converted(answer: str, unit: str) -> None:
    quantity(answer, 3.9375, unit)


@pytest.mark.parametrize("answer", ["12 parameters", "12 parameter"])
def test_a_unit_that_is_a_word_may_lack_its_plural(answer: str) -> None:
    quantity(answer, 12, "parameters")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (3.94, "write a number and its unit"),
        ("four GiB", "write a number and its unit"),
        ("3.94", "without a unit"),
        ("3,94 GiB", "write a point before the decimals"),
        ("4,2278e9 bytes", "write a point before the decimals"),
        ("0,125 GiB", "write a point before the decimals"),
        (",125 GiB", "write a point before the decimals"),
        ("3.94 s", "GiB is expected"),
        ("7.88 GiB", "keys and values were counted twice"),
        ("1 GiB", "not 1 GiB"),
        ("3.94 GB", "not 3.94 GB but 3.94 GiB: kB, MB and GB are powers of 1000"),
        ("4228 MiB", "not 4228 MiB but 4228 MB"),
        ("-3.94 GiB", "not -3.94 GiB"),
    ],
)
def test_a_wrong_quantity_is_told(answer: object, message: str) -> None:
    mistakes = {7.875: "keys and values were counted twice"}
    with pytest.raises(AssertionError, match=message):
        quantity(answer, 3.9375, "GiB", mistakes=mistakes)


def test_nothing_is_not_attempted() -> None:
    with pytest.raises(NotAttempted):
        quantity(None, 1, "s")
    with pytest.raises(NotAttempted):
        choice(..., "a", {"b": "no"})


def test_a_choice_says_why_it_is_wrong() -> None:
    choice("b", "b", {"a": "it looks ahead"})
    with pytest.raises(AssertionError, match="it looks ahead"):
        choice("a", "b", {"a": "it looks ahead"})
    with pytest.raises(AssertionError, match="one of a, b"):
        choice("c", "b", {"a": "it looks ahead"})


def test_labels_are_judged_by_their_agreement() -> None:
    reference, reasons = ["a", "a", "b", "b"] * 5, [f"reason {i}" for i in range(20)]
    assert labels(reference, reference, reasons, "ab") == ""
    nearly = ["b", *reference[1:]]
    # 19 of 20 agree; by chance (9 * 10 + 11 * 10) / 400 = 0.5, so kappa is 0.9.
    assert labels(nearly, reference, reasons, "ab") == (
        "19 of 20 agree, Cohen's kappa 0.90; item 1 is 'a' and not 'b': reason 0"
    )
    with pytest.raises(AssertionError, match=r"10 of 20 agree, Cohen's kappa 0.00; 0.6 is needed; item 3"):
        labels(["a"] * 20, reference, reasons, "ab")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("abab", "a list is expected"),
        (["a", "b"], "2 labels; 3 are expected"),
        (["a", "b", "c"], "label 3 is 'c'; need one of a, b"),
    ],
)
def test_labels_of_a_wrong_form(answer: object, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        labels(answer, ["a", "b", "a"], ["", "", ""], "ab")


def test_a_number_of_numpy_is_a_number() -> None:
    close(np.float32(2.5), 2.5)
    close(np.int64(2), 2.0)
    with pytest.raises(AssertionError, match=r"the result is 2\.5000, 3\.0000 is expected"):
        close(np.float32(2.5), 3.0)
    with pytest.raises(AssertionError, match="is a str; one number is expected"):
        close("2.5", 2.5)


@pytest.mark.parametrize("answer", [torch.tensor([3, 3]), np.array([3, 3])])
def test_many_numbers_are_not_equal_to_one(answer: object) -> None:
    with pytest.raises(AssertionError, match=r"the result is .*\[3, 3\].*, 3 is expected"):
        equal(answer, 3)


@pytest.mark.parametrize(
    ("came", "expected", "said"),
    [
        (0.5, 0.25, "is 0.5000, 0.2500 is expected"),
        (0.5, 0.0, "is 0.5000, 0.0000 is expected"),
        (3e-3, 2e-5, "is 0.003, 2e-05 is expected"),
        (1.00003, 1.0, "is 1.00003, 1 is expected"),
    ],
)
def test_numbers_that_four_decimals_do_not_show_have_more(came: float, expected: float, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        close(came, expected)


def test_a_mistake_is_known_in_another_precision() -> None:
    wrong = torch.tensor([1.0, 2.0])
    assert same(wrong.double(), wrong)
    assert same(wrong + 1e-6, wrong.double())
    assert same(1.0, wrong[0])
    assert not same(wrong.double() + 0.1, wrong)


def test_whole_numbers_are_also_those_of_numpy() -> None:
    assert is_whole(3)
    assert is_whole(np.int64(3))
    assert not any(is_whole(value) for value in (3.0, np.float64(3), True, "3", torch.tensor(3)))
