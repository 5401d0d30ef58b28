"""The recogniser that ships: light, honest about its making, and right about people whom nobody has drawn before."""

import pytest

from coursepkg.projects.sign_language.recognizer import DEFAULT, SignRecognizer
from coursepkg.projects.sign_language.synthetic.clips import draw_clip
from coursepkg.projects.sign_language.synthetic.signer import WORDS
from coursepkg.training.saved_model import check_weight

SEED = 77
"""Of people, rooms and clothes that are in no generated set."""


@pytest.fixture(scope="module")
def shipped() -> SignRecognizer:
    return SignRecognizer.load_default()


def test_it_names_words_of_people_it_has_never_seen(shipped: SignRecognizer) -> None:
    clips = [draw_clip(word, signer, SEED, number) for number, word in enumerate(WORDS) for signer in (0, 1)]
    said = shipped.recognize_clips(clips)
    right = sum(one.label == clip.label for one, clip in zip(said, clips, strict=True))
    assert right >= 0.85 * len(clips)


def test_its_card_says_what_it_learnt_from_and_how_well(shipped: SignRecognizer) -> None:
    card = shipped.card
    assert set(card) >= {"recipe", "seed", "data", "scores", "calls", "made"}
    assert sorted(shipped.labels) == sorted(WORDS)
    assert card["scores"]["test"]["macro_f1"]["value"] >= 0.9
    bands = card["scores"]["test"]["bands"]
    assert bands["head"]["value"] - bands["tail"]["value"] < 0.15
    assert sum(call["cpu_seconds"] for call in card["calls"]) < 1200  # ten minutes of two cores


def test_it_may_ship() -> None:
    check_weight(DEFAULT, DEFAULT)
