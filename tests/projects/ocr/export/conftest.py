"""The model that is trained for a second, exported once to each format."""

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest


@pytest.fixture(scope="package")
def export_to(quick_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Its folder by format, made in another process: shape checks of tests cannot follow traced sizes."""
    root = tmp_path_factory.mktemp("exports")

    @cache
    def export_to(format: str) -> Path:
        for package in ("onnx", "onnxscript", "onnxruntime") if format == "onnx" else ():
            pytest.importorskip(package, reason=f"{package} is not installed; see the extra `onnx`")
        out = root / format
        command = ["ocr", "export", "--format", format, "--model", str(quick_run), "--out", str(out)]
        subprocess.run([sys.executable, "-m", "coursepkg", *command], check=True, capture_output=True)
        return out

    return export_to
