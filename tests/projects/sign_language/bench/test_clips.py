"""What the suite on clips races is right: gates are run and every variant works; nothing is timed."""

import dataclasses

import pytest
import torch

from coursepkg.bench import SUITES
from coursepkg.bench.machine import Device
from coursepkg.bench.measure import BenchmarkCase, CaseResult
from coursepkg.projects.sign_language import bench
from coursepkg.projects.sign_language.recipe import PRESETS, Recipe
from coursepkg.projects.sign_language.synthetic.signer import SignersConfig

CPU = Device("cpu", 1)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cases as they are, on two small films and with a smaller baseline."""
    films = SignersConfig(
        words=2, signers=1, most_clips=1, least_clips=1, least_frames=16, most_frames=16, size=64
    )
    monkeypatch.setattr(bench, "FILMS", dataclasses.replace(films, solid=0.0, frozen=0.0, duplicate=0.0))
    monkeypatch.setattr(bench, "N_CLIPS", 2)
    small = dataclasses.replace(PRESETS["crnn-baseline"], size=32)
    monkeypatch.setitem(PRESETS, "crnn-baseline", small)


def test_every_candidate_passes_its_gate_and_every_variant_runs(few: None) -> None:
    pytest.importorskip("transformers")
    assert "sign-language" in SUITES
    races = [one.case for one in bench.cases(CPU) if isinstance(one, bench.Rated)]
    assert [len(case.comparisons) for case in races] == [2, 1, 1]
    for case in races:
        assert {gate.candidate for gate in case.gates} <= {c.candidate for c in case.comparisons}
        assert [gate.failure() for gate in case.gates] == [None] * len(case.gates)
        for work in case.variants.values():
            work()


def test_the_gate_catches_a_wrong_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    case = step_contest_of_tiny()
    right = bench.step

    def wrong(model: torch.nn.Module, batch: bench.ClipBatch) -> torch.Tensor:
        loss = right(model, batch)
        if torch._C._get_mkldnn_enabled() and batch.frames.dtype == torch.float32:
            next(model.parameters()).grad.mul_(1.01)
        return loss

    monkeypatch.setattr(bench, "step", wrong)
    assert "more than twice" in str(case.gates[0].failure())


def test_a_step_gives_every_weight_a_gradient() -> None:
    recipe = tiny()
    model = bench.network(recipe)
    loss = bench.step(model, bench.noise(recipe, 2))
    assert torch.isfinite(loss)
    assert all(p.grad is not None and bool(p.grad.isfinite().all()) for p in model.parameters())


def test_rows_say_clips_a_second() -> None:
    row = CaseResult("c", "cached", "live", 20.0, candidate_ms=10.0, baseline_ms=200.0, note="too noisy")
    assert bench.with_rates(row, 4).note == "400.0 against 20.0 clips/s; too noisy"
    failed = CaseResult("c", "cached", "live", None, note="failed the gate: error")
    assert bench.with_rates(failed, 4) == failed


def tiny() -> Recipe:
    return dataclasses.replace(
        PRESETS["small"], size=32, n_frames=4, channels=(4, 6), n_blocks=(0, 1), d_model=16
    )


def step_contest_of_tiny() -> BenchmarkCase:
    return bench.step_contest({"tiny": tiny(), "other": tiny()}, 2)
