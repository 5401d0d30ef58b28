"""Which way up: letters decide, for the page together; digits, which read well both ways, decide nothing."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest
import torch

from coursepkg.projects.ocr.line import Alternative, LineReading
from coursepkg.projects.ocr.options import ReadOptions
from coursepkg.projects.ocr.page.read import read_page, votes
from coursepkg.projects.ocr.predict import Recognizer
from coursepkg.projects.ocr.recipe import Recipe
from tests.projects.ocr.page.pages import KnownBoxes, drawn_page

Said = tuple[str, float]


ONE_LOOK = ReadOptions(second_look=0.0)
SURE: list[Said] = [("Cà phê sữa đá", 0.95), ("Bánh mì trứng", 0.95), ("Trà đào cam sả", 0.95)]


class Script(Recognizer):
    """Reads what it is told, whatever the picture: a list of texts with confidences for each call."""

    def __init__(self, *calls: Sequence[Said], reader: Literal["ctc", "joint"] = "joint") -> None:
        self.calls, self.recipe, self.dtype = list(calls), Recipe(reader=reader), torch.float32
        self.asked: list[int] = []

    def read_lines(self, pictures: Sequence[np.ndarray], **options: object) -> list[LineReading]:  # type: ignore[override]
        self.asked.append(len(pictures))
        return [LineReading((Alternative(text, sure, sure),)) for text, sure in self.calls.pop(0)]


def read_script(*calls: Sequence[Said]) -> list[tuple[str, bool]]:
    """What a page of one column says, and whether each line was turned over."""
    image, corners = drawn_page([["Phở bò tái"]] * len(calls[0]))
    page = read_page(image, KnownBoxes(corners), Script(*calls), ONE_LOOK)
    return [(line.text, abs(line.box.angle) > 1) for line in page.lines]


def as_they_stand(said: Sequence[Said]) -> list[tuple[str, bool]]:
    return [(text, False) for text, _ in said]


def test_an_amount_that_reads_better_upside_down_stays() -> None:
    upright = [*SURE, ("900.160", 0.6), ("45.000đ", 0.5)]
    assert read_script(upright, [("091.006", 0.99), ("p000.Sh", 0.9)]) == as_they_stand(upright)


def test_a_page_of_amounts_stays() -> None:
    upright = [("900.160", 0.4), ("81.000", 0.5), ("45.000", 0.4)]
    assert read_script(upright, [("091.006", 0.99), ("000.18", 0.99), ("000.Sh", 0.9)]) == as_they_stand(
        upright
    )


def test_amounts_turn_with_their_page() -> None:
    on_its_head = [("ọd nạu", 0.3), ("091.006", 0.9), ("ȩɥd ɐɔ", 0.2)]
    upright = [("Cà phê", 0.9), ("900.160", 0.6), ("Phở gà", 0.9)]
    # The crops turned over give the votes; then the page is read from its other end, and what is doubtful once more.
    found = read_script(on_its_head, upright, upright[::-1], [("091.006", 0.95)])
    assert found == [(text, True) for text, _ in upright[::-1]]


@pytest.mark.parametrize(("sure", "turned"), [(0.9, True), (0.7, False)])
def test_a_stamp_is_turned_against_its_page_where_it_then_reads_well(sure: float, turned: bool) -> None:
    found = read_script([*SURE, ("nạp gnọd", 0.3)], [("Đã thanh toán", sure)])
    assert found[:3] == as_they_stand(SURE)
    assert found[3] == ("Đã thanh toán" if turned else "nạp gnọd", turned)


def test_a_page_is_not_turned_by_a_hair() -> None:
    upright = [(text * 3, 0.5) for text, _ in SURE]
    assert read_script(upright, [(text[::-1], 0.58) for text, _ in upright]) == as_they_stand(upright)


def test_where_nothing_is_read_nothing_is_sure() -> None:
    assert LineReading((Alternative("", 0.99, 0.0), Alternative("1", 0.01, 0.0))).confidence == 0.0
    assert LineReading((Alternative("  ", 0.99, 0.0),)).confidence == 0.0
    assert LineReading((Alternative("1", 0.7, 0.0),)).confidence == 0.7
    # So it is looked at from the other side.
    found = read_script([*SURE, *SURE, ("", 0.99)], [("Đã thanh toán", 0.9)])
    assert found[6] == ("Đã thanh toán", True)


@pytest.mark.parametrize(
    ("text", "count"),
    [("Tổng cộng", 6), ("45.000đ", 0), ("HD 0012", 0), ("SOS nu", 0), ("", 0), ("B12 Cầu Giấy", 7)],
)
def test_votes_are_letters_that_are_none_on_their_heads(text: str, count: int) -> None:
    assert votes(text) == count


@pytest.mark.parametrize(("reader", "n_turned"), [("joint", 0), ("ctc", 3)])
def test_ctc_which_is_sure_of_what_it_sees_is_doubted_sooner(
    reader: Literal["ctc", "joint"], n_turned: int
) -> None:
    said = [(text, 0.85) for text, _ in SURE]
    image, corners = drawn_page([["Phở bò tái"]] * len(said))
    script = Script(said, [("e1", 0.3)] * n_turned, reader=reader)
    page = read_page(image, KnownBoxes(corners), script, ONE_LOOK)
    assert script.asked == [3, n_turned]
    assert [line.text for line in page.lines] == [text for text, _ in said]


def test_what_is_unsure_is_read_again_once_it_stands_upright() -> None:
    said = [*SURE, *SURE, ("Phở bỏ", 0.8), ("", 0.0)]
    image, corners = drawn_page([["Phở bò tái"]] * len(said))
    script = Script(said, [("e1", 0.1)], [("Phở bò", 0.85)])
    page = read_page(image, KnownBoxes(corners), script)
    assert script.asked == [8, 1, 1]  # the page; the empty line turned over; the doubtful line again
    assert [line.text for line in page.lines] == [*(text for text, _ in [*SURE, *SURE]), "Phở bò"]
    assert page.lines[-1].confidence == 0.85
