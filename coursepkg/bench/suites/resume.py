"""Does training that is killed with kill -9 and resumed end bit-equal?

The job is a small Transformer that learns to reverse sequences, with everything that
has a state: dropout, AdamW, a schedule, accumulation, an average of the weights,
validation with a best checkpoint, two logs.
"""

import contextlib
import io
import multiprocessing
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from coursepkg.bench.machine import Device
from coursepkg.bench.measure import CaseResult
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.transformer import Transformer
from coursepkg.data.batching import Pair, TextBatch, TokenBatches
from coursepkg.training.checkpoint import LAST, read_checkpoint
from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import History, fit
from coursepkg.training.losses import label_smoothed_cross_entropy
from coursepkg.training.schedules import inverse_sqrt
from coursepkg.training.seed import set_seed

N_STEPS = 30
N_WORDS = 12


@dataclass(frozen=True)
class Crash:
    """What came of one run that was killed and resumed."""

    killed_at: tuple[int, ...]
    """Steps in the log at each kill."""
    left_half_written: int
    """Kills that hit a checkpoint while it was being written."""
    broken: tuple[str, ...]
    """What a kill left unreadable; it must be empty."""
    different: tuple[str, ...]
    """Files that are not byte for byte those of the run that was never stopped; it must
    be empty."""

    @property
    def is_exact(self) -> bool:
        """Whether nothing was broken and nothing differs."""
        return not self.broken and not self.different


class ReverseTask:
    """Say the source backwards."""

    def count(self, batch: TextBatch) -> int:
        """Target tokens."""
        return batch.n_tokens

    def loss(self, model: nn.Module, batch: TextBatch) -> Tensor:
        """Summed cross-entropy."""
        return label_smoothed_cross_entropy(
            model(batch.src, batch.tgt_in), batch.tgt_out
        )


def train_reverser(
    out: Path | None, *, n_steps: int = N_STEPS, resume: bool = True
) -> History:
    """The job: the same call, whether it is the first or goes on after a kill."""
    torch.set_num_threads(1)
    set_seed(1)
    model = Transformer(
        TransformerConfig(
            N_WORDS,
            d_model=16,
            n_heads=2,
            n_encoder_layers=1,
            n_decoder_layers=1,
            d_ff=32,
            max_len=16,
        )
    )
    held_out = TokenBatches(_pairs(16, seed=2), 128, shuffle=False).epoch(0)

    def validate(network: nn.Module) -> dict[str, float]:
        total = sum(float(ReverseTask().loss(network, batch)) for batch in held_out)
        return {"loss": total / sum(batch.n_tokens for batch in held_out)}

    config = TrainConfig(
        max_steps=n_steps,
        learning_rate=inverse_sqrt(5e-3, 10),
        accumulate=2,
        ema_decay=0.9,
        validate_every=5,
        checkpoint_every=2,
        progress=False,
    )
    batches = TokenBatches(_pairs(60, seed=1), 96)
    return fit(
        model,
        ReverseTask(),
        batches,
        config=config,
        out=out,
        validate=validate,
        resume=resume,
    )


def kill_and_resume(
    folder: Path, seed: int, *, n_kills: int = 1, n_steps: int = N_STEPS
) -> Crash:
    """Train, kill -9 at random, resume to the end, compare with an unstopped run.

    Args:
        folder: for the runs; the undisturbed one is made once, in `folder/whole`, and
            used again.
        seed: of the moments; each seed has a folder of its own.
        n_kills: how often the run is killed.
        n_steps: length of the run.
    """
    whole, out = folder / "whole", folder / f"killed-{seed}"
    if not (whole / LAST).exists():
        _ended(whole, n_steps)
    draw = random.Random(seed)
    killed_at: list[int] = []
    broken: list[str] = []
    half_written = 0
    while len(killed_at) < n_kills:
        # Aim at a step, then wait a random part of a step, so that any instruction may
        # be the last.
        aim = draw.randint(min(_n_rows(out), n_steps - 2), n_steps - 2)
        if not _killed(out, n_steps, aim, delay=draw.uniform(0, 0.02)):
            shutil.rmtree(out)
            killed_at.clear()
            continue
        killed_at.append(_n_rows(out))
        half_written += bool(list(out.glob("*.part")))
        broken += _faults(out)
    _ended(out, n_steps)
    return Crash(
        tuple(killed_at), half_written, tuple(broken), tuple(_differences(whole, out))
    )


def _started(out: Path, n_steps: int) -> Any:
    """The job in a process of its own."""
    # A fork server forks from a fresh process: nothing of this one, threads and random
    # states, comes along.
    context: Any = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    process = context.Process(target=_job, args=(out, n_steps))
    process.start()
    return process


def _job(out: Path, n_steps: int) -> None:
    """What the process does; what a run says when it cleans up is not shown."""
    with contextlib.redirect_stderr(io.StringIO()):
        train_reverser(out, n_steps=n_steps)


def _ended(out: Path, n_steps: int) -> None:
    """Let the job run to its end."""
    process = _started(out, n_steps)
    process.join()
    if process.exitcode != 0:
        raise RuntimeError(
            f"the run in {out} must end by itself, got exit code {process.exitcode}"
        )


def _killed(out: Path, n_steps: int, aim: int, delay: float) -> bool:
    """Kill the job after it has logged `aim` steps; False if it had ended by then."""
    log = out / "log.csv"
    before = log.stat().st_ino if log.exists() else None
    process = _started(out, n_steps)
    # A run that resumes replaces the log by one that is cut back: from then on its rows
    # are its own.
    while process.is_alive() and not (
        log.exists() and log.stat().st_ino != before and _n_rows(out) >= aim
    ):
        time.sleep(0.001)
    time.sleep(delay)
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


def _pairs(n: int, seed: int) -> list[Pair]:
    draw = random.Random(seed)
    words = [
        [draw.randrange(4, N_WORDS) for _ in range(draw.randint(2, 9))]
        for _ in range(n)
    ]
    return [(source, source[::-1]) for source in words]


def _n_rows(out: Path) -> int:
    path = out / "log.csv"
    return max(0, path.read_bytes().count(b"\n") - 1) if path.exists() else 0


def _faults(out: Path) -> Iterator[str]:
    """What cannot be read of the checkpoints that the run has."""
    try:
        if (out / LAST).exists():
            read_checkpoint(out).tensors()
        if (out / "best.json").exists():
            read_checkpoint(out, "best").tensors()
    except (OSError, ValueError) as fault:
        yield str(fault)


def _differences(whole: Path, out: Path) -> Iterator[str]:
    """Files that only one of two runs has, or whose bytes differ."""
    names = {
        path.relative_to(root)
        for root in (whole, out)
        for path in root.rglob("*")
        if path.is_file()
    }
    for name in sorted(names):
        if not all((root / name).is_file() for root in (whole, out)):
            yield f"{name} is missing in one run"
        elif (whole / name).read_bytes() != (out / name).read_bytes():
            yield str(name)


TIMES = 20


class ResumeCase:
    """Real processes, really killed."""

    def run(self, device: Device) -> list[CaseResult]:
        """Kill and resume `TIMES` runs, and compare each file with a whole run's."""
        with tempfile.TemporaryDirectory() as folder:
            crashes = [kill_and_resume(Path(folder), seed) for seed in range(TIMES)]
        exact = sum(crash.is_exact for crash in crashes)
        faults = [
            fault for crash in crashes for fault in (*crash.broken, *crash.different)
        ]
        steps = sorted(step for crash in crashes for step in crash.killed_at)
        note = f"killed at steps {', '.join(map(str, steps))}"
        return [
            CaseResult(
                case=(
                    f"kill -9 at a random moment, resume, {TIMES} times: share that"
                    " ends bit-equal, no broken file"
                ),
                candidate="fit(resume=True)",
                baseline="never stopped",
                ratio=exact / TIMES,
                target=1.0,
                note="; ".join([note, *faults[:3]]),
            )
        ]


def cases(device: Device) -> list[ResumeCase]:
    """On a CPU only: on a GPU sums may come in another order."""
    if device.is_cuda:
        raise ValueError(
            "the suite resume compares bits, which only a CPU guarantees; use"
            " --device cpu"
        )
    return [ResumeCase()]
