"""The commands of the page on receipts of one's own, from an installed wheel, on drawn lines and receipts."""

import csv
import json
import re
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from coursepkg.app.report import mean_interval
from coursepkg.projects.ocr.fields.line_tagger import LineTagger
from coursepkg.projects.ocr.fields.rules import FIELDS
from coursepkg.projects.ocr.page.output import record_page
from coursepkg.projects.ocr.predict import DEFAULT
from coursepkg.projects.ocr.synthetic.receipt_config import ReceiptConfig
from coursepkg.projects.ocr.synthetic.receipts import make_receipt
from tests.projects.ocr.data.exported import region, task, write_export
from tests.projects.ocr.drawn import drawn_lines
from tests.projects.ocr.sets import write_picture
from tests.projects.pages import BOOK, run_page

N_LINES, N_PAGES = 40, 3
pytestmark = pytest.mark.skipif(not (DEFAULT / "model").is_dir(), reason="the model does not ship here")


def write_lines(folder: Path) -> None:
    """Pictures of lines, four on a receipt, with a labels.csv."""
    folder.mkdir()
    with (folder / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["file", "text", "receipt"])
        for i, line in enumerate(drawn_lines(N_LINES, longest=4)):
            write_picture(folder / f"{i:02}.png", line.image)
            table.writerow([f"{i:02}.png", line.text, f"r{i // 4}"])


def write_pages(folder: Path) -> int:
    """Photographs with all their lines marked in Label Studio; returns how many lines."""
    tasks, count = [], 0
    for number in range(N_PAGES):
        photo = make_receipt(
            5, number, config=ReceiptConfig(several_polygons=0.0, fifth_corner=0.0, turned=0.0, empty=0.0)
        )
        write_picture(folder / "images" / f"{number}.png", photo.image)
        high, wide = photo.image.shape[:2]
        size = {"original_width": wide, "original_height": high}
        regions = []
        for i, (line, corners) in enumerate(zip(photo.lines, photo.outlines, strict=True)):
            points = [[float(x) * 100 / wide, float(y) * 100 / high] for x, y in corners]
            regions.append(region(f"r{i}", {"points": points}, line.text, label=line.label or "Text", **size))
        count += len(regions)
        tasks.append(task(f"/data/upload/1/0a1b2c3d-{number}.png", *regions))
    write_export(folder, *tasks)
    return count


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def told(installed: Path, folder: Path) -> dict[str, str]:
    """What each command said, by its line; `python` is the program."""
    for package in ("rapidocr", "onnxruntime", "onnxscript"):
        pytest.importorskip(package)
    write_lines(folder / "mine")
    count = write_pages(folder / "pages")
    write_picture(folder / "photo.png", make_receipt(5, 0, config=ReceiptConfig(turned=0.0)).image)
    found = run_page("your_own_receipts.md", folder, installed, COURSEPKG_DATA=str(folder / "none"))
    return found | {"lines in pages": str(count)}


def of(told: dict[str, str], *parts: str) -> list[str]:
    return [said for line, said in told.items() if all(part in line for part in parts)]


def test_every_verb_of_the_page_runs(told: dict[str, str]) -> None:
    verbs = {line.split()[2] for line in told if line.startswith("coursepkg")}
    fields = {"train-fields", "evaluate-fields"}
    assert verbs == {"audit", "describe", "train", "evaluate", "predict", "export"} | fields


def test_both_ways_of_labelling_are_read_whole(told: dict[str, str]) -> None:
    (lines,), (pages,) = of(told, " audit ", "mine"), of(told, " audit ", "pages")
    assert f"{N_LINES} lines" in lines
    assert f"{told['lines in pages']} lines" in pages


def test_the_model_that_ships_goes_on_and_is_scored_before_and_after(told: dict[str, str]) -> None:
    before, after, other = of(told, " evaluate ")
    for said in (before, after):
        assert "mine test, split receipt" in said
    assert "synthetic test" in other
    (trained,) = of(told, " train ")
    # Clear print: what it reads well before, it must not unlearn in a few seconds.
    errors = [float(re.findall(r"CER[^\n]*? ([\d.]+)", said)[0]) for said in (before, after)]
    assert errors[1] <= errors[0] + 1
    assert "runs/mine" in trained


def test_what_comes_out_is_used(told: dict[str, str], folder: Path) -> None:
    assert (folder / "runs" / "mine-pt2" / "export.json").is_file()
    assert (folder / "runs" / "mine-onnx" / "export.json").is_file()
    (page,) = [json.loads(line) for line in (folder / "photo.json").read_text("utf-8").splitlines()]
    assert {"seller", "address", "timestamp", "total"} <= page["fields"].keys()
    assert len(page["lines"]) > 5
    for name in ("lines.jsonl", "lines-onnx.jsonl"):
        assert len((folder / name).read_text("utf-8").splitlines()) == N_LINES
    assert [line.split()[0] for line in told["python"].splitlines()[:3]] == ["00.png", "01.png", "02.png"]
    cards = "\n".join(path.read_text("utf-8") for path in (folder / "runs" / "mine").rglob("*.json"))
    assert '"mine"' in cards
    assert str(folder) not in cards


def test_fields_are_taught_scored_and_found(told: dict[str, str], folder: Path) -> None:
    (scored,) = of(told, " evaluate-fields ")
    assert "pages dev, split receipt" in scored
    assert "rules -> model:" in scored
    page = json.loads((folder / "fields.json").read_text("utf-8"))
    found = LineTagger.load(folder / "runs" / "fields").extract_fields(record_page(page).lines).as_json()
    for name in FIELDS:
        assert page["fields"][name]["lines"] == found[name]["lines"]


def rate(runs: list[dict[str, Any]], of: str) -> str:
    """Error rate of one run with its interval, or the mean of several, lowest to highest."""
    values = [100 * run[of]["cer"]["value"] for run in runs]
    if len(runs) == 1:
        low, high = (100 * end for end in runs[0][of]["cer"]["interval"])
        return f"{values[0]:.1f}% [{low:.1f}, {high:.1f}]"
    return f"{fmean(values):.1f}% ({min(values):.1f} to {max(values):.1f})"


def right(runs: list[dict[str, Any]]) -> str:
    """Lines right, the mean of runs."""
    return f"{fmean(run['own']['accuracy']['value'] for run in runs):.0%}"


def test_the_page_holds_the_stored_numbers() -> None:
    stored = json.loads((BOOK / "_data" / "ocr" / "own_receipts.json").read_text("utf-8"))
    told = (BOOK / "your_own_receipts.md").read_text("utf-8").split("own_receipts.json: begin")[1]
    runs: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in stored["rows"]:
        runs.setdefault((row["style"], row["n"]), []).append(row)
    expected = [
        f"| {style} | {n} | {some[0]['n_train']} | {rate(some, 'own')} | {right(some)} | {rate(some, 'drawn')} |"
        for (style, n), some in runs.items()
    ]
    assert [line for line in told.splitlines() if line.startswith("| ") and "%" in line] == expected
    for style in ("dot-matrix", "documents"):
        (before,) = runs[style, 0]
        for of in ("own", "drawn"):
            gains = [100 * (run[of]["cer"]["value"] - before[of]["cer"]["value"]) for run in runs[style, 200]]
            middle, half = mean_interval(gains)
            assert f"{middle:+.1f} [{middle - half:+.1f}, {middle + half:+.1f}]" in told
