"""A run that was stopped and goes on must end like one that was not."""

import json
import os
import signal
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from lightning_fabric import Fabric
from lightning_fabric.plugins import MixedPrecision
from lightning_fabric.strategies import SingleDeviceStrategy

from coursepkg.bench.suites.resume import kill_and_resume
from coursepkg.files import read_json, write_json
from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import TrainingError, fit
from coursepkg.training.schedules import Plateau
from tests.training.jobs import Poisoned, RandomBatches, SquareTask, make_net, mean_error, same


def train(out: Path | None, *, net=None, task=None, batches=None, resume=True, fabric=None, **changes):
    net = make_net(dropout_p=0.3) if net is None else net
    usual = {
        "max_epochs": 4,
        "learning_rate": 1e-2,
        "ema_decay": 0.9,
        "checkpoint_every": 3,
        "progress": False,
    }
    history = fit(
        net,
        task or SquareTask(),
        batches or RandomBatches(),
        config=TrainConfig(**(usual | changes)),
        out=out,
        validate=mean_error,
        resume=resume,
        fabric=fabric,
    )
    return net, history


def results(out: Path) -> dict[str, bytes]:
    """Logs, weights, averages, optimiser and generators; the JSON files hold times."""
    return {name: data for name, data in contents(out).items() if not name.endswith("json")}


def contents(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def test_killed_runs_end_byte_for_byte_like_one_that_was_not(tmp_path: Path) -> None:
    for seed, n_kills in ((0, 1), (1, 2)):
        crash = kill_and_resume(tmp_path, seed, n_kills=n_kills)
        assert crash.is_exact, crash
        assert len(crash.killed_at) == n_kills


@pytest.mark.parametrize("changes", [{}, {"accumulate": 2}, {"learning_rate": Plateau(1e-2, patience=0)}])
def test_a_run_cut_by_the_clock_ends_like_one_that_was_not(tmp_path: Path, changes) -> None:
    whole, wanted = train(tmp_path / "whole", **changes)
    stops = 0
    # A limit of a nanosecond lets every call take exactly one step.
    while (told := train(tmp_path / "cut", max_seconds=1e-9, **changes))[1].stopped == "max_seconds":
        stops += 1
    assert stops == wanted.step - 1
    assert told[1] == wanted
    assert same(told[0], whole)
    assert results(tmp_path / "cut") == results(tmp_path / "whole")


def test_a_finished_run_is_left_alone(tmp_path: Path) -> None:
    net, history = train(tmp_path)
    before = contents(tmp_path)
    again, told = train(tmp_path)
    assert told == history
    assert contents(tmp_path) == before
    assert same(again, net)


def test_a_finished_run_goes_on_under_a_higher_limit(tmp_path: Path) -> None:
    train(tmp_path, max_epochs=2)
    told = train(tmp_path, max_epochs=3)[1]
    assert told.step == 15
    assert [row["step"] for row in told.steps] == list(range(1, 16))


def test_the_scale_of_fp16_is_part_of_the_state(tmp_path: Path) -> None:
    def fabric() -> Fabric:
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0**8, growth_interval=4)
        return Fabric(accelerator="cpu", devices=1, plugins=[MixedPrecision("16-mixed", "cpu", scaler)])

    settings = {"precision": "16-mixed", "max_epochs": 2}
    whole, wanted = train(tmp_path / "whole", fabric=fabric(), **settings)
    train(tmp_path / "cut", fabric=fabric(), max_seconds=1e-9, **settings)
    resumed, told = train(tmp_path / "cut", fabric=fabric(), **settings)
    assert told == wanted
    assert same(resumed, whole)
    state = json.loads((tmp_path / "cut" / "step-10" / "state.json").read_text())["state"]
    assert state["precision"]["scale"] > 2.0**8


class Interrupting(SquareTask):
    """Presses Ctrl-C in the middle of step 5."""

    step = 0

    def start_step(self, step: int) -> None:
        self.step = step

    def loss(self, model, batch):
        if self.step == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return super().loss(model, batch)


def test_ctrl_c_ends_the_step_and_stores_it(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    whole, wanted = train(tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "cut", task=Interrupting())
    assert json.loads((tmp_path / "cut" / "last.json").read_text())["folder"] == "step-5"
    assert signal.getsignal(signal.SIGINT) is before
    resumed, told = train(tmp_path / "cut")
    assert told == wanted
    assert same(resumed, whole)


def test_ctrl_c_after_the_decision_of_a_step_ends_the_next_one(tmp_path: Path, monkeypatch) -> None:
    """Else it would end a step whose checkpoint is not stored, in one process alone."""
    decide, calls = SingleDeviceStrategy.reduce_boolean_decision, []

    def pressed_meanwhile(self, decision, all=True):
        calls.append(decision)
        if len(calls) == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return decide(self, decision, all=all)

    with monkeypatch.context() as patched:
        patched.setattr(SingleDeviceStrategy, "reduce_boolean_decision", pressed_meanwhile)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path / "cut")
    assert calls == [False] * 4 + [True]
    assert json.loads((tmp_path / "cut" / "last.json").read_text())["folder"] == "step-5"


@pytest.mark.parametrize("was_training", [True, False])
def test_a_model_is_left_in_the_mode_in_which_it_came(was_training: bool) -> None:
    for task, stops in ((SquareTask(), nullcontext()), (Interrupting(), pytest.raises(KeyboardInterrupt))):
        net = make_net(dropout_p=0.3).train(was_training)
        with stops:
            train(None, net=net, task=task, resume=False)
        assert net.training is was_training


def test_a_loss_that_is_not_finite_keeps_the_last_good_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="the loss is nan at step 9"):
        train(tmp_path / "cut", batches=Poisoned(), ema_decay=None)
    assert json.loads((tmp_path / "cut" / "last.json").read_text())["folder"] == "step-6"
    whole, _ = train(tmp_path / "whole", ema_decay=None)
    resumed, _ = train(tmp_path / "cut", ema_decay=None)
    assert same(resumed, whole)


def test_a_folder_that_holds_a_run_is_refused_unless_resumed(tmp_path: Path) -> None:
    train(tmp_path, max_epochs=1)
    before = contents(tmp_path)
    with pytest.raises(
        ValueError, match=r"already holds a run; resume it \(resume=True, --resume\) or choose another"
    ):
        train(tmp_path, resume=False)
    assert contents(tmp_path) == before


def test_a_run_of_an_older_version_goes_on(tmp_path: Path) -> None:
    whole, _ = train(tmp_path / "whole")
    train(tmp_path / "cut", max_epochs=2)
    last = tmp_path / "cut" / "last.json"
    folder = read_json(last)["folder"]
    document = read_json(last.parent / folder / "state.json")
    del document["state"]["identity"]["learning_rate_factors"]
    write_json(last, {"folder": folder, "state": write_json(last.parent / folder / "state.json", document)})
    resumed, _ = train(tmp_path / "cut")
    assert same(resumed, whole)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learning_rate": 2e-2}, "learning_rate was 0.01, is 0.02"),
        ({"accumulate": 2, "seed": 7}, "accumulate was 1, is 2; seed was 0, is 7"),
        ({"net": make_net(width=4)}, "model.dropout_p was 0.3, is 0.0; model.width was 8, is 4"),
    ],
)
def test_other_settings_are_named(tmp_path: Path, changes, message: str) -> None:
    train(tmp_path, max_epochs=1)
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=message) as told:
        train(tmp_path, max_epochs=2, **changes)
    assert "\n" not in str(told.value)
    assert contents(tmp_path) == before


def test_fewer_data_than_the_run_began_with_are_named(tmp_path: Path) -> None:
    train(tmp_path, max_steps=8)
    with pytest.raises(
        ValueError, match="must have more than 3 batches, got 3; resume with the data that the run"
    ):
        train(tmp_path, batches=RandomBatches(3))


def test_the_logs_say_what_happened(tmp_path: Path) -> None:
    train(tmp_path, max_epochs=2, log_every=2)
    lines = (tmp_path / "log.csv").read_text().splitlines()
    assert lines[0] == "step,epoch,loss,learning_rate,grad_norm,units"
    assert [line.split(",")[:2] for line in lines[1:]] == [
        ["2", "0"],
        ["4", "0"],
        ["6", "1"],
        ["8", "1"],
        ["10", "1"],
    ]
    lines = (tmp_path / "validation.csv").read_text().splitlines()
    assert lines[0] == "step,epoch,loss"
    assert [line.split(",")[:2] for line in lines[1:]] == [["5", "0"], ["10", "1"]]
