"""Checkpoints appear whole or not at all, and what is wrong with one is said in one line."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import coursepkg.training
from coursepkg.files import FORMAT
from coursepkg.training.checkpoint import read_checkpoint, tidy, weight_files, write_checkpoint
from coursepkg.training.regularisers import average_checkpoints

TENSORS = {"model": {}, "rng": {"torch": torch.get_rng_state()}}


def write(out: Path, step: int, *, best_step: int | None = None, keep: int = 1) -> None:
    tensors = TENSORS | {"model": {"w": torch.full((2, 3), float(step))}}
    write_checkpoint(out, step, tensors, {"step": step}, best_step=best_step, keep=keep)


def folders(out: Path) -> list[str]:
    return sorted(path.name for path in out.iterdir() if path.is_dir())


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    write(tmp_path, 3)
    checkpoint = read_checkpoint(tmp_path)
    assert checkpoint.state == {"step": 3}
    assert torch.equal(checkpoint.tensors()["model"]["w"], torch.full((2, 3), 3.0))
    assert torch.equal(checkpoint.tensors()["rng"]["torch"], TENSORS["rng"]["torch"])


def test_a_transposed_tensor_is_stored_as_it_reads(tmp_path: Path) -> None:
    transposed = torch.arange(6.0).view(2, 3).T
    write_checkpoint(tmp_path, 1, {"model": {"w": transposed}}, {}, best_step=None, keep=1)
    assert torch.equal(read_checkpoint(tmp_path).tensors()["model"]["w"], transposed)


def test_the_best_and_the_newest_stay(tmp_path: Path) -> None:
    for step, best_step in ((9, 9), (10, 9), (11, 9), (100, 9)):
        write(tmp_path, step, best_step=best_step, keep=2)
    assert folders(tmp_path) == ["step-100", "step-11", "step-9"]
    assert read_checkpoint(tmp_path, "best").state == {"step": 9}
    assert read_checkpoint(tmp_path, "last").state == {"step": 100}
    assert [path.parent.name for path in weight_files(tmp_path)] == ["step-9", "step-11", "step-100"]
    assert torch.equal(average_checkpoints(weight_files(tmp_path))["w"], torch.full((2, 3), 40.0))


@pytest.mark.parametrize("call", ["rename", "replace", "fsync"])
@pytest.mark.parametrize("nth", range(6))
def test_a_write_that_fails_anywhere_leaves_the_checkpoint_before(
    tmp_path, monkeypatch, call: str, nth: int
) -> None:
    write(tmp_path, 1, best_step=1)
    real, calls = getattr(os, call), iter(range(100))

    def fail(*arguments, **options):
        if next(calls) == nth:
            raise OSError(28, "No space left on device")
        return real(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        try:
            write(tmp_path, 2, best_step=2)
        except OSError as problem:
            told = str(problem)
        else:
            told = "No space left on device, but later than this write"
    assert "No space left on device" in told
    assert "\n" not in told
    assert not list(tmp_path.glob("step-*.part"))
    for which in ("last", "best"):
        checkpoint = read_checkpoint(tmp_path, which)
        assert torch.equal(
            checkpoint.tensors()["model"]["w"], torch.full((2, 3), float(checkpoint.state["step"]))
        )
    tidy(tmp_path, read_checkpoint(tmp_path).state["step"])
    write(tmp_path, 3, best_step=3)
    assert folders(tmp_path) == ["step-3"]


FULL_DISK = """
import resource, sys
from pathlib import Path
import torch
from coursepkg.training.checkpoint import write_checkpoint
out = Path(sys.argv[1])
write_checkpoint(out, 1, {"model": {"w": torch.ones(10)}}, {}, best_step=1, keep=1)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    write_checkpoint(out, 2, {"model": {"w": torch.ones(100_000)}}, {}, best_step=2, keep=1)
except OSError as told:
    print(told)
"""


def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, tmp_path], capture_output=True, text=True, check=True
    )
    assert re.fullmatch(
        r"\S+model.safetensors could not be written: .*File too large.*; free some .*\n", done.stdout
    )
    assert folders(tmp_path) == ["step-1"]
    assert read_checkpoint(tmp_path).tensors()["model"]["w"].sum() == 10


def test_what_a_kill_leaves_is_removed_and_said(tmp_path: Path, capsys) -> None:
    for step in (2, 4):
        write(tmp_path, step, keep=3)
    (tmp_path / "step-6.part").mkdir()
    (tmp_path / "step-6.part" / "model.safetensors").write_bytes(b"half")
    (tmp_path / "last.json.part").write_text("{")
    (tmp_path / "thesis.part").write_text("not ours")
    tidy(tmp_path, 2)
    said = capsys.readouterr().err.splitlines()
    assert [line.split(" was left half-written")[0] for line in said] == [
        str(tmp_path / "last.json.part"),
        str(tmp_path / "step-6.part"),
    ]
    assert folders(tmp_path) == ["step-2"]
    assert (tmp_path / "thesis.part").exists()


def damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "cut":
        path.write_bytes(data[:-3])
    elif how == "longer":
        path.write_bytes(data + b"x")
    elif how == "changed":
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    elif how == "newer":
        path.write_text(json.dumps(json.loads(data) | {"format": FORMAT + 1}))
    else:
        path.write_text(how)


@pytest.mark.parametrize(
    ("name", "how", "kind", "message"),
    [
        ("step-3/model.safetensors", "missing", FileNotFoundError, "is missing; copy the whole folder again"),
        (
            "step-3/model.safetensors",
            "cut",
            ValueError,
            r"is cut short: \d+ bytes instead of \d+; copy it again",
        ),
        ("step-3/model.safetensors", "longer", ValueError, r"is too long: \d+ bytes instead of \d+"),
        (
            "step-3/model.safetensors",
            "changed",
            ValueError,
            "was changed: its SHA-256 is not the one on record",
        ),
        ("step-3/state.json", "changed", ValueError, "was changed: its SHA-256 is not the one on record"),
        ("step-3/state.json", "missing", FileNotFoundError, "is missing"),
        ("last.json", "missing", FileNotFoundError, "is missing"),
        ("last.json", "newer", ValueError, f"has format {FORMAT + 1}, newer than {FORMAT}; update coursepkg"),
        ("last.json", "", ValueError, "is damaged: it is no JSON file of this package"),
        ("last.json", "[1]", ValueError, "is damaged: it is no JSON file of this package"),
        ("last.json", '{"format": "x"}', ValueError, "is damaged: it is no JSON file of this package"),
        ("last.json", '{"format": 1}', ValueError, "is damaged: it has no folder"),
    ],
)
def test_damage_is_named_in_one_line(tmp_path: Path, name, how, kind, message) -> None:
    write(tmp_path, 3)
    damage(tmp_path / name, how)
    with pytest.raises(kind, match=message) as told:
        read_checkpoint(tmp_path).tensors()
    assert str(told.value).startswith(str(tmp_path / name))
    assert "\n" not in str(told.value)


def test_which_checkpoint_must_be_last_or_best(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="which must be last or best, got 'newest'"):
        read_checkpoint(tmp_path, "newest")


def test_nothing_is_pickled() -> None:
    sources = list(Path(coursepkg.training.__file__).parent.glob("*.py"))
    assert len(sources) > 10
    for path in sources:
        text = path.read_text(encoding="utf-8")
        assert not re.search(
            r"torch\.(load|save)|^import pickle|from pickle|fabric\.(load|save)", text, re.M
        ), path


def test_a_folder_of_another_name_is_none_of_the_run(tmp_path: Path) -> None:
    write(tmp_path, 1)
    (tmp_path / "step-1 (copy)").mkdir()
    write(tmp_path, 2)
    assert [path.parent.name for path in weight_files(tmp_path)] == ["step-2"]
    assert (tmp_path / "step-1 (copy)").is_dir()
