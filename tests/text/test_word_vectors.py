import gzip
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA, TruncatedSVD

from coursepkg.text.vocabulary import PAD, SPECIALS, Vocabulary
from coursepkg.text.word_vectors import (
    WordVectors,
    count_cooccurrences,
    count_vectors,
    embedding_from,
    load_vectors,
    ppmi,
    save_vectors,
    svd_vectors,
)

FLAT = WordVectors(
    ("vua", "hậu", "ông", "bà", "0"), torch.tensor([[1, 1], [1, -1], [0, 1], [0, -1], [0, 0]]).double()
)


def random_vectors(n: int, dim: int, seed: int = 0) -> WordVectors:
    values = torch.randn(n, dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return WordVectors(tuple(f"w{i}" for i in range(n)), values)


def test_a_word_has_one_vector() -> None:
    assert len(FLAT) == 5
    assert "vua" in FLAT
    assert "Vua" not in FLAT
    assert FLAT["hậu"].tolist() == [1, -1]


def test_similarity_is_the_cosine() -> None:
    assert FLAT.similarity("vua", "hậu") == pytest.approx(0)
    assert FLAT.similarity("vua", "ông") == pytest.approx(1 / math.sqrt(2))
    assert FLAT.similarity("ông", "bà") == pytest.approx(-1)
    assert FLAT.similarity("ông", "0") == 0


@given(st.integers(2, 30), st.integers(2, 8), st.integers(0, 100))
def test_nearest_agrees_with_a_plain_loop(n: int, dim: int, seed: int) -> None:
    vectors = random_vectors(n, dim, seed)
    query = vectors.vectors[0].tolist()

    def cosine(other: list[float]) -> float:
        return sum(a * b for a, b in zip(query, other, strict=True)) / math.hypot(*query) / math.hypot(*other)

    rest = [(word, cosine(vectors[word].tolist())) for word in vectors.words[1:]]
    rest.sort(key=lambda pair: -pair[1])
    found = vectors.nearest("w0", n)
    assert [word for word, _ in found] == [word for word, _ in rest]
    assert [value for _, value in found] == pytest.approx([value for _, value in rest])


def test_nearest_of_a_vector_and_exclusions() -> None:
    assert FLAT.nearest(torch.tensor([2.0, 2.0]), 1)[0][0] == "vua"
    words = [word for word, _ in FLAT.nearest("ông", 5, exclude=["vua"])]
    assert set(words) == {"hậu", "bà", "0"}
    assert words[-1] == "bà"


def test_analogy_excludes_the_given_words_unless_told_otherwise() -> None:
    # with lengths of 1: hậu - vua + ông points to bà
    assert FLAT.analogy("vua", "hậu", "ông")[0][0] == "bà"
    near = WordVectors(("a", "b", "c", "d"), torch.tensor([[1, 0], [1, 0.1], [0, 1], [-0.5, 1]]).double())
    assert near.analogy("a", "b", "c")[0][0] == "d"
    assert near.analogy("a", "b", "c", exclude_given=False)[0][0] == "c"


def test_principal_components_agree_with_scikit_learn() -> None:
    vectors = random_vectors(12, 6)
    ours = vectors.principal_components(vectors.words, 3)
    theirs = torch.from_numpy(PCA(n_components=3).fit_transform(vectors.vectors.numpy()))
    torch.testing.assert_close(ours.abs(), theirs.abs())
    assert (ours.gather(0, ours.abs().argmax(dim=0)[None]) > 0).all()


def test_an_embedding_begins_with_the_vectors() -> None:
    words = [f"w{i}" for i in range(40)]
    vocabulary = Vocabulary((*SPECIALS, *words, "mới", "lạ"))
    vectors = WordVectors(tuple(words), 3 + 2 * random_vectors(40, 5).vectors.float())
    embedding = embedding_from(vectors, vocabulary, seed=1)
    assert embedding.weight.shape == (46, 5)
    assert embedding.weight.requires_grad
    assert embedding.padding_idx == PAD
    torch.testing.assert_close(embedding.weight[4:44], vectors.vectors, rtol=0, atol=0)
    assert not embedding.weight[PAD].any()
    assert embedding.weight[44:].std() > 0.3
    assert torch.equal(embedding.weight, embedding_from(vectors, vocabulary, seed=1).weight)
    assert not torch.equal(embedding.weight[44:], embedding_from(vectors, vocabulary, seed=2).weight[44:])


def test_words_without_a_vector_are_drawn_like_the_others() -> None:
    vocabulary = Vocabulary((*SPECIALS, *(f"x{i}" for i in range(4000))))
    vectors = WordVectors(("a", "b"), torch.tensor([[1.0, 5.0], [3.0, 5.0]]))
    drawn = embedding_from(vectors, vocabulary).weight[4:]
    assert drawn.mean(dim=0).tolist() == pytest.approx([2, 5], abs=0.1)
    assert drawn.std(dim=0).tolist() == pytest.approx([1, 0], abs=0.05)


def test_an_embedding_takes_the_scale_of_a_model() -> None:
    vectors = random_vectors(30, 8)
    vocabulary = Vocabulary((*SPECIALS, *vectors.words, "lạ"))
    plain = embedding_from(vectors, vocabulary, seed=1).weight.detach()
    scaled = embedding_from(vectors, vocabulary, std=0.1, seed=1).weight.detach()
    assert scaled[1:].square().mean().sqrt().item() == pytest.approx(0.1)
    assert scaled[1:].mean(dim=0).tolist() == pytest.approx([0.0] * 8, abs=1e-12)
    assert not scaled[PAD].any()
    # differences of words keep their directions
    expected = torch.nn.functional.cosine_similarity(plain[4] - plain[5], plain[6] - plain[9], dim=0)
    assert torch.cosine_similarity(scaled[4] - scaled[5], scaled[6] - scaled[9], dim=0) == pytest.approx(
        expected
    )
    with pytest.raises(ValueError, match="std must be positive and finite, got 0"):
        embedding_from(vectors, vocabulary, std=0.0)
    with pytest.raises(ValueError, match="vectors must differ from one another"):
        embedding_from(WordVectors(("a",), torch.ones(1, 3)), vocabulary, std=0.1)


def test_padding_gets_no_gradient() -> None:
    embedding = embedding_from(random_vectors(3, 4), Vocabulary((*SPECIALS, "w0")))
    embedding(torch.tensor([PAD, 4])).sum().backward()
    assert embedding.weight.grad is not None
    assert not embedding.weight.grad[PAD].any()
    assert embedding.weight.grad[4].all()


def test_special_tokens_get_no_vector() -> None:
    vectors = WordVectors.from_vocabulary(Vocabulary((*SPECIALS, "a", "b")), torch.arange(12.0).view(6, 2))
    assert vectors.words == ("a", "b")
    assert vectors["a"].tolist() == [8, 9]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: FLAT["nữ"], "word must be one of the 5 that have a vector, got 'nữ'"),
        (lambda: FLAT.nearest("vua", 0), "n must be at least 1, got 0"),
        (lambda: FLAT.nearest(torch.zeros(3)), "query must have the shape (2,), got (3,)"),
        (lambda: FLAT.analogy("vua", "hậu", "x"), "word must be one of the 5"),
        (lambda: FLAT.principal_components(["vua", "hậu"], 3), "n must lie in 1..2, got 3"),
        (lambda: FLAT.principal_components([]), "words must name at least one, got none"),
        (
            lambda: WordVectors(("a",), torch.zeros(2, 3)),
            "vectors must be (V, E) for the 1 words, got (2, 3)",
        ),
        (lambda: WordVectors((), torch.zeros(0, 3)), "vectors must be (V, E) for the 0 words"),
        (lambda: WordVectors(("a",), torch.zeros(1, 3).long()), "vectors must be finite floating-point"),
        (lambda: WordVectors(("a",), torch.full((1, 3), math.nan)), "vectors must be finite floating-point"),
        (lambda: WordVectors(("a", "a"), torch.zeros(2, 3)), "words must be distinct"),
        (
            lambda: WordVectors.from_vocabulary(Vocabulary((*SPECIALS, "a")), torch.zeros(2, 3)),
            "vectors must have a row for each of the 5 ids, got 2",
        ),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        call()
    assert "\n" not in str(caught.value)


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
        ("a 1 2\nb 1e39 1\n", "line 2: must hold finite numbers after the word, got '1e39'"),
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


VOCABULARY = Vocabulary((*SPECIALS, "a", "b", "c", "d"))
SENTENCES = st.lists(st.lists(st.sampled_from("abcdx"), max_size=7), min_size=1, max_size=8)
COUNTS = torch.tensor([[0, 4, 1], [4, 2, 0], [1, 0, 0]]).double()


@given(SENTENCES, st.integers(1, 9))
def test_counts_agree_with_a_plain_loop(sentences: list[list[str]], window: int) -> None:
    expected: Counter[tuple[str, str]] = Counter()
    for sentence in sentences:
        known = [word for word in sentence if word != "x"]
        for i, word in enumerate(known):
            for j in range(max(0, i - window), min(len(known), i + window + 1)):
                expected[word, known[j]] += i != j
    if not any(set(sentence) - {"x"} for sentence in sentences):
        return
    counts = count_cooccurrences(sentences, VOCABULARY, window=window)
    assert counts.shape == (8, 8)
    assert torch.equal(counts, counts.T)
    assert counts.sum() == sum(expected.values())
    for (word, other), n in expected.items():
        assert counts[VOCABULARY.ids[word], VOCABULARY.ids[other]] == n


def numpy_ppmi(counts: np.ndarray, power: float, shift: float) -> np.ndarray:
    joint = counts / counts.sum()
    word = joint.sum(axis=1)
    context = counts.sum(axis=0) ** power / (counts.sum(axis=0) ** power).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        pmi = np.log(joint) - np.log(np.outer(word, context))
    return np.where(counts > 0, np.maximum(pmi - shift, 0), 0)


@given(
    st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4), min_size=2, max_size=6).filter(
        lambda rows: any(map(any, rows))
    ),
    st.sampled_from([0.5, 0.75, 1.0]),
    st.sampled_from([0.0, math.log(5)]),
)
def test_ppmi_agrees_with_numpy(rows: list[list[int]], power: float, shift: float) -> None:
    counts = torch.tensor(rows).double()
    result = ppmi(counts, context_power=power, shift=shift)
    np.testing.assert_allclose(result.numpy(), numpy_ppmi(counts.numpy(), power, shift), atol=1e-12)


def test_ppmi_by_hand() -> None:
    # P(a, b) = 4/12, P(a) = 5/12, P(b) = 6/12: log(4 * 12 / (5 * 6)) = log 1.6
    result = ppmi(COUNTS)
    assert result[0, 1].item() == pytest.approx(math.log(1.6))
    assert result[0, 2].item() == pytest.approx(math.log(12 / 5))
    assert result[1, 1].item() == 0  # log(2 * 12 / 36) is negative
    assert result[2, 2].item() == 0  # never met


def test_smoothing_makes_rare_contexts_count_less() -> None:
    # the context of column 2 is the rarest: a larger share by chance, a smaller surprise
    assert ppmi(COUNTS, context_power=0.75)[0, 2] < ppmi(COUNTS)[0, 2]


@given(st.integers(1, 6), st.sampled_from([0.0, 0.5, 1.0]), st.integers(0, 50))
def test_svd_agrees_with_numpy(dim: int, power: float, seed: int) -> None:
    matrix = torch.randn(9, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    ours = svd_vectors(matrix, dim, power=power)
    u, s, _ = np.linalg.svd(matrix.numpy(), full_matrices=False)
    np.testing.assert_allclose(ours.abs().numpy(), np.abs(u[:, :dim] * s[:dim] ** power), atol=1e-9)
    assert (ours.gather(0, ours.abs().argmax(dim=0)[None]) > 0).all()


def test_svd_agrees_with_scikit_learn_and_keeps_inner_products() -> None:
    matrix = torch.randn(12, 12, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    theirs = TruncatedSVD(4, algorithm="arpack", random_state=0).fit_transform(matrix.numpy())
    ours = svd_vectors(matrix, 4, power=1.0)
    np.testing.assert_allclose(ours.abs().numpy(), np.abs(theirs), atol=1e-9)
    whole = svd_vectors(matrix, 12, power=1.0)
    torch.testing.assert_close(whole @ whole.T, matrix @ matrix.T)


def test_words_of_the_same_contexts_become_neighbours() -> None:
    drinks, colours = ["trà", "sữa", "nước"], ["đỏ", "xanh", "vàng"]
    sentences = [["tôi", "uống", drink, "nóng"] for drink in drinks]
    sentences += [["chiếc", "áo", "màu", colour] for colour in colours]
    vocabulary = Vocabulary.build(sentences)
    vectors = count_vectors(sentences, vocabulary, dim=4, window=2)
    assert vectors.vectors.dtype == torch.float32
    for group in (drinks, colours):
        assert vectors.similarity(group[0], group[1]) == pytest.approx(1, abs=1e-5)  # equal contexts
    assert abs(vectors.similarity("trà", "đỏ")) < 0.01


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: count_cooccurrences([["a"]], VOCABULARY, window=0), "window must be at least 1, got 0"),
        (lambda: count_cooccurrences([["x"], []], VOCABULARY, window=1), "sentences must hold words"),
        (lambda: count_cooccurrences([], VOCABULARY, window=1), "sentences must hold words"),
        (lambda: count_cooccurrences(["a b"], VOCABULARY, window=1), "got the string 'a b'; split it first"),
        (lambda: ppmi(torch.zeros(2, 2)), "counts must be finite, at least 0 and not all 0"),
        (lambda: ppmi(torch.tensor([[-1.0, 2.0]])), "counts must be finite, at least 0"),
        (lambda: ppmi(torch.tensor([[math.inf, 2.0]])), "counts must be finite, at least 0"),
        (lambda: ppmi(COUNTS, context_power=0.0), "context_power must lie above 0 and be at most 1, got 0.0"),
        (lambda: ppmi(COUNTS, shift=-1.0), "shift must be at least 0 and finite, got -1.0"),
        (lambda: svd_vectors(COUNTS, 4), r"dim must lie in 1\.\.3, got 4"),
        (lambda: svd_vectors(COUNTS, 0), r"dim must lie in 1\.\.3, got 0"),
    ],
)
def test_bad_counts_are_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_vocabulary_too_large_for_a_dense_matrix_is_refused() -> None:
    large = Vocabulary((*SPECIALS, *(str(i) for i in range(20_000))))
    with pytest.raises(ValueError, match="at most 20000 tokens, got 20004; raise its min_count"):
        count_cooccurrences([["1"]], large, window=1)
