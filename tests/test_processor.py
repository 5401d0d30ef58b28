"""Threads: how many help, how they wait, and what is refused. No stopwatch decides here."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from coursepkg import processor
from coursepkg.cli import main
from coursepkg.doctor import Row, examine
from coursepkg.processor import (
    NUMBER,
    SHORT_SPIN,
    WAITING,
    Threads,
    allowed_threads,
    check_threads,
    cpu_quota,
    most_threads,
    physical_cores,
    useful_threads,
    with_threads,
    with_useful_threads,
)

WAITS = "from coursepkg import processor; print(*processor.waiting())"


def printed(program: str, **set_by_user: str) -> list[str]:
    """What a fresh process prints whose environment says nothing of threads but what the user set."""
    kept = {name: value for name, value in os.environ.items() if name not in (*WAITING, NUMBER)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=kept | set_by_user
    )
    return done.stdout.split()


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Four processors, and nobody said how many threads."""
    monkeypatch.delenv(NUMBER, raising=False)
    monkeypatch.setattr(processor, "visible_processors", lambda: {0, 1, 2, 3})
    monkeypatch.setattr(processor, "cpu_quota", lambda root: None)
    monkeypatch.setattr(processor, "physical_cores", lambda processors, root: len(processors))
    processor._busy_ratio_once.cache_clear()
    yield
    processor._busy_ratio_once.cache_clear()


def kernel(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


def test_waiting_is_passive_before_torch_is_loaded() -> None:
    probe = "import coursepkg, sys, os; print('torch' in sys.modules, os.environ['OMP_WAIT_POLICY']); import torch; "
    assert printed(probe + WAITS) == ["False", "PASSIVE", "True", "OMP_WAIT_POLICY=PASSIVE"]


def test_a_process_that_loaded_torch_first_is_told_so_and_its_children_wait_passively() -> None:
    probe = "import torch, os, coursepkg; print(os.environ['OMP_WAIT_POLICY']); "
    assert printed(probe + WAITS) == [
        "PASSIVE",
        *["False", "torch", "was", "imported", "before", "coursepkg"],
    ]


@pytest.mark.parametrize(
    ("name", "value", "sleeps"),
    [
        ("OMP_WAIT_POLICY", "ACTIVE", False),
        ("OMP_WAIT_POLICY", "passive", True),
        ("GOMP_SPINCOUNT", "1000", False),
        ("GOMP_SPINCOUNT", "0", True),
        ("KMP_BLOCKTIME", "200", False),
    ],
)
def test_what_the_user_set_stays(name: str, value: str, sleeps: bool) -> None:
    probe = f"import coursepkg, os; print(*(n for n in {WAITING} if n in os.environ)); "
    assert printed(probe + WAITS, **{name: value}) == [name, str(sleeps), f"{name}={value}"]


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "150000 100000"}, 1.5),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "max 100000"}, None),
        ({"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/cpu.max": "50000 100000"}, 0.5),
        (
            {
                "proc/self/cgroup": "0::/a/b",
                "sys/fs/cgroup/a/cpu.max": "300000 100000",
                "sys/fs/cgroup/a/b/cpu.max": "max 100000",
                "sys/fs/cgroup/cpu.max": "200000 100000",
            },
            2.0,
        ),
        (
            {
                "proc/self/cgroup": "5:memory:/x\n4:cpu,cpuacct:/docker/1f\n0::/",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "200000",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000",
            },
            2.0,
        ),
        (
            {
                "proc/self/cgroup": "1:cpu:/",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            },
            None,
        ),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "a lot"}, None),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "100000 0"}, None),
        ({"proc/self/cgroup": "nonsense"}, None),
        ({}, None),
    ],
)
def test_the_quota_of_a_container(tmp_path: Path, files: dict[str, str], quota: float | None) -> None:
    assert cpu_quota(kernel(tmp_path, files)) == quota


def test_hardware_threads_of_one_core_count_once(tmp_path: Path) -> None:
    siblings = {0: "0,2", 1: "1,3", 2: "0,2", 3: "1,3"}
    files = {
        f"sys/devices/system/cpu/cpu{n}/topology/thread_siblings_list": text for n, text in siblings.items()
    }
    root = kernel(tmp_path, files)
    assert physical_cores({0, 1, 2, 3}, root) == 2
    assert physical_cores({0, 2}, root) == 1
    assert physical_cores({0, 1}, root) == 2
    assert physical_cores({7, 8}, root) == 2  # nothing is known of these


def test_the_smallest_limit_decides_and_all_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processor, "visible_processors", lambda: {0, 1, 2, 3})
    siblings = {f"sys/devices/system/cpu/cpu{n}/topology/thread_siblings_list": f"{n % 2}" for n in range(4)}
    quota = {"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "10000 100000"}
    assert allowed_threads(kernel(tmp_path / "a", siblings)) == Threads(
        2, "4 visible, hardware threads of 2 cores"
    )
    found = allowed_threads(kernel(tmp_path / "b", siblings | quota))
    assert found == Threads(1, "4 visible, hardware threads of 2 cores, a quota of 0.1 processors")
    quota["sys/fs/cgroup/cpu.max"] = "250000 100000"
    assert allowed_threads(kernel(tmp_path / "c", quota)).number == 3


@pytest.mark.parametrize(
    ("ratio", "number"), [(0.7, 1), (1.1, 1), (1.29, 1), (1.35, 2), (2.0, 2), (3.9, 4), (5.0, 4)]
)
def test_threads_that_add_no_work_are_left_out(
    free: None, monkeypatch: pytest.MonkeyPatch, ratio: float, number: int
) -> None:
    monkeypatch.setattr(processor, "busy_ratio", lambda n: ratio)
    assert useful_threads().number == number
    assert useful_threads(measured=False) == Threads(4, "4 visible")


def test_it_is_measured_once_and_with_few_threads(free: None, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(processor, "busy_ratio", lambda n: asked.append(n) or float(n))
    monkeypatch.setattr(processor, "visible_processors", lambda: set(range(32)))
    assert [useful_threads().number for _ in range(3)] == [32] * 3
    assert asked == [4]


def test_the_measurement_counts_work() -> None:
    assert 0 < processor.busy_ratio(2) < 100


def test_omp_num_threads_decides(free: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for value, number in (("3", 3), (" 2 ", 2), ("2,4", 2)):
        monkeypatch.setenv(NUMBER, value)
        assert useful_threads().number == number
    for value in ("abc", "0", "-1", "100000", "1.5"):
        monkeypatch.setenv(NUMBER, value)
        with pytest.raises(
            ValueError, match=rf"^OMP_NUM_THREADS must be an integer in 1\.\.16, got '{value}'"
        ):
            useful_threads()


def test_a_number_of_threads_has_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "visible_processors", lambda: {0})
    assert most_threads() == 16
    monkeypatch.setattr(processor, "visible_processors", lambda: set(range(64)))
    assert most_threads() == 256
    check_threads(0)
    check_threads(256)
    for value, message in ((257, "at most 256 on 64 processors, got 257"), (-1, "at least 0, got -1")):
        with pytest.raises(ValueError, match=f"^--threads must be .*{message}"):
            check_threads(value)


@pytest.mark.parametrize(
    "command",
    [
        ["ocr", "predict", "a.png"],
        ["ocr", "train"],
        ["translation", "train"],
        ["sign-language", "train"],
        ["sign-language", "predict", "a.mp4"],
        ["sign-language", "evaluate"],
        ["bench", "window"],
    ],
    ids=" ".join,
)
def test_too_many_threads_are_refused_in_one_line(
    command: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*command, "--threads", "100000"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith(f"error: --threads must be at most {most_threads()} on ")
    assert list(tmp_path.iterdir()) == []


def test_a_bad_number_in_the_environment_is_refused_before_anything_is_loaded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NUMBER, "many")
    assert main(["translation", "predict", "--text", "x"]) == 2
    assert capsys.readouterr().err.startswith("error: OMP_NUM_THREADS must be an integer in 1..")


def test_useful_threads_are_set_and_taken_back(free: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "busy_ratio", lambda n: 2.9)
    before = torch.get_num_threads()
    for measured, number in ((True, 3), (False, 4)):
        with with_useful_threads(measured=measured):
            assert os.environ[NUMBER] == str(number)
            assert torch.get_num_threads() == number
            with with_threads(1):
                assert torch.get_num_threads() == 1
            with with_threads(0):
                assert torch.get_num_threads() == number
        assert NUMBER not in os.environ
        assert torch.get_num_threads() == before
    monkeypatch.setenv(NUMBER, "2")
    with with_useful_threads(measured=True):
        assert os.environ[NUMBER] == "2"
        assert torch.get_num_threads() == before


@pytest.mark.parametrize(
    ("ratio", "by_us", "spins"),
    [(3.9, True, True), (3.3, True, False), (1.1, True, False), (3.9, False, False)],
)
def test_threads_spin_for_a_moment_only_where_each_has_a_core(
    free: None, monkeypatch: pytest.MonkeyPatch, ratio: float, by_us: bool, spins: bool
) -> None:
    monkeypatch.setattr(processor, "busy_ratio", lambda n: ratio)
    monkeypatch.setattr(processor, "_passive_by_us", by_us)
    monkeypatch.delenv("GOMP_SPINCOUNT", raising=False)
    for measured in (True, False):
        with with_useful_threads(measured=measured):
            assert (os.environ.get("GOMP_SPINCOUNT") == SHORT_SPIN["GOMP_SPINCOUNT"]) is spins
        assert "GOMP_SPINCOUNT" not in os.environ


def test_one_thread_never_spins(free: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "busy_ratio", lambda n: float(n))
    assert not processor.each_has_a_core(1)
    assert processor.each_has_a_core(2)


@pytest.mark.parametrize(
    ("verb", "measured"), [("predict", True), ("evaluate", True), ("train", False), ("audit", False)]
)
def test_all_systems_are_given_threads_the_same_way(
    monkeypatch: pytest.MonkeyPatch, verb: str, measured: bool
) -> None:
    from coursepkg import cli

    asked = []

    monkeypatch.setattr(cli, "parse", lambda name, rest: object())
    monkeypatch.setattr(cli, "_found", lambda place: lambda options: 0)
    monkeypatch.setattr(
        cli, "with_useful_threads", lambda *, measured: asked.append(measured) or with_threads(0)
    )
    for system in ("translation", "ocr", "sign-language"):
        assert main([system, verb]) == 0
    assert asked == [measured] * 3


def test_the_doctor_says_how_many_threads_and_how_they_wait(
    free: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows() -> dict[str, Row]:
        return {row.name: row for row in examine()}

    monkeypatch.setattr(processor, "busy_ratio", lambda n: 2.0)
    monkeypatch.setattr(processor, "_torch_was_first", False)
    for name in WAITING:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_WAIT_POLICY", "PASSIVE")
    monkeypatch.setattr(processor, "_passive_by_us", True)
    spinning = "sleep; in commands after 0.1 ms, as each has a core (OMP_WAIT_POLICY=PASSIVE)"
    assert rows()["waiting threads"] == Row("waiting threads", "ok", spinning)
    monkeypatch.setattr(processor, "_passive_by_us", False)
    found = rows()
    assert found["processors"].found == "2 threads: 4 visible; 4 busy threads did 2.0 times the work of one"
    assert found["waiting threads"] == Row("waiting threads", "ok", "sleep (OMP_WAIT_POLICY=PASSIVE)")
    monkeypatch.setattr(processor, "_torch_was_first", True)
    late = rows()["waiting threads"]
    assert (late.status, late.found) == ("warn", "may spin (torch was imported before coursepkg)")
    assert late.action == "import coursepkg before torch, or set OMP_WAIT_POLICY=PASSIVE"
    monkeypatch.setenv(NUMBER, "1")
    assert rows()["waiting threads"].status == "ok"
    monkeypatch.setenv(NUMBER, "no")
    assert rows()["processors"].status == "warn"
