"""Both ways of the race read the same pixels; how fast they are is for the benchmark to say."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from coursepkg.projects.ocr.bench import reading_contest, reading_ways
from coursepkg.projects.ocr.line import TextLine
from tests.projects.ocr.data.tables import lines


def test_both_ways_give_the_same_pictures(tmp_path: Path) -> None:
    ways = reading_ways(lines(8), tmp_path, height=32)
    files, packed = ways.files(), ways.packed()
    assert len(files) == len(packed) == ways.n_lines == 8
    assert all(np.array_equal(a, b) for a, b in zip(files, packed, strict=True))
    assert {image.shape[0] for image in packed} == {32}


def test_the_gate_stops_a_race_between_different_pictures(tmp_path: Path) -> None:
    contest = reading_contest(lines(4), tmp_path)
    (gate,) = contest.gates
    assert gate.failure() is None
    path = tmp_path / "000000.png"
    Image.fromarray(255 - np.array(Image.open(path))).save(path)
    assert "error" in str(gate.failure())


def test_lines_that_cannot_be_packed_stop_the_race(tmp_path: Path) -> None:
    strip = TextLine(np.zeros((2, 9000), dtype=np.uint8), "dài", "g", "strip")
    with pytest.raises(ValueError, match="1 line cannot be packed: strip"):
        reading_ways([*lines(2), strip], tmp_path)
