"""The package as its users have it: installed from a wheel."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the wheel of this package is installed."""
    wheels, target = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("installed")
    root, pip = Path(__file__).parents[2], [sys.executable, "-m", "pip", "-q"]
    offline = ["--no-deps", "--no-index"]
    subprocess.run([*pip, "wheel", *offline, "--no-build-isolation", "-w", wheels, root], check=True)
    (wheel,) = wheels.iterdir()
    subprocess.run([*pip, "install", *offline, "--target", target, wheel], check=True)
    return target
