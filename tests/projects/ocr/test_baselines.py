"""Other readers: pictures reach them as they take them, in order; and both are scored on the same lines."""

import sys
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from coursepkg import requirements
from coursepkg.projects.ocr import baselines
from coursepkg.projects.ocr.baselines import RapidReader, compare
from coursepkg.projects.ocr.line import Alternative, LineReading, TextLine
from tests.projects.ocr.drawn import drawn_lines


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list:
    """A package that looks like rapidocr and says of each picture its size; what it was called with."""
    calls: list = []

    class RapidOCR:
        def __init__(self, params: dict) -> None:
            calls.append(params)

        def recognize_txt(self, img: list[np.ndarray]) -> SimpleNamespace:
            calls.append([(one.shape, one.dtype, bool((one == one[..., :1]).all())) for one in img])
            return SimpleNamespace(
                txts=tuple(f"{one.shape[1]}" if one.shape[1] > 3 else "" for one in img),
                scores=tuple(0.5 for _ in img),
            )

    module = ModuleType("rapidocr")
    module.RapidOCR, module.__file__ = RapidOCR, str(tmp_path / "__init__.py")  # type: ignore[attr-defined]
    module.__spec__ = ModuleSpec("rapidocr", None)
    runtime = ModuleType("onnxruntime")
    runtime.__spec__ = ModuleSpec("onnxruntime", None)
    monkeypatch.setitem(sys.modules, "rapidocr", module)
    monkeypatch.setitem(sys.modules, "onnxruntime", runtime)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / baselines.WEIGHTS).write_bytes(b"weights")
    return calls


def test_pictures_go_in_as_three_equal_channels_and_come_out_in_order(stand_in: list, tmp_path: Path) -> None:
    reader = RapidReader(threads=2)
    assert stand_in[0]["EngineConfig.onnxruntime.intra_op_num_threads"] == 2
    images = [np.full((10, width), 200, np.uint8) for width in (30, 3, 50)]
    Image.fromarray(images[2]).save(tmp_path / "line.png")
    found = reader.read_lines([*images[:2], tmp_path / "line.png"], batch_size=2)
    assert [one.text for one in found] == ["30", "", "50"]
    assert [one.confidence for one in found] == [0.5, 0.0, 0.5]
    assert [len(call) for call in stand_in[1:]] == [2, 1]
    assert stand_in[1] + stand_in[2] == [((10, w, 3), np.dtype("uint8"), True) for w in (30, 3, 50)]
    assert reader.read_lines([]) == []
    assert len(reader.fingerprint) == 64
    with pytest.raises(ValueError, match="1 x 10 pixels hold no text"):
        reader.read_lines([np.zeros((10, 1), np.uint8)])


def test_without_the_package_the_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"needs rapidocr and onnxruntime: pip install 'coursepkg\[ocr\]'"):
        RapidReader()


@dataclass
class Parrot:
    """Says what it is told, one text a line."""

    texts: list[str]
    fingerprint: str = ""

    def read_lines(self, pictures: list, *, batch_size: int = 64) -> list[LineReading]:
        return [LineReading((Alternative(text, 1.0, 0.0),)) for text in self.texts[: len(pictures)]]


def test_readers_are_scored_on_the_same_lines() -> None:
    image = np.full((10, 30), 255, np.uint8)
    lines = [TextLine(image, text, "g", text) for text in ("phở", "trà đá")]
    found = compare({"right": Parrot(["phở", "trà đá"]), "plain": Parrot(["pho", "tra da"])}, lines)
    assert found["right"].cer.value == 0.0
    assert found["plain"].cer.value == pytest.approx(4 / 9)
    # A letter followed by its marks is the same text as the composed letter.
    assert compare({"apart": Parrot(["pho\u031b\u0309", "trà đá"])}, lines)["apart"].cer.value == 0.0
    with pytest.raises(ValueError, match="at least one line"):
        compare({"right": Parrot([])}, [])


def test_intervals_of_a_comparison_are_by_photograph() -> None:
    image = np.full((10, 30), 255, np.uint8)
    lines = [TextLine(image, "phở", f"photo {i // 2}", str(i)) for i in range(20)]
    found = compare({"plain": Parrot(["pho"] * 20)}, lines)["plain"]
    assert "|bsgroups:10|" in found.cer.signature


def test_rapidocr_reads_latin_letters() -> None:
    pytest.importorskip("rapidocr", reason="rapidocr is not installed; see the extra `ocr`")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed; see the extra `ocr`")
    lines = [line for line in drawn_lines(30, height=48) if line.text.isascii()][:4]
    assert compare({"rapidocr": RapidReader()}, lines)["rapidocr"].cer.value < 0.2
