"""What the suite on clips races is right: gates are run and every variant works; nothing is timed."""

import dataclasses

import pytest
import torch

from coursepkg.bench import SUITES
from coursepkg.bench.machine import Device
from coursepkg.bench.race import Contest, Row
from coursepkg.projects.sign_language.bench import clips
from coursepkg.projects.sign_language.recipe import PRESETS, Recipe
from coursepkg.projects.sign_language.synthetic.config import SignersConfig

CPU = Device("cpu", 1)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The contests as they are, on two small films and with a smaller baseline."""
    films = SignersConfig(
        words=2, signers=1, most_clips=1, least_clips=1, least_frames=16, most_frames=16, size=64
    )
    monkeypatch.setattr(clips, "FILMS", dataclasses.replace(films, solid=0.0, frozen=0.0, duplicate=0.0))
    monkeypatch.setattr(clips, "N_CLIPS", 2)
    small = dataclasses.replace(PRESETS["crnn-baseline"], size=32)
    monkeypatch.setitem(PRESETS, "crnn-baseline", small)


def test_every_candidate_passes_its_gate_and_every_variant_runs(few: None) -> None:
    pytest.importorskip("transformers")
    assert "sign-language" in SUITES
    races = [one.contest for one in clips.contests(CPU) if isinstance(one, clips.Rated)]
    assert [len(contest.comparisons) for contest in races] == [2, 1, 1]
    for contest in races:
        assert {gate.candidate for gate in contest.gates} <= {c.candidate for c in contest.comparisons}
        assert [gate.failure() for gate in contest.gates] == [None] * len(contest.gates)
        for work in contest.variants.values():
            work()


def test_the_gate_catches_a_wrong_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    contest = step_contest_of_tiny()
    right = clips.step

    def wrong(model: torch.nn.Module, batch: clips.ClipBatch) -> torch.Tensor:
        loss = right(model, batch)
        if torch._C._get_mkldnn_enabled() and batch.frames.dtype == torch.float32:
            next(model.parameters()).grad.mul_(1.01)
        return loss

    monkeypatch.setattr(clips, "step", wrong)
    assert "more than twice" in str(contest.gates[0].failure())


def test_a_step_gives_every_weight_a_gradient() -> None:
    recipe = tiny()
    model = clips.network(recipe)
    loss = clips.step(model, clips.noise(recipe, 2))
    assert torch.isfinite(loss)
    assert all(p.grad is not None and bool(p.grad.isfinite().all()) for p in model.parameters())


def test_rows_say_clips_a_second() -> None:
    row = Row("c", "cached", "live", 20.0, candidate_ms=10.0, opponent_ms=200.0, note="too noisy")
    assert clips.with_rates(row, 4).note == "400.0 against 20.0 clips/s; too noisy"
    failed = Row("c", "cached", "live", None, note="failed the gate: error")
    assert clips.with_rates(failed, 4) == failed


def tiny() -> Recipe:
    return dataclasses.replace(
        PRESETS["small"], size=32, n_frames=4, channels=(4, 6), n_blocks=(0, 1), d_model=16
    )


def step_contest_of_tiny() -> Contest:
    return clips.step_contest({"tiny": tiny(), "other": tiny()}, 2)
