"""Training that is killed with kill -9 at random moments and resumed: are the weights bit-equal every time?"""

import tempfile
from pathlib import Path

from coursepkg.bench.machine import Device
from coursepkg.bench.race import Row
from coursepkg.training.crash import kill_and_resume

TIMES = 20


class ResumeContest:
    """Real processes, really killed."""

    def run(self, device: Device) -> list[Row]:
        """Kill and resume `TIMES` runs, each once, and compare each file with those of a whole run."""
        with tempfile.TemporaryDirectory() as folder:
            crashes = [kill_and_resume(Path(folder), seed) for seed in range(TIMES)]
        exact = sum(crash.is_exact for crash in crashes)
        faults = [fault for crash in crashes for fault in (*crash.broken, *crash.different)]
        steps = sorted(step for crash in crashes for step in crash.killed_at)
        note = f"killed at steps {', '.join(map(str, steps))}"
        return [
            Row(
                contest=f"kill -9 at a random moment, resume, {TIMES} times: share that ends bit-equal, no broken file",
                candidate="fit(resume=True)",
                opponent="never stopped",
                ratio=exact / TIMES,
                target=1.0,
                note="; ".join([note, *faults[:3]]),
            )
        ]


def contests(device: Device) -> list[ResumeContest]:
    """On a CPU: there the result is bit-equal, on a GPU sums may come in another order."""
    if device.is_cuda:
        raise ValueError("the suite resume compares bits, which only a CPU guarantees; use --device cpu")
    return [ResumeContest()]
