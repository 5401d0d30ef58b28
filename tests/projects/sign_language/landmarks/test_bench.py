"""What the suite on landmarks races: gates are run, every variant works, the original is called as its users call it;
nothing is timed.
"""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from coursepkg.bench import CASES, SUITES
from coursepkg.bench.machine import Device
from coursepkg.bench.measure import BenchmarkCase, CaseResult
from coursepkg.projects.sign_language.landmarks import bench

CPU = Device("cpu", 1)


@pytest.fixture(scope="module")
def film() -> np.ndarray:
    frames = bench.drawn_film(16)
    assert frames.shape == (16, 480, 640, 3)
    assert frames.dtype == np.uint8
    return frames[3:7]


def test_the_suite_is_known() -> None:
    assert "landmarks" in SUITES
    assert CASES["landmarks"].endswith("landmarks.bench:cases")


def test_the_gate_passes_and_every_variant_runs(film: np.ndarray) -> None:
    calls = []
    case = bench.frame_rate("drawn", film, lambda: calls.append(1)).case
    assert [(c.candidate, c.baseline, c.target) for c in case.comparisons] == [
        (bench.TWO, bench.ONE, None),
        (bench.TWO, bench.ORIGINAL, pytest.approx(1 / 1.2)),
        (bench.ONE, bench.ORIGINAL, None),
    ]
    assert [gate.failure() for gate in case.gates] == [None]
    found = case.gates[0].compute()
    assert all(torch.isfinite(one).all() for one in found)
    case.variants[bench.ORIGINAL]()
    assert calls == [1]


def test_a_wrong_number_fails_the_gate(film: np.ndarray) -> None:
    case = bench.frame_rate("drawn", film).case
    assert [c.baseline for c in case.comparisons] == [bench.ONE]
    (gate,) = case.gates
    right = gate.compute()
    right[0][0, 0, 0] += 0.01
    wrong = type(gate)(gate.candidate, lambda: right, gate.plain, gate.exact)
    assert "more than twice" in str(wrong.failure())


def test_rows_give_frames_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    row = CaseResult("film", "a", "b", 2.0, candidate_ms=500.0, baseline_ms=1000.0, note="too noisy")
    unknown = CaseResult("film", "a", "b", None, note="failed the gate: x")
    monkeypatch.setattr(BenchmarkCase, "run", lambda self, device: [row, unknown])
    rated = bench.FrameRate(BenchmarkCase("film", {}, []), 30).run(CPU)
    assert [one.note for one in rated] == ["60.0 against 30.0 frames/s; too noisy", "failed the gate: x"]


class Graph:
    """Stands for one of MediaPipe's solutions."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def reset(self) -> None:
        self.seen.append("reset")

    def process(self, frame: np.ndarray) -> None:
        self.seen.append(f"{frame.shape}")


def test_the_original_sees_every_frame_of_a_new_film(
    film: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs = SimpleNamespace(hands=Graph(), pose=Graph())
    solutions = SimpleNamespace(
        hands=SimpleNamespace(Hands=lambda: graphs.hands), pose=SimpleNamespace(Pose=lambda: graphs.pose)
    )
    monkeypatch.setitem(sys.modules, "mediapipe", SimpleNamespace(solutions=solutions))
    run = bench.original(film)
    run()
    run()
    once = ["reset", *["(480, 640, 3)"] * len(film)]
    assert graphs.hands.seen == graphs.pose.seen == once * 2
