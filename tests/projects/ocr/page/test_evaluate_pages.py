"""Whole pages with known words: read from a folder, scored by the command, and by Tesseract beside it."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from coursepkg.projects.ocr.baselines import Tesseract
from coursepkg.projects.ocr.detector import detector as bounded
from coursepkg.projects.ocr.detector.lines import TextBox
from coursepkg.projects.ocr.page.compare import PageText, compare_pages
from coursepkg.projects.ocr.page.evaluate import score_labelled
from coursepkg.projects.ocr.page.labelled import LabelledPage, find_labelled_pages
from tests.projects.ocr.page.pages import InkDetector, KnownBoxes, drawn_page
from tests.projects.ocr.sets import ocr, write_picture


def label(corners: np.ndarray, text: str) -> str:
    return ",".join(f"{value:.0f}" for value in corners.reshape(-1)) + f",{text}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two pages: lines of the second have a label without text and one with a comma."""
    found = tmp_path / "bills"
    for name, rows in (("2", [["QUÁN PHỞ"], ["Tổng", "45.000"]]), ("10", [["a,b", "7"]])):
        image, corners = drawn_page(rows)
        texts = [text for row in rows for text in row]
        labels = [label(four, text) for four, text in zip(corners, texts, strict=True)]
        write_picture(found / f"{name}.png", image)
        (found / f"{name}.txt").write_text("\n".join([*labels, label(corners[0], "")]) + "\n\n", "utf-8")
    return found


def test_pages_of_a_folder_come_in_order_with_their_words(folder: Path) -> None:
    first, second = find_labelled_pages(str(folder))
    assert (first.name, second.name) == ("2", "10")
    assert first.words == ("QUÁN PHỞ", "Tổng", "45.000")
    assert second.words == ("a,b", "7")
    assert (first.n_empty, second.n_empty) == (1, 1)
    assert second.boxes.shape == (2, 4, 2)
    assert np.array_equal(second.boxes, np.round(drawn_page([["a,b", "7"]])[1]))


def test_the_folder_where_one_works_has_its_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert find_labelled_pages(".").name == "bills"


def test_rare_signs_end_no_label(folder: Path) -> None:
    with (folder / "10.txt").open("a", encoding="utf-8") as file:
        file.write("0,0,9,0,9,9,0,9,Phở\u2028bò\x0cHuế\n")
    _, second = find_labelled_pages(str(folder))
    assert second.words == ("a,b", "7", "Phở\u2028bò\x0cHuế")


def test_words_of_generated_receipts_hold_their_ink() -> None:
    (page,) = find_labelled_pages("receipts", generate=1)
    assert len(page.words) == len(page.boxes) > 20
    assert not any(" " in word for word in page.words)
    gray = np.asarray(Image.fromarray(page.image).convert("L"), np.float64)
    for box in page.boxes:
        left, top = np.floor(box.min(axis=0)).astype(int)
        right, bottom = np.ceil(box.max(axis=0)).astype(int)
        inside = gray[top:bottom, left:right]
        # Ink is darker than the paper around it.
        assert np.percentile(inside, 5) < np.percentile(inside, 95) - 15
    again = next(iter(find_labelled_pages("receipts", generate=1)))
    assert np.array_equal(again.image, page.image)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda at: (at / "2.txt").unlink(), "2.png: no 2.txt with its words beside it"),
        (lambda at: (at / "2.png").unlink(), "2.txt: no picture of this name beside it"),
        (lambda at: shutil.copy(at / "2.png", at / "2.jpg"), "two pictures have this name"),
        (lambda at: (at / "2.txt").write_text("1,2,3,4,a\n"), "2.txt, line 1: must be x1,y1"),
        (lambda at: (at / "2.txt").write_text("\n0,0,9,0,9,nan,0,9,a\n"), "2.txt, line 2: must be x1,y1"),
        (
            lambda at: (at / "2.txt").write_text("0,0,9,0,9,0,0,0,a\n"),
            "line 1: the four corners enclose no area",
        ),
        (lambda at: (at / "2.txt").write_text("0,0,9,0,9,9,0,9,\n"), "2.txt: holds no word"),
        (lambda at: (at / "2.txt").write_bytes(b"\xff\xfe,"), "2.txt: not UTF-8"),
    ],
)
def test_a_damaged_folder_is_named(folder: Path, broken: Callable[[Path], object], message: str) -> None:
    broken(folder)
    done = ocr("evaluate", "--pages", folder)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pages", "vi_receipts"], "there is no folder"),
        (
            ["--pages", "gone"],
            "--pages must be vi_receipts, receipts, varied-receipts or a folder, and there is no",
        ),
        (["--pages", "receipts", "--part", "test"], "--part is for labelled lines"),
        (["--pages", "receipts", "--data", "vi-lines"], "--data is for labelled lines"),
        (["--pages", "receipts", "--worst-by", "confidence"], "--worst-by is for labelled lines"),
        (["--baselines", "rapidocr"], "--baselines read whole pages"),
        (["--pages", "receipts", "--baselines", "rapidocr", "rapidocr"], "--baselines must name each once"),
        (["--pages", "somewhere", "--generate", "3"], "--generate goes with --pages receipts"),
    ],
)
def test_mistakes_of_the_command(arguments: list[str], message: str) -> None:
    done = ocr("evaluate", *arguments)
    assert done.code == 2
    assert message in done.err


def test_an_empty_folder_says_what_belongs_there(tmp_path: Path) -> None:
    done = ocr("evaluate", "--pages", tmp_path)
    assert done.code == 2
    assert "no picture in it; put pictures there, each with its words in a NAME.txt" in done.err


def test_scores_of_pages_by_hand() -> None:
    boxes = np.array([[[0, 0], [50, 0], [50, 20], [0, 20]], [[60, 0], [90, 0], [90, 20], [60, 20]]], float)
    image = np.full((40, 100, 3), 255, np.uint8)
    pages = [LabelledPage("x", image, ("Tổng", "9"), boxes), LabelledPage("y", image, ("a",), boxes[:1])]
    reads = {"one": lambda image: PageText("Tong 9", [boxes[0]])}
    found = compare_pages([(page.image, page.text) for page in pages], reads)["one"]
    scores = score_labelled(pages, found, protocol="drawn")
    assert scores.f1_of_pages == (0.5, 0.0)
    assert scores.mean_f1.value == 0.25
    assert scores.f1.value == pytest.approx(2 / 7)
    assert (scores.n_found, scores.n_words) == (2, 3)
    # One edit on the first page; "a" against "9" and a "Tong" too many on the second.
    assert scores.cer.details == {"edits": 1 + 1 + 4, "characters": 6}
    assert "protocol:drawn" in scores.mean_f1.signature
    assert "detection recall 0.6667: 2 of 3 words" in str(scores)


def test_the_command_writes_numbers_and_a_private_report(
    folder: Path, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded, "open_detector", lambda settings, cache: InkDetector())
    out = tmp_path / "out"
    done = ocr("evaluate", "--pages", folder, "--model", model, "--out", out, "--worst", "1")
    assert done.code == 0, done.err
    assert "note: 2 labels without text, left out" in done.out
    text = (out / "pages_bills.json").read_text("utf-8")
    document = json.loads(text)
    (ours,) = document["readers"]
    assert (document["n_pages"], document["n_empty_labels"]) == (2, 2)
    assert len(ours["f1_of_pages"]) == 2
    assert ours["words"] == 5
    assert "protocol:bills, ctc beam 1|" in ours["mean_f1"]["signature"]
    # Numbers alone: no word of a page, and no name of one.
    assert "PHỞ" not in text
    assert "2.png" not in text
    report = (out / "worst_pages.html").read_text("utf-8")
    assert report.count("<img ") == 1
    assert report.count("<h2>") == 1
    assert (out / "texts" / "1.txt").is_file()
    numbers = tmp_path / "numbers"
    done = ocr(
        "evaluate", "--pages", folder, "--model", model, "--out", numbers, "--worst", "0", "--limit", "1"
    )
    assert done.code == 0, done.err
    assert [one.name for one in numbers.iterdir()] == ["pages_bills.json"]


class FailsAtTallPages(InkDetector):
    """A detector whose process crashes at pages of more than so many pixels in height."""

    def __init__(self, tallest: int) -> None:
        super().__init__()
        self.tallest = tallest

    def detect(self, image: np.ndarray, name: str = "picture") -> list[TextBox]:
        if len(image) > self.tallest:
            raise OSError(f"{name}: its text could not be found: it crashed")
        return super().detect(image, name)


def test_a_page_at_which_the_detector_fails_scores_nothing_and_is_named(
    folder: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first page, which is also read before the time counts, has a row more than the second.
    monkeypatch.setattr(bounded, "open_detector", lambda settings, cache: FailsAtTallPages(120))
    done = ocr("evaluate", "--pages", folder, "--model", model, "--json")
    assert done.code == 0, done.err
    said = "  note: page 1 could not be read, so it scores 0: its text could not be found: it crashed\n"
    assert said in done.out
    (ours,) = done.document["readers"]
    assert ours["unread_pages"] == [1]
    assert (ours["f1_of_pages"][0], ours["words"]) == (0, 5)

    monkeypatch.setattr(bounded, "open_detector", lambda settings, cache: FailsAtTallPages(10))
    done = ocr("evaluate", "--pages", folder, "--model", model)
    assert done.code == 2
    assert "coursepkg could read no page; the first: its text could not be found: it crashed" in done.err
    assert done.err.count("\n") == 1


def test_a_page_on_which_nothing_is_found_is_read_without_text(
    folder: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded, "open_detector", lambda settings, cache: KnownBoxes([]))
    done = ocr("evaluate", "--pages", folder, "--model", model, "--json")
    assert done.code == 0, done.err
    assert "note: page" not in done.out
    (ours,) = done.document["readers"]
    assert (ours["f1_of_pages"], ours["unread_pages"]) == ([0, 0], [])


def program(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is called like Tesseract, alone on the path beside the system's own."""
    folder.mkdir()
    path = folder / "tesseract"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")


def test_what_tesseract_lacks_is_said_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        done = ocr("evaluate", "--pages", "receipts", "--generate", "1", "--baselines", "tesseract")
    assert done.code == 2
    assert "there is no program tesseract; install it" in done.err
    assert "tesseract-ocr-vie" in done.err
    program(tmp_path / "english", "echo eng", monkeypatch)
    with pytest.raises(FileNotFoundError, match="tesseract has no language vie"):
        Tesseract()


def test_a_failure_of_tesseract_gives_its_last_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(
        tmp_path / "broken",
        'case "$1" in --list-langs) echo vie;; *) echo "bad page" >&2; exit 3;; esac',
        monkeypatch,
    )
    with pytest.raises(OSError, match="ended with code 3: bad page"):
        Tesseract().read(np.zeros((9, 9, 3), np.uint8))


def test_tesseract_reads_what_it_sees() -> None:
    try:
        reader = Tesseract(6)
    except FileNotFoundError as reason:
        pytest.skip(str(reason))
    image, corners = drawn_page([["HOA DON 0012"], ["45.000"]])
    text, boxes = reader.read(image)
    lines = text.split("\n")
    assert len(lines) == 2
    assert "0012" in lines[0]
    # A box a word, inside of the lines as they were drawn.
    assert len(boxes) == len(text.split())
    low = np.min(corners, axis=(0, 1))
    high = np.max(corners, axis=(0, 1))
    assert all((box >= low - 3).all() and (box <= high + 3).all() for box in boxes)
    assert reader.version.startswith("tesseract ")
