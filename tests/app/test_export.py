"""ONNX graphs are written whole with their card, run in onnxruntime, and are checked before they run."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from coursepkg.app.export import CARD, ONNX_PROGRAM, OPSET, Graph, read_onnx, read_program, traced, write_onnx
from coursepkg.files import file_sha256


class Mixed(nn.Module):
    """Two inputs of different kinds, two outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.arange(12.0).reshape(3, 4))

    def forward(self, x: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
        """Projects x (B, T, 3), and x without the places that are not chosen (B, T)."""
        y = x @ self.weight
        return y, y * chosen[..., None]


def mixed() -> torch.export.ExportedProgram:
    sizes = {0: torch.export.Dim("B", min=1, max=99), 1: torch.export.Dim("T", min=0, max=99)}
    return traced(Mixed(), (torch.zeros(2, 5, 3), sizes), (torch.ones(2, 5, dtype=torch.bool), sizes))


GRAPH = Graph(
    mixed,
    {"x": ("B", "T", 3), "chosen": ("B", "T")},
    {"all": ("B", "T", 4), "some": ("B", "T", 4)},
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("onnx") / "new" / "out"
    write_onnx(out, {"mixed.onnx": GRAPH}, {"labels": ["a"]}, lambda part: (part / "more").write_text("x"))
    return out


def test_a_graph_keeps_its_numbers_at_other_sizes(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == [CARD, "mixed.onnx", "more"]
    sessions, card = read_onnx(folder, {"labels": list})
    session = sessions["mixed.onnx"]
    for batch, length in ((1, 1), (3, 7), (2, 0)):
        x = np.random.default_rng(0).normal(size=(batch, length, 3)).astype(np.float32)
        chosen = np.arange(batch * length).reshape(batch, length) % 2 == 0
        every, some = session.run(None, {"x": x, "chosen": chosen})
        expected = x @ np.arange(12, dtype=np.float32).reshape(3, 4)
        np.testing.assert_allclose(every, expected, atol=1e-5)
        np.testing.assert_allclose(some, expected * chosen[..., None], atol=1e-5)
    assert card["labels"] == ["a"]


def test_the_card_and_the_graph_name_the_same(folder: Path) -> None:
    sessions, card = read_onnx(folder, {})
    assert (card["opset"], card["torch"]) == (OPSET, torch.__version__)
    told = card["files"]["mixed.onnx"]
    assert told["sha256"] == file_sha256(folder / "mixed.onnx")
    assert told["inputs"] == {
        "x": {"dtype": "float32", "shape": ["B", "T", 3]},
        "chosen": {"dtype": "bool", "shape": ["B", "T"]},
    }
    session = sessions["mixed.onnx"]
    for kind, ends in (("inputs", session.get_inputs()), ("outputs", session.get_outputs())):
        assert {end.name: end.shape for end in ends} == {
            name: one["shape"] for name, one in told[kind].items()
        }


def test_an_existing_folder_stays_as_it_is(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(ValueError, match=r"already exists; choose another --out$"):
        write_onnx(folder, {"mixed.onnx": GRAPH}, {})
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    def full(*paths: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        write_onnx(tmp_path / "out", {"mixed.onnx": GRAPH}, {}, full)
    with pytest.raises(OSError, match="No space left"):
        write_onnx(tmp_path / "out", {"mixed.onnx": Graph(full, {}, {})}, {})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("module", ["onnx", "onnxscript"])
def test_without_a_package_the_extra_is_named(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"needs {module}: pip install 'coursepkg\[onnx\]'$"):
        write_onnx(tmp_path / "out", {"mixed.onnx": GRAPH}, {})
    assert not list(tmp_path.iterdir())


def test_without_the_runtime_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r"needs onnxruntime: pip install 'coursepkg\[onnx\]'$"):
        read_onnx(folder, {})


def test_a_damaged_folder_is_named(folder: Path, tmp_path: Path) -> None:
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    for read in (read_onnx, read_program):
        with pytest.raises(
            ValueError, match="or of another project: it has no words; export the model again"
        ):
            read(tmp_path, {"words": list})
    with (tmp_path / "mixed.onnx").open("ab") as file:
        file.write(b"more")
    with pytest.raises(ValueError, match="was changed or cut short; export the model again"):
        read_onnx(tmp_path, {})
    (tmp_path / "mixed.onnx").unlink()
    with pytest.raises(FileNotFoundError, match=r"mixed\.onnx"):
        read_onnx(tmp_path, {})
    card = json.loads((tmp_path / CARD).read_text("utf-8"))
    (tmp_path / CARD).write_text(json.dumps(card | {"files": {"mixed.onnx": {}}}), "utf-8")
    with pytest.raises(ValueError, match="is damaged"):
        read_onnx(tmp_path, {})


def test_a_program_is_read_whatever_its_format(tmp_path: Path) -> None:
    size = {0: torch.export.Dim("B", min=1, max=99)}
    graph = Graph(lambda: traced(nn.ReLU(), (torch.zeros(2, 3), size)), {"x": ("B", 3)}, {"y": ("B", 3)})
    write_onnx(tmp_path / "out", {ONNX_PROGRAM: graph}, {})
    program, _ = read_program(tmp_path / "out", {})
    assert program(torch.tensor([[-1.0, 0.0, 2.0]])).tolist() == [[0.0, 0.0, 2.0]]
