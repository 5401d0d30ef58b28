import functools
import os

import numpy as np
import pytest

from coursepkg.projects.ocr.detector import process
from coursepkg.projects.ocr.detector.detector import BoundedDetector
from coursepkg.projects.ocr.detector.engines import DetectorSettings
from coursepkg.projects.ocr.detector.process import Worker
from tests.projects.ocr.detector import odd_worker
from tests.projects.ocr.detector.odd_worker import CRASH, CRASH_ONCE, FINE, GROW, LEAK, RAISE, SLEEP, TALK

start = functools.partial(Worker, module=odd_worker.MODULE)


def picture(what: int, height: int = 64, width: int = 128) -> np.ndarray:
    return np.full((height, width, 3), what, np.uint8)


@pytest.fixture
def detector():
    with BoundedDetector(DetectorSettings(side=128, memory=160, timeout=30.0), start) as opened:
        yield opened


def test_boxes_come_back_in_pixels_of_the_picture(detector):
    (box,) = detector.detect(picture(FINE, 640, 1280))
    np.testing.assert_allclose(box.corners, [[0, 0], [1280, 0], [1280, 320], [0, 320]])
    assert box.score == 0.75
    (box,) = detector.detect(picture(FINE, 300, 150))
    # Tall text is read downwards: it begins at the upper right.
    np.testing.assert_allclose(box.corners.max(axis=0), [150, 150])
    assert detector.n_starts == 1


def test_what_a_library_prints_is_no_answer(detector):
    assert len(detector.detect(picture(TALK))) == 1
    assert len(detector.detect(picture(FINE))) == 1


def test_a_failing_network_names_the_picture_and_the_process_goes_on(detector):
    with pytest.raises(
        OSError, match=r"^bill\.jpg: its text could not be found: ValueError: the picture is too odd"
    ):
        detector.detect(picture(RAISE), "bill.jpg")
    assert len(detector.detect(picture(FINE))) == 1
    assert detector.n_starts == 1


def test_a_crash_is_tried_once_more_then_named(detector):
    with pytest.raises(OSError, match=r"^bill\.jpg: .* code 7: the network broke; leave it out"):
        detector.detect(picture(CRASH), "bill.jpg")
    assert detector.n_starts == 2
    assert len(detector.detect(picture(FINE))) == 1
    assert detector.n_starts == 3


def test_a_crash_that_does_not_return_costs_nothing(detector, tmp_path, monkeypatch):
    monkeypatch.setenv("ODD_WORKER_MARKER", str(tmp_path / "marker"))
    assert len(detector.detect(picture(CRASH_ONCE))) == 1
    assert detector.n_starts == 2


def test_memory_is_bounded(detector):
    with pytest.raises(OSError, match=r"^bill\.jpg: .* needs more than 160 MiB of memory; scale it down"):
        detector.detect(picture(GROW), "bill.jpg")
    # The picture is not tried again, and the watch looks often enough not to overshoot by much.
    assert detector.n_starts == 1
    assert 160 * 2**20 < detector.peak_memory < 2**30
    assert len(detector.detect(picture(FINE))) == 1


def test_a_process_that_leaks_is_replaced():
    # 392 MiB leak, over three quarters of the bound; 120 are left for a bare process, which needs 34.
    with BoundedDetector(DetectorSettings(side=128, memory=512, timeout=30.0), start) as detector:
        detector.detect(picture(LEAK))
        assert detector.n_starts == 1
        assert len(detector.detect(picture(FINE))) == 1
        assert detector.n_starts == 2
        detector.detect(picture(FINE))
        assert detector.n_starts == 2


def test_time_is_bounded():
    with BoundedDetector(DetectorSettings(side=128, timeout=8.0), start) as detector:
        detector.detect(picture(FINE))
        with pytest.raises(OSError, match=r"slow\.jpg: .* takes longer than 8 s"):
            detector.detect(picture(SLEEP), "slow.jpg")


def test_an_interrupted_picture_leaves_no_boxes_to_the_next(detector, monkeypatch):
    def interrupt(stream):
        monkeypatch.undo()
        raise KeyboardInterrupt

    detector.detect(picture(FINE))
    monkeypatch.setattr(process, "receive", interrupt)
    with pytest.raises(KeyboardInterrupt):
        detector.detect(picture(FINE, 64, 128))
    (box,) = detector.detect(picture(FINE, 128, 64))
    np.testing.assert_allclose(box.corners.max(axis=0), [64, 64])
    assert detector.n_starts == 2


def test_a_missing_package_reaches_the_user():
    with (
        BoundedDetector(DetectorSettings(unclip=99.0), start) as detector,
        pytest.raises(ImportError, match=r"^a package is missing: pip install it$"),
    ):
        detector.detect(picture(FINE))


def test_a_closed_detector_leaves_no_process(detector):
    detector.detect(picture(FINE))
    pid = detector._worker.pid
    detector.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(ValueError, match="closed; open another"):
        detector.detect(picture(FINE))


def test_a_detector_nobody_closed_leaves_no_process():
    detector = BoundedDetector(DetectorSettings(side=128), start)
    detector.detect(picture(FINE))
    pid = detector._worker.pid
    del detector
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_pictures_are_refused_before_a_process_starts(detector):
    # Strides of zero: a picture of 1.2 GB that needs no memory.
    huge = np.broadcast_to(np.zeros(3, np.uint8), (20_000, 20_000, 3))
    with pytest.raises(
        ValueError, match=r"^huge\.png: 20,000 x 20,000 pixels, more than 64,000,000; scale it down$"
    ):
        detector.detect(huge, "huge.png")
    for wrong in (np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((0, 4, 3), np.uint8)):
        with pytest.raises(ValueError, match=r"^gray\.png: a page must be in colour"):
            detector.detect(wrong, "gray.png")
    assert detector.n_starts == 0


def test_settings_are_checked_and_scale_keeps_proportions():
    for wrong, named in (
        ({"side": 10}, "--side"),
        ({"box_threshold": 1.0}, "--box-threshold"),
        ({"unclip": 0.0}, "--unclip"),
        ({"memory": 1}, "--memory"),
        ({"timeout": float("nan")}, "timeout"),
        ({"enlarge": 0.5}, "--enlarge"),
    ):
        with pytest.raises(ValueError, match=named):
            DetectorSettings(**wrong)
    settings = DetectorSettings(side=1280)
    assert settings.seen_size(3000, 4000) == (960, 1280)
    assert settings.seen_size(300, 400) == (608, 800)
    assert settings.seen_size(1, 8000) == (32, 1280)
