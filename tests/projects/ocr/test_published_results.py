"""What is measured and stored is found, and belongs to what the generator draws today."""

from pathlib import Path

import numpy as np
import pytest

from coursepkg.files import write_json
from coursepkg.projects.ocr.detector.engines import DetectorSettings
from coursepkg.projects.ocr.detector.evaluate import score_page
from coursepkg.projects.ocr.published_results import (
    published_boxes,
    published_document,
    published_folder,
    published_map,
)
from coursepkg.projects.ocr.synthetic.receipts import make_receipt


def test_where_nothing_is_stored_nothing_is_found(tmp_path: Path) -> None:
    assert published_document("detector", tmp_path) is None
    assert published_map(tmp_path) is None
    assert published_boxes(tmp_path) is None


def test_a_document_says_where_it_was_measured(tmp_path: Path) -> None:
    write_json(tmp_path / "one.json", {"schema": "x/1", "machine": {"name": "a"}, "value": 3})
    write_json(tmp_path / "two.json", {"schema": "x/1", "value": 3})
    found = published_document("one", tmp_path)
    assert found is not None
    assert found["value"] == 3
    with pytest.raises(ValueError, match="machine"):
        published_document("two", tmp_path)


@pytest.mark.skipif(published_folder() is None, reason="no stored measurements")
def test_the_measurement_of_the_detector_adds_up() -> None:
    document = published_document("detector")
    assert document is not None
    for name in ("as_found", "lines_merged"):
        part = document[name]
        shares = [one["recall"] for one in part["by_overlap"].values()]
        assert shares == sorted(shares, reverse=True)
        for one in part["by_overlap"].values():
            assert one["recall"] == pytest.approx(one["matched"] / part["lines"], abs=1e-4)
            assert one["precision"] == pytest.approx(one["matched"] / part["boxes"], abs=1e-4)
    merged = document["lines_merged"]
    assert sum(document["faults"].values()) == merged["lines"] - merged["by_overlap"]["0.5"]["matched"]
    assert document["settings"] == DetectorSettings().of_boxes()
    usual = next(row for row in document["by_side"] if row["side"] == DetectorSettings().side)
    assert usual["matched"] == merged["by_overlap"]["0.5"]["matched"]


@pytest.mark.skipif(published_folder() is None, reason="no stored measurements")
def test_the_map_is_that_of_the_receipt() -> None:
    found = published_map()
    assert found is not None
    receipt = make_receipt(0, 0)
    height, width = receipt.image.shape[:2]
    assert found.shape == DetectorSettings().seen_size(width, height)[::-1]
    scale = found.shape[1] / width, found.shape[0] / height
    on_text = [found[int(y * scale[1]), int(x * scale[0])] for x, y in receipt.outlines.mean(axis=1)]
    assert np.mean(np.array(on_text) > 0.5) > 0.9
    # Cores of lines cover little of a page.
    assert 0.01 < (found > 0.5).mean() < 0.2


@pytest.mark.skipif(published_folder() is None, reason="no stored measurements")
def test_the_boxes_are_those_of_the_receipts() -> None:
    found, document = published_boxes(), published_document("detector")
    assert found is not None
    assert document is not None
    assert sum(map(len, found)) == document["as_found"]["boxes"]
    for number in (0, 1):
        one = score_page([box.corners for box in found[number]], list(make_receipt(0, number).outlines))
        assert one.recall > 0.7
        assert one.precision > 0.7


@pytest.mark.skipif(published_folder() is None, reason="no stored measurements")
def test_counts_and_boxes_of_the_detector_have_one_signature() -> None:
    counts, boxes = published_document("detector"), published_document("boxes")
    assert counts is not None
    assert boxes is not None
    signature = counts["signature"]
    assert boxes["signature"] == signature
    name, *fields = signature.split("|")
    found = dict(one.split(":", 1) for one in fields)
    n_lines = counts["as_found"]["lines"]
    assert (name, found["pages"], found["n"]) == ("detection", str(counts["pages"]), f"{n_lines}/{n_lines}")
    assert found["iou"].split(",") == list(counts["as_found"]["by_overlap"])
    assert found["protocol"] == f"generated receipts seed {counts['seed']}, {counts['weights']['file']}"
    assert len(found["data"]) == 12


def test_a_damaged_box_is_refused(tmp_path: Path) -> None:
    content = {"schema": "x/1", "machine": {}, "boxes": [["0 0 1 0 1 1 0.5"]]}
    write_json(tmp_path / "boxes.json", content)
    with pytest.raises(ValueError):  # noqa: PT011 - numpy or the box says what is wrong
        published_boxes(tmp_path)
