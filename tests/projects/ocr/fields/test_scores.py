import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.metrics import edit_distance, score
from coursepkg.projects.ocr.data.table_row import LABELS
from coursepkg.projects.ocr.fields.scores import (
    ChallengeCER,
    FieldF1,
    JoinedFields,
    compare_fields,
    evaluate_fields,
    join_fields,
)

TEXTS = st.text(alphabet="abÂđ 12.", max_size=8)
RECEIPTS = st.lists(st.tuples(*[st.tuples(TEXTS, TEXTS, TEXTS, TEXTS)] * 2), min_size=1, max_size=6)


def test_fields_are_joined_in_the_order_of_the_challenge() -> None:
    assert join_fields(("Quán A", "", "01/01/2021", "Tổng 5.000")) == "Quán A||||||01/01/2021|||Tổng 5.000"
    with pytest.raises(ValueError, match="must be 4"):
        join_fields(("a", "b"))
    with pytest.raises(ValueError, match="must not hold"):
        join_fields(("a|||b", "", "", ""))


@given(RECEIPTS)
def test_the_challenges_cer_is_the_mean_over_receipts(pairs) -> None:
    found, true = ([join_fields(side) for side in sides] for sides in zip(*pairs, strict=True))
    rates = [
        edit_distance(ours.strip(), right.strip()) / len(right.strip())
        for ours, right in zip(found, true, strict=True)
    ]
    assert score(ChallengeCER(), found, true).value == pytest.approx(np.mean(rates))


def test_a_receipt_weighs_as_much_as_another() -> None:
    true = [join_fields(("a" * 91, "", "", "")), join_fields(("a", "", "", ""))]
    found = [true[0], join_fields(("b", "", "", ""))]
    assert score(ChallengeCER(), found, true).value == pytest.approx((0 + 1 / 10) / 2)


@given(RECEIPTS)
def test_f1_counts_hits_over_found_and_true(pairs) -> None:
    found, true = ([join_fields(side) for side in sides] for sides in zip(*pairs, strict=True))
    plain = [
        [[" ".join(t.lower().split()) for t in side] for side in sides] for sides in zip(*pairs, strict=True)
    ]
    expected = []
    for place, label in enumerate(LABELS):
        ours, right = ([texts[place] for texts in side] for side in plain)
        hits = sum(a == b != "" for a, b in zip(ours, right, strict=True))
        n = sum(map(bool, ours)) + sum(map(bool, right))
        expected.append(2 * hits / max(1, n))
        assert score(FieldF1(label), found, true).value == pytest.approx(expected[-1])
    assert score(FieldF1(), found, true).value == pytest.approx(np.mean(expected))


def test_case_and_spaces_do_not_matter_and_marks_do() -> None:
    true = [join_fields(("Quán Ốc", "", "", ""))]
    for text, value in (("QUÁN  ỐC ", 1.0), ("Quan Oc", 0.0)):
        assert score(FieldF1("SELLER"), [join_fields((text, "", "", ""))], true).value == value


def test_scores_say_what_they_are() -> None:
    true = [join_fields(("a", "b", "c", str(i))) for i in range(12)]
    both = JoinedFields(true, true)
    scores = evaluate_fields(both, both, protocol="invented", n_resamples=20)
    assert (scores.macro.value, scores.cer.value) == (1, 0)
    assert scores.macro.interval is not None
    assert "protocol:invented" in scores.cer.signature
    assert set(scores.as_json()["f1"]) == set(LABELS)
    with pytest.raises(ValueError, match="at least one receipt"):
        evaluate_fields(JoinedFields([], []), JoinedFields([], []))


def test_two_ways_are_compared_on_the_same_receipts() -> None:
    true = [join_fields(("a", "b", "c", str(i))) for i in range(12)]
    worse = [join_fields(("a", "b", "", str(i))) for i in range(12)]
    first, second = JoinedFields(worse, worse), JoinedFields(true, true)
    found = compare_fields(first, second, second)
    by_name = [(one.name, one.baseline, one.system) for one in found]
    assert by_name[1:] == [
        ("macro-F1", 0.75, 1.0),
        *(("F1 SELLER", 1.0, 1.0), ("F1 ADDRESS", 1.0, 1.0)),
        *(("F1 TIMESTAMP", 0.0, 1.0), ("F1 TOTAL_COST", 1.0, 1.0)),
        *(("F1 TIMESTAMP", 0.0, 1.0), ("F1 TOTAL_COST", 1.0, 1.0)),
    ]
    assert all((one.p_value == 1) == (one.baseline == one.system) for one in found)
    assert by_name[0][0] == "challenge CER"
    assert by_name[0][1] > by_name[0][2] == 0
