"""Lets these tests import the notebook tools, which are scripts and no part of the package."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from notebook_rules import notebook_paths


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "notebook_path" in metafunc.fixturenames:
        paths = notebook_paths()
        metafunc.parametrize("notebook_path", paths, ids=[path.stem for path in paths])
