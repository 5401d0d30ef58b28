"""Answers: what is read off probabilities, what a draw holds together, and the way through a file."""

import json

import numpy as np
import pytest

from coursepkg.projects.sign_language.scores import answers_of, as_rows, draw_groups, from_rows
from tests.projects.sign_language.answered import Told, answer, drawn_answers

WORDS = ("ăn", "uống", "ngủ")


def test_the_most_probable_word_is_said_and_the_right_one_has_its_place() -> None:
    clips = [Told("a", "ăn", "An"), Told("b", "ngủ", "An", "tape 3"), Told("c", "ngủ")]
    odds = np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [0.2, 0.4, 0.4]], dtype=np.float32)
    first, second, third = answers_of(odds, clips, WORDS)
    assert (first.said, first.rank, first.is_right) == ("ăn", 1, True)
    assert first.confidence == first.given == 0.5
    assert (second.said, second.rank, second.group) == ("ăn", 3, "tape 3")
    assert second.given == pytest.approx(0.2)
    assert (third.said, third.rank, third.is_right) == ("uống", 2, False), "of equal ones the first number"


def test_what_does_not_fit_is_named() -> None:
    odds = np.full((1, 3), 1 / 3)
    with pytest.raises(ValueError, match=r"probabilities must be \(2, 3\)"):
        answers_of(odds, [Told("a", "ăn"), Told("b", "ăn")], WORDS)
    with pytest.raises(ValueError, match=r"a\.mp4: the word 'mẹ' is not among the 3 words"):
        answers_of(odds, [Told("a.mp4", "mẹ")], WORDS)
    with pytest.raises(ValueError, match=r"a\.mp4: no word"):
        answers_of(odds, [Told("a.mp4", "")], WORDS)
    with pytest.raises(ValueError, match=r"a\.mp4: a probability is no finite number"):
        answers_of(odds * np.nan, [Told("a.mp4", "ăn")], WORDS)


def test_draws_hold_signers_or_recordings_together() -> None:
    told = [
        answer("ăn", "ăn", "An", group="1"),
        answer("ăn", "ăn", "An"),
        answer("ăn", "ăn", "", group="1"),
        answer("ăn", "ăn", "", group="1"),
        answer("ăn", "ăn", ""),
    ]
    by_signer, by_clip = draw_groups(told, "signer"), draw_groups(told, "clip")
    assert by_signer is not None
    assert by_clip is not None
    assert [by_signer.index(one) for one in by_signer] == [0, 0, 2, 2, 4]
    assert [by_clip.index(one) for one in by_clip] == [0, 1, 0, 0, 4]


def test_one_signer_cannot_be_drawn() -> None:
    told = [answer("ăn", "ăn", "An"), answer("ngủ", "ăn", "An")]
    assert draw_groups(told, "signer") is None
    assert draw_groups(told, "clip") is not None


def test_answers_survive_a_file() -> None:
    told = (*drawn_answers(0, n=9), answer("ăn", None))
    document = json.loads(json.dumps({"answers": as_rows(told)}))
    assert from_rows(document, "evaluation.json") == told


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "x.json holds no answers"),
        ({"answers": []}, "x.json holds no answers"),
        ({"answers": [["a", "ăn"]]}, "x.json is damaged"),
        ({"answers": [["a", "ăn", "", "", "ăn", "high", 0.5, 1]]}, "x.json is damaged"),
    ],
)
def test_a_damaged_file_is_refused(document: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_rows(document, "x.json")
