"""Macro-F1, accuracy and confusion matrix against scikit-learn, and by hand."""

import math
import random
import unicodedata

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from coursepkg.metrics import Accuracy, MacroF1, confusion_matrix, score, wilson_interval
from tests.metrics.texts import exactly
from tests.refusals import assert_equal

LABELS = ("ăn", "uống", "đi", "về", "nhà", "trường")


def draw(rng: random.Random) -> tuple[tuple[str, ...], list[str], list[str]]:
    """Some labels, and predictions and truths that need not hold them all."""
    labels = LABELS[: rng.randint(2, len(LABELS))]
    n = rng.randint(1, 15)
    return labels, rng.choices(labels, k=n), rng.choices(labels[: rng.randint(1, len(labels))], k=n)


@pytest.mark.filterwarnings("ignore:A single label was found:UserWarning")
def test_equals_scikit_learn() -> None:
    rng = random.Random(0)
    for _ in range(150):
        labels, predictions, truths = draw(rng)
        zero = rng.choice([0.0, 1.0, math.nan])
        found = score(MacroF1(labels, zero), predictions, truths)
        options = {"labels": labels, "zero_division": zero}
        expected = sklearn_metrics.f1_score(truths, predictions, average="macro", **options)
        assert found.value == pytest.approx(expected, rel=0, abs=1e-12)
        classes = sklearn_metrics.precision_recall_fscore_support(truths, predictions, **options)
        for name, values in zip(("precision", "recall", "f1", "support"), classes, strict=True):
            ours = [found.details[label][name] for label in labels]
            assert ours == pytest.approx(values.tolist(), abs=1e-12, nan_ok=True)
        matrix = confusion_matrix(predictions, truths, labels=labels)
        assert (matrix == sklearn_metrics.confusion_matrix(truths, predictions, labels=labels)).all()
        right = sklearn_metrics.accuracy_score(truths, predictions)
        assert (
            score(Accuracy(), predictions, truths).value
            == pytest.approx(right)
            == np.trace(matrix) / len(truths)
        )


def test_by_hand() -> None:
    # a: 1 hit, 2 predictions, 1 example; b: 1 hit, 1 prediction, 2 examples; c: nothing
    found = score(MacroF1(("a", "b", "c")), ["a", "b", "a"], ["a", "b", "b"])
    assert found.value == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert score(MacroF1(("a", "b", "c"), math.nan), ["a", "b", "a"], ["a", "b", "b"]).value == pytest.approx(
        2 / 3
    )
    assert confusion_matrix([0, 1, 1], [0, 0, 1], labels=[0, 1]).tolist() == [[1, 1], [0, 1]]


def test_a_class_that_is_never_predicted_counts() -> None:
    truths = ["common"] * 98 + ["rare"] * 2
    predictions = ["common"] * 100
    assert score(Accuracy(), predictions, truths).value == 0.98
    assert score(MacroF1(("common", "rare")), predictions, truths).value < 0.5


def test_every_class_left_out_is_nan() -> None:
    assert math.isnan(MacroF1((0, 1), math.nan).values(np.zeros((1, 6)))[0])


def test_order_of_labels_is_nothing_to_score_and_signature() -> None:
    _, predictions, truths = draw(random.Random(1))
    first, second = (score(MacroF1(labels), predictions, truths) for labels in (LABELS, LABELS[::-1]))
    assert first.value == pytest.approx(second.value)
    assert first.signature == second.signature
    assert score(MacroF1((*LABELS, "more")), predictions, truths).signature != first.signature


def test_sequence_accuracy_sees_through_unicode_forms() -> None:
    line = unicodedata.normalize("NFC", "Tổng cộng")
    decomposed = unicodedata.normalize("NFD", line)
    assert score(Accuracy(), [decomposed], [line]).value == 1
    assert score(Accuracy("raw"), [decomposed], [line]).value == 0


@pytest.mark.parametrize(
    ("predictions", "truths", "message"),
    [
        (["a", "x"], ["a", "b"], "predictions[1] must be one of the 2 labels, got 'x'"),
        (["a", "b"], ["a", 7], "truths[1] must be one of the 2 labels, got 7"),
        (
            ["a", "b", "a"],
            ["a"],
            "predictions and truths must be of one length, got 3 predictions and 1 truths"
            " (truths[i] belongs to predictions[i])",
        ),
        ([], [], "predictions must hold at least one entry, got an empty list"),
    ],
)
def test_bad_input(predictions: list, truths: list, message: str) -> None:
    for run in (
        lambda: MacroF1(("a", "b")).statistics(predictions, truths),
        lambda: confusion_matrix(predictions, truths, labels=["a", "b"]),
    ):
        with pytest.raises(ValueError, match=exactly(message)):
            run()


@pytest.mark.parametrize(
    ("labels", "zero", "message"),
    [
        ((), 0.0, "labels must be a list of at least one label, got tuple"),
        (("a", "b", "a"), 0.0, "labels must be distinct, but 'a' occurs more than once"),
        (("a",), 0.5, "zero_division must be 0, 1 or NaN, got 0.5"),
    ],
)
def test_bad_settings(labels: tuple, zero: float, message: str) -> None:
    with pytest.raises(ValueError, match=exactly(message)):
        MacroF1(labels, zero)


@pytest.mark.parametrize(("n_right", "n"), [(8, 10), (2, 3), (13, 13), (0, 5), (500, 1000)])
def test_wilsons_interval_ends_where_the_share_is_as_far_off_as_chance_allows(n_right: int, n: int) -> None:
    low, high = wilson_interval(n_right, n)
    share = n_right / n
    assert 0 <= low <= share <= high <= 1
    for end in (low, high):
        assert abs(share - end) == pytest.approx(1.959964 * math.sqrt(end * (1 - end) / n), abs=1e-6)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_wilsons_interval_ends_exactly_at_none_and_at_all(confidence: float) -> None:
    for n in range(1, 200):
        assert wilson_interval(0, n, confidence)[0] == 0.0
        assert wilson_interval(n, n, confidence)[1] == 1.0
        for n_right in range(1, n):
            low, high = wilson_interval(n_right, n, confidence)
            assert 0 < low < high < 1


def test_wilsons_interval_needs_examples() -> None:
    assert wilson_interval(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    narrow, wide = wilson_interval(8, 10, 0.8), wilson_interval(8, 10, 0.99)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    for arguments in ((0, 0), (3, 2), (-1, 2)):
        with pytest.raises(ValueError, match="n"):
            wilson_interval(*arguments)
    with pytest.raises(ValueError, match="confidence must be in"):
        wilson_interval(1, 2, 1.0)


def test_counts_of_numpy_are_counts() -> None:
    pairs = {"wilson_interval(i64(8), i64(10))": "wilson_interval(8, 10)"}
    assert_equal("from coursepkg.metrics import *", pairs)
