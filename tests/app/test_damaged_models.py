"""Folders of models that lie are refused in one line, by the package itself."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("system", ["translation", "ocr", "sign_language", "library_model"])
def test_folders_that_lie_are_refused_in_one_line(system: str) -> None:
    checks = str(Path(__file__).with_name("lying_models.py"))
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--noconftest", "-p", "no:cacheprovider", checks]
    done = subprocess.run([*command, "-k", system], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
