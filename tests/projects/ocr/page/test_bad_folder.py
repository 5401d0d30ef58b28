"""`predict` over a folder with every kind of bad picture: a line for each, the rest read, a summary at the end."""

import json
from pathlib import Path

import numpy as np
from PIL import Image

from tests.projects.ocr.drawn import draw
from tests.projects.ocr.page.pages import ROWS, drawn_page
from tests.projects.ocr.page.world import World
from tests.said import Said

ON_ITS_SIDE = 6
"""EXIF orientation of a camera that was turned by a quarter."""
BAD = {
    "cut.jpg": "damaged or cut short",
    "empty.png": "the file is empty",
    "huge.png": "400,000,000 pixels, more than 64,000,000; scale it down",
    "letter.jpg": "not a picture",
}
GOOD = ("blank.png", "cmyk.jpg", "plain.png", "turned.jpg")


def fill(folder: Path, image: np.ndarray) -> None:
    """One picture in three ways of storing it, a white one, and four that cannot be read."""
    folder.mkdir()
    plain = Image.fromarray(image).convert("RGB")
    plain.save(folder / "plain.png")
    plain.convert("CMYK").save(folder / "cmyk.jpg", quality=95)
    exif = Image.Exif()
    exif[0x0112] = ON_ITS_SIDE
    plain.transpose(Image.Transpose.ROTATE_90).save(folder / "turned.jpg", quality=95, exif=exif)
    whole = (folder / "turned.jpg").read_bytes()
    (folder / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    Image.new("RGB", plain.size, "white").save(folder / "blank.png")
    Image.new("1", (20_000, 20_000)).save(folder / "huge.png")
    (folder / "letter.jpg").write_text("no picture at all")
    (folder / "empty.png").write_bytes(b"")


def read(world: World, *arguments: str) -> Said:
    return world.predict("in", "--out", "o.jsonl", "--json", *arguments)


def check_errors(ran: Said, bad: dict[str, str]) -> None:
    """One line for each bad file, in order, and all of them in the summary, which ends what is said."""
    assert ran.code == 1
    said = ran.err.splitlines()
    errors = [line for line in said if line.startswith("error: ")]
    assert len(errors) == len(bad)
    for line, (name, reason) in zip(errors, sorted(bad.items()), strict=True):
        assert line.startswith(f"error: in/{name}: ")
        assert reason in line
    names = ", ".join(f"in/{name}" for name in sorted(bad))
    assert said[-1].endswith(f"could not be read: {len(bad)} files ({names})")
    assert ran.document["failed"] == [f"in/{name}" for name in sorted(bad)]
    records = [json.loads(row) for row in Path("o.jsonl").read_text("utf-8").splitlines()]
    assert [one["file"] for one in records] == [f"in/{name}" for name in sorted({*bad, *GOOD})]
    assert {Path(one["file"]).name for one in records if one["error"]} == bad.keys()


def test_pages(world: World) -> None:
    page = drawn_page()[0]
    fill(world.folder / "in", page)
    ran = read(world)
    check_errors(ran, BAD)
    assert (ran.document["pages"], ran.document["empty"]) == (4, 1)
    assert ran.err.splitlines()[-1].startswith("4 pages read, ")
    assert "; without text: 1 page" in ran.err.splitlines()[-1]
    records = {
        Path(one["file"]).name: one
        for one in map(json.loads, Path("o.jsonl").read_text("utf-8").splitlines())
    }
    height, width = page.shape[:2]
    assert {(records[name]["width"], records[name]["height"]) for name in GOOD} == {(width, height)}
    n_boxes = sum(map(len, ROWS))
    for name in ("plain.png", "cmyk.jpg", "turned.jpg"):
        found = records[name]
        assert len(found["lines"]) + sum(found["left_out"].values()) <= n_boxes
        assert found["lines"]
    assert records["blank.png"]["lines"] == []


def test_single_lines(world: World) -> None:
    image = draw("Trà sữa trân châu")
    fill(world.folder / "in", image)
    Image.new("L", (1, 1)).save(world.folder / "in" / "pixel.png")
    ran = read(world, "--lines", "--batch-size", "3")
    check_errors(ran, BAD | {"pixel.png": "1 x 1 pixels hold no text; leave it out"})
    assert ran.document["pages"] == 4
    assert ran.err.splitlines()[-1].startswith("4 pages read, ")
    records = {
        Path(one["file"]).name: one
        for one in map(json.loads, Path("o.jsonl").read_text("utf-8").splitlines())
    }
    height, width = image.shape
    assert {(records[name]["width"], records[name]["height"]) for name in GOOD} == {(width, height)}
