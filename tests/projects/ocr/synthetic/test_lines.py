"""Lines on demand: a function of seed and number alone."""

import hashlib
import random
import subprocess
import sys
from typing import Any, Literal

import numpy as np
import pytest

from coursepkg.projects.ocr.synthetic.fonts import matplotlib_faces, split_faces
from coursepkg.projects.ocr.synthetic.render import LineConfig, SyntheticLines, by_family
from coursepkg.projects.ocr.synthetic.texts import TextConfig
from coursepkg.text.vietnamese import without_marks

# The Phrasebook takes long to unfold.
CONFIG = LineConfig(texts=TextConfig(sentences=0.0))
TRAIN, TEST = split_faces(matplotlib_faces())

DIGEST = """
import hashlib
from coursepkg.projects.ocr.synthetic.render import LineConfig, SyntheticLines
from coursepkg.projects.ocr.synthetic.texts import TextConfig
lines = SyntheticLines(5, config=LineConfig(texts=TextConfig(sentences=0.0)))
whole = hashlib.sha256()
for i in (9, 2, 30, 4):
    whole.update(lines[i].image.tobytes() + lines[i].text.encode())
print(whole.hexdigest())
"""


def test_a_line_does_not_depend_on_the_lines_before() -> None:
    lines, others = SyntheticLines(5, config=CONFIG), SyntheticLines(5, config=CONFIG)
    forwards = [lines[i] for i in range(12)]
    backwards = [others[i] for i in reversed(range(12))][::-1]
    for first, second in zip(forwards, backwards, strict=True):
        assert first.text == second.text
        assert np.array_equal(first.image, second.image)


def test_a_share_of_the_lines_is_struck_by_a_receipt_printer() -> None:
    usual = SyntheticLines(5, config=CONFIG)
    none, some, every = (SyntheticLines(5, config=CONFIG, printers=share) for share in (0.0, 0.5, 1.0))
    changed = [not np.array_equal(usual[i].image, some[i].image) for i in range(30)]
    assert 5 < sum(changed) < 25
    for i, struck in enumerate(changed):
        assert usual[i].text == every[i].text
        assert np.array_equal(usual[i].image, none[i].image)
        assert not np.array_equal(usual[i].image, every[i].image)
        assert np.array_equal(some[i].image, (every if struck else usual)[i].image)


def test_a_share_of_the_texts_is_written_without_diacritics() -> None:
    usual, some, every = (SyntheticLines(5, config=CONFIG, unmarked=share) for share in (0.0, 0.5, 1.0))
    marked = [i for i in range(60) if usual[i].text != without_marks(usual[i].text)]
    changed = [i for i in marked if some[i].text != usual[i].text]
    assert len(marked) / 4 < len(changed) < len(marked) * 3 / 4
    for i in range(60):
        assert every[i].text == without_marks(usual[i].text)
        assert some[i].text == (every if i in changed else usual)[i].text
    assert all(np.array_equal(some[i].image, usual[i].image) for i in set(marked) - set(changed))
    assert not any(np.array_equal(some[i].image, usual[i].image) for i in changed)


@pytest.mark.parametrize("share", ["printers", "unmarked"])
def test_a_share_of_lines_above_one(share: Literal["printers", "unmarked"]) -> None:
    with pytest.raises(ValueError, match=rf"{share} must be in \[0, 1\], got 2.0"):
        SyntheticLines(5, **{share: 2.0})


def test_another_process_draws_the_same() -> None:
    lines = SyntheticLines(5, config=CONFIG)
    whole = hashlib.sha256()
    for i in (9, 2, 30, 4):
        whole.update(lines[i].image.tobytes() + lines[i].text.encode())
    run = subprocess.run([sys.executable, "-c", DIGEST], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == whole.hexdigest()


def test_seeds_and_numbers_give_different_lines() -> None:
    texts = {(seed, i): SyntheticLines(seed, config=CONFIG)[i].text for seed in (0, 1) for i in range(30)}
    assert len(set(texts.values())) > 50
    assert len({SyntheticLines(0, config=CONFIG)[i].group for i in range(5)}) == 5


def test_lines_are_pictures_that_can_be_read() -> None:
    lines = SyntheticLines(1, config=CONFIG)
    for i in range(150):
        line = lines[i]
        assert 8 < line.height < 260
        # Narrow letters at their narrowest, and never less than a few pixels for each.
        assert line.width > 2.2 * len(line.text), line.name
        assert np.ptp(line.image.astype(int)) > 20, line.name


def test_held_out_families_draw_as_well() -> None:
    lines = SyntheticLines(2, faces=TEST, config=CONFIG)
    assert {face.family for face in lines.faces} == {"DejaVu Serif"}
    assert all(lines[i].text for i in range(20))


def test_training_takes_no_held_out_family() -> None:
    assert {face.family for face in SyntheticLines(0, config=CONFIG).faces} == {
        "DejaVu Sans",
        "DejaVu Sans Mono",
    }


def test_an_incomplete_face_draws_what_it_covers() -> None:
    lines = SyntheticLines(0, config=CONFIG)
    drawn = {lines._face("TONG CONG: 45.000", random.Random(i)).family for i in range(40)}
    assert drawn == {"DejaVu Sans", "DejaVu Sans Mono"}
    assert {lines._face("ẵm bế", random.Random(i)).family for i in range(40)} == {"DejaVu Sans"}


def test_families_are_grouped_by_name() -> None:
    families = by_family(matplotlib_faces())
    assert list(families) == ["DejaVu Sans", "DejaVu Sans Mono", "DejaVu Serif"]
    assert sum(map(len, families.values())) == len(matplotlib_faces())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"photo": -1.0}, "photo must be a weight"),
        ({"clean": 0.0, "screen": 0.0, "photo": 0.0}, "only zeros"),
        ({"least_size": 60}, r"most_size must be an integer in 60\.\.200"),
    ],
)
def test_faulty_settings(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LineConfig(**wrong)


def test_faces_that_cannot_write_vietnamese() -> None:
    mono = [face for face in matplotlib_faces() if face.family == "DejaVu Sans Mono"]
    with pytest.raises(ValueError, match="none of the 4 given writes all of Vietnamese"):
        SyntheticLines(0, faces=mono, config=CONFIG)
    with pytest.raises(ValueError, match="seed must be"):
        SyntheticLines(-1, config=CONFIG)
