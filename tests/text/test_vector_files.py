import gzip
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.text.vector_files import load_vectors, save_vectors
from coursepkg.text.word_vectors import WordVectors

GLOVE = "the 0.1 -0.2 3e-1\ntrà 1 2 3\n. . . 4 5 6\n"


def write(tmp_path: Path, text: str, name: str = "vectors.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8"))
    return path


def test_glove_has_no_header_and_words_with_spaces(tmp_path: Path) -> None:
    vectors, coverage = load_vectors(write(tmp_path, GLOVE))
    assert vectors.words == ("the", "trà", ". . .")
    assert vectors.vectors.dtype == torch.float32
    torch.testing.assert_close(vectors.vectors[0], torch.tensor([0.1, -0.2, 0.3]))
    assert vectors[". . ."].tolist() == [4, 5, 6]
    assert str(coverage) == "3 of 3 words found (100.0%) among 3"


def test_word2vec_and_fasttext_have_a_header_and_a_space_at_the_end(tmp_path: Path) -> None:
    vectors, _ = load_vectors(write(tmp_path, "2 3\r\nkhách_sạn 1 2 3 \r\n年 4 5 6 \r\n"))
    assert vectors.words == ("khách_sạn", "年")
    assert vectors["年"].tolist() == [4, 5, 6]


def test_a_word_may_hold_other_line_breaks_of_unicode(tmp_path: Path) -> None:
    vectors, _ = load_vectors(write(tmp_path, "a\u2028b 1 2\n\u00a0 3 4\nc\u0085 5 6\n"))
    assert vectors.words == ("a\u2028b", "\u00a0", "c\u0085")


def test_only_the_words_of_a_vocabulary_are_kept(tmp_path: Path) -> None:
    path = write(tmp_path, "a 1 1\nb 2 2\na 3 3\nc x y\nd 4 4\n")
    vectors, coverage = load_vectors(path, ["d", "a", "z", "e"])
    assert vectors.words == ("a", "d")
    assert vectors["a"].tolist() == [1, 1]  # the first of two
    assert coverage.n_lines == 5
    assert coverage.found == ("a", "d")
    assert coverage.missing == ("e", "z")
    assert str(coverage) == "2 of 4 words found (50.0%) among 5, 1 repeated; missing: e, z"


def test_gzip(tmp_path: Path) -> None:
    path = tmp_path / "cc.vi.300.vec.gz"
    whole = gzip.compress(b"1 2\na 1 2\n")
    path.write_bytes(whole)
    assert load_vectors(path)[0].words == ("a",)
    path.write_bytes(whole[:-9])
    with pytest.raises(ValueError, match=r"cc\.vi\.300\.vec\.gz, after line .*; download it again"):
        load_vectors(path)
    for damaged in (b"a 1 2\n", whole[:10] + b"\xff" * 8 + whole[18:]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="download it again"):
            load_vectors(path)


WORD = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters=" \n\r"), min_size=1, max_size=6
)


@given(st.lists(WORD, min_size=1, max_size=5, unique=True), st.integers(1, 4), st.integers(0, 1000))
def test_what_is_saved_comes_back_bit_for_bit(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], dim: int, seed: int
) -> None:
    values = torch.randn(len(words), dim, generator=torch.Generator().manual_seed(seed)) * 10.0 ** (
        seed % 30 - 15
    )
    path = tmp_path_factory.mktemp("vectors") / "v.txt"
    save_vectors(WordVectors(tuple(words), values), path)
    loaded, _ = load_vectors(path)
    assert loaded.words == tuple(words)
    assert torch.equal(loaded.vectors, values)
    assert [file.name for file in path.parent.iterdir()] == ["v.txt"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a 1 2\nb 1\n", "line 2: must be a word and 2 numbers, got 2 fields"),
        ("2 2\na 1 2\nb 1\n", "line 3: must be a word and 2 numbers, got 2 fields"),
        ("a 1 2\n\nb 1 2\n", "line 2: must be a word and 2 numbers, got 1 fields"),
        ("word\n", "line 1: must be a word and 1 numbers, got 1 fields"),
        ("a 1 2\nb 1 x\n", "line 2: must hold finite numbers after the word, got 'x'"),
        ("a 1 nan\n", "line 1: must hold finite numbers after the word, got 'nan'"),
        ("a inf 1\n", "line 1: must hold finite numbers after the word, got 'inf'"),
        ("3 2\na 1 2\nb 1 2\n", "promises 3 words, but it has 2; is it cut short"),
        ("", "must hold word vectors, but it is empty"),
        ("0 2\n", "must hold word vectors, but it is empty"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ValueError, match=message) as caught:
        load_vectors(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_other_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(b"a 1 2\n\xff\xfe 1 2\n")
    with pytest.raises(ValueError, match="line 2: must be UTF-8, got other bytes"):
        load_vectors(path)
    with pytest.raises(ValueError, match=r"has none of the 2 words among its 3; compare spellings"):
        load_vectors(write(tmp_path, GLOVE), ["tra\u0300", "The"])
    with pytest.raises(ValueError, match="words must be a collection of words, got the string 'the'"):
        load_vectors(path, "the")
    with pytest.raises(FileNotFoundError):
        load_vectors(tmp_path / "none.txt")


@pytest.mark.parametrize("word", ["", "a b", "a\nb"])
def test_words_that_the_format_cannot_hold(tmp_path: Path, word: str) -> None:
    with pytest.raises(ValueError, match="words must have no space or line break, got"):
        save_vectors(WordVectors((word,), torch.zeros(1, 2)), tmp_path / "v.txt")
    assert list(tmp_path.iterdir()) == []
