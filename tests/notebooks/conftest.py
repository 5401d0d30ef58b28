"""Lets these tests import the notebook tools, which are scripts and no part of the package."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))


def notebook_paths() -> list[Path]:
    """Every chapter's notebook."""
    paths = sorted((ROOT / "notebooks").rglob("*.ipynb"))
    return [
        path for path in paths if ".ipynb_checkpoints" not in path.parts and ".rejected" not in path.suffixes
    ]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "notebook_path" in metafunc.fixturenames:
        paths = notebook_paths()
        metafunc.parametrize("notebook_path", paths, ids=[path.stem for path in paths])
