"""The four networks: shipped whole and with their licence, loaded without a word, refused in one line."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from zipfile import ZipFile

import numpy as np
import pytest

from coursepkg.files import file_sha256
from coursepkg.projects.sign_language.landmarks.networks import MODELS, SHA256, Network, sigmoid

ROOT = Path(__file__).resolve().parents[4]
SIZES = {
    "palm_detection_full": (192, [(1, 2016, 18), (1, 2016, 1)]),
    "hand_landmark_full": (224, [(1, 63), (1, 1), (1, 1), (1, 63)]),
    "pose_detection": (224, [(1, 2254, 12), (1, 2254, 1)]),
    "pose_landmark_full": (256, [(1, 195), (1, 1), (1, 256, 256, 1), (1, 64, 64, 39), (1, 117)]),
}


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "unpack_landmark_models", ROOT / "scripts" / "unpack_landmark_models.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_folder_holds_what_the_card_says() -> None:
    assert {path.name for path in MODELS.iterdir()} == {
        *(f"{name}.tflite" for name in SHA256),
        "LICENSE",
        "MODEL_CARDS.md",
    }
    for name, digest in SHA256.items():
        assert file_sha256(MODELS / f"{name}.tflite") == digest
    assert "Apache License" in (MODELS / "LICENSE").read_text(encoding="utf-8")
    card = (MODELS / "MODEL_CARDS.md").read_text(encoding="utf-8")
    for name, (size, outputs) in SIZES.items():
        assert f"| `{name}.tflite` |" in card
        assert f"{size} x {size} x 3" in card
        anchors = outputs[0][1]
        assert f"{anchors:,} anchors" in card or name.endswith("landmark_full")
    assert all(source in card for source in ("2006.10214", "2006.10204", "1907.05047"))


@pytest.mark.parametrize("name", SHA256)
def test_sizes_are_those_of_the_card_and_the_same_picture_gives_the_same(name: str) -> None:
    network = Network(name)
    size, shapes = SIZES[name]
    assert network.size == size
    picture = np.random.default_rng(0).integers(0, 256, (size, size, 3), dtype=np.uint8)
    found = network.run(picture)
    assert [one.shape for one in found] == shapes
    assert all(one.dtype == np.float32 and np.isfinite(one).all() for one in found)
    again = network.run(picture)
    assert all(np.array_equal(one, other) for one, other in zip(found, again, strict=True))
    lower = network.run(picture, low=-1.0)
    assert not np.array_equal(found[0], lower[0])


def test_the_sigmoid_never_overflows() -> None:
    logits = np.array([-1e30, -100, -2, 0, 2, 100, 1e30], np.float32)
    with np.errstate(all="raise"):
        found = sigmoid(logits)
    assert found == pytest.approx([0, 0, 1 / (1 + np.exp(2)), 0.5, 1 / (1 + np.exp(-2)), 1, 1])


def test_a_missing_network_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pose_detection.tflite"
    with pytest.raises(FileNotFoundError) as caught:
        Network("pose_detection", tmp_path)
    assert str(caught.value) == f"{path}: the network is missing; install coursepkg again"


@pytest.mark.parametrize("damage", ["cut short", "empty", "one bit"])
def test_a_damaged_network_is_named(damage: str, tmp_path: Path) -> None:
    content = bytearray((MODELS / "pose_detection.tflite").read_bytes())
    content[len(content) // 2] ^= 1
    path = tmp_path / "pose_detection.tflite"
    path.write_bytes({"cut short": content[:100_000], "empty": b"", "one bit": content}[damage])
    with pytest.raises(ValueError, match="the network is damaged") as caught:
        Network("pose_detection", tmp_path)
    assert str(caught.value) == f"{path}: the network is damaged; install coursepkg again"


def test_without_litert_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ai_edge_litert", None)
    with pytest.raises(ImportError) as caught:
        Network("pose_detection")
    assert str(caught.value) == "landmarks need ai-edge-litert: pip install 'coursepkg[landmarks]'"


PROGRAM = """
import os, sys, threading
from coursepkg.projects.sign_language.landmarks.networks import Network
if "closed" in sys.argv:
    os.close(2)
threads = [threading.Thread(target=Network, args=(name,)) for name in ("palm_detection_full", "pose_detection")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
if "closed" not in sys.argv:
    os.write(2, b"still there\\n")
print("done")
"""


@pytest.mark.parametrize("way", ["open", "closed"])
def test_litert_writes_nothing_and_leaves_no_file(way: str, tmp_path: Path) -> None:
    """In a process of its own: the line is written once a process."""
    import os

    folder = tmp_path / "temporary"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, way],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder)},
        check=True,
    )
    assert done.stdout == "done\n"
    assert done.stderr == ("still there\n" if way == "open" else "")
    assert list(folder.iterdir()) == []


def test_what_others_write_meanwhile_comes_out(capfd: pytest.CaptureFixture[str]) -> None:
    import os

    from coursepkg.projects.sign_language.landmarks.networks import _without_delegate_line

    with _without_delegate_line():
        os.write(2, b"first\nINFO: Created TensorFlow Lite XNNPACK delegate for CPU.\nlast\n")
        assert capfd.readouterr().err == ""
    assert capfd.readouterr().err == "first\nlast\n"


def wheel(path: Path, content: dict[str, bytes]) -> Path:
    with ZipFile(path, "w") as archive:
        for name, one in content.items():
            archive.writestr(name, one)
    return path


def test_the_script_takes_the_files_out_of_a_wheel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unpack = script()
    whole = {
        f"mediapipe/modules/{unpack.FOLDERS[name]}/{name}.tflite": (MODELS / f"{name}.tflite").read_bytes()
        for name in SHA256
    } | {unpack.LICENCE: (MODELS / "LICENSE").read_bytes(), "mediapipe/other": b"1"}
    out = tmp_path / "out"
    assert unpack.main([str(wheel(tmp_path / "whole.whl", whole)), "--out", str(out)]) == 0
    assert {path.name for path in out.iterdir()} == {*(f"{name}.tflite" for name in SHA256), "LICENSE"}
    assert all(path.read_bytes() == (MODELS / path.name).read_bytes() for path in out.iterdir())
    capsys.readouterr()

    changed = dict(whole)
    changed["mediapipe/modules/pose_detection/pose_detection.tflite"] += b"x"
    other = dict(whole)
    del other[unpack.LICENCE]
    for name, content, said in (
        ("changed", changed, "SHA-256 is "),
        ("other", other, "give the wheel of mediapipe 0.10.21"),
    ):
        untouched = tmp_path / name
        assert unpack.main([str(wheel(tmp_path / f"{name}.whl", content)), "--out", str(untouched)]) == 2
        error = capsys.readouterr().err
        assert error.startswith("error: ")
        assert said in error
        assert error.count("\n") == 1
        assert not untouched.exists()
    assert unpack.main([str(tmp_path / "missing.whl"), "--out", str(tmp_path / "missing")]) == 2
    assert "No such file" in capsys.readouterr().err
