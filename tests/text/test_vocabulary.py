"""Vocabulary: what goes in comes out, rare and unknown tokens, files that are cut short."""

import json
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.text.vocabulary import BOS, EOS, PAD, SPECIALS, UNK, Vocabulary, pad_batch

SENTENCES = [["tôi", "muốn", "mua", "cam"], ["tôi", "muốn", "đi"], ["我", "tôi"]]
TOKENS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=4)


def test_specials_come_first_then_frequent_then_alphabetical() -> None:
    words = Vocabulary.build(SENTENCES)
    assert words.tokens == (*SPECIALS, "tôi", "muốn", "cam", "mua", "đi", "我")
    assert (PAD, BOS, EOS, UNK) == (0, 1, 2, 3)
    assert len(words) == 10
    assert "cam" in words
    assert "CAM" not in words


def test_rare_tokens_and_size_are_limited() -> None:
    assert Vocabulary.build(SENTENCES, min_count=2).tokens == (*SPECIALS, "tôi", "muốn")
    assert Vocabulary.build(SENTENCES, max_size=5).tokens == (*SPECIALS, "tôi")
    assert Vocabulary.build([]).tokens == SPECIALS


def test_special_tokens_in_the_text_are_not_added_again() -> None:
    assert Vocabulary.build([["<eos>", "a"]]).tokens == (*SPECIALS, "a")


def test_unknown_tokens_become_unk() -> None:
    words = Vocabulary.build(SENTENCES)
    assert words.encode(["tôi", "xyz"], bos=True, eos=True) == [BOS, 4, UNK, EOS]
    assert words.decode([BOS, 4, UNK, EOS, 5, PAD]) == ["tôi", "<unk>"]
    assert words.decode(torch.tensor([4, PAD])) == ["tôi"]


@given(st.lists(st.lists(TOKENS.filter(lambda token: token not in SPECIALS)), max_size=5))
def test_encoding_then_decoding_returns_every_sentence(sentences: list[list[str]]) -> None:
    words = Vocabulary.build(sentences)
    for sentence in sentences:
        assert words.decode(words.encode(sentence, bos=True, eos=True)) == sentence


@given(st.permutations(range(3)))
def test_order_of_the_sentences_does_not_matter(order: list[int]) -> None:
    assert Vocabulary.build([SENTENCES[i] for i in order]) == Vocabulary.build(SENTENCES)


def test_a_saved_vocabulary_loads_equal(tmp_path: Path) -> None:
    words, path = Vocabulary.build([*SENTENCES, ['"\n\u2028']]), tmp_path / "words.json"
    words.save(path)
    words.save(path)
    assert Vocabulary.load(path) == words
    assert [file.name for file in tmp_path.iterdir()] == ["words.json"]
    assert "tôi" in path.read_text(encoding="utf-8")


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "words.json"
    Vocabulary.build(SENTENCES).save(path)
    before = path.read_bytes()
    (tmp_path / "words.json.part").mkdir()
    with pytest.raises(OSError, match=r"words\.json\.part"):
        Vocabulary.build([["other"]]).save(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is not a vocabulary file"),
        ('{"tokens": ["<pad>", "<bos>', "is not a vocabulary file"),
        ("[1]", "is not a vocabulary file"),
        ('{"words": []}', "is not a vocabulary file: 'tokens'"),
        (json.dumps({"tokens": [*SPECIALS, 7]}), "a token is not a string"),
        (json.dumps({"tokens": ["a", "b"]}), "tokens must begin with <pad>, <bos>, <eos>, <unk>"),
        (json.dumps({"tokens": [*SPECIALS, "a", "a"]}), "'a' occurs more than once"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "words.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message) as error:
        Vocabulary.load(path)
    assert str(path) in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Vocabulary.load(tmp_path / "nowhere.json")


def test_pad_batch_fills_up_with_padding() -> None:
    ids, lengths = pad_batch([[5, 6, 7], [8]])
    assert ids.tolist() == [[5, 6, 7], [8, PAD, PAD]]
    assert lengths.tolist() == [3, 1]
    assert ids.dtype == lengths.dtype == torch.int64


@given(st.lists(st.lists(st.integers(1, 99), min_size=1, max_size=6), min_size=1, max_size=5))
def test_pad_batch_loses_nothing(sequences: list[list[int]]) -> None:
    ids, lengths = pad_batch(sequences)
    assert [row[:n].tolist() for row, n in zip(ids, lengths, strict=True)] == sequences
    assert ids.shape[1] == max(map(len, sequences))


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (
            lambda: Vocabulary.build(["a sentence"]),
            "sentences must be lists of tokens, got the string 'a sentence'",
        ),
        (lambda: Vocabulary.build([], min_count=0), "min_count must be at least 1, got 0"),
        (lambda: Vocabulary.build([], max_size=3), "max_size must be at least 4, the special tokens, got 3"),
        (lambda: Vocabulary(SPECIALS).encode("tôi"), "tokens must be lists of tokens, got the string 'tôi'"),
        (lambda: Vocabulary(SPECIALS).decode([4]), r"ids must lie in 0\.\.3, got 4"),
        (lambda: Vocabulary(SPECIALS).decode([-1]), r"ids must lie in 0\.\.3, got -1"),
        (lambda: pad_batch([]), "sequences must hold at least one sequence"),
        (lambda: pad_batch([[1], []]), r"sequences\[1\] must hold at least one id"),
    ],
)
def test_bad_input_is_named(work, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        work()
