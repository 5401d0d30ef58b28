import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import TruncatedSVD

from coursepkg.text.cooccurrence import count_cooccurrences, count_vectors, ppmi, svd_vectors
from coursepkg.text.vocabulary import SPECIALS, Vocabulary

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
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_vocabulary_too_large_for_a_dense_matrix_is_refused() -> None:
    large = Vocabulary((*SPECIALS, *(str(i) for i in range(20_000))))
    with pytest.raises(ValueError, match="at most 20000 tokens, got 20004; raise its min_count"):
        count_cooccurrences([["1"]], large, window=1)
