"""What processor and process give: threads that help, bfloat16, a deferred Ctrl-C.

A program that sees two cores may own less: a container has a quota, two hardware
threads share one core, a virtual machine shares cores with others. OpenMP threads that
wait for one another spin by default. Where they share a core, the one that spins takes
the time of the one that works, and a page takes ten times as long. So waiting threads
sleep here, and there are as many threads as the machine really carries. Where a
measurement finds a core for every thread, a command lets them spin for a moment first.

Nothing is imported here that takes time: `coursepkg` itself calls `wait_passively`.
"""

import hashlib
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType

from coursepkg.validation import check_count

WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
"""Variables that say how threads wait. OpenMP reads them once, when it is loaded."""
PASSIVE = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0", "KMP_BLOCKTIME": "0"}
"""The values with which waiting threads sleep, in lower case."""
SHORT_SPIN = {"GOMP_SPINCOUNT": "3000"}
"""Where every thread has a core: some 0.1 ms of spinning before a thread sleeps. One
page is read a fifth faster so, and less than twice as slowly if a core is lost
later."""
NUMBER = "OMP_NUM_THREADS"

THREADS_A_PROCESSOR = 4
"""More threads than this for each processor only cost memory and time."""
MOST_ON_SMALL_MACHINES = 16
"""So many threads may always be asked for, so that one command fits all machines."""

_MEASURED_AT_ONCE = 4
"""Busy threads of the measurement, at most; Python cannot start many in its time."""
_ROUNDS, _SECONDS_A_ROUND = 4, 0.008
_HELPS = 0.3
"""A thread counts if it adds this share of one thread's work, or more."""
_OWN_CORE = 0.85
"""Threads have a core each if together they do this share of their work alone."""
_BLOCK = bytes(2**18)

_torch_was_first = False
_passive_by_us = False


def wait_passively() -> None:
    """Let OpenMP threads sleep while they wait, unless the user chose otherwise.

    It has no effect on this process if torch is loaded already; its children inherit
    the choice all the same.
    """
    global _torch_was_first, _passive_by_us
    if not any(os.environ.get(name) for name in WAITING):
        _torch_was_first, _passive_by_us = "torch" in sys.modules, True
        os.environ["OMP_WAIT_POLICY"] = "PASSIVE"


def waiting() -> tuple[bool, str]:
    """Whether waiting threads sleep, and why."""
    if _torch_was_first:
        return False, "torch was imported before coursepkg"
    name = next((name for name in reversed(WAITING) if os.environ.get(name)), None)
    if name is None:
        return False, "no OMP_WAIT_POLICY"
    value = os.environ[name]
    return value.strip().lower() == PASSIVE[name], f"{name}={value}"


@dataclass(frozen=True)
class Threads:
    """A number of threads and where it comes from."""

    number: int
    reason: str


def useful_threads(*, measured: bool = True) -> Threads:
    """How many threads help here; OMP_NUM_THREADS decides where it is set.

    Otherwise it is the smallest of: the processors that this process may use, their
    physical cores, and the quota of the container, rounded up. If `measured`, threads
    that add less than 30% of one thread's work are left out; that takes 60 ms once a
    process.

    Args:
        measured: without the measurement the number is the same in every run on a
            machine, as training needs it that is resumed.

    Raises:
        ValueError: OMP_NUM_THREADS is no number of threads.
    """
    wanted = os.environ.get(NUMBER, "").split(",")[0].strip()
    if wanted:
        number = int(wanted) if wanted.isdecimal() else 0
        if not 1 <= number <= most_threads():
            raise ValueError(
                f"{NUMBER} must be an integer in 1..{most_threads()}, got {wanted!r};"
                " unset it or set another"
            )
        return Threads(
            number, f"{NUMBER}={wanted}, {len(visible_processors())} visible"
        )
    allowed = allowed_threads()
    return _measured(allowed) if measured and allowed.number > 1 else allowed


def most_threads() -> int:
    """The largest number of threads that may be asked for."""
    return max(MOST_ON_SMALL_MACHINES, THREADS_A_PROCESSOR * len(visible_processors()))


@cache
def use_one_thread_in_forks() -> None:
    """Let processes that are forked from this one compute in one thread from now on.

    A fork takes over that there are further threads and not the threads themselves:
    whatever shared its work with them would wait for ever.
    """
    os.register_at_fork(after_in_child=_use_one_thread)


def _use_one_thread() -> None:
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def check_threads(value: int, least: int = 0) -> None:
    """Raises a ValueError unless --threads is a number that this machine can carry."""
    check_count("--threads", value, least=least)
    if value > most_threads():
        raise ValueError(
            f"--threads must be at most {most_threads()} on"
            f" {len(visible_processors())} processors, got {value}"
        )


def allowed_threads(root: Path = Path("/")) -> Threads:
    """As many threads as there are whole cores for this process.

    Args:
        root: where the file systems of the kernel are mounted.
    """
    visible = visible_processors()
    limits = [Threads(len(visible), f"{len(visible)} visible")]
    cores = physical_cores(visible, root)
    if cores < len(visible):
        limits.append(Threads(cores, f"hardware threads of {cores} cores"))
    quota = cpu_quota(root)
    if quota is not None:
        # Threads that sleep while they wait use a part of a processor, too.
        number = max(1, math.ceil(quota))
        limits.append(Threads(number, f"a quota of {quota:g} processors"))
    chosen = min(limits, key=lambda one: one.number)
    return Threads(chosen.number, ", ".join(one.reason for one in limits))


def visible_processors() -> set[int]:
    """Numbers of the processors that the scheduler may give this process."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def physical_cores(processors: set[int], root: Path = Path("/")) -> int:
    """Cores behind these processors; each its own where the kernel does not tell."""
    folder = root / "sys/devices/system/cpu"
    cores = set()
    for number in processors:
        siblings = _read(folder / f"cpu{number}/topology/thread_siblings_list")
        cores.add(siblings or str(number))
    return len(cores)


def cpu_quota(root: Path = Path("/")) -> float | None:
    """Processors that the control groups of this process grant, None without a limit.

    The groups above one's own limit it as well. In a container the path of the group
    may be that of the host; the mounted root is then the container's own group.
    """
    quotas = []
    mount = root / "sys/fs/cgroup"
    for line in _read(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        path = Path(group.strip().lstrip("/"))
        for parent in (path, *path.parents):
            if not controllers:
                for version2 in (mount, mount / "unified"):
                    limit, _, period = _read(version2 / parent / "cpu.max").partition(
                        " "
                    )
                    quotas.append(_ratio(limit, period))
            elif "cpu" in controllers.split(","):
                folder = mount / controllers / parent
                if not folder.is_dir():
                    folder = mount / "cpu" / parent
                limit = _read(folder / "cpu.cfs_quota_us")
                quotas.append(_ratio(limit, _read(folder / "cpu.cfs_period_us")))
    return min((quota for quota in quotas if quota is not None), default=None)


def _ratio(limit: str, period: str) -> float | None:
    """Both in microseconds; `max` and -1 are no limit."""
    if not limit.isdecimal() or not period.isdecimal() or not int(period):
        return None
    return int(limit) / int(period) or None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _measured(allowed: Threads) -> Threads:
    """Of the allowed threads those that add work."""
    n = min(allowed.number, _MEASURED_AT_ONCE)
    ratio = _busy_ratio_once(n)
    # The ratio of few threads stands for all; a thread that adds 30% counts as one.
    helping = int(allowed.number / n * ratio + 1 - _HELPS)
    number = min(allowed.number, max(1, helping))
    return Threads(
        number,
        f"{allowed.reason}; {n} busy threads did {ratio:.1f} times the work of one",
    )


@cache
def _busy_ratio_once(n: int) -> float:
    return busy_ratio(n)


def each_has_a_core(threads: int) -> bool:
    """Whether so many busy threads hardly slow one another down, as measured.

    At most four are measured, and speak for all.
    """
    n = min(threads, _MEASURED_AT_ONCE)
    return n > 1 and _busy_ratio_once(n) >= _OWN_CORE * n


def spins_briefly(threads: int) -> bool:
    """Whether so many threads may spin a moment before they sleep, in a command."""
    return _passive_by_us and each_has_a_core(threads)


def busy_ratio(n: int) -> float:
    """The work of `n` busy threads, as a multiple of what one thread does alone.

    The best round of each counts: other programs disturb single rounds, and a thread
    too few costs more than one too many that sleeps.
    """
    rounds = [(_work_rate(n), _work_rate(1)) for _ in range(_ROUNDS)]
    together, alone = (max(rates) for rates in zip(*rounds, strict=True))
    return together / alone


def _work_rate(n: int) -> float:
    """Blocks a second that `n` threads hash; hashing does not hold Python's lock."""
    rates: list[float] = []

    def work() -> None:
        start, done = time.perf_counter(), 0
        while (seconds := time.perf_counter() - start) < _SECONDS_A_ROUND:
            hashlib.sha256(_BLOCK)
            done += 1
        rates.append(done / seconds)

    workers = [threading.Thread(target=work) for _ in range(n)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(rates)


@contextmanager
def with_threads(threads: int) -> Iterator[None]:
    """So many CPU threads in torch; 0 leaves them as they are."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def with_useful_threads(*, measured: bool) -> Iterator[None]:
    """Use as many threads as help, in torch and in processes started meanwhile.

    Where each has a core of its own, they spin for a moment before they sleep, unless
    the user chose how they wait. `measured` as for `useful_threads`: how threads wait
    does not change a result, so that is always measured.

    The environment holds both, so torch need not be loaded yet.
    """
    if os.environ.get(NUMBER):
        useful_threads()  # a value that is no number is said before anything is loaded
        yield
        return
    number = useful_threads(measured=measured).number
    chosen = {NUMBER: str(number)}
    if spins_briefly(number):
        chosen |= SHORT_SPIN
    os.environ.update(chosen)
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else 0
    if torch:
        torch.set_num_threads(number)
    try:
        yield
    finally:
        for name in chosen:
            del os.environ[name]
        if torch:
            torch.set_num_threads(before)


def multiplies_bfloat16() -> bool:
    """Whether an x86 processor multiplies bfloat16 itself; else float32 is faster."""
    import torch

    # Not every supported PyTorch has a public question for it; a private one that is
    # gone answers no.
    asks = (
        getattr(torch.cpu, f"_is_{name}_supported", bool)
        for name in ("avx512_bf16", "amx_tile")
    )
    return any(ask() for ask in asks)


@contextmanager
def defer_sigint() -> Iterator[Callable[[], bool]]:
    """Defer the first Ctrl-C; the function that this yields says whether it came.

    Outside the main thread Python delivers no signals, so there is nothing to note.
    """
    noted = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal noted
        noted = True
        # The second Ctrl-C is not deferred: it ends a step that hangs.
        signal.signal(signal.SIGINT, before)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: noted
    finally:
        signal.signal(signal.SIGINT, before)
