"""Varied receipts: true labels, sums that agree, days that exist, and the usual ones as they were."""

import hashlib
import random
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from coursepkg.projects.ocr.fields.table import generated_fields
from coursepkg.projects.ocr.fields.values import parse_timestamp
from coursepkg.projects.ocr.synthetic import receipt_text, sheet, wear
from coursepkg.projects.ocr.synthetic.fonts import matplotlib_faces
from coursepkg.projects.ocr.synthetic.receipt_config import RECEIPTS, ReceiptConfig, receipt_config
from coursepkg.projects.ocr.synthetic.receipts import make_receipt, receipt_texts
from coursepkg.projects.ocr.synthetic.sheet import PAPER, PrintedLine, Sheet, lay_out

VARIED = receipt_config("varied-receipts")
WEAR = ("crumpled", "folded", "background", "finger", "low_resolution")
PRINT = ("layout", "sums", "valid_dates", "dot_matrix", "missing_dots")


def printed(seed: int, **rates: float) -> Sheet:
    return lay_out(random.Random(seed), matplotlib_faces(), ReceiptConfig(**rates))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def test_the_usual_receipts_say_what_they_said_before_there_were_others() -> None:
    texts = "\n".join(text for seed in range(20) for text in receipt_texts(seed, seed))
    assert hashlib.sha256(texts.encode()).hexdigest()[:16] == "e3101b591d04b6e1"


def test_every_rate_but_those_of_the_table_is_off() -> None:
    usual = receipt_config("receipts")
    assert usual == ReceiptConfig()
    assert not any(getattr(usual, name) for name in (*WEAR, *PRINT))
    assert all(getattr(VARIED, name) for name in (*WEAR, *PRINT))


def test_a_varied_receipt_is_a_function_of_seed_and_number() -> None:
    first, again = (make_receipt(3, 2, config=VARIED) for _ in range(2))
    assert np.array_equal(first.image, again.image)
    assert first.row == again.row


@pytest.mark.parametrize("name", WEAR)
def test_wear_changes_the_picture_and_nothing_that_is_said_of_it(name: str) -> None:
    usual, worn = make_receipt(1, 3), make_receipt(1, 3, config=ReceiptConfig(**{name: 1.0}))
    assert worn.image.shape == usual.image.shape
    assert not np.array_equal(worn.image, usual.image)
    assert worn.lines == usual.lines
    assert np.array_equal(worn.outlines, usual.outlines)
    assert worn.row == usual.row


def rows_of(lines: tuple[PrintedLine, ...]) -> list[tuple[str, int]]:
    """Name and amount of each pair that stands in a row."""
    return [
        (name.text, int("".join(filter(str.isdigit, amount.text))))
        for name, amount in pairwise(lines)
        if name.label == amount.label and amount.box[2] > PAPER * 0.9 and any(map(str.isdigit, amount.text))
    ]


def said(rows: list[tuple[str, int]], names: tuple[str, ...]) -> int | None:
    spelt = {receipt_text.without_marks(name) for name in names}
    found = [value for name, value in rows if receipt_text.without_marks(name).rstrip(":") in spelt]
    return found[-1] if found else None


@pytest.mark.parametrize("seed", range(40))
def test_goods_discount_total_paid_and_change_agree(seed: int) -> None:
    made = printed(seed, sums=1.0, layout=float(seed % 2))
    rows = rows_of(made.lines)
    total = said([row for row in rows if row[0].endswith(":")], (*sheet.SUMS, *sheet.AFTER_DISCOUNT))
    labelled = [line.text for line in made.lines if line.label == "TOTAL_COST"]
    assert len(labelled) == 2
    assert total == int("".join(filter(str.isdigit, labelled[1])))
    end = next(i for i, line in enumerate(made.lines) if line.text.endswith(":") and line.box[0] < 40)
    amounts = [
        int("".join(filter(str.isdigit, line.text)))
        for line in made.lines[:end]
        if line.box[2] > PAPER * 0.95 and re.fullmatch(r"[\d.,]+ ?[đd]?", line.text)
    ]
    discount = said(rows, sheet.DISCOUNTS)
    assert sum(amounts) - (discount or 0) == total
    if discount is not None:
        assert said(rows, sheet.BEFORE_DISCOUNT) == sum(amounts)
        assert 0 < discount < sum(amounts)
    paid, change = said(rows, sheet.PAID), said(rows, sheet.CHANGE)
    assert (paid is None) == (change is None)
    if paid is not None:
        assert paid - change == total
        assert 0 <= change < max(sheet.NOTES)
    assert said(rows, sheet.BY_CARD) in (None, total)


def test_each_kind_of_sum_is_printed_on_some() -> None:
    every = [rows_of(printed(seed, sums=1.0).lines) for seed in range(40)]
    for names in (sheet.DISCOUNTS, sheet.PAID, sheet.CHANGE, sheet.BY_CARD):
        assert 3 < sum(said(rows, names) is not None for rows in every) < 40


def test_days_exist() -> None:
    reasons = {
        parse_timestamp(receipt_text.timestamp(random.Random(n), is_valid=True)).reason for n in range(600)
    }
    assert reasons == {"", "there is no date in it"}
    texts = [
        (receipt_text.date(random.Random(n)), receipt_text.date(random.Random(n), is_valid=True))
        for n in range(600)
    ]
    changed = [pair for pair in texts if pair[0] != pair[1]]
    assert 0 < len(changed) < 30


def test_layouts_differ_and_keep_every_field() -> None:
    order, places, n_columns = set(), set(), set()
    for seed in range(24):
        made = printed(seed, layout=1.0)
        assert {line.label for line in made.lines} == {"SELLER", "ADDRESS", "TIMESTAMP", "TOTAL_COST", ""}
        labels = [line.label for line in made.lines]
        order.add(labels.index("TIMESTAMP") < labels.index("TOTAL_COST"))
        places.add(made.lines[0].box[0] < 40)
        n_columns.add(any(line.text == "SL" for line in made.lines))
    assert (order, places, n_columns) == ({True, False},) * 3


@pytest.mark.parametrize("seed", range(30))
def test_texts_stand_on_the_paper_and_not_on_one_another(seed: int) -> None:
    stand_apart(printed(seed, layout=1.0, sums=1.0, dot_matrix=float(seed % 2)))


@pytest.mark.parametrize("seed", [94, 120, 231, 251, 289, 380])
def test_long_amounts_in_a_large_face_stand_apart(seed: int) -> None:
    stand_apart(lay_out(random.Random(seed), matplotlib_faces(), VARIED))


def stand_apart(made: Sheet) -> None:
    for line, below in zip(made.lines, (*made.lines[1:], None), strict=True):
        left, top, right, bottom = line.box
        assert 0 <= left < right <= PAPER
        assert 0 <= top < bottom <= made.image.shape[0]
        if below is not None and min(bottom, below.box[3]) - max(top, below.box[1]) > (bottom - top) / 2:
            assert right <= below.box[0] or below.box[2] <= left, (line.text, below.text)


def test_nine_pins_print_no_marks_and_whole_dots() -> None:
    made = printed(4, dot_matrix=1.0)
    assert all(line.text.isascii() for line in made.lines)
    ink = made.image[: made.image.shape[0] // 3 * 3, : PAPER // 3 * 3] < 255
    struck = ink.reshape(ink.shape[0] // 3, 3, ink.shape[1] // 3, 3).any(axis=(1, 3))
    # The middle of each dot is black.
    assert (ink[1::3, 1::3] == struck).all()


def test_missing_dots_take_ink_away_and_leave_white_columns() -> None:
    ink = np.full((400, PAPER), 255, np.uint8)
    worn = wear.missing_dots(ink, rng(1))
    # Dots are whole, pale or gone.
    assert set(np.unique(worn)) == {0, 63, 255}
    dead = (worn == 0).all(axis=0).mean()
    assert 0 < dead < 0.1
    assert 0.6 < (worn[:, ~(worn == 0).all(axis=0)] == 255).mean() < 0.98


def test_missing_dots_add_no_ink() -> None:
    ink = np.where(rng(2).random((400, PAPER)) < 0.3, 255, 0).astype(np.uint8)
    worn = wear.missing_dots(ink, rng(1))
    assert (worn[ink == 0] == 0).all()
    assert (worn < ink).any()


def test_paper_that_was_crumpled_or_folded_keeps_its_size_and_its_letters() -> None:
    image = printed(2).image.astype(np.float32)
    for change in (wear.crumple, wear.fold_evenly):
        for seed in range(4):
            worn = change(image, rng(seed))
            assert worn.shape == image.shape
            assert np.isfinite(worn).all()
            assert np.corrcoef(worn.ravel(), image.ravel())[0, 1] > 0.6


def test_a_finger_hides_no_text() -> None:
    scene = np.full((400, 300, 3), 200, np.float32)
    paper = np.array([[60.0, 40], [240, 40], [240, 360], [60, 360]])
    text = np.array([[90.0, 60], [200, 60], [200, 330], [90, 330]])
    shown = 0
    for seed in range(12):
        changed = (wear.add_finger(scene, paper, [text], rng(seed)) != 200).any(axis=-1)
        assert not changed[61:330, 91:200].any()
        shown += changed[40:360, 60:240].any()
    assert shown > 6
    full = np.array([[0.0, 0], [300, 0], [300, 400], [0, 400]])
    assert np.array_equal(wear.add_finger(scene, paper, [full], rng()), scene)


def test_small_letters_stay_as_large_as_they_are() -> None:
    photo = rng().integers(0, 255, (120, 80, 3), np.uint8)
    assert np.array_equal(wear.fewer_pixels(photo, float(wear.LEAST_LINE), rng()), photo)
    fewer = wear.fewer_pixels(photo, 40.0, rng())
    assert fewer.shape == photo.shape
    assert fewer.std() < photo.std()


def test_surfaces_differ() -> None:
    every = [wear.surface((60, 40), rng(seed)) for seed in range(8)]
    assert all(one.shape == (60, 40, 3) and one.dtype == np.float32 for one in every)
    assert len({round(float(one.std())) for one in every}) > 3


def test_fields_are_generated_from_varied_receipts() -> None:
    usual, varied = (list(generated_fields(6, config=config)) for config in RECEIPTS.values())
    assert [one.lines[0].text for one in usual] != [one.lines[0].text for one in varied]
    assert all(all(one.true_texts) for one in varied)


def test_an_unknown_kind_is_refused_in_one_line() -> None:
    with pytest.raises(
        ValueError, match=r"^generated receipts: unknown kind 'worn'; choose from receipts, varied-receipts$"
    ):
        receipt_config("worn")


@pytest.mark.parametrize("wrong", [{"finger": 1.5}, {"sums": -1.0}])
def test_faulty_rates(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=rf"{next(iter(wrong))} must be in \[0, 1\]"):
        ReceiptConfig(**wrong)
