"""Where a benchmark runs: the device, its name, and its peak speed."""

import os
import platform
import shutil
import subprocess
import time
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import torch

VENDOR_PEAKS = {"H200": 989e12, "H100": 989e12, "A100": 312e12, "T4": 65e12}
"""Dense half-precision FLOP/s from the vendors' datasheets, by a part of the device
name."""


@dataclass(frozen=True)
class Device:
    """A device that benchmarks run on."""

    kind: str
    """`cpu` or `cuda`."""
    threads: int
    """CPU threads that PyTorch may use."""

    @property
    def is_cuda(self) -> bool:
        """Whether this is a GPU."""
        return self.kind == "cuda"

    @cached_property
    def name(self) -> str:
        """What the hardware calls itself."""
        return torch.cuda.get_device_name() if self.is_cuda else _cpu_name()

    @cached_property
    def peak_flops(self) -> float | None:
        """FLOP/s at most: a known GPU's datasheet, a measured product on a CPU."""
        if self.is_cuda:
            return next(
                (flops for part, flops in VENDOR_PEAKS.items() if part in self.name),
                None,
            )
        return _measured_matmul_flops(self.threads)

    def describe(self) -> dict[str, Any]:
        """What a stored result must say about the machine."""
        return {
            "device": self.kind,
            "name": self.name,
            "threads": self.threads,
            "cores": os.cpu_count(),
            "load_average": (
                round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
            ),
            "peak_flops": self.peak_flops,
            "peak_is": (
                "vendor datasheet, dense half precision"
                if self.is_cuda
                else "measured fp32 matrix product"
            ),
        }


def choose_device(device: str, threads: int) -> Device:
    """Turn `auto`, `cpu` or `cuda` into a device and set the number of threads.

    Raises:
        ValueError: `cuda` was asked for where PyTorch finds no GPU.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            "device cuda is not available here; use --device cpu or a machine with an"
            " NVIDIA GPU"
        )
    torch.set_num_threads(threads)
    kind = "cuda" if device != "cpu" and torch.cuda.is_available() else "cpu"
    return Device(kind, threads)


def versions() -> dict[str, str | None]:
    """Versions that can move a figure."""
    found: dict[str, str | None] = {
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    if torch.cuda.is_available():
        found["cuda"] = torch.version.cuda
        found["cudnn"] = str(torch.backends.cudnn.version())
        found["triton"] = _triton_version()
    return found


def _triton_version() -> str | None:
    """None where there is none, as on Windows."""
    try:
        import triton
    except ImportError:
        return None
    return str(triton.__version__)


def commit() -> str | None:
    """The commit of the checkout, with `+` when files differ.

    None outside one, and where git is not installed.
    """
    root = Path(__file__).parents[2]
    if not (root / ".git").exists() or shutil.which("git") is None:
        return None
    git = ["git", "-C", str(root)]
    head = subprocess.run(
        [*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True
    )
    changed = subprocess.run(
        [*git, "status", "--porcelain", "--", "coursepkg"],
        capture_output=True,
        text=True,
    )
    return (
        head.stdout.strip() + ("+" if changed.stdout.strip() else "")
        if head.returncode == 0
        else None
    )


def circumstances() -> dict[str, Any]:
    """Machine, versions and commit, which a stored number must name."""
    device = Device(
        "cuda" if torch.cuda.is_available() else "cpu", torch.get_num_threads()
    )
    return {"machine": device.describe(), "versions": versions(), "commit": commit()}


def _cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    return next(
        (
            line.split(":", 1)[1].strip()
            for line in lines
            if line.startswith("model name")
        ),
        platform.machine(),
    )


@cache
def _measured_matmul_flops(threads: int, size: int = 1024, rounds: int = 7) -> float:
    """Once a process and number of threads: it takes a third of a second."""
    chance = torch.Generator().manual_seed(
        0
    )  # a run that asks draws the same numbers as one that does not
    a, b = (torch.randn(size, size, generator=chance) for _ in range(2))
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        a @ b
        seconds.append(time.perf_counter() - start)
    return 2 * size**3 / min(seconds)
