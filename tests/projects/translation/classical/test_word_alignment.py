"""IBM Model 1 against a naive one and against published numbers; alignments.

Alignment error rate: the published formula by hand, its properties, and links taken from weights.
"""

import math
import random
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.translation.classical.word_alignment import (
    NULL,
    Alignment,
    Model1,
    best_links,
    flipped,
    score_alignments,
)

# The example of Koehn, Statistical Machine Translation (2010), section 4.2.4.
KOEHN = [
    (source.split(), target.split())
    for source, target in (("das Haus", "the house"), ("das Buch", "the book"), ("ein Buch", "a book"))
]


def naive(
    pairs: list[tuple[list[str], list[str]]], n_iterations: int, null: bool
) -> tuple[dict[tuple[str, str], float], list[float]]:
    """EM with dictionaries, as the textbooks print it."""
    pairs = [([NULL, *s] if null else s, t) for s, t in pairs]
    n_words = len({word for _, target in pairs for word in target})
    p: dict[tuple[str, str], float] = defaultdict(lambda: 1 / n_words)
    likelihoods = []
    for iteration in range(n_iterations + 1):
        counts: dict[tuple[str, str], float] = defaultdict(float)
        totals: dict[str, float] = defaultdict(float)
        likelihood = 0.0
        for source, target in pairs:
            for t in target:
                z = sum(p[s, t] for s in source)
                likelihood += math.log(z / len(source))
                for s in source:
                    counts[s, t] += p[s, t] / z
                    totals[s] += p[s, t] / z
        likelihoods.append(likelihood)
        if iteration < n_iterations:
            p = {(s, t): count / totals[s] for (s, t), count in counts.items()}
    return p, likelihoods


def random_corpus(seed: int) -> list[tuple[list[str], list[str]]]:
    draw = random.Random(seed)
    return [
        ([draw.choice("abcdef") for _ in range(n)], [draw.choice("uvwxyz") for _ in range(m)])
        for n, m in ((draw.randint(1, 6), draw.randint(1, 6)) for _ in range(30))
    ]


@pytest.mark.parametrize("null", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_equal_to_the_naive_one(null: bool, seed: int) -> None:
    pairs = random_corpus(seed)
    model = Model1.fit(pairs, n_iterations=5, null=null)
    expected, likelihoods = naive(pairs, 5, null)
    found = {(s, t): p for s, row in model.table.items() for t, p in row.items()}
    assert found == pytest.approx(expected, abs=1e-12)
    assert model.log_likelihoods == pytest.approx(likelihoods)


def test_every_row_is_a_distribution_and_the_likelihood_never_falls() -> None:
    model = Model1.fit(random_corpus(7), n_iterations=30)
    assert all(sum(row.values()) == pytest.approx(1) for row in model.table.values())
    steps = np.diff(model.log_likelihoods)
    assert len(steps) == 30
    assert (steps >= -1e-9).all()
    assert steps[0] > 0.1


def test_the_numbers_of_the_textbook() -> None:
    columns = {n: Model1.fit(KOEHN, n_iterations=n, null=False).probability for n in (1, 2, 3, 200)}
    words = [
        pair.split() for pair in ("das the", "das book", "das house", "Buch book", "ein a", "Haus house")
    ]
    printed = {
        1: [0.5, 0.25, 0.25, 0.5, 0.5, 0.5],
        2: [0.6364, 0.1818, 0.1818, 0.6364, 0.5714, 0.5714],
        3: [0.7479, 0.1208, 0.1313, 0.7479, 0.6534, 0.6534],
        200: [1, 0, 0, 1, 1, 1],
    }
    for n, expected in printed.items():
        tolerance = 0.02 if n == 200 else 5e-5
        assert [columns[n](s, t) for s, t in words] == pytest.approx(expected, abs=tolerance)


def test_the_alignment_of_a_pair() -> None:
    model = Model1.fit(KOEHN, n_iterations=50, null=False)
    alignment = model.align(["das", "Buch"], ["book", "the", "new"])
    assert alignment.weights.argmax(axis=1)[:2].tolist() == [1, 0]
    assert alignment.weights.sum(axis=1).tolist() == pytest.approx([1, 1, 0])
    assert alignment.coverage.tolist() == pytest.approx([1, 1], abs=0.1)


def test_null_takes_its_share_of_an_alignment() -> None:
    model = Model1.fit(KOEHN, n_iterations=3)
    weights = model.align(["das", "Haus"], ["the"]).weights
    parts = [model.probability(word, "the") for word in ("das", "Haus", NULL)]
    assert weights[0].tolist() == pytest.approx([parts[0] / sum(parts), parts[1] / sum(parts)])


def test_best_is_ranked_with_ties_by_name() -> None:
    model = Model1.fit(KOEHN, n_iterations=1, null=False)
    assert model.best("das", 3) == [("the", 0.5), ("book", 0.25), ("house", 0.25)]
    assert model.best("unknown") == []


def test_an_empty_side_teaches_nothing() -> None:
    assert Model1.fit([*KOEHN, ([], ["the"]), (["das"], [])]).table == Model1.fit(KOEHN).table
    with pytest.raises(ValueError, match="at least one pair with words on both sides"):
        Model1.fit([([], ["a"])])
    with pytest.raises(ValueError, match="n_iterations must be an integer of at least 1"):
        Model1.fit(KOEHN, n_iterations=0)


def test_pieces_merge_into_words() -> None:
    weights = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.6, 0.4, 0.0]])
    merged = Alignment(("▁khách", "▁s", "ạn"), ("▁ho", "tel", "▁here"), weights).merged()
    assert (merged.source, merged.target) == (("khách", "sạn"), ("hotel", "here"))
    np.testing.assert_allclose(merged.weights, [[0.2, 0.8], [0.6, 0.4]])


def test_merging_nothing_gives_nothing() -> None:
    empty = Alignment((), (), np.zeros((0, 0)))
    assert empty.merged().weights.shape == (0, 0)
    assert Alignment(("▁",), ("a",), np.ones((1, 1))).merged().source == ("▁",)
    unsaid = Alignment(("▁ho", "tel"), (), np.zeros((0, 2))).merged()
    assert (unsaid.source, unsaid.weights.shape) == (("hotel",), (0, 1))


@pytest.mark.parametrize(
    ("weights", "message"),
    [(np.ones((1, 2)), r"\(2, 1\), got \(1, 2\)"), (np.array([[1.0], [-1.0]]), "not negative")],
)
def test_bad_weights_are_refused(weights: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Alignment(("a",), ("b", "c"), weights)


LINKS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


def test_by_hand() -> None:
    # Three found links: one sure, one possible only, one wrong; of two sure links one is found.
    found, sure = {(0, 0), (1, 1), (2, 0)}, {(0, 0), (3, 3)}
    possible = sure | {(1, 1)}
    score = score_alignments([found], [sure], [possible])
    assert score.precision == pytest.approx(2 / 3)
    assert score.recall == pytest.approx(1 / 2)
    assert score.error_rate == pytest.approx(1 - (1 + 2) / (3 + 2))


@given(LINKS, LINKS)
def test_without_possible_links_it_is_one_minus_f1(
    found: set[tuple[int, int]], sure: set[tuple[int, int]]
) -> None:
    if not found or not sure:
        return
    score = score_alignments([found], [sure])
    total = score.precision + score.recall
    f1 = 2 * score.precision * score.recall / total if total else 0.0
    assert score.error_rate == pytest.approx(1 - f1)


@given(LINKS, LINKS, LINKS)
def test_between_zero_and_one_and_zero_for_the_sure_ones(
    found: set[tuple[int, int]], sure: set[tuple[int, int]], more: set[tuple[int, int]]
) -> None:
    if not sure:
        return
    possible = sure | more
    assert 0.0 <= score_alignments([found], [sure], [possible]).error_rate <= 1.0
    # Any choice between the sure and the possible links is without error.
    for choice in (possible, sure):
        assert score_alignments([choice], [sure], [possible]).error_rate == 0.0


def test_counts_of_all_pairs_are_added_before_the_division() -> None:
    found = [{(0, 0)}, {(0, 1), (1, 1), (2, 1)}]
    sure = [{(0, 0)}, {(0, 0), (1, 1), (2, 2)}]
    assert score_alignments(found, sure).error_rate == pytest.approx(1 - (2 + 2) / 8)


def test_nothing_found_has_precision_one_and_recall_zero() -> None:
    assert score_alignments([set()], [{(0, 0)}]) == (1.0, 0.0, 1.0)


def test_the_largest_weight_of_each_row_unless_it_is_too_small() -> None:
    weights = np.array([[0.1, 0.7], [0.6, 0.4], [0.0, 0.0], [0.2, 0.1]])
    assert best_links(weights) == {(1, 0), (0, 1), (0, 3)}
    assert best_links(weights, least=0.5) == {(1, 0), (0, 1)}
    assert best_links(weights, least=1 - weights.sum(axis=1)) == {(1, 0), (0, 1)}
    assert flipped({(1, 0), (0, 2)}) == {(0, 1), (2, 0)}


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="an entry a pair, got 1, 2 and 2"):
        score_alignments([set()], [set(), set()])
    with pytest.raises(ValueError, match=r"pair 0 lacks \(0, 0\)"):
        score_alignments([set()], [{(0, 0)}], [{(1, 1)}])
    with pytest.raises(ValueError, match="at least one link"):
        score_alignments([set()], [set()])
    with pytest.raises(ValueError, match=r"got shape \(3, 0\)"):
        best_links(np.zeros((3, 0)))
