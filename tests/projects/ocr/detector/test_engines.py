"""The real networks where they are installed; what a user is told where they are not."""

import dataclasses
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image, ImageDraw

from coursepkg import requirements
from coursepkg.projects.ocr.data.images import MOST_PIXELS
from coursepkg.projects.ocr.detector import engines
from coursepkg.projects.ocr.detector.detector import BoundedDetector, open_detector
from coursepkg.projects.ocr.detector.engines import DetectorSettings, what_is_missing
from coursepkg.projects.ocr.detector.evaluate import generated_pages
from coursepkg.projects.ocr.detector.lines import place_lines
from tests.projects.ocr.detector.pages import score_pages
from tests.projects.ocr.drawn import font

MISSING = what_is_missing()
real = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
PADDLE = what_is_missing("paddleocr")


def page(height: int = 600, width: int = 500) -> np.ndarray:
    """Three rows; the second has two columns."""
    image = Image.new("RGB", (width, height), (250, 248, 240))
    pen = ImageDraw.Draw(image)
    for place, text in (
        ((40, 80), "Tổng cộng hóa đơn"),
        ((40, 200), "Phở bò"),
        ((360, 200), "45.000"),
        ((40, 320), "Cảm ơn quý khách"),
    ):
        pen.text(place, text, fill=(20, 20, 30), font=font(32))
    return np.array(image)


@pytest.fixture(scope="module")
def detector():
    with BoundedDetector(DetectorSettings(side=640, threads=1)) as opened:
        yield opened


@real
def test_lines_are_found_where_they_were_written(detector) -> None:
    lines = place_lines(detector.detect(page()))
    assert [line.row for line in lines] == [0, 1, 1, 2]
    lefts = [line.box.corners[:, 0].min() for line in lines]
    assert lefts == pytest.approx([40, 40, 360, 40], abs=10)
    tops = [line.box.center[1] for line in lines]
    assert tops == pytest.approx([100, 220, 220, 340], abs=12)
    assert all(line.box.score > 0.5 for line in lines)


@real
def test_a_large_photograph_gives_the_boxes_of_the_small_one_scaled(detector) -> None:
    small = place_lines(detector.detect(page()))
    image = np.array(Image.fromarray(page()).resize((2000, 2400), Image.Resampling.BICUBIC))
    large = place_lines(detector.detect(image))
    assert len(large) == len(small)
    for one, other in zip(small, large, strict=True):
        np.testing.assert_allclose(one.box.corners * 4, other.box.corners, atol=24)


@real
def test_subnormal_weights_taken_for_zero_change_no_box(detector, monkeypatch) -> None:
    """The worker against a session of this process that computes with them as they are."""
    import onnxruntime

    asked = []

    class Plain(onnxruntime.SessionOptions):
        def add_session_config_entry(self, key: str, value: str) -> None:
            asked.append((key, value))
            super().add_session_config_entry(key, "0" if "denormal" in key else value)

    monkeypatch.setattr(onnxruntime, "SessionOptions", Plain)
    image = page(640, 512)
    assert DetectorSettings(side=640).seen_size(512, 640) == (512, 640)
    found = engines.open_engine(DetectorSettings(side=640, threads=1))(image)
    assert ("session.set_denormal_as_zero", "1") in asked
    ours = sorted((box.score, *box.center) for box in detector.detect(image))
    theirs = sorted((score, *corners.mean(axis=0)) for corners, score in found)
    np.testing.assert_allclose(ours, theirs, atol=1e-3)


@real
def test_an_empty_page_a_single_pixel_and_a_strip_have_no_text(detector) -> None:
    for shape in ((300, 200, 3), (1, 1, 3), (4000, 3, 3)):
        assert detector.detect(np.full(shape, 255, np.uint8)) == []


@real
def test_generated_receipts_are_found_within_memory(detector) -> None:
    score = score_pages(detector, generated_pages(2, seed=5))
    assert score.recall > 0.8
    assert score.precision > 0.8
    assert 0 < detector.peak_memory < 600 * 2**20
    assert detector.n_starts == 1


@real
def test_the_fingerprint_is_that_of_boxes(detector, tmp_path) -> None:
    settings = detector.settings
    assert dataclasses.replace(settings, threads=2, memory=999).of_boxes() == settings.of_boxes()
    assert engines.fingerprint(dataclasses.replace(settings, memory=999)) == detector.fingerprint
    assert engines.fingerprint(dataclasses.replace(settings, unclip=1.7)) != detector.fingerprint
    cached = open_detector(settings, cache=tmp_path)
    assert cached.fingerprint == detector.fingerprint
    cached.close()


@real
def test_paddles_folder_holds_these_weights(tmp_path) -> None:
    folder = engines.paddle_folder("PP-OCRv6_small_det", tmp_path)
    assert (folder / "inference.onnx").read_bytes() == engines.rapidocr_weights().read_bytes()
    assert "model_name: PP-OCRv6_small_det\n" in (folder / "inference.yml").read_text()
    assert engines.paddle_folder("PP-OCRv6_small_det", tmp_path) == folder
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.skipif(PADDLE is not None, reason=str(PADDLE))
def test_paddleocr_finds_the_same_lines(detector, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with BoundedDetector(DetectorSettings(engine="paddleocr", side=640, memory=2048, timeout=300.0)) as other:
        theirs = place_lines(other.detect(page()))
    ours = place_lines(detector.detect(page()))
    assert [line.row for line in theirs] == [line.row for line in ours]
    for one, two in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one.box.corners, two.box.corners, atol=4)


@real
def test_onnx_runtime_leaves_nothing_behind(tmp_path) -> None:
    environment = {name: text for name, text in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    environment |= {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}
    code = "from coursepkg.projects.ocr.detector.engines import *; open_engine(DetectorSettings())"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert not list(tmp_path.rglob("*"))


def test_what_is_missing_is_said_with_what_to_do(monkeypatch) -> None:
    monkeypatch.setattr(requirements, "find_spec", lambda name: None)
    assert what_is_missing() == (
        "finding text with onnxruntime needs onnxruntime and rapidocr: pip install 'coursepkg[ocr]'"
    )
    assert what_is_missing("paddle-vi") == (
        "finding text with paddle-vi needs paddleocr and paddlepaddle: pip install paddleocr paddlepaddle"
    )
    for engine in ("onnxruntime", "paddleocr", "paddle-vi"):
        with pytest.raises(ImportError, match=f"^finding text with {engine} needs"):
            open_detector(DetectorSettings(engine=engine), cache=False)


def test_a_rapidocr_without_these_weights_is_named(tmp_path, monkeypatch) -> None:
    package = tmp_path / "rapidocr"
    (package / "models").mkdir(parents=True)
    (package / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "rapidocr", raising=False)  # another test may have imported the real one
    with pytest.raises(FileNotFoundError, match=r"rapidocr 3\.10 carries one: pip install"):
        engines.rapidocr_weights()
    (package / "models" / "PP-OCRv6_det_small.onnx").touch()
    assert engines.rapidocr_weights() == package / "models" / "PP-OCRv6_det_small.onnx"
    shutil.rmtree(package)


def test_the_worker_loads_neither_torch_nor_a_network_before_it_is_asked() -> None:
    heavy = "{'torch', 'onnxruntime', 'cv2', 'PIL'}"
    code = f"import sys, coursepkg.projects.ocr.detector.process; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_network_sees_blue_green_red_from_minus_one_to_one() -> None:
    image = np.zeros((32, 64, 3), np.uint8)
    image[..., 0] = 255
    entry = engines.network_input(image)
    assert entry.shape == (1, 3, 32, 64)
    assert entry.dtype == np.float32
    np.testing.assert_allclose(entry[0, :, 0, 0], [-1, -1, 1], atol=1e-6)


def test_the_detector_refuses_the_sizes_that_reading_refuses() -> None:
    assert engines.DetectorSettings().most_pixels == MOST_PIXELS
