"""Small networks lose time with several threads; and one model trained by the command line for all who read with it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.projects.ocr.sets import QUICK, ocr, write_labelled

# How the shipped model was made is tested with the scripts that did it.
sys.path.append(str(Path(__file__).parents[3] / "scripts"))


@pytest.fixture(scope="package", autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def _no_real_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is drawn and read here is the same on every machine."""
    monkeypatch.setenv("COURSEPKG_DATA", str(tmp_path / "no data"))
    monkeypatch.delenv("COURSEPKG_FONTS", raising=False)


@pytest.fixture(scope="session")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of 40 drawn lines in 20 documents."""
    return write_labelled(tmp_path_factory.mktemp("labelled") / "lines")


@pytest.fixture(scope="session")
def quick_run(labelled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that was trained on them, for a second."""
    out = tmp_path_factory.mktemp("quick") / "run"
    done = ocr("train", "--data", labelled, "--out", out, *QUICK)
    assert done.code == 0, done.err
    return out
