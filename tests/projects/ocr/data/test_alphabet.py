"""The characters of a recogniser."""

import pytest

from coursepkg.projects.ocr.data.batches import (
    DECLARED,
    character_vocabulary,
    characters_outside,
    encode_text,
    seen_texts,
)
from coursepkg.projects.ocr.line import decode_text
from coursepkg.text.vietnamese import ACCENTED
from coursepkg.text.vocabulary import BOS, EOS, PAD, UNK


def test_all_letters_have_an_id_even_without_training_texts() -> None:
    vocabulary = character_vocabulary([])
    wanted = ACCENTED + ACCENTED.upper() + "0123456789 .,:-/%()°·đ₫"
    assert len(ACCENTED) == 67
    assert UNK not in encode_text(wanted, vocabulary)
    assert decode_text(encode_text(wanted, vocabulary), vocabulary) == wanted


def test_training_texts_add_their_characters_and_test_texts_do_not() -> None:
    vocabulary = character_vocabulary(["Tổng ₽ 5"])
    assert "₽" in vocabulary
    assert encode_text("5₿", vocabulary)[1] == UNK
    assert decode_text(encode_text("5₿", vocabulary), vocabulary) == "5\ufffd"


def test_the_vocabulary_does_not_depend_on_the_order_or_number_of_texts() -> None:
    one, other = character_vocabulary(["Tổng", "Phở"]), character_vocabulary(["Phở", "Tổng", "Phở"])
    assert one.fingerprint == other.fingerprint
    assert len(set(DECLARED)) == len(DECLARED) == len(one) - 4


def test_a_small_declared_alphabet_is_respected() -> None:
    assert character_vocabulary(["ba"], declared="c").tokens[4:] == ("a", "b", "c")


def test_decoding_stops_at_the_end_of_the_sequence() -> None:
    vocabulary = character_vocabulary([])
    a, b = encode_text("ab", vocabulary)
    assert decode_text([BOS, a, PAD, b, EOS, a], vocabulary) == "ab"


def test_what_lies_outside_is_named_most_frequent_first() -> None:
    found = characters_outside(["Giá 5₿", "₽₽", "Tổng"])
    assert [(one.character, one.count, one.line) for one in found] == [("₽", 2, 2), ("₿", 1, 1)]
    assert characters_outside(["₽"], character_vocabulary(["₽"])) == []
    assert [one.character for one in characters_outside(["<pad>"], character_vocabulary([], "<pad"))] == [">"]


def test_seen_means_exactly_the_same() -> None:
    assert seen_texts(["Tổng tiền", "Phở"], ["Tổng tiền", "Tổng Tiền", "Phở "]) == [True, False, False]


def test_one_string_is_no_list_of_texts() -> None:
    with pytest.raises(ValueError, match="must be a list of texts"):
        character_vocabulary("Tổng")
