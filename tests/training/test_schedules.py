"""Schedules and Plateau against torch's schedulers, against worked numbers, and at their corners."""

import json
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.optim import SGD
from torch.optim.lr_scheduler import (
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LRScheduler,
    ReduceLROnPlateau,
    SequentialLR,
)

from coursepkg.training.schedules import (
    Formula,
    Plateau,
    Schedule,
    constant,
    cosine,
    inverse_sqrt,
    noam,
    staircase,
)

ALL = [
    constant(0.1),
    noam(64, 7),
    inverse_sqrt(2e-3, 7),
    staircase(0.3, 64, 7, 5, 0.8),
    cosine(1e-3, 7, 40, 1e-5),
]


def optimizer(lr: float) -> SGD:
    return SGD([torch.zeros(1, requires_grad=True)], lr=lr)


def rates_of(scheduler: LRScheduler, n_steps: int) -> list[float]:
    """What torch's scheduler gives to steps 1, 2, ..., n_steps."""
    rates = []
    for _ in range(n_steps):
        rates.append(scheduler.optimizer.param_groups[0]["lr"])
        scheduler.optimizer.step()
        scheduler.step()
    return rates


def ours(schedule: Schedule, n_steps: int) -> list[float]:
    return [schedule(step) for step in range(1, n_steps + 1)]


def test_cosine_equals_torch() -> None:
    # torch counts from 0: its rate number n belongs to our step n + 1, hence the first step lies at angle 1 / total.
    scheduler = CosineAnnealingLR(optimizer(1e-3), T_max=50, eta_min=1e-5)
    assert ours(cosine(1e-3, 0, 50, 1e-5), 50) == pytest.approx(rates_of(scheduler, 51)[1:])


@pytest.mark.filterwarnings("ignore:The epoch parameter in `scheduler.step")
def test_cosine_with_warm_up_equals_torch_in_sequence() -> None:
    sgd = optimizer(1e-3)
    rising = LambdaLR(sgd, lambda n: n / 10)
    falling = CosineAnnealingLR(sgd, T_max=30, eta_min=1e-4)
    scheduler = SequentialLR(sgd, [rising, falling], milestones=[10])
    assert ours(cosine(1e-3, 10, 40, 1e-4), 40) == pytest.approx(rates_of(scheduler, 41)[1:])


def test_inverse_sqrt_equals_lambda_lr() -> None:
    scheduler = LambdaLR(optimizer(2e-4), lambda n: min((n + 1) / 200, (200 / (n + 1)) ** 0.5))
    assert ours(inverse_sqrt(2e-4, 200), 1000) == pytest.approx(rates_of(scheduler, 1000))


def test_stairs_equal_torch_between_the_edges() -> None:
    highest = 0.3 / math.sqrt(512 * 10)
    stairs = rates_of(ExponentialLR(optimizer(highest), gamma=0.8), 5)
    schedule = staircase(0.3, 512, 10, 100, 0.8)
    assert [schedule(10 + 100 * n) for n in range(5)] == pytest.approx(stairs)
    assert [schedule(109 + 100 * n) for n in range(5)] == pytest.approx(stairs)


def test_noam_has_the_numbers_of_the_paper() -> None:
    schedule = noam(512, 4000)
    assert schedule(4000) == pytest.approx((512 * 4000) ** -0.5) == pytest.approx(6.98771e-4, rel=1e-5)
    assert schedule(1) == pytest.approx(1.74693e-7, rel=1e-5)
    assert schedule(100_000) == pytest.approx(1.39754e-4, rel=1e-5)


def test_noam_as_the_en_vi_report_prints_it_would_end_the_warm_up_at_its_cube_root() -> None:
    def as_printed(step: int) -> float:
        return 512**-0.5 * min(step**-0.5, step * 4000**-0.5)

    assert max(range(1, 5000), key=as_printed) == round(4000 ** (1 / 3)) == 16
    assert max(range(1, 5000), key=noam(512, 4000)) == 4000


def test_inverse_sqrt_gives_the_rates_that_the_olympiad_tutorials_log() -> None:
    # 101 steps an epoch; the rates stand in the log of the first, second, 39th and 40th epoch.
    schedule = inverse_sqrt(2e-4, 200)
    logged = {1: 0.000101, 2: 0.000199, 39: 0.000045, 40: 0.000044}
    for epoch, rate in logged.items():
        assert schedule(101 * epoch) == pytest.approx(rate, abs=6e-7)


def test_staircase_has_the_numbers_of_the_text_recognition_notes() -> None:
    schedule = staircase(0.3, 512, 2000, 32000, 0.8)
    highest = 0.3 / (512**0.5 * 2000**0.5)
    assert highest == pytest.approx(2.96464e-4, rel=1e-5)
    expected = {1: highest / 2000, 1000: highest / 2, 2000: highest, 33_999: highest, 34_000: 0.8 * highest}
    expected |= {66_000: 0.64 * highest, 97_999: 0.64 * highest}
    assert {step: schedule(step) for step in expected} == pytest.approx(expected)


@given(lr=st.floats(1e-6, 10), warmup=st.integers(1, 5000), step=st.integers(1, 100_000))
def test_noam_is_inverse_sqrt_with_its_own_height(lr: float, warmup: int, step: int) -> None:
    d_model = 512
    assert noam(d_model, warmup, lr)(step) == pytest.approx(
        inverse_sqrt(lr / math.sqrt(d_model * warmup), warmup)(step)
    )


@given(warmup=st.integers(1, 300), step=st.integers(1, 2000))
def test_all_rise_to_the_warm_up_and_never_afterwards(warmup: int, step: int) -> None:
    schedules = (
        noam(32, warmup),
        inverse_sqrt(0.1, warmup),
        staircase(0.1, 32, warmup, 50, 0.5),
        cosine(0.1, warmup, 1000, 0.01),
    )
    for schedule in schedules:
        here, after = schedule(step), schedule(step + 1)
        assert 0 < here <= schedule(warmup) * (1 + 1e-12)
        if step < warmup:
            assert here == pytest.approx(schedule(warmup) * step / warmup)
        else:
            assert after <= here * (1 + 1e-12)


def test_cosine_ends_at_the_floor_and_stays() -> None:
    schedule = cosine(1.0, 4, 20, 0.1)
    assert [schedule(4), schedule(12), schedule(20), schedule(21), schedule(10**6)] == pytest.approx(
        [1.0, 0.55, 0.1, 0.1, 0.1]
    )


@pytest.mark.parametrize("schedule", ALL, ids=lambda schedule: schedule.name)
def test_a_schedule_says_what_it_is(schedule: Formula) -> None:
    made_from = {f.__name__: f for f in (constant, noam, inverse_sqrt, staircase, cosine)}
    again = eval(repr(schedule), {}, made_from)
    assert again == schedule
    assert ours(again, 60) == ours(schedule, 60)
    assert all(isinstance(rate, float) for rate in ours(schedule, 3))


def test_other_numbers_make_another_schedule() -> None:
    assert noam(512, 4000) != noam(512, 8000)
    assert repr(inverse_sqrt(2e-4, 200)) == "inverse_sqrt(lr=0.0002, warmup=200)"


@pytest.mark.parametrize("schedule", ALL, ids=lambda schedule: schedule.name)
def test_steps_count_from_one(schedule: Formula) -> None:
    with pytest.raises(ValueError, match=r"^step must be at least 1, the first step, got 0$"):
        schedule(0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: constant(-1.0), "lr must be at least 0, got -1.0"),
        (lambda: noam(0, 10), "d_model must be at least 1, got 0"),
        (lambda: noam(512, 0), "warmup must be at least 1, got 0"),
        (lambda: noam(512, 10, math.inf), "factor must be above 0 and finite, got inf"),
        (lambda: inverse_sqrt(math.nan, 10), "lr must be at least 0, got nan"),
        (lambda: inverse_sqrt(1.0, 0), "warmup must be at least 1, got 0"),
        (lambda: staircase(1.0, 8, 2, 0, 0.5), "decay_steps must be at least 1, got 0"),
        (lambda: staircase(1.0, 8, 2, 5, 0.0), "decay_rate must be above 0 and at most 1, got 0.0"),
        (lambda: staircase(1.0, 8, 2, 5, 1.5), "decay_rate must be above 0 and at most 1, got 1.5"),
        (lambda: cosine(1.0, -1, 5), "warmup must be at least 0, got -1"),
        (lambda: cosine(1.0, 5, 5), "total must be at least 6, got 5"),
        (lambda: cosine(1.0, 1, 5, 2.0), r"floor must lie between 0 and lr \(1.0\), got 2.0"),
    ],
)
def test_bad_numbers_are_named(make, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        make()


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
        ({"floor": 0.5}, r"floor must lie between 0 and lr \(0.1\), got 0.5"),
        ({"mode": "best"}, "mode must be min or max, got 'best'"),
        ({"warmup": -1}, "warmup must be at least 0, got -1"),
    ],
)
def test_bad_numbers_of_a_plateau_are_named(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Plateau(**({"lr": 0.1} | options))


def test_a_foreign_state_and_step_0_are_refused() -> None:
    schedule = Plateau(0.1)
    with pytest.raises(ValueError, match=r"^state must have the keys lr, best, n_bad, got rate$"):
        schedule.load_state_dict({"rate": 1.0})
    with pytest.raises(ValueError, match=r"^step must be at least 1, the first step, got 0$"):
        schedule(0)
