import json
import re

import numpy as np
import pytest

from coursepkg.cli import main
from coursepkg.projects.ocr.detector.detector import open_detector
from coursepkg.projects.ocr.detector.engines import DetectorSettings, what_is_missing
from coursepkg.projects.ocr.fields.photographs import SEED, held_out_faces, read_photographs
from coursepkg.projects.ocr.fields.rules import extract_fields
from coursepkg.projects.ocr.fields.values import parse_amount
from coursepkg.projects.ocr.page.read import read_page
from coursepkg.projects.ocr.predict import DEFAULT, Recognizer
from coursepkg.projects.ocr.synthetic.fonts import HELD_OUT
from coursepkg.projects.ocr.synthetic.receipts import make_receipt

pytestmark = [
    pytest.mark.skipif(not (DEFAULT / "model").is_dir(), reason="the model does not ship here"),
    pytest.mark.skipif(what_is_missing() is not None, reason="the detector is not installed"),
]


def test_no_photograph_is_drawn_in_a_font_that_the_recogniser_has_seen() -> None:
    faces = held_out_faces()
    assert faces
    assert all(any(face.family.startswith(name) for name in HELD_OUT) for face in faces)


def test_a_photograph_gives_its_total_the_right_way_up_and_upside_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # With the one held-out family that comes with matplotlib, it is the same everywhere.
    monkeypatch.delenv("COURSEPKG_FONTS", raising=False)
    recognizer = Recognizer.load_default()
    (read,) = read_photographs(1, recognizer)
    true = parse_amount(read.true_texts[3]).value
    assert true is not None
    assert extract_fields(read.lines).total.value == true
    photo = make_receipt(SEED, 0, faces=held_out_faces())
    detector = open_detector(DetectorSettings(), cache=False)
    try:
        turned = read_page(np.ascontiguousarray(np.rot90(photo.image, 2)), detector, recognizer)
    finally:
        detector.close()
    assert extract_fields(turned.lines).total.value == true


def test_worn_photographs_are_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COURSEPKG_FONTS", raising=False)
    found = {}
    for data in ("photographs", "varied-photographs"):
        assert main(["ocr", "evaluate-fields", "--data", data, "--generate", "1", "--json"]) == 0
        found[data] = json.loads(capsys.readouterr().out.splitlines()[-1])
    usual, worn = found.values()
    assert usual["protocol"].startswith("1 photograph of generated receipts, read, ")
    assert worn["protocol"].startswith("1 photograph of generated varied-receipts, read, ")
    hashes = [
        re.findall("data:[0-9a-f]+", one["ways"]["rules"]["challenge_cer"]["signature"])
        for one in (usual, worn)
    ]
    assert len(hashes[0]) == 1
    assert hashes[0] != hashes[1]
