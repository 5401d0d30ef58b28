"""The suite beside rapidocr and Tesseract: rows name what was run, or say why they cannot be had."""

import os
from pathlib import Path

import pytest

from coursepkg.bench import CASES
from coursepkg.bench.machine import Device
from coursepkg.projects.ocr import baselines_bench as bench
from coursepkg.projects.ocr.baselines import Tesseract, TesseractLines, compare
from coursepkg.projects.ocr.detector.engines import what_is_missing
from coursepkg.projects.ocr.predict import DEFAULT
from tests.projects.ocr.drawn import drawn_lines

CPU = Device("cpu", 1)
needs_reading = pytest.mark.skipif(
    what_is_missing() is not None or not (DEFAULT / "model").is_dir(),
    reason="the detector is not installed, or the model does not ship here",
)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cases as they are, on one page and few lines."""
    for name, value in (("N_SCORED", 3), ("N_PAGES", 1), ("SEGMENTATIONS", (4, 6))):
        monkeypatch.setattr(bench, name, value)


@pytest.fixture
def vietnamese() -> str:
    """The version of Tesseract; without its Vietnamese model the test is skipped."""
    try:
        return Tesseract().version
    except FileNotFoundError as reason:
        pytest.skip(str(reason))


def test_rows_that_cannot_be_had_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_no_checkpoint", lambda: "no model in checkpoint")
    rows = [row for one in bench.cases_against_others(CPU) for row in one.run(CPU)]
    assert len(rows) == 7
    assert all(row.ratio is None and not row.failed and row.note for row in rows)
    assert [row.baseline for row in rows].count("tesseract") == 2
    assert bench.cases_against_others(Device("cuda", 1)) == []
    assert CASES["ocr-rivals"] == f"{bench.__name__.removeprefix('coursepkg.')}:cases_against_others"


@needs_reading
def test_a_page_is_timed_with_a_second_look_and_without(few: None) -> None:
    rows = bench.pages()
    ways = [f"seconds a page, {way}" for way in ("second look", "one look")]
    assert [row.case for row in rows] == [*ways, "memory of a page"]
    assert all(row.ratio is not None and row.ratio > 0 and row.at_most for row in rows)
    # PyTorch and the network of the detector alone take more than 200 MB.
    assert int(rows[-1].note.removesuffix(" MB")) > 200


@needs_reading
def test_without_tesseract_its_rows_say_what_to_install(
    few: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (missing,) = [row for row in bench.error_rates() if row.baseline == "tesseract"]
    assert missing.ratio is None
    assert missing.note.startswith("there is no program tesseract; install it")
    path = tmp_path / "tesseract"
    path.write_text("#!/bin/sh\necho eng\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
    rows = bench.error_rates()
    (missing,) = [row for row in rows if row.baseline == "tesseract"]
    assert missing.ratio is None
    assert missing.note.startswith("tesseract has no language vie; install it")
    # What can be had stands beside it.
    assert [row.ratio is not None for row in rows if row.baseline == "PP-OCRv6 small"] == [True]


@needs_reading
def test_pages_are_read_by_all_three_in_one_run(few: None, vietnamese: str) -> None:
    rows = bench.baselines_on_pages()
    name = rows[2].baseline
    assert name.startswith(f"{vietnamese}, vie.traineddata ")
    assert "--oem 1 --psm " in name
    assert int(name.split()[-1]) in bench.SEGMENTATIONS
    assert [(row.candidate, row.baseline) for row in rows] == [
        *(("read_page", baseline) for baseline in ("rapidocr", "rapidocr", name, name)),
        (name, "limit"),
    ]
    assert [row.case.split(" on ")[0] for row in rows] == [
        *("bag-of-words F1", "seconds a page") * 2,
        "memory of a page",
    ]
    ours = {row.note.split(" against ")[0] for row in rows if row.case.startswith("bag-of-words F1")}
    assert len(ours) == 1
    assert all(row.ratio is not None and row.ratio > 0 for row in rows)
    # The program and its model do not fit into a megabyte, and need no gigabyte.
    assert 0.001 < (rows[-1].ratio or 0) < 1


def test_tesseract_reads_single_lines(vietnamese: str) -> None:
    reader, lines = TesseractLines(), drawn_lines(4, height=48)
    assert compare({"tesseract": reader}, lines)["tesseract"].cer.value < 0.3
    assert str(reader.program).endswith("--oem 1 --psm 7")
    assert len(reader.fingerprint) == 64
    assert reader.program.peak_memory > 1e6
