"""What is read, in which order, one page at a time; and what cannot be read, in one line each."""

import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from coursepkg.projects.ocr.page.sources import Source, find_sources, open_pages

GRAY = np.tile(np.linspace(0, 255, 60).round().astype(np.uint8), (40, 1))
PICTURE = Image.fromarray(np.stack([GRAY] * 3, axis=-1))


def write(path: Path, **options: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.save(path, **options)
    return path


def names(inputs: list[Path], **options: object) -> list[str]:
    return [one.name for one in find_sources(inputs, **options).files]  # type: ignore[arg-type]


def errors(path: Path) -> list[str]:
    return [page.error for page in open_pages(Source(path, path.name))]


def test_folders_come_in_natural_order(tmp_path: Path) -> None:
    for name in (
        "page 10.png",
        "page 2.png",
        "Page 1.PNG",
        "b/1.jpg",
        ".hidden.png",
        ".cache/x.png",
        "note.txt",
    ):
        if name.endswith("txt"):
            (tmp_path / name).write_text("x")
        else:
            write(tmp_path / name)
    assert names([tmp_path]) == ["Page 1.PNG", "page 2.png", "page 10.png"]
    assert find_sources([tmp_path]).notes == (
        f"{tmp_path}: 1 other file left alone, such as note.txt",
        f"{tmp_path}: 1 folder in it was not opened, add --recursive",
    )
    assert names([tmp_path], recursive=True) == ["b/1.jpg", "Page 1.PNG", "page 2.png", "page 10.png"]
    assert names([tmp_path], recursive=True, leave=[tmp_path / "b", tmp_path / "page 2.png"]) == [
        "Page 1.PNG",
        "page 10.png",
    ]


def test_files_keep_the_order_given_and_their_own_names(tmp_path: Path) -> None:
    one, other = write(tmp_path / "x/scan.png"), write(tmp_path / "y/scan.png")
    odd = tmp_path / "photo without ending"
    odd.write_bytes(one.read_bytes())
    found = find_sources([other, one, odd, tmp_path / "x"])
    assert [source.path for source in found.files] == [other, one, odd]
    assert [source.name for source in found.files] == ["scan.png", "scan (2).png", "photo without ending"]
    assert found.notes == (f"{one}: named twice, read once",)
    before = found.fingerprint
    assert find_sources([other, one, odd]).fingerprint == before
    os.utime(odd, ns=(1, 1))
    assert found.fingerprint != before


def test_inputs_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no input"):
        find_sources([])
    with pytest.raises(FileNotFoundError, match="there is no such file or folder"):
        find_sources([tmp_path / "none.png"])
    (tmp_path / "inner").mkdir()
    with pytest.raises(ValueError, match="no picture and no PDF in it; 1 folder in it was not opened"):
        find_sources([tmp_path])
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="neither a file nor a folder"):
        find_sources([tmp_path / "pipe"])


def test_every_page_of_a_tiff_is_read(tmp_path: Path) -> None:
    pages = [Image.fromarray(np.full((20 + number, 30), 40 * number, np.uint8)) for number in range(5)]
    path = tmp_path / "scan.tif"
    pages[0].save(path, save_all=True, append_images=pages[1:])
    found = list(open_pages(Source(path, path.name)))
    assert [(page.number, page.n_pages) for page in found] == [(number, 5) for number in range(1, 6)]
    for number, page in enumerate(found):
        assert page.image is not None
        assert page.image.shape == (20 + number, 30, 3)
        assert (page.image == 40 * number).all()
    assert found[2].title == f"{path}, page 3"
    assert [page.number for page in open_pages(Source(path, path.name), skip=3)] == [4, 5]
    # The table of a late page is cut off: the pages before it are there.
    path.write_bytes(path.read_bytes()[:-150])
    cut = list(open_pages(Source(path, path.name)))
    assert cut[0].image is not None
    assert len(cut) < 5 or cut[-1].image is None


def test_moving_pictures_have_one_page(tmp_path: Path) -> None:
    path = tmp_path / "moving.gif"
    PICTURE.convert("L").save(path, save_all=True, append_images=[Image.new("L", (60, 40), 9)])
    assert [(page.number, page.n_pages) for page in open_pages(Source(path, path.name))] == [(1, 1)]


def test_a_photograph_is_turned_as_its_camera_was(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[274] = 6
    path = write(tmp_path / "turned.jpg", exif=exif, quality=95)
    (page,) = open_pages(Source(path, path.name))
    assert page.image is not None
    assert page.image.shape == (60, 40, 3)
    # Dark was on the left and is at the top when the picture is turned clockwise.
    assert page.image[0].mean() < 30
    assert page.image[-1].mean() > 220


@pytest.mark.parametrize("kind", ["CMYK", "RGBA", "P", "I;16", "1"])
def test_every_kind_of_pixels_becomes_colour(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.tif"
    deep = Image.fromarray(GRAY.astype(np.uint16) * 257)
    (deep if kind == "I;16" else PICTURE.convert(kind)).save(path)
    (page,) = open_pages(Source(path, path.name))
    assert page.image is not None
    assert (page.image.shape, page.image.dtype) == ((40, 60, 3), np.uint8)
    assert page.image[:, :5].mean() < 60 < 200 < page.image[:, -5:].mean()


def test_what_cannot_be_read_says_why_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "text.jpg").write_text("no picture")
    (tmp_path / "empty.png").write_bytes(b"")
    cut = write(tmp_path / "cut.jpg", quality=95)
    cut.write_bytes(cut.read_bytes()[:-40])
    large = tmp_path / "large.png"
    Image.new("1", (20_000, 20_000)).save(large)
    said = {path.name: errors(path) for path in tmp_path.iterdir()}
    assert all(len(lines) == 1 and "\n" not in lines[0] and name in lines[0] for name, lines in said.items())
    assert "not a picture" in said["text.jpg"][0]
    assert "empty" in said["empty.png"][0]
    assert "damaged or cut short" in said["cut.jpg"][0]
    assert "400,000,000 pixels, more than 64,000,000; scale it down" in said["large.png"][0]
    assert "no such picture" in errors(tmp_path / "gone.png")[0]


def test_one_page_is_in_memory_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "long.tif"
    pages = [Image.new("L", (500, 500), number) for number in range(12)]
    pages[0].save(path, save_all=True, append_images=pages[1:])
    del pages
    tracemalloc.start()
    try:
        count = sum(page.image is not None for page in open_pages(Source(path, path.name)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 12
    assert peak < 4 * 500 * 500 * 3
