"""Boxes kept on disk: exact, by pixels and detector alone, bounded, and never in the way."""

import json
import os
from dataclasses import replace

import numpy as np
import pytest

from coursepkg.projects.ocr.detector.detector import BoxCache, CachedDetector, pixels_sha256
from coursepkg.projects.ocr.detector.lines import Detector, TextBox
from tests.projects.ocr.detector.pages import box

PIXELS = "a" * 64


class Counting:
    """Finds one box whose width is the picture's, and counts how often it was asked."""

    def __init__(self, fingerprint: str = "f" * 64) -> None:
        self.fingerprint, self.n_asked, self.closed = fingerprint, 0, False

    def detect(self, image: np.ndarray, name: str = "picture") -> list[TextBox]:
        self.n_asked += 1
        if image[0, 0, 0] == 255:
            raise OSError(f"{name}: its text could not be found")
        return [replace(box(1 / 3, 0.1, image.shape[1] * 0.7, score=1 / 7), rim=0.13)]

    def close(self) -> None:
        self.closed = True


def picture(value: int = 0, height: int = 4, width: int = 6) -> np.ndarray:
    return np.full((height, width, 3), value, np.uint8)


def same(one: list[TextBox], other: list[TextBox]) -> bool:
    return len(one) == len(other) and all(
        np.array_equal(a.corners, b.corners) and (a.score, a.rim) == (b.score, b.rim)
        for a, b in zip(one, other, strict=True)
    )


def test_a_picture_is_looked_at_once_in_any_process(tmp_path):
    first = Counting()
    cached = CachedDetector(first, BoxCache(tmp_path))
    assert isinstance(cached, Detector)
    found = cached.detect(picture())
    assert same(cached.detect(picture().copy()), found)
    assert first.n_asked == 1
    later = Counting()
    assert same(CachedDetector(later, BoxCache(tmp_path)).detect(picture()), found)
    assert later.n_asked == 0
    cached.close()
    assert first.closed


def test_other_pixels_shapes_and_detectors_are_others(tmp_path):
    detector, other = Counting(), Counting("e" * 64)
    cached = CachedDetector(detector, BoxCache(tmp_path))
    # The same bytes in another shape are another picture.
    for image in (picture(), picture(1), picture(0, 6, 4), picture(0, 3, 8)):
        cached.detect(image)
    assert detector.n_asked == 4
    CachedDetector(other, BoxCache(tmp_path)).detect(picture())
    assert other.n_asked == 1
    turned = np.rot90(np.arange(72, dtype=np.uint8).reshape(4, 6, 3))
    assert pixels_sha256(turned) == pixels_sha256(turned.copy())


def test_no_text_is_remembered_and_a_failure_is_not(tmp_path):
    cache = BoxCache(tmp_path)
    cache.put(PIXELS, "f" * 64, [])
    assert cache.get(PIXELS, "f" * 64) == []
    detector = Counting()
    cached = CachedDetector(detector, cache)
    for _ in range(2):
        with pytest.raises(OSError, match=r"^bill\.jpg: its text"):
            cached.detect(picture(255), "bill.jpg")
    assert detector.n_asked == 2


@pytest.mark.parametrize(
    "damage", [b"", b"{", b'{"boxes": [{"corners": [[0, 0]], "score": 1}]}', b'{"boxes": 3}', b"[]"]
)
def test_a_damaged_file_is_found_anew(tmp_path, damage):
    detector = Counting()
    cached = CachedDetector(detector, BoxCache(tmp_path))
    found = cached.detect(picture())
    (path,) = tmp_path.glob("*/*")
    path.write_bytes(damage)
    assert same(cached.detect(picture()), found)
    assert detector.n_asked == 2
    assert len(json.loads(path.read_text())["boxes"]) == 1


def test_the_bound_is_kept_and_the_oldest_go_first(tmp_path):
    foreign = tmp_path / "f" / "notes.json"
    foreign.parent.mkdir()
    foreign.write_text("mine")
    one = BoxCache(tmp_path)
    one.put(PIXELS, "f" * 64, [box(0, 0, 9)])
    size = (tmp_path / ("f" * 16) / f"{PIXELS}.json").stat().st_size
    cache = BoxCache(tmp_path, most_bytes=10 * size + 5)
    names = [f"{k:064}" for k in range(30)]
    for k, name in enumerate(names):
        cache.put(name, "f" * 64, [box(0, 0, 9)])
        os.utime(tmp_path / ("f" * 16) / f"{name}.json", (k + 1e9, k + 1e9))
        # Reading makes it the youngest again.
        assert cache.get(names[0], "f" * 64) is not None
        files = list(tmp_path.glob(f"{'f' * 16}/*"))
        assert sum(file.stat().st_size for file in files) <= cache.most_bytes
    assert cache.get(names[-1], "f" * 64) is not None
    assert cache.get(names[0], "f" * 64) is not None
    assert cache.get(names[5], "f" * 64) is None
    assert foreign.read_text() == "mine"
    assert not list(tmp_path.glob("**/*.part"))
    with pytest.raises(ValueError, match="most_bytes"):
        BoxCache(tmp_path, most_bytes=0)


def test_what_was_just_kept_stays_where_it_fits(tmp_path):
    BoxCache(tmp_path / "any").put(PIXELS, "f" * 64, [box(0, 0, 9)])
    (size,) = (path.stat().st_size for path in tmp_path.glob("any/*/*"))
    cache = BoxCache(tmp_path / "small", most_bytes=size)
    cache.put(PIXELS, "f" * 64, [box(0, 0, 9)])
    assert cache.get(PIXELS, "f" * 64) is not None


def test_a_cache_that_may_only_be_read_is_read(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(path)

    found = CachedDetector(Counting(), BoxCache(tmp_path)).detect(picture())
    monkeypatch.setattr(os, "utime", refuse)
    later = Counting()
    assert same(CachedDetector(later, BoxCache(tmp_path)).detect(picture()), found)
    assert later.n_asked == 0


def test_a_folder_that_cannot_be_written_is_said_once(tmp_path):
    (tmp_path / "file").write_text("in the way")
    detector = Counting()
    cached = CachedDetector(detector, BoxCache(tmp_path / "file"))
    with pytest.warns(UserWarning, match="found boxes are not kept: .*file"):
        assert len(cached.detect(picture())) == 1
    assert len(cached.detect(picture())) == 1
    assert detector.n_asked == 2
