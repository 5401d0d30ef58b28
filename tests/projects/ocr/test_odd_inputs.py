"""Inputs that are no pictures, files with odd names, and the order of arguments."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from coursepkg.cli import parse
from coursepkg.projects.ocr.data.images import read_gray
from coursepkg.projects.ocr.page import sources
from coursepkg.projects.ocr.page.sources import Source, open_pages
from tests.said import said

LINE = np.full((40, 120), 255, np.uint8)


def test_a_pipe_is_no_picture(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.png"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(ValueError, match="is no regular file; name a file"):
            read_gray(path)
        assert "neither a file nor a folder" in said("ocr", "predict", path, "--lines").mistake


def test_a_file_of_too_many_pages_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MOST_PAGES", 2)
    page = Image.new("RGB", (60, 60), "white")
    for name in ("a.pdf", "a.tif"):
        path = tmp_path / name
        page.save(path, save_all=True, append_images=[page, page])
        (found,) = open_pages(Source(path, name))
        assert found.error == f"{path} says that it has 3 pages, more than 2; split it"


@pytest.mark.parametrize(
    "arguments",
    [["a.png", "b.png", "--lines"], ["--lines", "a.png", "b.png"], ["a.png", "--lines", "b.png"]],
)
def test_pictures_may_stand_behind_a_switch(arguments: list[str]) -> None:
    options = parse("ocr predict", [*arguments, "--batch-size", "3"])
    assert options.lines
    assert options.inputs == (Path("a.png"), Path("b.png"))
    assert parse("sign-language predict", ["--recursive", "x.mp4", "--json"]).inputs == (Path("x.mp4"),)


def test_a_name_that_is_no_utf_8_and_broken_exif_leave_answers_alone(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    exif = b"Exif\0\0II*\0\x08\0\0\0\x40\0\x0f\x01\x02\0\xff\0\0\0\xff\xff\0\0"
    Image.fromarray(LINE).save(os.fsencode(folder) + b"/\xff.jpg", format="JPEG", exif=exif)
    command = [sys.executable, "-m", "coursepkg", "ocr", "predict", "--lines", "--json", str(folder)]
    for more in ([], ["--out", str(tmp_path / "out.jsonl")], ["--text", str(tmp_path / "out.txt")]):
        done = subprocess.run([*command, *more], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert b"warn" not in done.stderr.lower()
        json.loads(done.stdout.splitlines()[-1])
    assert not list(tmp_path.glob("*.part*"))
