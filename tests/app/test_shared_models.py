"""A loaded system is copied, pickled, used by ten threads at once and in a forked process."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("system", ["translation", "ocr", "sign_language"])
def test_copies_forks_and_threads_agree(system: str) -> None:
    command = [sys.executable, "-m", "tests.app.shared_models", system]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=400)
    assert done.returncode == 0, done.stderr[-2000:]
