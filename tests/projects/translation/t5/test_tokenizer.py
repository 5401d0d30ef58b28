"""The vocabulary: what is lost is counted, and what is trained here loses nothing."""

from typing import Any

import pytest

from coursepkg.projects.translation.t5.model import LETTERS, coverage, train_tokenizer
from coursepkg.projects.translation.t5.nom import nom_sample
from coursepkg.projects.translation.t5.text import PREFIXES

ENGLISH = ["the cat sat on the mat", "a quick brown fox jumps over the lazy dog", "Vietnam and Hanoi"]
LESSON = nom_sample(60)


def loses(tokenizer: Any, text: str) -> bool:
    """Whether something in a text becomes <unk>."""
    return tokenizer.unk_token_id in tokenizer.encode(text, add_special_tokens=False)


@pytest.fixture(scope="module")
def english() -> Any:
    return train_tokenizer(ENGLISH, 200)


@pytest.fixture(scope="module")
def lesson() -> Any:
    return train_tokenizer([text for pair in LESSON for text in pair], 400)


def test_there_are_67_accented_letters_in_either_case() -> None:
    assert len(LETTERS) == len(set(LETTERS)) == 134
    assert LETTERS.lower()[67:] == LETTERS[:67]


def test_coverage_counts_what_an_english_vocabulary_loses(english: Any) -> None:
    found = coverage(english, ["tôi thấy cá cá", "the mat"])
    assert (found.n_texts, found.n_words, found.n_characters) == (2, 6, 17)
    assert found.lost == {"ô": 1, "ấ": 1, "á": 2}
    assert found.n_lost_words == 4
    assert found.lost_share == pytest.approx(4 / 17)
    assert found.lost_word_share == pytest.approx(4 / 6)
    assert found.lost_letters == LETTERS


def test_the_warning_is_loud_and_names_the_letters(english: Any) -> None:
    warning = coverage(english, ["tôi thấy cá cá", "the mat"]).warning
    assert warning.startswith("WARNING: 23.5% of the characters become <unk> (á ")
    assert "\n" not in warning
    assert "ấ" in warning


def test_no_warning_where_nothing_is_lost(english: Any) -> None:
    found = coverage(english, ENGLISH)
    assert (found.lost_share, found.n_lost_words, found.warning) == (0.0, 0, "")
    assert found.n_pieces == sum(len(english.tokenize(text)) for text in ENGLISH)
    assert "0 of 134 Vietnamese letters known" in str(found)


def test_the_letters_that_are_lost_are_those_that_training_did_not_see() -> None:
    tokenizer = train_tokenizer([*ENGLISH, "tiếng Việt"], 200)
    assert set(LETTERS) - set(coverage(tokenizer, ["a"]).lost_letters) == set("ếệ")


def test_coverage_wants_a_list(english: Any) -> None:
    with pytest.raises(ValueError, match="put it into a list"):
        coverage(english, "tôi")


def test_nothing_of_the_training_text_is_lost_nom_and_prefixes_included(lesson: Any) -> None:
    for text in [*(text for pair in LESSON for text in pair), *(p.strip() for p in PREFIXES.values())]:
        assert not loses(lesson, text)
        assert lesson.decode(lesson.encode(text), skip_special_tokens=True) == text
    assert any(ord(sign) > 0xFFFF for nom, _ in LESSON for sign in nom)


def test_a_nom_character_is_a_piece_and_a_syllable_that_recurs_as_well(lesson: Any) -> None:
    nom, quoc_ngu = LESSON[0]
    pieces = lesson.tokenize(nom)
    assert [piece for piece in pieces if piece != "▁"] == list(nom)
    words = [f"▁{word.strip('.')}" for word in quoc_ngu.split()]
    assert [piece for piece in lesson.tokenize(quoc_ngu) if piece != "."] == words


def test_private_characters_survive() -> None:
    text = "碎\U000f0339\ue001學"
    tokenizer = train_tokenizer([text], 50)
    assert tokenizer.decode(tokenizer.encode(text), skip_special_tokens=True) == text


def test_special_pieces_stand_where_t5_has_them(lesson: Any) -> None:
    assert (lesson.pad_token_id, lesson.eos_token_id, lesson.unk_token_id) == (0, 1, 2)
    assert lesson.encode("tôi")[-1] == 1
    assert lesson.encode("tôi", add_special_tokens=False)[-1] != 1


def test_unknown_characters_become_unk_and_not_nothing(lesson: Any) -> None:
    assert loses(lesson, "龍")
    assert lesson.encode("碎龍碎").count(lesson.unk_token_id) == 1


def test_the_vocabulary_keeps_to_its_size_unless_characters_need_more() -> None:
    texts = [text for pair in LESSON for text in pair]
    assert len(train_tokenizer(texts, 250)) <= 250
    characters = {sign for text in (*texts, *PREFIXES.values()) for sign in text if sign != " "}
    small = train_tokenizer(texts, 1)
    assert len(small) >= len(characters) + 3
    assert not any(loses(small, text) for text in texts)


def test_training_twice_gives_the_same_vocabulary(lesson: Any) -> None:
    again = train_tokenizer([text for pair in LESSON for text in pair], 400)
    assert again.get_vocab() == lesson.get_vocab()


@pytest.mark.parametrize("texts", [[], ["", "  "]])
def test_no_text_is_refused(texts: list[str]) -> None:
    with pytest.raises(ValueError, match="at least one word"):
        train_tokenizer(texts)


def test_text_that_cannot_be_written_is_named() -> None:
    with pytest.raises(ValueError, match=r"texts\[1\] must not contain '▁'"):
        train_tokenizer(["a", "b ▁ c"])
