"""Measuring: a wrong candidate is never timed, ratios point the right way, results are written whole."""

import json
import sys
import time
import types
from contextlib import nullcontext

import pytest
import torch
from torch.nn.attention import SDPBackend

from coursepkg.bench import CASES, SUITES, machine, measure, published_results, run_suite
from coursepkg.bench.machine import Device, choose_device, circumstances
from coursepkg.bench.measure import (
    BenchmarkCase,
    CaseResult,
    Comparison,
    Gate,
    document,
    peak_bytes,
    table,
    write,
)
from coursepkg.bench.suites import attention
from coursepkg.bench.suites.attention import dense_flops
from coursepkg.processor import multiplies_bfloat16

CPU = Device("cpu", 1)
ATTENTION = [
    getattr(attention, place.partition(":")[2]) for place in CASES.values() if "suites.attention" in place
]
EXACT = [torch.tensor([1.0, 2.0], dtype=torch.float64)]
KILO = torch.Size((1000,))
FLOAT = 4


def gate(candidate_values):
    plain = [x + 1e-7 for x in EXACT]
    return Gate("ours", lambda: [torch.tensor(candidate_values)], lambda: plain, lambda: EXACT)


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves only when work is done, so that no assertion hangs on the machine's speed."""
    assert CPU.peak_flops > 0, "measured once, while the clock still moves by itself"
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])

    def work(seconds):
        def run():
            now[0] += seconds

        return run

    return work


def test_a_wrong_candidate_is_not_timed(clock):
    case = BenchmarkCase(
        "c", {"ours": clock(0.01), "theirs": clock(0.02)}, [Comparison("ours", "theirs")], [gate([1.0, 2.1])]
    )
    (row,) = case.run(CPU)
    assert row.failed
    assert row.ratio is None
    assert "more than twice the plain version's" in row.note


def test_nan_in_any_output_stops_a_candidate():
    zero, nan = torch.zeros(2), torch.full((2,), torch.nan)
    exact = [zero.double() + 1, zero.double() + 1]
    broken = Gate("ours", lambda: [zero + 1, nan], lambda: exact, lambda: exact)
    assert broken.failure() == "an output is not finite"
    as_broken_as_plain = Gate("ours", broken.compute, broken.compute, broken.exact)
    assert as_broken_as_plain.failure() == "an output is not finite"


def test_an_exact_zero_is_compared_without_dividing_by_zero():
    zero, off = torch.zeros(2), torch.full((2,), 1e-3)
    exact = [zero.double()]
    assert Gate("ours", lambda: [zero], lambda: [zero], lambda: exact).failure() is None
    assert "more than twice" in Gate("ours", lambda: [off], lambda: [zero], lambda: exact).failure()


def test_ratio_is_baseline_over_candidate(clock):
    case = BenchmarkCase(
        "c",
        {"ours": clock(0.01), "theirs": clock(0.03)},
        [Comparison("ours", "theirs", target=2.5)],
        [gate([1.0, 2.0])],
        flops={"ours": 1e9},
    )
    (row,) = case.run(CPU)
    assert row.ratio == pytest.approx(3.0)
    assert row.candidate_ms == pytest.approx(10.0)
    assert row.flops_per_second == pytest.approx(1e11)
    assert row.met is True
    assert row.note == ""


def test_a_wide_spread_is_called_noisy(clock):
    steps = iter([0.2] * 5 + [0.6] * 100)
    slow = clock(0.2)

    def uneven():
        clock(next(steps))()

    (row,) = BenchmarkCase("c", {"ours": uneven, "theirs": slow}, [Comparison("ours", "theirs")]).run(CPU)
    assert row.note == "too noisy"
    assert row.low < row.high


def test_limits_may_be_upper_ones():
    assert CaseResult("m", "a", "b", 0.04, target=0.05, at_most=True).met is True
    assert CaseResult("m", "a", "b", 0.06, target=0.05, at_most=True).met is False
    assert CaseResult("m", "a", "b", 0.6, target=0.75).met is False
    assert CaseResult("m", "a", "b", 0.6).met is None


def test_document_table_and_file(tmp_path):
    rows = [CaseResult("task", "ours", "theirs", 2.0, 1.9, 2.1, 1.0, 2.0, target=1.5, bound=4.0)]
    result = document("attention", CPU, rows)
    assert {"suite", "machine", "versions", "commit", "rows"} == set(result)
    assert result["machine"]["threads"] == 1
    assert "bound 4.0x" in table(result)
    assert ">= 1.5 met" in table(result)
    path = tmp_path / "attention-cpu.json"
    write(result, path)
    assert json.loads(path.read_text())["rows"][0]["ratio"] == 2.0
    assert [p.name for p in tmp_path.iterdir()] == ["attention-cpu.json"]
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write(result, tmp_path / "folder")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["attention-cpu.json", "folder"]


def test_without_git_and_triton_a_measurement_names_neither(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert machine.commit() is None
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setitem(sys.modules, "triton", None)
    assert machine.versions()["triton"] is None


def test_the_speed_of_the_machine_is_measured_once_and_draws_nothing():
    machine._measured_matmul_flops.cache_clear()
    state = torch.get_rng_state()
    first = circumstances()["machine"]["peak_flops"]
    assert circumstances()["machine"]["peak_flops"] == first, "two measurements differ in their last digits"
    assert torch.get_rng_state().equal(state)


def test_suite_is_run_printed_and_stored(clock, monkeypatch, tmp_path, capsys):
    """The whole path of the command with a suite of its own: one that passes its gate, then one that does not."""
    monkeypatch.setattr("coursepkg.bench.machine._measured_matmul_flops", lambda threads: 1e11)
    values = [1.0, 2.0]
    work = {"ours": clock(0.01), "theirs": clock(0.02)}
    suite = types.ModuleType("coursepkg.bench.suites.attention")
    suite.window_cases = lambda device: [
        BenchmarkCase("c", work, [Comparison("ours", "theirs")], [gate(values)])
    ]
    monkeypatch.setitem(sys.modules, "coursepkg.bench.suites.attention", suite)
    path = tmp_path / "window-cpu.json"
    assert run_suite("window", device="cpu", out=path, json=True) == 0
    printed = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert printed == json.loads(path.read_text())
    assert printed["rows"][0]["ratio"] == pytest.approx(2.0)
    values[1] = 3.0
    assert run_suite("window", device="cpu") == 1


def test_a_call_as_long_as_a_round_is_timed_to_its_end_on_a_gpu(clock, monkeypatch):
    """Short calls go to Triton's `do_bench`; it would make eight calls a round of long ones."""
    testing = types.ModuleType("triton.testing")
    testing.do_bench = lambda work, **options: 1000.0
    monkeypatch.setitem(sys.modules, "triton", types.ModuleType("triton"))
    monkeypatch.setitem(sys.modules, "triton.testing", testing)
    finished = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: finished.append(True))
    times = measure._gpu_times({"long": clock(0.5), "short": clock(0.05)})
    assert times == {"long": [pytest.approx(0.5)] * 7, "short": [pytest.approx(0.05)] * 7}
    assert len(finished) > 2 * 7
    assert measure._gpu_times({"short": clock(0.05)}) == {"short": [1.0] * 7}
    assert measure._gpu_times({}) == {}


def test_every_suite_has_its_cases():
    assert CASES.keys() == SUITES.keys()


def test_unknown_suite_and_device():
    with pytest.raises(
        ValueError,
        match="suite must be one of attention, window, linear, gqa-decode, unfused-bfloat16, decoding, training, "
        "translation, ocr, ocr-rivals, threads, sign-language, landmarks, resume, class, got 'x'",
    ):
        run_suite("x")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="device cuda is not available here"):
            choose_device("cuda", 1)


def test_flops_convention():
    assert dense_flops(4096) == 4 * 8 * 4096**2 * 64 / 2
    assert dense_flops(4096, backward=True) == 3.5 * dense_flops(4096)


@pytest.mark.parametrize("cases", ATTENTION)
def test_every_gate_passes(cases):
    """What the suites race is right: each gate is run, nothing is timed."""
    if cases is attention.bfloat16_cases and not multiplies_bfloat16():
        pytest.skip("this processor does not multiply bfloat16 itself")
    found = [case for case in cases(CPU) if isinstance(case, BenchmarkCase)]
    gates = {repr(case.name): gate for case in found for gate in case.gates}
    assert gates
    assert {name: gate.failure() for name, gate in gates.items()} == dict.fromkeys(gates)


@pytest.mark.parametrize("cases", ATTENTION)
@pytest.mark.parametrize("gpu", [False, True])
def test_every_comparison_names_its_variants(cases, gpu, monkeypatch):
    if cases is attention.bfloat16_cases and (gpu or not multiplies_bfloat16()):
        with pytest.raises(ValueError, match="needs --device cpu and a processor that multiplies bfloat16"):
            cases(Device("cuda" if gpu else "cpu", 1))
        return
    # The suites' GPU branch is taken, but with its tensors where every machine can hold them.
    monkeypatch.setattr(Device, "is_cuda", gpu)
    for case in cases(CPU):
        if isinstance(case, BenchmarkCase):
            names = {name for c in case.comparisons for name in (c.candidate, c.baseline)}
            assert names <= set(case.variants)


def test_causal_sdpa_is_pinned_and_named_on_a_gpu(monkeypatch):
    pinned = []
    monkeypatch.setattr(attention, "sdpa_kernel", lambda backend: pinned.append(backend) or nullcontext())
    q, k, v = attention.random_qkv(CPU, 16)
    name, on_cpu = attention.sdpa_causal(CPU)
    assert name == "SDPA causal"
    expected = on_cpu(q, k, v)
    assert pinned == []
    name, on_gpu = attention.sdpa_causal(Device("cuda", 1))
    assert name == "SDPA flash causal"
    assert torch.equal(on_gpu(q, k, v), expected)
    assert pinned == [SDPBackend.FLASH_ATTENTION]


def test_stored_results_say_where_they_come_from():
    for name in SUITES:
        for device in ("cpu", "cuda"):
            result = published_results(name, device)
            if result is not None:
                assert result["suite"] == name
                assert result["machine"]["device"] == device
                assert result["machine"]["name"]
                assert result["versions"]["torch"]
                assert result["rows"]


def test_one_tensor_counts_its_bytes() -> None:
    assert peak_bytes(lambda: torch.empty(KILO)) == 1000 * FLOAT


def test_nothing_allocated_is_zero() -> None:
    assert peak_bytes(lambda: None) == 0


def test_views_and_out_buffers_add_nothing() -> None:
    a, b, buffer = torch.ones(KILO), torch.ones(KILO), torch.empty(KILO)
    assert peak_bytes(lambda: a.view(10, 100).transpose(0, 1)[3]) == 0
    assert peak_bytes(lambda: torch.mul(a, b, out=buffer)) == 0


def test_released_tensors_are_given_back() -> None:
    def one_after_another() -> None:
        for _ in range(5):
            torch.empty(KILO)

    def all_at_once() -> None:
        _ = [torch.empty(KILO) for _ in range(5)]

    assert peak_bytes(one_after_another) == 1000 * FLOAT
    assert peak_bytes(all_at_once) == 5 * 1000 * FLOAT


def test_a_peak_in_the_middle_is_seen() -> None:
    def work() -> torch.Tensor:
        wide = torch.empty(7, 1000)
        del wide
        return torch.empty(KILO)

    assert peak_bytes(work) == 7 * 1000 * FLOAT


def test_existing_tensors_are_not_counted() -> None:
    held = [torch.empty(KILO)]
    assert peak_bytes(held.clear) == 0


def test_memory_kept_for_backward_counts() -> None:
    x = torch.rand(1000, requires_grad=True)
    # exp keeps its output for the backward pass, and the second exp makes one more.
    assert peak_bytes(lambda: x.exp().exp()) == 2 * 1000 * FLOAT
    with torch.no_grad():
        assert peak_bytes(lambda: x.exp().exp().exp()) == 2 * 1000 * FLOAT


def test_unknown_device_is_refused() -> None:
    with pytest.raises(ValueError, match="device must be 'cpu' or 'cuda'"):
        peak_bytes(lambda: None, device="meta")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_cuda_counts_blocks_of_512_bytes() -> None:
    device = torch.device("cuda")
    assert peak_bytes(lambda: torch.empty(1024, device=device), device) == 4096
