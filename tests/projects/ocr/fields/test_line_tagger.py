import json
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from coursepkg.cli import main
from coursepkg.projects.ocr.data.table_row import LABELS
from coursepkg.projects.ocr.detector.lines import TextBox
from coursepkg.projects.ocr.fields import keywords as kw
from coursepkg.projects.ocr.fields.line_tagger import (
    N_FEATURES,
    TAGS,
    LineTagger,
    collate,
    dictionary_features,
    hashed_ngrams,
    page_features,
)
from coursepkg.projects.ocr.fields.lines import as_field_lines
from coursepkg.projects.ocr.fields.rules import FIELDS
from coursepkg.projects.ocr.fields.table import LabelledReceipt
from coursepkg.projects.ocr.fields.training import TagBatches, train_line_tagger
from coursepkg.projects.ocr.page.read import PageLine
from coursepkg.projects.ocr.predict import DEFAULT
from coursepkg.projects.ocr.synthetic.receipts import write_receipts
from tests.projects.ocr.fields.pages import GOODS, HEAD, RECEIPT, SUMS, page

MARKS = {
    "SIÊU": "SELLER",
    "Số 1": "ADDRESS",
    "Ngày": "TIMESTAMP",
    "Tổng": "TOTAL_COST",
    "42.0": "TOTAL_COST",
}


def labelled(rows: tuple[tuple[str, ...], ...]) -> LabelledReceipt:
    lines = page(rows)
    return LabelledReceipt("invented", tuple(lines), tuple(MARKS.get(one.text[:4], "") for one in lines))


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> LineTagger:
    """A model that knows a few receipts by heart."""
    out = tmp_path_factory.mktemp("tagger") / "run"
    receipts = [labelled(RECEIPT), labelled((*HEAD, GOODS[0], *SUMS)), labelled((*HEAD, *GOODS))] * 16
    train_line_tagger(receipts, receipts[:3], out, data={}, epochs=30, log=lambda line: None)
    return LineTagger.load(out)


def test_marks_case_and_digits_do_not_change_a_text() -> None:
    assert hashed_ngrams("Tổng CỘNG 12.000") == hashed_ngrams("tong cong 98.765")
    assert hashed_ngrams("Tổng cộng") != hashed_ngrams("Tổng tiền")
    assert hashed_ngrams("") == ()


def test_places_are_shares_of_the_page() -> None:
    lines = page(RECEIPT)
    features = page_features(as_field_lines(lines))
    assert features.places.min() == 0
    assert features.places.max() == 1
    larger = [
        PageLine(TextBox(3 * line.box.corners + np.array([40, 7]), 1.0), line.row, line.text, 1.0)
        for line in lines
    ]
    torch.testing.assert_close(page_features(as_field_lines(larger)).places, features.places)


def test_features_say_what_the_dictionary_knows_of_a_line() -> None:
    lines = as_field_lines(
        page((("Tổng cộng:", "42.000"), ("Ngày 09/08/2020 8h05",), ("12 Lê Lợi, P.3, Huế",)))
    )
    total, amount, when, address = (dictionary_features(one) for one in lines)
    assert {len(one) for one in (total, amount, when, address)} == {N_FEATURES}
    kinds = kw.LINE_KINDS
    assert [kinds[i] for i in range(len(kinds)) if total[i]] == [kw.TOTAL]
    assert not any(amount[: len(kinds)])
    assert amount[-1], "an amount"
    assert not total[-1]
    assert when[kinds.index(kw.WHEN)]
    strengths = slice(len(kinds), len(kinds) + 3)
    assert all(address[strengths])
    assert not any(total[strengths])


def test_the_network_sees_the_features() -> None:
    model = LineTagger().eval()
    batch = collate([page_features(as_field_lines(page(RECEIPT)))])
    without = replace(batch, features=torch.zeros_like(batch.features))
    assert batch.features.any()
    assert not torch.allclose(model(batch), model(without))


def test_a_known_receipt_need_not_look_like_one(tagger: LineTagger) -> None:
    lines = page((("SIÊU THỊ ABC",),))
    assert "does not look like a receipt" in tagger.extract_fields(lines).seller.reason
    assert tagger.extract_fields(lines, is_receipt=True).seller.value == "SIÊU THỊ ABC"
    assert "no text" in tagger.extract_fields([], is_receipt=True).seller.reason


def test_a_page_is_labelled_alike_alone_and_beside_a_longer_one() -> None:
    model = LineTagger().eval()
    short, long = (page_features(as_field_lines(page(rows))) for rows in (HEAD, RECEIPT))
    alone = model(collate([short]))
    beside = model(collate([short, long]))
    assert alone.shape == (1, len(short.ngrams), len(TAGS))
    torch.testing.assert_close(beside[:1, : len(short.ngrams)], alone)


def test_a_line_without_a_letter_has_a_place() -> None:
    lines = page((("",), ("Quán",)))
    assert len(LineTagger().tag(as_field_lines(lines))) == 2
    assert LineTagger().tag([]) == []


def test_every_line_has_its_own_label_in_every_epoch() -> None:
    batches = TagBatches([labelled(RECEIPT), labelled(HEAD)], seed=0)
    for number in range(3):
        (batch,) = batches.epoch(number)
        order = batch.lengths.argsort(descending=True).tolist()
        assert [int((batch.tags[i] >= 0).sum()) for i in order] == [len(page(RECEIPT)), len(page(HEAD))]
    first, again = batches.epoch(1)[0], batches.epoch(1)[0]
    assert torch.equal(first.ngrams, again.ngrams)
    assert torch.equal(first.places, again.places)
    assert not torch.equal(first.places, batches.epoch(2)[0].places)


def test_what_was_learnt_gives_typed_fields(tagger: LineTagger) -> None:
    fields = tagger.extract_fields(page(RECEIPT, 0.9))
    assert fields.seller.value == "SIÊU THỊ LÚA VÀNG"
    assert fields.address.value == "Số 12 đường Hoa Mai, P. An Bình, Cần Thơ"
    assert fields.timestamp.value == "2021-01-16T08:58"
    assert (fields.total.value, fields.total.text) == (42_000, "Tổng tiền 42.000")
    assert len(fields.items) == 2
    assert fields.notes == ()
    assert all(0.5 < getattr(fields, name).confidence < 0.9 for name in FIELDS)


def test_the_check_by_arithmetic_is_that_of_the_rules(tagger: LineTagger) -> None:
    rows = (*HEAD, *GOODS, ("Tổng tiền", "48.000"), *SUMS[1:])
    fields = tagger.extract_fields(page(rows))
    assert fields.total.value == 42_000
    assert "corrected from 48,000 to 42,000" in fields.notes[-1]


def test_a_field_that_no_line_has_is_null_with_a_reason(tagger: LineTagger) -> None:
    total = tagger.extract_fields(page((*HEAD, *GOODS))).total
    assert (total.value, total.reason) == (None, "no line is labelled as the total")
    for rows in ((), (("Mùa thu trên núi",), ("Trang 12",)), (*RECEIPT, *RECEIPT)):
        fields = tagger.extract_fields(page(rows))
        assert all(getattr(fields, name).value is None for name in FIELDS)
        assert all(getattr(fields, name).reason for name in FIELDS)


def test_a_foreign_total_is_refused(tagger: LineTagger) -> None:
    rows = (*HEAD, *GOODS, ("Tổng tiền", "42.000 $"), *SUMS[1:])
    total = tagger.extract_fields(page(rows)).total
    assert total.value is None
    assert "US dollars" in total.reason


def test_training_and_scoring_by_the_verbs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write_receipts(tmp_path / "own", 12, seed=3)
    out, scored = tmp_path / "tagger", tmp_path / "fields.json"
    train = ["ocr", "train-fields", "--data", str(tmp_path / "own"), "--epochs", "1", "--out", str(out)]
    assert main([*train, "--json"]) == 0
    *_, advice, document = capsys.readouterr().out.splitlines()
    card = json.loads(document)["card"]
    assert card["data"]["split"].startswith("seller ")
    assert main(shlex.split(advice.partition("score it with: coursepkg ")[2])) == 0
    assert "own dev, split seller" in capsys.readouterr().out
    evaluate = ["ocr", "evaluate-fields", "--data", "receipts", "--generate", "3", "--model", str(out)]
    assert main([*evaluate, "--out", str(scored)]) == 0
    document = json.loads(scored.read_text(encoding="utf-8"))
    assert list(document["ways"]) == ["rules", "model"]
    assert document["n"] == 3
    names = [one["signature"].partition("|")[0] for one in document["rules to model"]]
    assert names == [
        "challenge CER", "macro-F1", *(f"F1 {label}" for label in LABELS), "F1 TIMESTAMP", "F1 TOTAL_COST",
    ]  # fmt: skip
    for one in document["rules to model"]:
        low, high = one["interval"]
        assert low <= one["difference"] <= high
    assert main(train) == 2
    assert str(out) in capsys.readouterr().err


@pytest.mark.skipif(not (DEFAULT / "model").is_dir(), reason="the recogniser does not ship here")
def test_a_recogniser_labels_no_lines() -> None:
    with pytest.raises(ValueError, match="labels no lines"):
        LineTagger.load(DEFAULT)


def test_a_folder_without_a_model_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["ocr", "evaluate-fields", "--model", str(tmp_path)]) == 2
    assert "no finished model" in capsys.readouterr().err
    assert main(["ocr", "train-fields"]) == 2
    assert "--out FOLDER must be given" in capsys.readouterr().err
