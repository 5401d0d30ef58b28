"""What `fit` runs on: the precision that a processor is good at, the bound on kernels that are kept."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from coursepkg.training.config import PRECISIONS, TrainConfig
from coursepkg.training.engine import KERNELS_KEPT, make_fabric, native_precision


@pytest.mark.parametrize("able", [True, False])
def test_bfloat16_is_taken_only_where_the_processor_multiplies_it(
    able: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: able, raising=False)
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False, raising=False)
    assert native_precision() == ("bf16-mixed" if able else "32-true")


def test_a_pytorch_that_cannot_be_asked_gets_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch, "cpu", object())
    assert native_precision() == "32-true"


def test_the_answer_is_one_that_training_takes() -> None:
    assert native_precision() in PRECISIONS


@pytest.mark.parametrize("before", [None, "7"])
def test_kernels_are_bounded_unless_the_user_said_otherwise(
    before: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "ONEDNN_PRIMITIVE_CACHE_CAPACITY"
    monkeypatch.setenv(name, before or "")
    if before is None:
        monkeypatch.delenv(name)
    make_fabric(TrainConfig(max_steps=1))
    assert os.environ[name] == (before or KERNELS_KEPT)


@pytest.mark.parametrize("cache_can_be_written", [True, False])
def test_the_compiler_keeps_its_kernels_in_the_cache(cache_can_be_written: bool, tmp_path: Path) -> None:
    cache, temporary = tmp_path / "cache", tmp_path / "temporary"
    temporary.mkdir()
    if not cache_can_be_written:
        cache.touch()
    environment = {name: text for name, text in os.environ.items() if name != "TORCHINDUCTOR_CACHE_DIR"}
    environment |= {"XDG_CACHE_HOME": str(cache), "TMPDIR": str(temporary)}
    code = "import coursepkg.training.loop"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert any(temporary.iterdir()) is not cache_can_be_written
    assert (cache / "coursepkg" / "kernels").is_dir() is cache_can_be_written
