"""Two processes under torchrun (gloo, this machine) against one process. One launch serves all tests."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import fit
from tests.training.distributed_job import RUNS, settings
from tests.training.jobs import RandomBatches, SquareTask, make_net, mean_error

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("torchrun")
    command = ["-W", "error", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [sys.executable, *command, "-m", "tests.training.distributed_job", folder],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    # Neither Fabric nor torch has anything to report.
    assert (done.stdout, done.stderr) == ("", "")
    return folder


def equal_to(path: Path, history, net, tolerance: float = 1e-5) -> bool:
    stored = load_file(path)
    losses = torch.tensor([row["loss"] for row in history.steps], dtype=torch.float64)
    close = [torch.allclose(stored.pop("losses"), losses, rtol=0, atol=tolerance)]
    close += [
        torch.allclose(stored.pop(name), p, rtol=0, atol=tolerance) for name, p in net.named_parameters()
    ]
    return all(close) and not stored


@pytest.mark.parametrize("name", RUNS)
def test_two_processes_are_one_with_the_doubled_batch(results: Path, name: str) -> None:
    changes = dict(RUNS[name])
    # 5 batches an epoch: the last step of an epoch has one batch, so one process takes part with weight 0.
    doubled = RandomBatches(joined=2 * changes.pop("accumulate", 1))
    net = make_net()
    history = fit(net, SquareTask(), doubled, config=settings(**changes), validate=mean_error)
    assert equal_to(results / f"{name}.safetensors", history, net)


@pytest.mark.parametrize(("name", "accumulate"), [("plain", 2), ("uneven", 4)])
def test_two_processes_are_one_that_accumulates(results: Path, name: str, accumulate: int) -> None:
    net = make_net()
    history = fit(net, SquareTask(), RandomBatches(), config=settings(accumulate=accumulate))
    assert equal_to(results / f"{name}.safetensors", history, net)


def test_two_processes_resume_to_the_same_bytes(results: Path) -> None:
    files = [
        {
            path.relative_to(results / run): path.read_bytes()
            for path in (results / run).rglob("*")
            if path.is_file()
        }
        for run in ("whole", "cut")
    ]
    assert files[0] == files[1]
    rng = load_file(results / "whole" / "step-3" / "rng.safetensors")["torch"]
    assert len(rng) == 2
    assert not torch.equal(rng[0], rng[1])


def test_every_process_names_the_batch_that_broke(results: Path) -> None:
    told = [(results / f"poisoned-{rank}.txt").read_text() for rank in range(2)]
    assert told[0] == told[1]
    assert told[0].startswith("the loss is nan at step 5 (epoch 1, batch 3)")


def test_shards_are_one_process_with_the_doubled_batch(results: Path) -> None:
    """FSDP's path through the loop, on a CPU. What it does on GPUs this machine cannot say."""
    net = make_net()
    fit(net, SquareTask(), RandomBatches(joined=2), config=settings(max_steps=4, weight_decay=0.1))
    for run in ("fsdp", "fsdp-resumed"):
        stored = load_file(results / run / "step-4" / "model.safetensors")
        for name, parameter in net.named_parameters():
            assert torch.allclose(stored[name], parameter, rtol=0, atol=1e-5), (run, name)


def test_a_run_of_two_processes_is_not_resumed_by_one(results: Path) -> None:
    config = TrainConfig(max_epochs=1, learning_rate=1e-2, progress=False)
    with pytest.raises(ValueError, match="processes was 2, is 1; restore them"):
        fit(make_net(0.5), SquareTask(), RandomBatches(), config=config, out=results / "whole", resume=True)
