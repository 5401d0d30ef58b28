"""A race between implementations: they must agree first, then they run interleaved, and ratios are reported.

The rules: outputs and gradients are compared with float64 before anything is timed; within a round every variant
runs, and the order turns round from one round to the next, so that a slow minute of the machine hits all alike;
a figure is the median of the ratios within each round, with the smallest and the largest beside it.
"""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from coursepkg.bench.machine import Device

ROUNDS = 7
SECONDS_A_ROUND = 0.15
"""A variant repeats within a round until this much time has passed."""
NOISY_SPREAD = 1.3
"""A ratio whose largest round exceeds its smallest by more than this factor is marked too noisy."""

Work = Callable[[], object]
Outputs = Callable[[], Sequence[Tensor]]


@dataclass(frozen=True)
class Gate:
    """A check at a size where float64 is affordable: candidate and plain version against the exact result."""

    candidate: str
    compute: Outputs
    """Outputs (and gradients, where they are raced) of the candidate."""
    plain: Outputs
    """The same from a plain implementation in the same precision."""
    exact: Outputs
    """The same in float64."""

    def failure(self) -> str | None:
        """Why the candidate must not be timed: an error above twice the plain version's. None when it may."""
        exact = [x.double() for x in self.exact()]
        candidate, plain = _relative_error(self.compute(), exact), _relative_error(self.plain(), exact)
        if not math.isfinite(candidate):
            return "an output is not finite"
        if candidate <= 2 * plain + 1e-12:
            return None
        return f"error {candidate:.2e} is more than twice the plain version's {plain:.2e}"


@dataclass(frozen=True)
class Comparison:
    """One ratio to report: how many times faster the candidate is than the opponent."""

    candidate: str
    opponent: str
    target: float | None = None
    """The ratio the course promises, if it promises one."""
    bound: float | None = None
    """The largest ratio the arithmetic allows, for instance the ratio of visited blocks."""


@dataclass(frozen=True)
class Row:
    """One line of a result."""

    contest: str
    candidate: str
    opponent: str
    ratio: float | None
    """Opponent's time over candidate's time (above 1: the candidate is faster); for memory and growth, the quotient."""
    low: float | None = None
    high: float | None = None
    candidate_ms: float | None = None
    opponent_ms: float | None = None
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
class Contest:
    """Variants of one task, what to compare, and the gates they pass first."""

    name: str
    variants: dict[str, Work]
    comparisons: Sequence[Comparison]
    gates: Sequence[Gate] = ()
    flops: dict[str, float] = field(default_factory=dict)
    """FLOPs that a variant's task counts for, by variant."""

    def run(self, device: Device) -> list[Row]:
        """Gate, time and compare."""
        stopped = {gate.candidate: reason for gate in self.gates if (reason := gate.failure())}
        running = {name: work for name, work in self.variants.items() if name not in stopped}
        times = (_gpu_times if device.is_cuda else _cpu_times)(running)
        return [self._row(comparison, times, stopped, device) for comparison in self.comparisons]

    def _row(
        self, c: Comparison, times: dict[str, list[float]], stopped: dict[str, str], device: Device
    ) -> Row:
        if c.candidate in stopped:
            note = f"failed the gate: {stopped[c.candidate]}"
            return Row(self.name, c.candidate, c.opponent, None, target=c.target, note=note)
        ratios = [b / a for a, b in zip(times[c.candidate], times[c.opponent], strict=True)]
        seconds = statistics.median(times[c.candidate])
        rate = self.flops[c.candidate] / seconds if c.candidate in self.flops else None
        peak = device.peak_flops
        return Row(
            contest=self.name,
            candidate=c.candidate,
            opponent=c.opponent,
            ratio=statistics.median(ratios),
            low=min(ratios),
            high=max(ratios),
            candidate_ms=1e3 * seconds,
            opponent_ms=1e3 * statistics.median(times[c.opponent]),
            flops_per_second=rate,
            percent_of_peak=100 * rate / peak if rate and peak else None,
            target=c.target,
            bound=c.bound,
            note="too noisy" if max(ratios) > NOISY_SPREAD * min(ratios) else "",
        )


def _relative_error(values: Sequence[Tensor], exact: Sequence[Tensor]) -> float:
    """The largest of ||x - exact|| / ||exact|| over the outputs; infinite when any of them is not finite."""
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
    """As `_cpu_times`, with events on the GPU and the cache flushed before each call."""
    from triton.testing import do_bench

    for work in variants.values():
        work()
    torch.cuda.synchronize()
    times: dict[str, list[float]] = {name: [] for name in variants}
    for turn in range(ROUNDS):
        for name in list(variants)[:: 1 if turn % 2 == 0 else -1]:
            times[name].append(1e-3 * do_bench(variants[name], warmup=25, rep=100, return_mode="median"))
    return times
