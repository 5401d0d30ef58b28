import json
from pathlib import Path

import pytest

from coursepkg.cli import main
from coursepkg.projects.ocr.data.mc_ocr import read_table
from coursepkg.projects.ocr.data.splits import split_lines
from coursepkg.projects.ocr.data.table_row import LABELS
from coursepkg.projects.ocr.fields.rules import Field, Fields, extract_fields
from coursepkg.projects.ocr.fields.table import (
    generated_fields,
    labelled_receipts,
    score_fields,
    split_receipts,
)
from coursepkg.projects.ocr.fields.values import parse_amount, parse_timestamp
from coursepkg.projects.ocr.synthetic.receipts import write_receipts

N = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("receipts")
    write_receipts(path, N, seed=3)
    return path


def test_lines_lose_their_labels_and_their_order(folder: Path) -> None:
    table = read_table(folder)
    for receipt, labelled in zip(table.receipts, labelled_receipts(table), strict=True):
        assert sorted(line.text for line in labelled.lines) == sorted(
            one.text.strip() for one in receipt.instances
        )
        assert [line.row for line in labelled.lines] == sorted(line.row for line in labelled.lines)
        for label, text in zip(LABELS, labelled.true_texts, strict=True):
            own = sum(len(one.text.strip()) + 1 for one in receipt.instances if one.label == label)
            assert len(text) == max(0, own - 1)


def test_a_split_by_shop_keeps_a_shop_on_one_side(folder: Path) -> None:
    table = read_table(folder)
    split = split_receipts(table, "seller")
    assert sorted(i for part in split.parts.values() for i in part) == list(range(len(table.receipts)))
    images = [one.image for one in table.receipts]
    assert split.parts == split_lines(images, "seller", sellers=table.sellers).parts
    part_of = {i: name for name, part in split.parts.items() for i in part}
    shops: dict[str, set[str]] = {}
    for i, image in enumerate(images):
        for text in table.sellers[image]:
            shops.setdefault(text.casefold(), set()).add(part_of[i])
    assert all(len(parts) == 1 for parts in shops.values())


def test_true_fields_score_one_against_themselves() -> None:
    receipts = list(generated_fields(5))
    true = []
    for one in receipts:
        seller, address, when, total = one.true_texts
        typed = (seller, address, parse_timestamp(when).value, parse_amount(total).value)
        true.append(Fields(*map(Field, typed, one.true_texts)))
    scores = score_fields(true, receipts, n_resamples=0)
    assert scores.macro.value == 1
    assert scores.cer.value == 0
    assert scores.cer.details["receipts"] == 5
    wrong = score_fields([true[-1], *true[:-1]], receipts, n_resamples=0)
    assert wrong.macro.value < 1
    assert wrong.cer.value > 0


def test_fields_of_generated_receipts_are_found() -> None:
    receipts = list(generated_fields(30, seed=9))
    found = [extract_fields(one.lines) for one in receipts]
    scores = score_fields(found, receipts, n_resamples=0)
    by_label = dict(zip(LABELS, (one.value for one in scores.fields), strict=True))
    assert min(by_label["SELLER"], by_label["ADDRESS"], by_label["TIMESTAMP"]) > 0.85
    # Sums below the total are drawn at random; the goods say which one is right.
    assert by_label["TOTAL_COST"] > 0.9


def test_the_verb_scores_a_table(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "fields.json"
    arguments = ["ocr", "evaluate-fields", "--data", str(folder), "--part", "train", "--out", str(out)]
    assert main([*arguments, "--json"]) == 0
    said = capsys.readouterr().out
    document = json.loads(said.splitlines()[-1])
    assert json.loads(out.read_text(encoding="utf-8")) == document
    assert "split seller" in document["protocol"]
    assert "lines with a field alone" in document["notes"][0]


def test_a_wrong_set_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["ocr", "evaluate-fields", "--data", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("error: --data must be")


def test_generated_receipts_stand_in(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("COURSEPKG_DATA", str(tmp_path))
    assert main(["ocr", "evaluate-fields", "--generate", "3"]) == 0
    assert "stand in" in capsys.readouterr().out
