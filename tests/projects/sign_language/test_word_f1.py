"""Macro-F1 over words: scikit-learn's on the clips as they are, and a mean over what a draw has in a draw."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, precision_recall_fscore_support

from coursepkg.metrics.classification import MacroF1
from coursepkg.metrics.scoring import Metric, score
from coursepkg.projects.sign_language.scores import WordF1
from tests.projects.sign_language.answered import LABELS, drawn_answers


def drawn(seed: int, lacking: tuple[str, ...] = ()) -> tuple[list[str | None], list[str]]:
    answers = drawn_answers(seed, lacking=lacking)
    return [one.said for one in answers], [one.label for one in answers]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("words", "lacking"), [((), ()), ((), ("mẹ", "chào")), (LABELS[2:4], ()), (LABELS[3:], ("chào",))]
)
def test_it_is_that_of_scikit_learn(seed: int, words: tuple, lacking: tuple) -> None:
    said, truths = drawn(seed, lacking)
    scored = words or LABELS
    absent = tuple(word for word in scored if word not in truths)
    assert set(absent) == set(lacking)
    found = score(WordF1(LABELS, words, absent), said, truths)
    options = {"labels": list(scored), "zero_division": 0}
    assert found.value == pytest.approx(f1_score(truths, said, average="macro", **options))
    theirs = np.array(precision_recall_fscore_support(truths, said, average=None, **options))
    ours = np.array(
        [[one[name] for one in found.details.values()] for name in ("precision", "recall", "f1", "support")]
    )
    assert list(found.details) == list(scored)
    assert ours == pytest.approx(theirs)


def test_over_all_labels_it_is_the_macro_f1_of_the_package() -> None:
    said, truths = drawn(7, ("uống",))
    ours = score(WordF1(LABELS, absent=("uống",)), said, truths)
    theirs = score(MacroF1(LABELS), said, truths)
    assert ours.value == theirs.value
    assert ours.signature.startswith(theirs.signature.partition("|n:")[0])


def test_a_draw_leaves_out_what_it_lacks_and_the_part_does_not() -> None:
    metric = WordF1(("a", "b", "c"), absent=("c",))
    assert isinstance(metric, Metric)
    rows = metric.statistics(["a", "b"], ["a", "b"])
    assert metric.values(rows.sum(axis=0, keepdims=True)).tolist() == [pytest.approx(2 / 3)]
    # Without the clip of b: a is right, c counts 0 whatever is drawn.
    assert metric.values(rows[:1]).tolist() == [0.5]
    assert WordF1(("a", "b", "c")).values(rows[:1]).tolist() == [1.0]


def test_a_draw_without_any_of_the_words_has_no_score() -> None:
    metric = WordF1(("a", "b"), ("b",))
    values = metric.values(metric.statistics(["a", "b"], ["a", "b"]))
    assert np.isnan(values[0])
    assert values[1] == 1.0


def test_no_answer_is_a_miss_and_no_false_alarm() -> None:
    metric = WordF1(("a", "b"))
    found = score(metric, ["a", None, "b"], ["a", "a", "b"])
    assert found.details["a"] == {"precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3), "support": 2}
    assert found.details["b"]["f1"] == 1.0


def test_the_signature_names_the_words() -> None:
    whole, some = WordF1(LABELS).settings(), WordF1(LABELS, LABELS[:2]).settings()
    assert "words" not in whole
    assert some["words"].startswith("2-")
    assert some["words"] != WordF1(LABELS, LABELS[1:3]).settings()["words"]
    assert WordF1(LABELS, about="tail").name == "macro-F1 tail"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": ()}, "at least one label"),
        ({"labels": ("a", "a")}, "'a' occurs more than once"),
        ({"labels": ("a",), "words": ("b",)}, "'b' is not"),
        ({"labels": ("a", "b"), "words": ("a",), "absent": ("b",)}, "'b' is not"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        WordF1(**options)


@pytest.mark.parametrize(
    ("said", "truths", "message"),
    [
        (["c"], ["a"], r"predictions\[0\] must be one of the 2 labels, got 'c'"),
        (["a"], ["c"], r"truths\[0\] must be one of the 2 labels, got 'c'"),
        (["a"], ["a", "a"], "must be of one length"),
        ([], [], "at least one entry"),
    ],
)
def test_words_outside_of_the_list_are_refused(said: list, truths: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        WordF1(("a", "b")).statistics(said, truths)
