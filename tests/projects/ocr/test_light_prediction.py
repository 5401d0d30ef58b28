"""Reading stays light: few files of the package take part, and none that draws, trains or measures."""

from pathlib import Path

import pytest

from coursepkg.projects.ocr.predict import DEFAULT
from tests.projects.ocr.drawn import drawn_lines
from tests.projects.ocr.sets import write_picture
from tests.projects.profiled import profiled

LINE = """
from coursepkg.projects.ocr import Recognizer
Recognizer.load_default().read_lines(sys.argv[1:])
"""
PHOTOGRAPH = """
from coursepkg.cli import main
assert main(["ocr", "predict", *sys.argv[1:]]) == 0
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


def read_by(code: str, picture: Path) -> tuple[list[str], list[str]]:
    """What `profiled` finds, none of it only for other work than predictions."""
    files, modules = profiled(code, picture)
    ours = [name for name in modules if name.startswith("coursepkg.projects.ocr.")]
    assert not [name for name in ours if set(name.split(".")[3:]) & set(NOT_FOR_PREDICTION)]
    return files, modules


def test_a_line_is_read_by_few_files(tmp_path: Path) -> None:
    picture = write_picture(tmp_path / "line.png", drawn_lines(1)[0].image)
    files, modules = read_by(LINE, picture)
    assert len(files) <= 35, files
    assert len(modules) <= 70, modules


def test_a_photograph_is_read_by_few_files(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    pytest.importorskip("onnxruntime")
    from coursepkg.projects.ocr.synthetic.receipts import make_receipt

    picture = write_picture(tmp_path / "page.png", make_receipt(1, 0).image)
    files, modules = read_by(PHOTOGRAPH, picture)
    assert len(files) <= 50, files
    assert len(modules) <= 85, modules
