"""The script that makes the shipped model: its options are those of the package."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[3] / "scripts" / "train_sign_checkpoint.py"


@pytest.fixture
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("train_sign_checkpoint", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_defaults_are_those_of_the_package(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["train"])
    chosen = script.options()
    assert chosen.checkpoint == script.DEFAULT
    assert (chosen.preset, chosen.data, chosen.seed) == ("small", "signers", 0)
    assert script.PRESETS[chosen.preset].pretrained == ""  # what ships comes from no other model
