"""What share of a device's peak a training step reaches."""

from collections.abc import Callable
from dataclasses import dataclass

from torch.utils.flop_counter import FlopCounterMode

from coursepkg.bench.machine import Device
from coursepkg.bench.race import Row, Work


def gpu_seconds(work: Work) -> float:
    """Median seconds of a call on the GPU, after a warm-up of a second."""
    from triton.testing import do_bench

    return 1e-3 * float(do_bench(work, warmup=1000, rep=3000, return_mode="median"))


@dataclass(frozen=True)
class Utilisation:
    """A step whose floating-point operations are counted and whose time is taken."""

    name: str
    """Of the contest."""
    candidate: str
    """What the row calls the step."""
    step: Work
    """What is timed: forward, loss, backward, optimiser."""
    counted: Work
    """The same step in a form whose operations PyTorch can count, such as one that is not compiled."""
    n_units: int
    """Tokens or clips of a step."""
    unit: str
    """What these are called."""
    target: float | None = None
    """Share of the peak that the course promises, if it promises one."""
    seconds_of: Callable[[Work], float] = gpu_seconds

    def run(self, device: Device) -> list[Row]:
        """Count and time."""
        with FlopCounterMode(display=False) as counter:
            self.counted()
        seconds = self.seconds_of(self.step)
        rate = counter.get_total_flops() / seconds
        share = None if device.peak_flops is None else rate / device.peak_flops
        return [
            Row(
                contest=self.name,
                candidate=self.candidate,
                opponent="peak of the GPU" if device.is_cuda else "peak of the CPU",
                ratio=share,
                candidate_ms=1e3 * seconds,
                flops_per_second=rate,
                percent_of_peak=None if share is None else 100 * share,
                target=self.target,
                note=f"{self.n_units / seconds:,.0f} {self.unit}/s",
            )
        ]
