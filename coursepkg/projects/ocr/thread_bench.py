"""What threads cost where cores are few: lines read by two threads that share one core.

Each variant is a process of its own, because OpenMP reads how its threads wait when it
is loaded. The processes sleep while another one is timed.

Two threads on one core: the process sees all cores while torch is loaded, and gets only
one of them afterwards. So OpenMP believes in two cores, as it does where two virtual
cores are one.
"""

import os
import subprocess
import sys
import weakref
from collections.abc import Callable

import torch

from coursepkg.bench.machine import Device
from coursepkg.bench.measure import BenchmarkCase, Comparison
from coursepkg.processor import (
    NUMBER,
    SHORT_SPIN,
    WAITING,
    each_has_a_core,
    useful_threads,
    visible_processors,
)
from coursepkg.projects.ocr.bench import lines, small

N_LINES = 4
SLEEP = {"OMP_WAIT_POLICY": "PASSIVE"}
SPIN = {"GOMP_SPINCOUNT": "300000"}
"""What GNU's OpenMP does by itself where it sees a core for every thread."""
ON_ONE_CORE = 1 / 1.3
"""Two threads on one core may take 1.3 times as long as one."""
ON_ALL_CORES = 0.95


def cases(device: Device) -> list[BenchmarkCase]:
    """Both, on the CPU; a GPU has none of its own.

    Raises:
        ValueError: this system cannot bind a process to a core.
    """
    if not hasattr(os, "sched_setaffinity"):
        raise ValueError("suite threads needs Linux, which binds a process to a core")
    return [] if device.is_cuda else [_on_one_core(), _on_all_cores()]


def _on_one_core() -> BenchmarkCase:
    core = min(visible_processors())
    return BenchmarkCase(
        name=f"{N_LINES} lines, two threads on one core",
        variants={
            "one thread": reader(1, SLEEP, core),
            "two that sleep": reader(2, SLEEP, core),
        },
        comparisons=[Comparison("two that sleep", "one thread", ON_ONE_CORE)],
    )


def _on_all_cores() -> BenchmarkCase:
    n, chosen = len(visible_processors()), useful_threads()
    waiting = SHORT_SPIN if each_has_a_core(chosen.number) else SLEEP
    ours, theirs = f"{chosen.number} as commands choose", f"{n} that spin"
    return BenchmarkCase(
        name=f"{N_LINES} lines on {n} visible cores ({chosen.reason})",
        variants={
            ours: reader(chosen.number, waiting),
            theirs: reader(n, SPIN),
        },
        comparisons=[Comparison(ours, theirs, ON_ALL_CORES)],
    )


def reader(
    threads: int, waiting: dict[str, str], core: int | None = None
) -> Callable[[], str]:
    """A process that reads the lines each time it is called.

    Args:
        threads: of torch.
        waiting: variables that say how they wait.
        core: the only core that the process gets once torch is loaded; None leaves all.

    Returns:
        reads them and returns the texts; the process ends with it.

    Raises:
        RuntimeError: the process ended.
    """
    unset = (*WAITING, NUMBER)
    environment = {key: text for key, text in os.environ.items() if key not in unset}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            __name__,
            str(threads),
            "" if core is None else str(core),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment | waiting,
        text=True,
    )
    inbox, outbox = process.stdin, process.stdout
    assert inbox is not None
    assert outbox is not None

    def read() -> str:
        try:
            inbox.write("\n")
            inbox.flush()
            texts = outbox.readline()
        except BrokenPipeError:
            texts = ""
        if not texts:
            raise RuntimeError(f"the process that reads ended, code {process.wait()}")
        return texts

    weakref.finalize(read, process.kill)
    return read


def serve(threads: int, core: int | None) -> None:
    """Read the lines once for every line that comes, and print their texts as one."""
    if core is not None:
        os.sched_setaffinity(0, {core})
    torch.set_num_threads(threads)
    recognizer = small()
    images = [line.image for line in lines(N_LINES, seed=2)]
    for _ in sys.stdin:
        print([one.text for one in recognizer.read_lines(images)], flush=True)


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]) if sys.argv[2] else None)
