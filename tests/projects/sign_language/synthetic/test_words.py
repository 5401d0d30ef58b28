"""The words as data: written in NFC, all different, none a mirror image but where a direction is meant."""

import dataclasses
import unicodedata
from pathlib import PurePath

from coursepkg.projects.sign_language.synthetic.motion import SHAPES
from coursepkg.projects.sign_language.synthetic.signer import WORDS


def test_there_are_enough_words_in_nfc() -> None:
    assert len(WORDS) >= 20
    assert all(unicodedata.is_normalized("NFC", word) for word in WORDS)
    # Most are no ASCII, and each can name a folder.
    assert sum(not word.isascii() for word in WORDS) > len(WORDS) / 2
    assert all(PurePath(word).name == word and word == word.strip() for word in WORDS)
    assert len({word.casefold() for word in WORDS}) == len(WORDS)


def test_every_shape_is_known_and_every_path_leads_somewhere() -> None:
    for word, sign in WORDS.items():
        assert set(sign.shapes) <= set(SHAPES), word
        assert sign.by != (0.0, 0.0), word
        assert sign.times >= 1, word


def test_no_two_words_are_signed_alike() -> None:
    assert len(set(WORDS.values())) == len(WORDS)
    # Nor do two differ by nothing but the side that the thumb is on, or the lean of the head: both are hard to see.
    plain = {dataclasses.replace(sign, back=False, head=0, swing=0) for sign in WORDS.values()}
    assert len(plain) == len(WORDS)


def test_the_directions_and_nothing_else_are_mirror_images_of_each_other() -> None:
    right, left = WORDS["Bên phải"], WORDS["Bên trái"]
    assert right.fixed_direction
    assert left.fixed_direction
    assert left.by == (-right.by[0], right.by[1])
    assert left.angles == tuple(-angle for angle in right.angles)
    assert dataclasses.replace(left, by=right.by, angles=right.angles) == right
    assert [word for word, sign in WORDS.items() if sign.fixed_direction] == ["Bên phải", "Bên trái"]


def test_words_need_shape_place_order_and_both_hands() -> None:
    signs = list(WORDS.values())
    assert {sign.other for sign in signs} == {"rest", "mirror", "opposite", "base"}
    assert {sign.path for sign in signs} == {"move", "tap", "arc", "circle", "shake"}
    assert len({sign.shapes for sign in signs}) >= 7
    # The same path in the other order is another word.
    large, small = WORDS["Lớn"], WORDS["Nhỏ"]
    begin, end = large.place, tuple(a + b for a, b in zip(large.place, large.by, strict=True))
    assert small.place == end
    assert tuple(a + b for a, b in zip(small.place, small.by, strict=True)) == begin
