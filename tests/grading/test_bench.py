"""The suite `class` of `coursepkg bench`: a small one, really released and graded."""

from pathlib import Path

import pytest

from coursepkg.bench.machine import Device
from coursepkg.grading import bench
from tests.grading import sample
from tests.grading.conftest import needs_nbgrader, needs_sandbox

CPU = Device("cpu", 1)


@needs_nbgrader
@needs_sandbox
def test_generated_submissions_get_the_marks_of_their_kinds(tmp_path: Path) -> None:
    sources = sample.write_source(tmp_path).parent
    released, marks, each, memory = bench.ClassCase(sources, n_submissions=4).run(CPU)
    assert released.case == "release of 1 assignment"
    assert (marks.ratio, marks.note) == (1.0, "4 graded")
    assert "4 submissions, 1 of them hostile" in marks.case
    assert each.ratio is not None
    assert each.ratio > 0
    # Python with torch alone takes a tenth of a gigabyte, and there are several.
    assert memory.ratio is not None
    assert 0.1 < memory.ratio * bench.MOST_BYTES / 1e9 < 4


def test_one_in_twenty_is_hostile_and_the_others_are_of_three_kinds() -> None:
    kinds = bench.kinds_of(200)
    assert [kinds.count(kind) for kind in ("hostile", "right", "wrong", "empty")] == [10, 64, 63, 63]
    assert bench.kinds_of(200) == kinds


def test_a_command_that_fails_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match=r"class grade .* ended with 2"):
        bench.run_class("grade", "--course", tmp_path / "none")
    assert "no assignment was released" in capfd.readouterr().err


def test_what_is_missing_stands_in_the_table(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bench, "SOURCES", tmp_path / "none")
    monkeypatch.setattr(bench, "require_nbgrader", lambda: None)
    monkeypatch.setattr(bench, "sandbox_problem", lambda: "")
    (case,) = bench.cases(CPU)
    (row,) = case.run(CPU)
    assert row.ratio is None
    assert "measure in a checkout" in row.note
    with pytest.raises(ValueError, match="needs no GPU"):
        bench.cases(Device("cuda", 1))
