"""The Lightning Fabric that `fit` runs on: device, precision, processes.

One call serves all: alone it takes the first GPU, or the CPU where there is none;
started by `torchrun` it joins the other processes. Fabric moves tensors, casts and
synchronises; the loop stays ours.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import torch
from lightning_fabric import Fabric
from lightning_fabric.strategies.ddp import DDPStrategy
from lightning_fabric.strategies.fsdp import FSDPStrategy
from lightning_fabric.strategies.strategy import Strategy
from torch import Tensor

from coursepkg.blocks.decoder import DecoderLayer
from coursepkg.blocks.encoder import EncoderLayer
from coursepkg.processor import multiplies_bfloat16
from coursepkg.training.config import TrainConfig

KERNELS_KEPT = "32"
"""Kernels that oneDNN keeps on a CPU, each with the memory it works in. Batches by
length have hundreds of shapes, and its own bound of 1,024 kernels let a small model in
bfloat16 grow by 3 GB."""


def make_fabric(config: TrainConfig) -> Fabric:
    """The launched Fabric for this configuration, alone or under `torchrun`.

    Bounds the memory of oneDNN's kernels, unless the environment does or a product was
    computed before.

    Raises:
        ValueError: the machine cannot do what the configuration asks for.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", KERNELS_KEPT)
    on_gpu = torch.cuda.is_available()
    n_processes = int(os.environ.get("WORLD_SIZE", 1))
    n_here = int(os.environ.get("LOCAL_WORLD_SIZE", n_processes))
    if config.precision == "16-mixed" and not on_gpu:
        raise ValueError(
            "precision 16-mixed needs a GPU, but there is none; use bf16-mixed or"
            " 32-true"
        )
    if config.strategy == "fsdp" and not (on_gpu and n_processes > 1):
        raise ValueError(
            f"strategy fsdp needs several GPUs under torchrun, got {n_processes}"
            f" process(es) on {'a GPU' if on_gpu else 'the CPU'}; use strategy ddp"
        )
    if on_gpu and n_here > torch.cuda.device_count():
        raise ValueError(
            f"torchrun must start at most {torch.cuda.device_count()} processes here,"
            f" one a GPU, got {n_here}"
        )
    with quiet():
        fabric = Fabric(
            accelerator="cuda" if on_gpu else "cpu",
            devices=n_here,
            num_nodes=n_processes // n_here,
            strategy=_strategy(config) if n_processes > 1 else "auto",
            precision=config.precision,
        )
        fabric.launch()
    return fabric


def native_precision() -> Literal["bf16-mixed", "32-true"]:
    """bf16-mixed where the hardware multiplies bfloat16, else 32-true."""
    if torch.cuda.is_available():
        return (
            "bf16-mixed"
            if torch.cuda.is_bf16_supported(including_emulation=False)
            else "32-true"
        )
    return "bf16-mixed" if multiplies_bfloat16() else "32-true"


def check_fabric(fabric: Fabric, config: TrainConfig) -> None:
    """Raises a ValueError where a given Fabric contradicts the configuration."""
    if fabric.strategy.precision.precision != config.precision:
        raise ValueError(
            f"precision must be the fabric's {fabric.strategy.precision.precision}, got"
            f" {config.precision}"
        )
    if is_sharded(fabric) != (config.strategy == "fsdp"):
        raise ValueError(f"strategy must be that of the fabric, got {config.strategy}")


def is_sharded(fabric: Fabric) -> bool:
    """Whether each process holds a part of the weights only."""
    return isinstance(fabric.strategy, FSDPStrategy)


def gather(fabric: Fabric, values: Tensor) -> Tensor:
    """The values (n,) of every process, in the order of their ranks (processes, n)."""
    rows = values.new_zeros(fabric.world_size, len(values))
    rows[fabric.global_rank] = values
    return fabric.strategy.all_reduce(rows, reduce_op="sum")


@contextmanager
def quiet() -> Iterator[None]:
    """Inside `with`, Fabric does not report what it was told to do anyway."""
    logger = logging.getLogger("lightning_fabric")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _strategy(config: TrainConfig) -> Strategy:
    # FSDP gathers the weights of one such layer at a time, and keeps what lies outside
    # them whole during a pass.
    if config.strategy == "ddp":
        return DDPStrategy()
    return FSDPStrategy(auto_wrap_policy={EncoderLayer, DecoderLayer})
