"""Reading stays light: few files of the package take part, and none that draws, trains or measures."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from coursepkg.projects.ocr.predict import DEFAULT
from tests.projects.ocr.drawn import drawn_lines
from tests.projects.ocr.sets import write_picture

LINE = """
from coursepkg.projects.ocr import Recognizer
Recognizer.load_default().read_lines(sys.argv[1:])
"""
PHOTOGRAPH = """
from coursepkg.cli import main
assert main(["ocr", "predict", *sys.argv[1:]]) == 0
"""
PROFILED = """
import json, sys, threading
from pathlib import Path
import coursepkg
home, called, optimised = str(Path(coursepkg.__file__).parent), set(), 1

def note(frame, event, argument):
    code = frame.f_code
    # Bodies of classes and comprehensions of modules run when something is imported.
    if event == "call" and code.co_flags & optimised and not code.co_name.startswith("<"):
        if code.co_filename.startswith(home):
            called.add(code.co_filename)

threading.setprofile(note)
sys.setprofile(note)
{}
sys.setprofile(None)
print(json.dumps([sorted(called), sorted(name for name in sys.modules if name.startswith("coursepkg"))]))
"""
NOT_FOR_PREDICTION = (
    "synthetic",
    "corpus",
    "corpora",
    "batches",
    "packed",
    "training",
    "ladder",
    "studies",
    "bench",
)
pytestmark = pytest.mark.skipif(not (DEFAULT / "model").is_dir(), reason="the model does not ship here")


def profiled(code: str, *arguments: str | Path) -> tuple[list[str], list[str]]:
    """Files of the package in which a function was called, and modules that were loaded."""
    command = [sys.executable, "-c", PROFILED.format(code), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    files, modules = json.loads(done.stdout.splitlines()[-1])
    ours = [name for name in modules if name.startswith("coursepkg.projects.ocr.")]
    assert not [name for name in ours if set(name.split(".")[3:]) & set(NOT_FOR_PREDICTION)]
    return files, modules


def test_a_line_is_read_by_few_files(tmp_path: Path) -> None:
    picture = write_picture(tmp_path / "line.png", drawn_lines(1)[0].image)
    files, modules = profiled(LINE, picture)
    assert len(files) <= 35, files
    assert len(modules) <= 70, modules


def test_a_photograph_is_read_by_few_files(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    pytest.importorskip("onnxruntime")
    from coursepkg.projects.ocr.synthetic.receipts import make_receipt

    picture = write_picture(tmp_path / "page.png", make_receipt(1, 0).image)
    files, modules = profiled(PHOTOGRAPH, picture)
    assert len(files) <= 50, files
    assert len(modules) <= 85, modules
