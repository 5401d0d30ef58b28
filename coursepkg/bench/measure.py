"""Benchmark cases: variants must agree, then run interleaved; ratios are reported.

Outputs and gradients are compared with float64 before anything is timed. Within a round
every variant runs, and the order turns round from one round to the next, so that a slow
minute of the machine hits all alike. A figure is the median of the ratios within each
round, with the smallest and the largest beside it.

Memory is counted at the allocator: the profiler reports each allocation and release
with its size, and the running sum has a highest point, the peak. Views and `out=`
buffers count nothing; temporaries inside C++ kernels count.
"""

import json
import math
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from coursepkg.bench.machine import Device, commit, versions
from coursepkg.files import whole_file

ROUNDS = 7
SECONDS_A_ROUND = 0.15
"""A variant repeats within a round until this much time has passed."""
NOISY_SPREAD = 1.3
"""A ratio whose largest round exceeds its smallest by more than this factor is marked
too noisy."""

Work = Callable[[], object]
Outputs = Callable[[], Sequence[Tensor]]


@dataclass(frozen=True)
class Gate:
    """A check against float64 at a small size, before a candidate is timed."""

    candidate: str
    compute: Outputs
    """Outputs (and gradients, where they are raced) of the candidate."""
    plain: Outputs
    """The same from a plain implementation in the same precision."""
    exact: Outputs
    """The same in float64."""

    def failure(self) -> str | None:
        """Why the candidate must not be timed (an error above twice plain), or None."""
        exact = [x.double() for x in self.exact()]
        candidate, plain = (
            _relative_error(self.compute(), exact),
            _relative_error(self.plain(), exact),
        )
        if not math.isfinite(candidate):
            return "an output is not finite"
        if candidate <= 2 * plain + 1e-12:
            return None
        return (
            f"error {candidate:.2e} is more than twice the plain version's {plain:.2e}"
        )


@dataclass(frozen=True)
class Comparison:
    """One ratio to report: how many times faster the candidate is than the baseline."""

    candidate: str
    baseline: str
    target: float | None = None
    """The ratio the course promises, if it promises one."""
    bound: float | None = None
    """The largest ratio the arithmetic allows, for instance the ratio of visited
    blocks."""


@dataclass(frozen=True)
class CaseResult:
    """One line of a result."""

    case: str
    candidate: str
    baseline: str
    ratio: float | None
    """Opponent's time over candidate's time (above 1: the candidate is faster); for
    memory and growth, the quotient."""
    low: float | None = None
    high: float | None = None
    candidate_ms: float | None = None
    baseline_ms: float | None = None
    flops_per_second: float | None = None
    percent_of_peak: float | None = None
    target: float | None = None
    bound: float | None = None
    at_most: bool = False
    """Whether the target is an upper limit (memory, growth) and not a lower one."""
    note: str = ""

    @property
    def failed(self) -> bool:
        """Whether the correctness gate stopped this row."""
        return self.ratio is None and self.note.startswith("failed the gate")

    @property
    def met(self) -> bool | None:
        """Whether the target was reached; None where there is none."""
        if self.target is None or self.ratio is None:
            return None
        return self.ratio <= self.target if self.at_most else self.ratio >= self.target


@dataclass(frozen=True)
class BenchmarkCase:
    """Variants of one task, what to compare, and the gates they pass first."""

    name: str
    variants: dict[str, Work]
    comparisons: Sequence[Comparison]
    gates: Sequence[Gate] = ()
    flops: dict[str, float] = field(default_factory=dict)
    """FLOPs that a variant's task counts for, by variant."""

    def run(self, device: Device) -> list[CaseResult]:
        """Gate, time and compare."""
        stopped = {
            gate.candidate: reason for gate in self.gates if (reason := gate.failure())
        }
        running = {
            name: work for name, work in self.variants.items() if name not in stopped
        }
        times = (_gpu_times if device.is_cuda else _cpu_times)(running)
        return [
            self._row(comparison, times, stopped, device)
            for comparison in self.comparisons
        ]

    def _row(
        self,
        c: Comparison,
        times: dict[str, list[float]],
        stopped: dict[str, str],
        device: Device,
    ) -> CaseResult:
        if c.candidate in stopped:
            note = f"failed the gate: {stopped[c.candidate]}"
            return CaseResult(
                self.name, c.candidate, c.baseline, None, target=c.target, note=note
            )
        ratios = [
            b / a for a, b in zip(times[c.candidate], times[c.baseline], strict=True)
        ]
        seconds = statistics.median(times[c.candidate])
        rate = self.flops[c.candidate] / seconds if c.candidate in self.flops else None
        peak = device.peak_flops
        return CaseResult(
            case=self.name,
            candidate=c.candidate,
            baseline=c.baseline,
            ratio=statistics.median(ratios),
            low=min(ratios),
            high=max(ratios),
            candidate_ms=1e3 * seconds,
            baseline_ms=1e3 * statistics.median(times[c.baseline]),
            flops_per_second=rate,
            percent_of_peak=100 * rate / peak if rate and peak else None,
            target=c.target,
            bound=c.bound,
            note="too noisy" if max(ratios) > NOISY_SPREAD * min(ratios) else "",
        )


def _relative_error(values: Sequence[Tensor], exact: Sequence[Tensor]) -> float:
    """The largest ||x - exact|| / ||exact||; infinite where one is not finite."""
    errors = []
    for x, y in zip(values, exact, strict=True):
        error = float((x.double() - y).norm()) / max(float(y.norm()), 1e-300)
        errors.append(error if math.isfinite(error) else math.inf)
    return max(errors)


def _cpu_times(variants: dict[str, Work]) -> dict[str, list[float]]:
    """Seconds a call, one figure a round."""
    repeats = {}
    for name, work in variants.items():
        work()
        repeats[name] = max(1, round(SECONDS_A_ROUND / max(_seconds(work, 1), 1e-7)))
    times: dict[str, list[float]] = {name: [] for name in variants}
    for turn in range(ROUNDS):
        for name in list(variants)[:: 1 if turn % 2 == 0 else -1]:
            times[name].append(_seconds(variants[name], repeats[name]))
    return times


def _seconds(work: Work, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - start) / repeats


def _gpu_times(variants: dict[str, Work]) -> dict[str, list[float]]:
    """As `_cpu_times`, with GPU events and the cache flushed before each call.

    Where a call is as long as a round, as in decoding, the clock is read when the GPU
    has finished; `do_bench` would make eight calls a round.
    """
    from triton.testing import do_bench

    seconds = []
    for work in variants.values():
        work()
        torch.cuda.synchronize()
        seconds.append(_seconds(partial(_finish, work), 1))
    if max(seconds, default=0.0) > SECONDS_A_ROUND:
        return _cpu_times({k: partial(_finish, work) for k, work in variants.items()})
    times: dict[str, list[float]] = {name: [] for name in variants}
    for turn in range(ROUNDS):
        for name in list(variants)[:: 1 if turn % 2 == 0 else -1]:
            times[name].append(
                1e-3
                * do_bench(variants[name], warmup=25, rep=100, return_mode="median")
            )
    return times


def _finish(work: Work) -> None:
    """Call, then wait until the GPU has finished."""
    work()
    torch.cuda.synchronize()


def peak_bytes(work: Callable[[], object], device: torch.device | str = "cpu") -> int:
    """Largest number of bytes that torch held during `work()` beyond those before.

    Tensors that existed before are not counted, not even when `work` releases them on
    the CPU. What `work` returns is alive until it has ended, so it counts. On CUDA the
    figure comes from `torch.cuda.max_memory_allocated`, whose allocator rounds each
    block up to 512 bytes; on the CPU it is exact.

    Raises:
        ValueError: the device is neither the CPU nor CUDA.
    """
    kind = torch.device(device).type
    if kind == "cpu":
        return _peak_on_cpu(work)
    if kind == "cuda":
        return _peak_on_cuda(work, torch.device(device))
    raise ValueError(
        f"device must be 'cpu' or 'cuda' to measure memory, got {str(device)!r}"
    )


def _peak_on_cpu(work: Callable[[], object]) -> int:
    # Without this the profiler's backend writes two lines to stderr at every run; it
    # reads the variable once.
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        work()
    results = record.profiler and record.profiler.kineto_results
    assert results
    changes = [
        (event.start_ns(), event.nbytes())
        for event in results.events()
        if event.name() == "[memory]"
    ]
    changes.sort(key=lambda change: change[0])
    return max(accumulate((n_bytes for _, n_bytes in changes), initial=0))


def _peak_on_cuda(work: Callable[[], object], device: torch.device) -> int:
    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    work()
    torch.cuda.synchronize(device)
    return torch.cuda.max_memory_allocated(device) - before


def document(suite: str, device: Device, rows: list[CaseResult]) -> dict[str, Any]:
    """All that a figure in the book cites: machine, versions, commit, rows."""
    return {
        "suite": suite,
        "machine": device.describe(),
        "versions": versions(),
        "commit": commit(),
        "rows": [{**asdict(row), "met": row.met} for row in rows],
    }


def table(result: dict[str, Any]) -> str:
    """The rows in columns, with the machine above them."""
    machine, found = result["machine"], result["versions"]
    head = (
        f"{result['suite']} on {machine['name']} ({machine['device']},"
        f" {machine['threads']} thread(s), load {machine['load_average']}), "
        + ", ".join(f"{name} {version}" for name, version in found.items())
        + f", commit {result['commit']}"
    )
    cells: list[tuple[str, ...]] = [
        (
            "case",
            "candidate",
            "against",
            "ratio",
            "min..max",
            "ms",
            "% of peak",
            "target",
            "",
        )
    ]
    cells += [_cells(row) for row in result["rows"]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join([head, *lines])


def write(result: dict[str, Any], path: Path) -> None:
    """Store the document; the file appears whole or not at all."""
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    with whole_file(path) as file:
        file.write(text.encode())


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    limit = "<=" if row["at_most"] else ">="
    met = {True: "met", False: "missed", None: ""}[row["met"]]
    bound = f"bound {row['bound']:.1f}x" if row["bound"] else ""
    return (
        row["case"],
        row["candidate"],
        row["baseline"],
        _number(row["ratio"], "{:.3g}"),
        "" if row["low"] is None else f"{row['low']:.3g}..{row['high']:.3g}",
        _number(row["candidate_ms"], "{:.3f}"),
        _number(row["percent_of_peak"], "{:.0f}"),
        "" if row["target"] is None else f"{limit} {row['target']:g} {met}",
        ", ".join(part for part in (bound, row["note"]) if part),
    )


def _number(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)


def gpu_seconds(work: Work) -> float:
    """Median seconds of a call on the GPU, after a warm-up of a second."""
    from triton.testing import do_bench

    return 1e-3 * float(do_bench(work, warmup=1000, rep=3000, return_mode="median"))


@dataclass(frozen=True)
class Utilisation:
    """A step whose floating-point operations are counted and whose time is taken."""

    name: str
    """Of the case."""
    candidate: str
    """What the row calls the step."""
    step: Work
    """What is timed: forward, loss, backward, optimiser."""
    counted: Work
    """The same step in a form whose operations PyTorch can count, such as one that is
    not compiled."""
    n_units: int
    """Tokens or clips of a step."""
    unit: str
    """What these are called."""
    target: float | None = None
    """Share of the peak that the course promises, if it promises one."""
    seconds_of: Callable[[Work], float] = gpu_seconds

    def run(self, device: Device) -> list[CaseResult]:
        """Count and time."""
        with FlopCounterMode(display=False) as counter:
            self.counted()
        seconds = self.seconds_of(self.step)
        rate = counter.get_total_flops() / seconds
        share = None if device.peak_flops is None else rate / device.peak_flops
        return [
            CaseResult(
                case=self.name,
                candidate=self.candidate,
                baseline="peak of the GPU" if device.is_cuda else "peak of the CPU",
                ratio=share,
                candidate_ms=1e3 * seconds,
                flops_per_second=rate,
                percent_of_peak=None if share is None else 100 * share,
                target=self.target,
                note=f"{self.n_units / seconds:,.0f} {self.unit}/s",
            )
        ]
