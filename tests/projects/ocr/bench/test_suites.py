"""What the suites on reading race is right: gates are run and every variant works; nothing is timed."""

import numpy as np
import pytest
import torch

from coursepkg.bench import SUITES
from coursepkg.bench.machine import Device
from coursepkg.bench.measure import BenchmarkCase
from coursepkg.processor import multiplies_bfloat16
from coursepkg.projects.ocr import bench
from coursepkg.projects.ocr.model.ctc import BLANK
from coursepkg.projects.ocr.predict import Recognizer
from coursepkg.projects.ocr.recipe import PRESETS

CPU = Device("cpu", 1)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cases as they are, on few lines and with a shallow baseline."""
    for name, count in (("N_LINES", 4), ("N_PACKED", 6)):
        monkeypatch.setattr(bench, name, count)
    monkeypatch.setattr(bench, "BLOCKS", ((4, 1), (8, 1), (8, 1), (8, 1), (512, 1)))
    monkeypatch.setattr(bench, "LAYERS", 1)
    monkeypatch.setattr(bench, "throughput", lambda: [])


def test_every_candidate_passes_its_gate_and_every_variant_runs(few: None) -> None:
    assert {"ocr", "ocr-rivals"} <= SUITES.keys()
    races = [one for one in bench.cases(CPU) if isinstance(one, BenchmarkCase)]
    assert len(races) == 2
    for case in races:
        assert {gate.candidate for gate in case.gates} == {c.candidate for c in case.comparisons}
        assert [gate.failure() for gate in case.gates] == [None] * len(case.gates)
        sizes = {name: len(work()) for name, work in case.variants.items()}
        assert set(sizes.values()) == {4 if "small, CTC" in sizes else 6}


def test_the_gate_catches_other_weights(few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    other = bench.small()
    with torch.no_grad():
        other.model.ctc_head.bias.add_(0.1)
    monkeypatch.setattr(bench, "small", lambda: other)
    assert "more than twice" in str(bench._speed().gates[0].failure())


def test_the_export_must_read_the_same_texts() -> None:
    ours, read = bench.small(), bench.lines(3, seed=1)
    case = bench.export_contest(ours, ours, read)
    assert [gate.failure() for gate in case.gates] == [None]
    assert {len(work()) for work in case.variants.values()} == {3}
    with torch.no_grad():
        ours.model.ctc_head.bias[BLANK] += 100
    silent = Recognizer(ours.model, ours.vocabulary, ours.recipe)
    assert "more than twice" in str(bench.export_contest(silent, ours, read).gates[0].failure())


def test_without_onnxruntime_the_row_of_the_export_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "missing_packages", lambda modules: "onnxruntime")
    (row,) = bench.exported_program(CPU)
    assert (row.ratio, row.failed) == (None, False)
    assert row.note == "the ONNX program needs onnxruntime: pip install 'coursepkg[onnx]'"


def test_the_opponent_has_vietocrs_size() -> None:
    with torch.device("meta"):
        features = bench.vgg19()
        # torchvision's VGG-19 with batch normalisation has 20,035,392 parameters before its classifier.
        assert sum(p.numel() for p in features.parameters()) == 20_035_392
        found = features(torch.empty(2, 3, 32, 160))
    assert found.shape == (2, 512, 2, 40)


def test_the_opponent_decodes_the_prefix_again_and_never_ends_early(few: None) -> None:
    model = bench.vgg_transformer()
    images = torch.rand(2, 3, 32, 64, generator=torch.Generator().manual_seed(0))
    ids = model.read(images, 5)
    assert ids.shape == (2, 5)
    memory = model.encode(images)
    given = torch.cat([torch.ones(2, 1, dtype=torch.long), ids], dim=1)
    assert model.decode(given, memory)[:, :5].argmax(-1).equal(ids)
    # Two steps a column, the upper row before the lower one.
    rows = model.project(model.features(images))
    steps = torch.stack([rows[:, :, 0], rows[:, :, 1]], dim=-1).flatten(2).transpose(1, 2)
    expected = model.core.encoder(steps * 16 + model.table[:32])
    torch.testing.assert_close(memory, expected, atol=1e-5, rtol=1e-5)


def test_lines_a_second_are_held_against_the_promise(few: None) -> None:
    reader = bench.small()
    row = bench._throughput("small", reader.read_lines, [line.image for line in bench.lines(3, seed=1)])
    assert row.ratio is not None
    assert row.low is not None
    assert row.low <= row.ratio <= (row.high or 0)
    assert row.note == f"{row.ratio * 150:.0f} lines/s"
    assert reader.model.config.d_ff == PRESETS["small"].d_ff


def test_every_way_of_reading_has_its_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "N_LINES", 1)
    names = [row.candidate for row in bench.throughput()]
    assert names[-3:] == [
        "small, ctc, float32, one look",
        "small, joint, float32, one look",
        "small, joint, float32, a second look",
    ]
    assert len(set(names)) == len(names) == (6 if multiplies_bfloat16() else 3)


def test_the_opponent_squeezes_what_is_too_wide() -> None:
    wide = bench.lines(1, seed=1)[0]
    stretched = type(wide)(np.full((20, 900), 255, np.uint8), wide.text, wide.group, wide.name)
    assert bench._fitted(stretched).shape == (32, 512)


def test_a_gpu_has_no_cases_of_its_own() -> None:
    assert bench.cases(Device("cuda", 1)) == []
