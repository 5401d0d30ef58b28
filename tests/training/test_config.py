"""The settings of a run: what is out of range is refused by name.

Parts of a network with learning rates of their own: the step, resuming, what is refused.
"""

from pathlib import Path

import pytest
import torch

from coursepkg.training.config import TrainConfig, describe_schedule
from coursepkg.training.loop import fit
from coursepkg.training.schedules import Plateau, noam
from tests.refusals import assert_equal
from tests.training.jobs import RandomBatches, SquareTask, make_net, same


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_steps": None}, "max_steps, max_epochs or max_seconds must be given"),
        ({"max_steps": 0}, "max_steps must be an integer of at least 1, got 0"),
        ({"max_epochs": 0}, "max_epochs must be an integer of at least 1, got 0"),
        ({"max_seconds": 0}, "max_seconds must be above 0, got 0"),
        ({"clock": "sun"}, "clock must be one of wall, cpu, got 'sun'"),
        ({"learning_rate": -1.0}, "learning_rate must be at least 0, got -1.0"),
        ({"learning_rate": float("nan")}, "learning_rate must be a finite number, got nan"),
        ({"betas": (0.9, 1.0)}, "betas must be at least 0 and below 1, got 1.0"),
        ({"eps": 0.0}, "eps must be above 0, got 0.0"),
        ({"weight_decay": -0.1}, "weight_decay must be at least 0, got -0.1"),
        ({"accumulate": 0}, "accumulate must be an integer of at least 1, got 0"),
        ({"clip_norm": 0.0}, "clip_norm must be above 0, got 0.0"),
        ({"ema_decay": 1.0}, "ema_decay must be at least 0 and below 1, got 1.0"),
        ({"sam_rho": 0.0}, "sam_rho must be above 0, got 0.0"),
        (
            {"sam_rho": 0.05, "precision": "16-mixed"},
            "precision must be 32-true or bf16-mixed with SAM, got 16-mixed",
        ),
        ({"sam_rho": 0.05, "accumulate": 2}, "accumulate must be 1 with SAM, got 2"),
        ({"sam_rho": 0.05, "strategy": "fsdp"}, "strategy must not be fsdp with SAM"),
        ({"ema_decay": 0.9, "strategy": "fsdp"}, "ema_decay must be None with strategy fsdp"),
        ({"validate_every": 0}, "validate_every must be an integer of at least 1, got 0"),
        ({"checkpoint_every": 0}, "checkpoint_every must be an integer of at least 1, got 0"),
        ({"patience": 0}, "patience must be an integer of at least 1, got 0"),
        ({"keep_last": 0}, "keep_last must be an integer of at least 1, got 0"),
        ({"log_every": 0}, "log_every must be an integer of at least 1, got 0"),
        ({"seed": -1}, r"seed must be an integer in 0\.\.4294967295, got -1"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(changes, message: str) -> None:
    with pytest.raises(ValueError, match=message) as told:
        TrainConfig(**({"max_steps": 1} | changes))
    assert "\n" not in str(told.value)


def test_a_schedule_is_known_again_by_what_it_is() -> None:
    assert describe_schedule(noam(512, 4000)) == "noam(d_model=512, warmup=4000, factor=1.0)"
    assert (
        describe_schedule(Plateau(0.1)) == describe_schedule(Plateau(0.1)) != describe_schedule(Plateau(0.2))
    )
    assert describe_schedule(abs) == "builtins.abs"
    assert TrainConfig(max_steps=1, learning_rate=noam(8, 4)).described()["learning_rate"].startswith("noam(")


FACTORS = {"inner.": 0.1, "layers.0.": 0.5}


def train(net, out: Path | None = None, *, resume: bool = False, **changes):
    usual = {"max_steps": 6, "learning_rate": 1e-2, "learning_rate_factors": FACTORS, "progress": False}
    settings = TrainConfig(**(usual | changes))
    return fit(net, SquareTask(), RandomBatches(), config=settings, out=out, resume=resume)


def test_a_step_moves_every_part_at_its_own_rate() -> None:
    net, own = make_net(), make_net()
    history = train(net, weight_decay=0.1, clip_norm=None)
    groups = [
        {"params": [p], "lr": 1e-2 * rate, "weight_decay": 0.1 if p.dim() > 1 else 0.0}
        for name, p in own.named_parameters()
        for rate in [next((f for start, f in FACTORS.items() if name.startswith(start)), 1.0)]
    ]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), eps=1e-9)
    task, epoch = SquareTask(), [*RandomBatches().epoch(0), *RandomBatches().epoch(1)]
    for row, batch in zip(history.steps, epoch, strict=False):
        optimizer.zero_grad()
        (task.loss(own, batch) / task.count(batch)).backward()
        optimizer.step()
        assert row["learning_rate"] == 1e-2
    assert same(net, own, 1e-7)
    plain = make_net()
    train(plain, learning_rate_factors={}, weight_decay=0.1, clip_norm=None)
    assert not same(net, plain, 1e-4)


def test_a_run_goes_on_with_its_rates_and_refuses_others(tmp_path: Path) -> None:
    whole, parts = make_net(), make_net()
    train(whole)
    train(parts, tmp_path / "run", max_steps=3)
    with pytest.raises(ValueError, match="learning_rate_factors"):
        train(make_net(), tmp_path / "run", resume=True, learning_rate_factors={"inner.": 0.2})
    resumed = make_net()
    train(resumed, tmp_path / "run", resume=True)
    assert same(whole, resumed)


@pytest.mark.parametrize(
    ("factor", "message"), [(0.0, "must be above 0"), (float("inf"), "must be a finite number")]
)
def test_a_bad_factor_is_named(factor: float, message: str) -> None:
    with pytest.raises(ValueError, match=rf"learning_rate_factors\['inner\.'\] {message}"):
        TrainConfig(max_steps=1, learning_rate_factors={"inner.": factor})


def test_a_factor_for_no_parameter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError,
        match=r"^learning_rate_factors\['iner\.'\] must be the beginning of a parameter's name, such as inner\.",
    ):
        train(make_net(), tmp_path / "run", learning_rate_factors={"iner.": 0.1})
    assert not (tmp_path / "run").exists()


def test_numbers_of_numpy_are_numbers() -> None:
    preparation = """
from coursepkg.training import *
def drawn(seed):
    set_seed(seed)
    return torch.rand(3)
"""
    assert_equal(
        preparation,
        {
            "TrainConfig(max_steps=i64(2), seed=i64(3), weight_decay=f32(0.5)).described()": (
                "TrainConfig(max_steps=2, seed=3, weight_decay=0.5).described()"
            ),
            "type(TrainConfig(max_steps=i64(2)).max_steps)": "int",
            "drawn(i64(3))": "drawn(3)",
        },
    )
