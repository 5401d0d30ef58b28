"""`coursepkg ocr predict` from the command line to its files: one page, folders, and runs that were stopped."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from coursepkg.app.jobs import ResumableJsonl
from coursepkg.projects.ocr.data.images import read_rgb
from coursepkg.projects.ocr.page import output
from coursepkg.projects.ocr.page.output import SCHEMA, record_page
from coursepkg.projects.ocr.page.read import read_page
from tests.projects.ocr.page.pages import ROWS, InkDetector, drawn_page, random_recognizer
from tests.projects.ocr.page.world import World, save


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_one_photograph_is_printed_with_its_score_and_json(world: World) -> None:
    photo = save(world.folder / "photo.png")
    (world.folder / "said.txt").write_text("a b", "utf-8")
    plain = world.predict(photo)
    assert plain.code == 0
    assert f"1 page read, {len(random_texts(photo))} lines" in plain.err
    assert plain.out == "".join(f"{row}\n" for row in random_texts(photo, by_row=True))
    scored = world.predict(photo, "--json", "--reference", "said.txt", "--reader", "attention")
    document = json.loads(scored.out.splitlines()[-1])
    assert document["score"]["printed"] == 2
    assert document["page"]["schema"] == SCHEMA
    assert document["failed"] == []
    assert "bag-of-words F1|" in scored.out
    assert world.detector.closed


def random_texts(photo: Path, by_row: bool = False) -> list[str]:
    """What the random network reads from a page, independently of the command."""
    page = read_page(read_rgb(photo), InkDetector(), random_recognizer())
    return page.text.splitlines() if by_row else [line.text for line in page.lines]


def test_json_text_and_overlay_of_one_photograph(world: World) -> None:
    photo = save(world.folder / "photo.png")
    done = world.predict(photo, "--out", "o.json", "--text", "o.txt", "--overlay", "o.png")
    assert (done.code, done.out) == (0, "")
    record = json.loads((world.folder / "o.json").read_text("utf-8"))
    page = record_page(record)
    assert (record["file"], record["page"], record["pages"], record["error"]) == (str(photo), 1, 1, None)
    assert page.text == record["text"] == (world.folder / "o.txt").read_text("utf-8").rstrip("\n")
    assert len(page.lines) == len(random_texts(photo))
    for line in page.lines:
        assert 0 < line.confidence <= 1
        assert line.box.corners[0, 0] < line.box.corners[1, 0] <= page.width
    with Image.open(world.folder / "o.png") as overlay:
        assert overlay.width + overlay.height > page.width + page.height
    assert sorted(path.name for path in world.folder.iterdir()) == ["o.json", "o.png", "o.txt", "photo.png"]


def test_a_folder_goes_on_where_it_was_stopped(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1, 2, 10):
        save(world.folder / "in" / f"{number}.png", ROWS[:number])
    (world.folder / "in" / "9.jpg").write_text("no picture")
    pages = [Image.fromarray(drawn_page(ROWS[: number + 1])[0]) for number in range(3)]
    pages[0].save(world.folder / "in" / "7.tif", save_all=True, append_images=pages[1:])
    command = ("in", "--overlay", "drawn", "--text", "whole.txt")
    whole = world.predict(*command, "--out", "whole.json")
    assert whole.code == 1
    assert "error: in/9.jpg: not a picture" in whole.err
    assert "6 pages read" in whole.err
    for begun in ("in/2.png: 2 pages, ", "in/9.jpg: 5 pages, ", "in/10.png: 6 pages, "):
        assert any(line.startswith(begun) and " so far" in line for line in whole.err.splitlines())
    # Its error, how far the run is at it, and the summary: no other line repeats what failed.
    assert sum("in/9.jpg" in line for line in whole.err.splitlines()) == 3
    assert "could not be read: 1 file (in/9.jpg)" in whole.err

    stop = world.detector.seen + 3
    real = output.read_page

    def stopped(*given: Any, **options: Any) -> Any:
        if world.detector.seen == stop:
            raise KeyboardInterrupt
        return real(*given, **options)

    monkeypatch.setattr(output, "read_page", stopped)
    parts = ("in", "--overlay", "drawn2", "--text", "parts.txt", "--out", "parts.json")
    assert world.predict(*parts).code == 130
    assert len(records(world.folder / "parts.json.part")) == 3
    assert "belongs to another command" in world.predict(*parts, "--dpi", "100").mistake
    monkeypatch.setattr(output, "read_page", real)
    before = world.detector.seen
    again = world.predict(*parts, "--json")
    assert world.detector.seen == before + 3
    document = json.loads(again.out.splitlines()[-1])
    assert (document["pages"], document["resumed_after"], document["failed"]) == (6, 3, ["in/9.jpg"])
    assert (world.folder / "parts.json").read_bytes() == (world.folder / "whole.json").read_bytes()
    assert (world.folder / "parts.txt").read_bytes() == (world.folder / "whole.txt").read_bytes()
    for folder in ("drawn", "drawn2"):
        assert sorted(path.name for path in (world.folder / folder).iterdir()) == [
            "1.png.png",
            "10.png.png",
            "2.png.png",
            *(f"7.tif-{number:04}.png" for number in (1, 2, 3)),
        ]
    found = records(world.folder / "whole.json")
    assert [(one["file"], one["page"]) for one in found] == [
        ("in/1.png", 1),
        ("in/2.png", 1),
        *(("in/7.tif", number) for number in (1, 2, 3)),
        ("in/9.jpg", 1),
        ("in/10.png", 1),
    ]
    assert [bool(one["error"]) for one in found] == [False] * 5 + [True, False]
    assert not list(world.folder.glob("*.part*"))
    assert "== in/7.tif, page 2\n" in (world.folder / "whole.txt").read_text("utf-8")


@pytest.mark.parametrize("flag", ["--out", "--text"])
def test_a_single_picture_goes_on_where_it_was_stopped(
    flag: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    photo = save(world.folder / "photo.png")
    command = (photo, "--overlay", "o.png", flag, "o")

    def stopped(part: ResumableJsonl, text: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ResumableJsonl, "write", stopped)
        assert world.predict(*command).code == 130
    drawn = (world.folder / "o.png").read_bytes()
    assert world.predict(*command).code == 0
    assert (world.folder / "o.png").read_bytes() == drawn
    assert sorted(path.name for path in world.folder.iterdir()) == ["o", "o.png", "photo.png"]
    # What nobody was stopped at is a user's own.
    (world.folder / "o").unlink()
    assert "o.png already exists" in world.predict(*command).mistake
    assert (world.folder / "o.png").read_bytes() == drawn


def test_pictures_of_single_lines_need_no_detector(world: World) -> None:
    for number in range(5):
        Image.fromarray(drawn_page([["Trà sữa"]], 200)[0]).save(world.folder / f"{number}.png")
    Image.new("L", (1, 40)).save(world.folder / "1.tif")
    done = world.predict(".", "--lines", "--text", "t.txt", "--batch-size", "2")
    assert done.code == 1
    assert "1 x 40 pixels hold no text" in done.err
    rows = (world.folder / "t.txt").read_text("utf-8").splitlines()
    assert [row.split("\t")[0] for row in rows] == [f"{number}.png" for number in range(5)]
    assert world.detector.seen == 0


def test_an_empty_page_is_no_error(world: World) -> None:
    Image.new("RGB", (300, 200), "white").save(world.folder / "empty.png")
    done = world.predict("empty.png", "--out", "o.json", "--overlay", "o.png")
    assert done.code == 0
    assert "1 page read, 0 lines; without text: 1 page" in done.err
    assert records(world.folder / "o.json")[0]["lines"] == []
