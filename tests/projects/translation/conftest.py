"""One tiny model for all tests of the translation project, trained once in each process that runs some of them."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from coursepkg.projects.translation import corpora
from coursepkg.projects.translation.predict import Translator
from tests.projects.translation.tiny import RECIPE, SmallBook, quietly, write_zh_vi

# How the shipped model was made is tested with the script that did it.
sys.path.append(str(Path(__file__).parents[3] / "scripts"))


@pytest.fixture(scope="package", autouse=True)
def _one_thread() -> Iterator[None]:
    """Networks as small as those here lose time with more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run on the toy languages, zh to vi and back."""
    out = tmp_path_factory.mktemp("tiny") / "run"
    quietly(RECIPE, out)
    return out


@pytest.fixture(scope="session")
def translator(tiny_run: Path) -> Translator:
    """That model, loaded."""
    return Translator.load(tiny_run)


@pytest.fixture
def zh_vi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with `zh_vi` alone, and `COURSEPKG_DATA` set to it."""
    folder = write_zh_vi(tmp_path / "data")
    monkeypatch.setenv("COURSEPKG_DATA", str(folder))
    return folder


@pytest.fixture
def small_book(monkeypatch: pytest.MonkeyPatch) -> SmallBook:
    """A phrasebook of 288 sentences in place of the real one, which takes seconds to write."""
    monkeypatch.setattr(corpora, "Phrasebook", SmallBook)
    return SmallBook()
