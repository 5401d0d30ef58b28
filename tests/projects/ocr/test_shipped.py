"""The recogniser that ships: light, honest about its making, and right about marks in a font that it has never seen."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from coursepkg.metrics.edit import CER
from coursepkg.metrics.scoring import score
from coursepkg.projects.ocr.bench import lines
from coursepkg.projects.ocr.line import TextLine
from coursepkg.projects.ocr.predict import DEFAULT, Recognizer
from coursepkg.projects.ocr.synthetic.fonts import is_held_out
from coursepkg.text.vietnamese import LETTERS
from coursepkg.training.run_card import stored_card
from coursepkg.training.saved_model import check_weight

SEED = 77
"""Of lines that no stage of the training has drawn."""


@pytest.fixture(scope="module")
def shipped() -> Recognizer:
    return Recognizer.load_default()


@pytest.fixture(scope="module")
def unseen() -> list[TextLine]:
    return lines(64, SEED, held_out=True)


def test_it_reads_unseen_texts_in_a_font_that_was_held_out(
    shipped: Recognizer, unseen: list[TextLine]
) -> None:
    said = [reading.text for reading in shipped.read_lines([line.image for line in unseen])]
    assert score(CER(), said, [line.text for line in unseen]).value < 0.015


def test_files_of_any_width_come_back_in_their_order(
    shipped: Recognizer, unseen: list[TextLine], tmp_path: Path
) -> None:
    chosen = sorted(unseen, key=lambda line: -line.width)[::9]
    paths = [tmp_path / f"{number}.png" for number in range(len(chosen))]
    for path, line in zip(paths, chosen, strict=True):
        Image.fromarray(line.image).save(path)
    together = [reading.text for reading in shipped.read_lines(paths, batch_size=3)]
    assert together == [shipped.read_lines([line.image])[0].text for line in chosen]


def test_an_empty_picture_says_nothing(shipped: Recognizer) -> None:
    (reading,) = shipped.read_lines([np.full((40, 300), 255, np.uint8)])
    assert reading.text.strip() == ""


def test_it_can_write_every_letter(shipped: Recognizer) -> None:
    assert set(LETTERS) <= set(shipped.vocabulary.tokens)


def test_its_card_says_what_it_learnt_from_and_how_well() -> None:
    card = stored_card(DEFAULT)
    assert set(card) >= {"recipe", "data", "lines", "fonts", "scores", "calls", "made"}
    assert card["scores"]["test"]["cer"]["value"] <= 0.018
    for told in (card, card["before"]):
        families = {font["family"] for font in told["fonts"]}
        assert len(families) >= 40
        assert not any(is_held_out(family) for family in families)


def test_it_may_ship() -> None:
    check_weight(DEFAULT, DEFAULT)
