"""Plateau against torch's ReduceLROnPlateau, its state, and bad input."""

import json
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.optim import SGD
from torch.optim.lr_scheduler import ReduceLROnPlateau

from coursepkg.training.plateau import Plateau

scores = st.lists(st.floats(0.01, 10) | st.sampled_from([1.0, 1.00005, 0.99995, math.nan]), max_size=40)


@settings(max_examples=200)
@given(
    scores=scores,
    mode=st.sampled_from(["min", "max"]),
    patience=st.integers(0, 4),
    threshold=st.sampled_from([0.0, 1e-4, 0.1]),
    floor=st.sampled_from([0.0, 2e-3]),
)
def test_equals_torch(scores: list[float], mode: str, patience: int, threshold: float, floor: float) -> None:
    sgd = SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
    theirs = ReduceLROnPlateau(
        sgd, mode=mode, factor=0.5, patience=patience, threshold=threshold, min_lr=floor, eps=0.0
    )
    ours = Plateau(0.1, mode=mode, factor=0.5, patience=patience, threshold=threshold, floor=floor)
    for step, score in enumerate(scores, start=1):
        theirs.step(score)
        ours.update(score)
        assert ours(step) == pytest.approx(sgd.param_groups[0]["lr"])


@given(scores=scores, cut=st.integers(0, 40))
def test_goes_on_from_its_state_through_json(scores: list[float], cut: int) -> None:
    whole, first = Plateau(0.1, factor=0.5, patience=1), Plateau(0.1, factor=0.5, patience=1)
    for score in scores[:cut]:
        whole.update(score)
        first.update(score)
    second = Plateau(0.1, factor=0.5, patience=1)
    second.load_state_dict(json.loads(json.dumps(first.state_dict(), allow_nan=False)))
    for score in scores[cut:]:
        whole.update(score)
        second.update(score)
    assert second.state_dict() == whole.state_dict()
    assert second(7) == whole(7)


def test_warm_up_multiplies_what_the_scores_left() -> None:
    schedule = Plateau(0.1, factor=0.5, patience=0, warmup=4)
    assert [schedule(step) for step in (1, 2, 4, 5)] == pytest.approx([0.025, 0.05, 0.1, 0.1])
    schedule.update(1.0)
    schedule.update(1.0)
    assert [schedule(step) for step in (2, 4, 9)] == pytest.approx([0.025, 0.05, 0.05])


def test_a_falling_negative_loss_is_an_improvement() -> None:
    schedule = Plateau(0.1, factor=0.5, patience=0)
    for score in (-1.0, -1.1, -1.2):
        schedule.update(score)
    assert schedule(1) == 0.1


def test_prints_its_settings_not_its_state() -> None:
    schedule = Plateau(0.1, patience=0)
    before = repr(schedule)
    for _ in range(3):
        schedule.update(1.0)
    assert repr(schedule) == before
    assert eval(before, {"Plateau": Plateau})(1) == 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lr": -1.0}, "lr must be at least 0, got -1.0"),
        ({"factor": 0.0}, "factor must be above 0 and at most 1, got 0.0"),
        ({"patience": -1}, "patience must be at least 0, got -1"),
        ({"mode": "best"}, "mode must be min or max, got 'best'"),
        ({"warmup": -1}, "warmup must be at least 0, got -1"),
    ],
)
def test_bad_numbers_are_named(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Plateau(**({"lr": 0.1} | options))


def test_a_foreign_state_and_step_0_are_refused() -> None:
    schedule = Plateau(0.1)
    with pytest.raises(ValueError, match=r"^state must have the keys lr, best, n_bad, got rate$"):
        schedule.load_state_dict({"rate": 1.0})
    with pytest.raises(ValueError, match=r"^step must be at least 1, the first step, got 0$"):
        schedule(0)
