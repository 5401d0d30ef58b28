"""What each process of `torchrun` does for test_distributed.py: several runs, one after another, results in a folder.

torchrun --nproc-per-node 2 -m tests.training.distributed_job FOLDER
"""

import os
import sys
from pathlib import Path

import torch
from lightning_fabric import Fabric
from lightning_fabric.strategies.fsdp import FSDPStrategy
from safetensors.torch import save_file
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel

from coursepkg.training.config import TrainConfig
from coursepkg.training.engine import quiet
from coursepkg.training.loop import TrainingError, fit
from tests.training.jobs import Layer, Poisoned, RandomBatches, SquareTask, make_net, mean_error

RUNS = {
    "plain": {},
    "uneven": {"accumulate": 2},
    "averaged": {"ema_decay": 0.9, "clip_norm": 0.1},
    "sharp": {"sam_rho": 0.1},
}
"""Settings of the runs that must equal those of one process."""


class CPUShards(FSDPStrategy):
    """FSDP as Fabric sets it up, but on a CPU, which Fabric refuses; slow, and good for this test only."""

    def setup_module(self, module: nn.Module) -> FullyShardedDataParallel:
        return FullyShardedDataParallel(module, device_id=torch.device("cpu"), **self._fsdp_kwargs)


def settings(**changes) -> TrainConfig:
    return TrainConfig(**({"max_epochs": 2, "learning_rate": 1e-2, "progress": False} | changes))


def main(folder: Path) -> None:
    first = os.environ["RANK"] == "0"
    for name, changes in RUNS.items():
        net = make_net()
        history = fit(net, SquareTask(), RandomBatches(), config=settings(**changes), validate=mean_error)
        if first:
            keep(folder / f"{name}.safetensors", net, [row["loss"] for row in history.steps])
    resume(folder)
    try:
        fit(make_net(), SquareTask(), Poisoned(), config=settings(max_epochs=3))
    except TrainingError as told:
        (folder / f"poisoned-{os.environ['RANK']}.txt").write_text(str(told))
    shards(folder)


def keep(path: Path, net: nn.Module, losses: list[float]) -> None:
    weights = {name: p.detach().contiguous() for name, p in net.named_parameters()}
    save_file(weights | {"losses": torch.tensor(losses, dtype=torch.float64)}, path)


def resume(folder: Path) -> None:
    """A run with dropout that the clock stops after every step, and one that it does not stop."""
    whole = {"config": settings(max_epochs=1), "validate": mean_error}
    fit(make_net(0.5), SquareTask(), RandomBatches(), out=folder / "whole", **whole)
    cut = {**whole, "config": settings(max_epochs=1, max_seconds=1e-9), "resume": True}
    while (
        fit(make_net(0.5), SquareTask(), RandomBatches(), out=folder / "cut", **cut).stopped == "max_seconds"
    ):
        pass


def shards(folder: Path) -> None:
    """FSDP: the whole run, and the same run stopped and resumed."""
    for name, limits in (("fsdp", [4]), ("fsdp-resumed", [2, 4])):
        for max_steps in limits:
            net = make_net()
            with quiet():
                strategy = CPUShards(auto_wrap_policy={Layer})
                fabric = Fabric(accelerator="cpu", devices=2, strategy=strategy)
                fabric.launch()
            config = settings(max_steps=max_steps, strategy="fsdp", weight_decay=0.1)
            fit(
                net,
                SquareTask(),
                RandomBatches(),
                config=config,
                out=folder / name,
                resume=True,
                fabric=fabric,
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
