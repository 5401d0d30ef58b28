import math
import re
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from coursepkg.text.vocabulary import PAD, SPECIALS, Vocabulary
from coursepkg.text.word_vectors import WordVectors, embedding_from

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
