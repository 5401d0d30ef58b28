"""What the GPU row of the suite on clips does is a training step; nothing is timed."""

import pytest
import torch

from coursepkg.bench.machine import Device
from coursepkg.projects.sign_language import bench as module
from coursepkg.projects.sign_language.data.clip import normalise
from tests.projects.sign_language.bench.test_clips import tiny

CPU = Device("cpu", 1)


def test_a_step_lowers_the_loss_of_its_clips() -> None:
    race = module.end_to_end(CPU, tiny(), n_clips=4, compiled=False)
    model, _, frames, targets, kind = race.step.args
    assert (frames.shape, frames.dtype, kind) == ((4, 4, 32, 32, 3), torch.uint8, "cpu")

    def loss() -> float:
        model.eval()
        with torch.inference_mode():
            logits = model(normalise(frames), torch.ones(4, 4, dtype=torch.bool)).logits
        model.train()
        return float(torch.nn.functional.cross_entropy(logits, targets))

    weights = [p.detach().clone() for p in model.parameters()]
    race.counted()
    assert all(torch.equal(a, b) for a, b in zip(weights, model.parameters(), strict=True))
    before = loss()
    for _ in range(30):
        race.step()
    assert loss() < 0.8 * before
    assert all(p.grad is None for p in model.parameters())


def test_clips_a_second_follow_from_the_time_of_a_step() -> None:
    race = module.end_to_end(CPU, tiny(), n_clips=4, compiled=False)
    timed = type(race)(**{**vars(race), "seconds_of": lambda work: 0.5})
    (row,) = timed.run(CPU)
    assert row.note == "8 clips/s"
    assert row.candidate_ms == 500
    assert row.flops_per_second > 0
    assert row.percent_of_peak == pytest.approx(100 * row.flops_per_second / CPU.peak_flops)
