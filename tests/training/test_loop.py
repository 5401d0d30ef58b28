"""The loop: what a step computes, when it stops, what it refuses.

What the loop refuses, and how it gives up: one line each.
"""

import itertools
import math

import pytest
import torch
from lightning_fabric import Fabric
from lightning_fabric.plugins import MixedPrecision

from coursepkg.training.config import CLOCKS, TrainConfig
from coursepkg.training.loop import TrainingError, fit
from coursepkg.training.schedules import Plateau, inverse_sqrt
from tests.refusals import assert_refused
from tests.training.jobs import Poisoned, RandomBatches, SquareTask, make_net, mean_error, same


def settings(**changes) -> TrainConfig:
    return TrainConfig(**({"max_epochs": 2, "learning_rate": 1e-2, "progress": False} | changes))


def train(net, batches=None, validate=None, **changes):
    return fit(net, SquareTask(), batches or RandomBatches(), config=settings(**changes), validate=validate)


@pytest.mark.parametrize("n_batches", [4, 5], ids=["even", "last group incomplete"])
@pytest.mark.parametrize("accumulate", [2, 3])
def test_accumulated_batches_are_one_large_batch(n_batches: int, accumulate: int) -> None:
    pieces, whole = make_net().double(), make_net().double()
    inputs = {"n": n_batches, "dtype": torch.float64}
    told = train(pieces, RandomBatches(**inputs), accumulate=accumulate)
    wanted = train(whole, RandomBatches(**inputs, joined=accumulate))
    assert told.step == wanted.step == 2 * math.ceil(n_batches / accumulate)
    assert same(pieces, whole, 1e-10)
    for one, other in zip(told.steps, wanted.steps, strict=True):
        assert one == pytest.approx(other, abs=1e-10)


def test_a_step_is_adamw_on_the_mean_loss_at_the_rate_of_its_number() -> None:
    net, own = make_net(), make_net()
    schedule = inverse_sqrt(1e-2, 3)
    history = train(net, learning_rate=schedule, clip_norm=0.5, weight_decay=0.1, max_steps=7)
    matrices = [p for p in own.parameters() if p.dim() > 1]
    vectors = [p for p in own.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW(
        [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}],
        weight_decay=0.1,
        betas=(0.9, 0.98),
        eps=1e-9,
    )
    task, batches = SquareTask(), [*RandomBatches().epoch(0), *RandomBatches().epoch(1)]
    for step, (row, batch) in enumerate(zip(history.steps, batches, strict=False), start=1):
        for group in optimizer.param_groups:
            group["lr"] = schedule(step)
        optimizer.zero_grad()
        loss = task.loss(own, batch) / task.count(batch)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(own.parameters(), 0.5)
        optimizer.step()
        assert row["loss"] == pytest.approx(loss.item(), rel=1e-6)
        assert row["grad_norm"] == pytest.approx(norm.item(), rel=1e-6)
        assert row["learning_rate"] == schedule(step)
    assert len(history.steps) == 7
    assert same(net, own, 1e-7)


def test_clipping_bounds_the_gradient_and_none_leaves_it() -> None:
    norms = {
        clip: train(make_net(), clip_norm=clip, max_steps=1).steps[0]["grad_norm"] for clip in (1e-3, None)
    }
    assert norms[1e-3] == norms[None] > 1e-3
    free, huge, tight = make_net(), make_net(), make_net()
    train(free, clip_norm=None)
    train(huge, clip_norm=1e9)
    train(tight, clip_norm=1e-3)
    assert same(free, huge)
    assert not same(free, tight, 1e-6)


def test_the_seed_decides_the_run() -> None:
    nets = [make_net(dropout_p=0.5) for _ in range(3)]
    losses = [train(net, seed=seed).steps for net, seed in zip(nets, (1, 1, 2), strict=True)]
    assert losses[0] == losses[1] != losses[2]
    assert same(nets[0], nets[1])


def test_limits_end_a_run_by_name() -> None:
    assert train(make_net(), max_steps=3).stopped == "max_steps"
    assert train(make_net(), max_epochs=1).stopped == "max_epochs"
    assert train(make_net(), max_epochs=None, max_seconds=0.05).stopped == "max_seconds"
    assert train(make_net(), max_steps=3, max_seconds=1e-9).step == 1


def test_seconds_are_counted_by_the_clock_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()
    monkeypatch.setitem(CLOCKS, "cpu", lambda: float(next(ticks)))  # a second a look
    history = train(make_net(), max_epochs=None, max_steps=50, max_seconds=7, clock="cpu")
    assert (history.step, history.stopped) == (7, "max_seconds")
    assert train(make_net(), max_epochs=None, max_steps=50, max_seconds=1000).step == 50
    assert history.cpu_seconds > 0


def test_early_stop_waits_for_patience_and_remembers_the_best() -> None:
    scores = iter([5.0, 4.0, float("nan"), 4.0, 6.0, 3.0])
    history = train(
        make_net(),
        validate=lambda network: {"loss": next(scores)},
        validate_every=2,
        patience=3,
        max_epochs=9,
    )
    assert history.stopped == "patience"
    assert (history.best_score, history.best_step, history.step) == (4.0, 4, 10)
    assert [row["step"] for row in history.validations] == [2, 4, 6, 8, 10]


def test_the_highest_score_is_best_where_mode_says_so() -> None:
    scores = iter([{"bleu": 1.0}, {"bleu": 3.0}, {"bleu": 2.0}])
    history = train(
        make_net(), validate=lambda network: next(scores), max_epochs=3, select_by="bleu", mode="max"
    )
    assert (history.best_score, history.best_step) == (3.0, 10)


def test_validation_sees_eval_mode_and_leaves_no_trace_in_training() -> None:
    modes = []

    def validate(network: torch.nn.Module) -> dict[str, float]:
        modes.append((network.training, torch.is_grad_enabled()))
        torch.rand(5)
        return {"loss": 1.0}

    with_it, without = make_net(dropout_p=0.5).eval(), make_net(dropout_p=0.5)
    train(with_it, validate=validate, validate_every=1)
    train(without)
    assert set(modes) == {(False, False)}
    assert same(with_it, without)
    assert not with_it.training
    assert without.training


def test_the_average_is_what_validation_judges() -> None:
    seen = []
    net = make_net()
    history = train(
        net, validate=lambda network: seen.append(network.inner.bias.clone()) or {"loss": 0.0}, ema_decay=0.9
    )
    assert len(history.validations) == len(seen) == 2
    assert not torch.equal(seen[-1], net.inner.bias)


def test_sam_steps_along_another_gradient() -> None:
    plain, sharp = make_net(dropout_p=0.3), make_net(dropout_p=0.3)
    rows = [train(plain, max_steps=1).steps, train(sharp, max_steps=1, sam_rho=0.5).steps]
    assert rows[0][0]["loss"] == rows[1][0]["loss"]
    assert rows[0][0]["grad_norm"] != rows[1][0]["grad_norm"]
    assert not same(plain, sharp, 1e-6)


def test_a_plateau_in_the_configuration_stays_as_it_is() -> None:
    config = settings(learning_rate=Plateau(1e-2, patience=0, factor=0.1), max_epochs=3)
    for _ in range(2):
        history = fit(
            make_net(), SquareTask(), RandomBatches(), config=config, validate=lambda network: {"loss": 1.0}
        )
        assert [row["learning_rate"] for row in history.steps[::5]] == pytest.approx([1e-2, 1e-2, 1e-3])


def test_a_task_that_asks_is_told_the_step() -> None:
    class Curious(SquareTask):
        def __init__(self) -> None:
            self.told: list[int] = []

        def start_step(self, step: int) -> None:
            self.told.append(step)

    task = Curious()
    fit(make_net(), task, RandomBatches(), config=settings(max_steps=4))
    assert task.told == [1, 2, 3, 4]


def test_bf16_follows_float32_closely() -> None:
    full, mixed = make_net(), make_net()
    wanted = train(full, max_epochs=4).steps
    told = train(mixed, max_epochs=4, precision="bf16-mixed").steps
    assert mixed.inner.weight.dtype == torch.float32
    assert [row["loss"] for row in told] == pytest.approx([row["loss"] for row in wanted], rel=0.05)
    assert [row["loss"] for row in told] != [row["loss"] for row in wanted]


def test_fp16_skips_a_step_whose_scaled_gradient_overflows() -> None:
    fabric = Fabric(
        accelerator="cpu",
        devices=1,
        plugins=[MixedPrecision("16-mixed", "cpu", torch.amp.GradScaler("cpu", init_scale=2.0**40))],
    )
    net, before = make_net(), make_net()
    config = settings(max_steps=1, precision="16-mixed")
    history = fit(net, SquareTask(), RandomBatches(), config=config, fabric=fabric)
    assert not math.isfinite(history.steps[0]["grad_norm"])
    assert same(net, before)


def test_the_log_thins_out_and_the_bar_goes_to_standard_error(capsys) -> None:
    history = train(make_net(), log_every=3, progress=True)
    assert [row["step"] for row in history.steps] == [3, 6, 9]
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "loss" in shown.err
    train(make_net(), precision="bf16-mixed")
    assert capsys.readouterr() == ("", "")


def test_mean_error_is_what_improves() -> None:
    history = train(make_net(), validate=mean_error, max_epochs=8)
    assert history.validations[-1]["loss"] < 0.7 * history.validations[0]["loss"]


def test_a_loss_that_is_not_finite_ends_training_before_the_update() -> None:
    net, before = make_net(), make_net()
    with pytest.raises(
        TrainingError, match=r"^the loss is nan at step 5 \(epoch 1, batch 3\); training stopped"
    ) as told:
        train(net, Poisoned(), accumulate=2)
    assert "\n" not in str(told.value)
    train(before, accumulate=2, max_steps=4)
    assert same(net, before)


def test_a_gradient_that_is_not_finite_ends_training_before_the_update() -> None:
    class Steep(SquareTask):
        def loss(self, model, batch):
            return super().loss(model, batch).sub(super().loss(model, batch)).sqrt()

    net = make_net()
    with pytest.raises(
        TrainingError, match=r"the gradient's norm is nan at step 1 \(epoch 0, the step that begins at"
    ):
        fit(net, Steep(), RandomBatches(), config=settings())
    assert same(net, make_net())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"resume": True}, "resume needs out"),
        ({"config": settings(patience=1)}, "validate must be given, because patience goes by its scores"),
        ({"config": settings(learning_rate=Plateau(1.0))}, "validate must be given, because a Plateau"),
        ({"config": settings(precision="16-mixed")}, "precision 16-mixed needs a GPU"),
        ({"config": settings(strategy="fsdp")}, "strategy fsdp needs several GPUs under torchrun"),
        ({"batches": RandomBatches(0)}, r"batches.epoch\(0\) must have more than 0 batches, got 0$"),
        ({"model": torch.nn.Flatten()}, "model must have a parameter that requires a gradient"),
        ({"validate": lambda network: {"bleu": 1.0}}, r"select_by must be one of validate's scores \(bleu\)"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_line(arguments, message) -> None:
    usual = {"model": make_net(), "task": SquareTask(), "batches": RandomBatches(), "config": settings()}
    with pytest.raises(ValueError, match=message) as told:
        fit(**(usual | arguments))
    assert "\n" not in str(told.value)


class Odd(SquareTask):
    def __init__(self, units: int = 1, change=lambda loss: loss) -> None:
        self.units, self.change = units, change

    def count(self, batch) -> int:
        return self.units

    def loss(self, model, batch):
        return self.change(super().loss(model, batch))


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (Odd(units=0), "task.count must be at least 1 over a step, got 0 at step 1"),
        (Odd(change=lambda loss: loss.expand(2)), r"got a tensor of shape \(2,\)$"),
        (Odd(change=lambda loss: loss.detach()), r"got a tensor of shape \(\) without gradient$"),
    ],
)
def test_a_task_that_returns_something_else_is_named(task, message) -> None:
    with pytest.raises(ValueError, match=message):
        fit(make_net(), task, RandomBatches(), config=settings())


def test_a_fabric_of_ones_own_must_agree_with_the_configuration() -> None:
    fabric = Fabric(accelerator="cpu", devices=1)
    with pytest.raises(ValueError, match="precision must be the fabric's 32-true, got bf16-mixed"):
        fit(make_net(), SquareTask(), RandomBatches(), config=settings(precision="bf16-mixed"), fabric=fabric)
    with pytest.raises(ValueError, match="strategy must be that of the fabric, got fsdp"):
        fit(make_net(), SquareTask(), RandomBatches(), config=settings(strategy="fsdp"), fabric=fabric)


def test_arguments_of_a_wrong_type_are_refused_in_one_line() -> None:
    preparation = """
from coursepkg.training import TrainConfig, fit
from tests.training.jobs import RandomBatches, SquareTask, make_net
usual = {"model": make_net(), "task": SquareTask(), "batches": RandomBatches(), "config": TrainConfig(max_steps=1)}
"""
    assert_refused(
        preparation,
        {
            "fit(**(usual | {'task': object()}))": "task must have the methods count and loss, got object",
            "fit(**(usual | {'batches': [1, 2]}))": "batches must have the method epoch, got list",
            "fit(**(usual | {'model': make_net}))": "model must be a torch.nn.Module, got function",
            "fit(**(usual | {'config': {'max_steps': 1}}))": "config must be a TrainConfig, got dict",
        },
    )
